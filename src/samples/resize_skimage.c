/* scikit-image's transform.resize(order=1, preserve_range=True, mode="reflect"): a Gaussian of sigma = (in/out - 1) / 2
 * along each side that shrinks (scipy.ndimage.gaussian_filter, cut at 4 sigma), then linear interpolation between pixel
 * centres (ndimage.zoom, grid_mode), mirrored about the outermost centres, cut to the picture's own range. In f64. */
#include <math.h>
#include <sleef.h>
#include <string.h>

#include "samples/image.h"

/* Numbers in rows of `width` groups of `channels`. */
typedef struct plane {
    double *at;
    int width, height, channels;
} plane;

/* Mirrors about the first and the last: d c b | a b c d | c b a. */
static int mirror(int64_t x, int count) {
    if (count == 1) return 0;
    int64_t period = 2 * ((int64_t)count - 1);
    x %= period;
    if (x < 0) x += period;
    return (int)(x < count ? x : period - x);
}

static tare_status new_plane(plane *out, int width, int height, int channels, tare_arena *arena, tare_error *err) {
    size_t count = (size_t)width * (size_t)height * (size_t)channels;
    *out = (plane){ tare_arena_alloc_raw(arena, count, sizeof(double)), width, height, channels };
    return out->at == NULL ? tare_fail_memory(err, count * sizeof(double)) : TARE_OK;
}

/* w[i] = exp(-i^2 / (2 sigma^2)) / sum, i = 0…radius of a symmetric kernel. */
static double *make_gaussian(double sigma, int *radius, tare_arena *arena) {
    *radius = (int)(4.0 * sigma + 0.5);
    double *w = tare_arena_alloc(arena, (size_t)*radius + 1, sizeof *w), sum = 0.0;
    if (w == NULL) return NULL;
    for (int i = 0; i <= *radius; i++) {
        w[i] = Sleef_cinz_expd1_u10purec(-0.5 / (sigma * sigma) * i * i);
        sum += i == 0 ? w[i] : 2.0 * w[i];
    }
    for (int i = 0; i <= *radius; i++) w[i] /= sum;
    return w;
}

/* to[i] = w[0] from[i] + sum over k of w[k] (before[k][i] + after[k][i]) for `count` numbers in a row; the k-th
 * neighbours of a number lie k places of `stride` numbers before and after it, mirrored at the ends of `places`. */
static void blur_place(double *to, const double *line, int place, int places, size_t stride, size_t count,
                       const double *w, int radius) {
    const double *from = line + (size_t)place * stride;
    for (size_t i = 0; i < count; i++) to[i] = from[i] * w[0];
    for (int k = 1; k <= radius; k++) {
        const double *before = line + (size_t)mirror(place - k, places) * stride;
        const double *after = line + (size_t)mirror(place + k, places) * stride;
        for (size_t i = 0; i < count; i++) to[i] += (before[i] + after[i]) * w[k];
    }
}

static tare_status blur(plane *p, bool along_width, double factor, tare_arena *arena, tare_error *err) {
    double sigma = (factor - 1.0) / 2.0;
    if (sigma <= 1e-15) return TARE_OK;
    int radius;
    double *w = make_gaussian(sigma, &radius, arena);
    if (w == NULL) return tare_fail_memory(err, 0);
    plane blurred;
    TARE_TRY(new_plane(&blurred, p->width, p->height, p->channels, arena, err));
    size_t channels = (size_t)p->channels, row = (size_t)p->width * channels;
    for (int y = 0; y < p->height; y++) {
        double *to = blurred.at + (size_t)y * row;
        if (!along_width) {
            blur_place(to, p->at, y, p->height, row, row, w, radius);
            continue;
        }
        const double *line = p->at + (size_t)y * row;
        for (int x = 0; x < p->width; x++) {
            blur_place(to + (size_t)x * channels, line, x, p->width, channels, channels, w, radius);
        }
    }
    *p = blurred;
    return TARE_OK;
}

typedef struct place {
    int near, far;
    double fraction;
} place;

/* (index + .5) * in/out - .5, mirrored. */
static place make_place(int index, int in, int out) {
    double x = (index + 0.5) * ((double)in / out) - 0.5, last = in - 1;
    if (x < 0) x = -x;
    if (x > last) x = 2.0 * last - x;
    if (in == 1) x = 0;
    int near = (int)floor(x);
    return (place){ near, mirror((int64_t)near + 1, in), x - near };
}

static void range_of(const tare_image *image, double *lo, double *hi) {
    size_t count = tare_image_count(image);
    *lo = *hi = image->u8[0];
    for (size_t i = 1; i < count; i++) {
        if (image->u8[i] < *lo) *lo = image->u8[i];
        if (image->u8[i] > *hi) *hi = image->u8[i];
    }
}

static void interpolate(tare_image *out, const plane *p, const place *columns, double lo, double hi) {
    size_t channels = (size_t)p->channels, row = (size_t)p->width * channels;
    float *to = out->f32;
    for (int y = 0; y < out->height; y++) {
        place v = make_place(y, p->height, out->height);
        const double *upper = p->at + (size_t)v.near * row, *lower = p->at + (size_t)v.far * row;
        for (int x = 0; x < out->width; x++) {
            size_t a = (size_t)columns[x].near * channels, b = (size_t)columns[x].far * channels;
            double f = columns[x].fraction;
            for (size_t c = 0; c < channels; c++) {
                double sum = upper[a + c] * (1 - v.fraction) * (1 - f) + upper[b + c] * (1 - v.fraction) * f +
                             lower[a + c] * v.fraction * (1 - f) + lower[b + c] * v.fraction * f;
                *to++ = (float)(sum < lo ? lo : sum > hi ? hi : sum);
            }
        }
    }
}

tare_status tare_resize_skimage(tare_image *out, const tare_image *in, int width, int height, tare_arena *arena,
                                tare_error *err) {
    plane p;
    double lo, hi;
    TARE_TRY(new_plane(&p, in->width, in->height, in->channels, arena, err));
    size_t count = tare_image_count(in);
    for (size_t i = 0; i < count; i++) p.at[i] = in->u8[i];
    range_of(in, &lo, &hi);
    TARE_TRY(blur(&p, false, (double)in->height / height, arena, err));
    TARE_TRY(blur(&p, true, (double)in->width / width, arena, err));
    place *columns = tare_arena_alloc(arena, (size_t)width, sizeof *columns);
    if (columns == NULL) return tare_fail_memory(err, 0);
    for (int x = 0; x < width; x++) columns[x] = make_place(x, in->width, width);
    TARE_TRY(tare_image_new(out, width, height, in->channels, true, arena, err));
    interpolate(out, &p, columns, lo, hi);
    return TARE_OK;
}

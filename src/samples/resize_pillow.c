/* Pillow's BILINEAR for 8-bit pictures (libImaging/Resample.c): a triangle as wide as the reduction, along rows, then
 * along columns, each rounded to 8 bits; weights are fixed-point numbers of 22 fraction bits. Since Pillow 13 columns
 * come first when the height loses more than twice what the width does (found by trying; 0 of 3000 sizes differ). */
#include <math.h>
#include <string.h>

#include "samples/image.h"

enum { FRACTION_BITS = 32 - 8 - 2 };

/* For each output place: the first input, how many, and their weights (`most` to a place). */
typedef struct taps {
    int most;
    int *first, *count;
    int32_t *weight;
} taps;

static double triangle(double x) {
    x = fabs(x);
    return x < 1.0 ? 1.0 - x : 0.0;
}

/* weight = round(2^22 * w / sum w), halves away from zero. */
static void set_place(taps *t, int place, int in, double scale, double support, double *real) {
    double center = (place + 0.5) * scale, shrink = 1.0 / (scale < 1.0 ? 1.0 : scale), sum = 0.0;
    int first = (int)(center - support + 0.5), end = (int)(center + support + 0.5);
    if (first < 0) first = 0;
    if (end > in) end = in;
    int count = end - first;
    for (int i = 0; i < count; i++) {
        real[i] = triangle((i + first - center + 0.5) * shrink);
        sum += real[i];
    }
    int32_t *weight = t->weight + (size_t)place * (size_t)t->most;
    for (int i = 0; i < count; i++) {
        double w = sum != 0.0 ? real[i] / sum : real[i];
        weight[i] = (int32_t)(w < 0 ? -0.5 + w * (1 << FRACTION_BITS) : 0.5 + w * (1 << FRACTION_BITS));
    }
    t->first[place] = first;
    t->count[place] = count;
}

static tare_status make_taps(taps *t, int in, int out, tare_arena *arena, tare_error *err) {
    double scale = (double)in / out, support = scale < 1.0 ? 1.0 : scale;
    t->most = (int)ceil(support) * 2 + 1;
    t->first = tare_arena_alloc(arena, (size_t)out, sizeof *t->first);
    t->count = tare_arena_alloc(arena, (size_t)out, sizeof *t->count);
    t->weight = tare_arena_alloc(arena, (size_t)out * (size_t)t->most, sizeof *t->weight);
    double *real = tare_arena_alloc(arena, (size_t)t->most, sizeof *real);
    if (t->first == NULL || t->count == NULL || t->weight == NULL || real == NULL) return tare_fail_memory(err, 0);
    for (int place = 0; place < out; place++) set_place(t, place, in, scale, support, real);
    return TARE_OK;
}

static uint8_t round_sum(int32_t sum) {
    int32_t x = sum >> FRACTION_BITS;
    return (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
}

static void resize_rows(tare_image *out, const tare_image *in, const taps *t) {
    size_t channels = (size_t)in->channels;
    uint8_t *to = out->u8;
    for (int y = 0; y < out->height; y++) {
        const uint8_t *row = in->u8 + (size_t)y * (size_t)in->width * channels;
        for (int x = 0; x < out->width; x++) {
            const int32_t *weight = t->weight + (size_t)x * (size_t)t->most;
            const uint8_t *from = row + (size_t)t->first[x] * channels;
            for (size_t c = 0; c < channels; c++) {
                int32_t sum = 1 << (FRACTION_BITS - 1);
                for (int i = 0; i < t->count[x]; i++) sum += from[(size_t)i * channels + c] * weight[i];
                *to++ = round_sum(sum);
            }
        }
    }
}

static void resize_columns(tare_image *out, const tare_image *in, const taps *t, int32_t *sums) {
    size_t row = (size_t)in->width * (size_t)in->channels;
    for (int y = 0; y < out->height; y++) {
        const int32_t *weight = t->weight + (size_t)y * (size_t)t->most;
        const uint8_t *from = in->u8 + (size_t)t->first[y] * row;
        uint8_t *to = out->u8 + (size_t)y * row;
        for (size_t x = 0; x < row; x++) sums[x] = 1 << (FRACTION_BITS - 1);
        for (int i = 0; i < t->count[y]; i++, from += row) {
            for (size_t x = 0; x < row; x++) sums[x] += from[x] * weight[i];
        }
        for (size_t x = 0; x < row; x++) to[x] = round_sum(sums[x]);
    }
}

static tare_status resize_side(tare_image *image, bool across, int size, tare_arena *arena, tare_error *err) {
    tare_image in = *image;
    taps t = { 0 };
    if ((across ? in.width : in.height) == size) return TARE_OK;
    TARE_TRY(make_taps(&t, across ? in.width : in.height, size, arena, err));
    TARE_TRY(
        tare_image_new(image, across ? size : in.width, across ? in.height : size, in.channels, false, arena, err));
    if (across) {
        resize_rows(image, &in, &t);
        return TARE_OK;
    }
    size_t row = (size_t)in.width * (size_t)in.channels;
    int32_t *sums = tare_arena_alloc_raw(arena, row, sizeof *sums);
    if (sums == NULL) return tare_fail_memory(err, row * sizeof *sums);
    resize_columns(image, &in, &t, sums);
    return TARE_OK;
}

tare_status tare_resize_pillow(tare_image *out, const tare_image *in, int width, int height, tare_arena *arena,
                               tare_error *err) {
    bool columns_first = height < in->height && in->height - height > 2 * (in->width - width);
    *out = *in;
    if (columns_first) TARE_TRY(resize_side(out, false, height, arena, err));
    TARE_TRY(resize_side(out, true, width, arena, err));
    return resize_side(out, false, height, arena, err);
}

/* OpenCV's INTER_LINEAR for 8-bit pictures (imgproc/resize.cpp): two neighbours each way, weights of 11 fraction bits,
 * columns in 32 bits, then rows with 4 bits less; not antialiased. */
#include <math.h>

#include "samples/image.h"

enum { FRACTION_BITS = 11, ONE = 1 << FRACTION_BITS };

/* An output place: its left (or upper) neighbour, which may lie outside, and the two weights. */
typedef struct place {
    int at;
    int32_t near, far;
} place;

static place make_place(int index, int in, int out, bool is_clamped) {
    double scale = 1.0 / ((double)out / in);
    float x = (float)((index + 0.5) * scale - 0.5);
    int at = (int)floorf(x);
    float fraction = x - (float)at;
    if (is_clamped && (at < 0 || at >= in - 1)) {
        at = at < 0 ? 0 : in - 1;
        fraction = 0.0f;
    }
    return (place){ at, (int32_t)rintf((1.0f - fraction) * ONE), (int32_t)rintf(fraction * ONE) };
}

static void resize_row(int32_t *to, const uint8_t *row, const place *places, int width, int channels, int last) {
    for (int x = 0; x < width; x++) {
        const uint8_t *a = row + (size_t)places[x].at * (size_t)channels;
        const uint8_t *b = places[x].at < last ? a + channels : a;
        for (int c = 0; c < channels; c++) *to++ = a[c] * places[x].near + b[c] * places[x].far;
    }
}

static int clamp_row(int y, int height) { return y < 0 ? 0 : y >= height ? height - 1 : y; }

/* The row `y` of the input, resized; two are kept, since neighbours share them. */
typedef struct rows {
    int32_t *sums[2];
    int at[2];
} rows;

static const int32_t *row_at(rows *kept, int y, int keep, const tare_image *in, const place *places, int width) {
    for (int i = 0; i < 2; i++) {
        if (kept->at[i] == y) return kept->sums[i];
    }
    int slot = kept->at[0] == keep ? 1 : 0;
    const uint8_t *row = in->u8 + (size_t)y * (size_t)in->width * (size_t)in->channels;
    resize_row(kept->sums[slot], row, places, width, in->channels, in->width - 1);
    kept->at[slot] = y;
    return kept->sums[slot];
}

tare_status tare_resize_opencv(tare_image *out, const tare_image *in, int width, int height, tare_arena *arena,
                               tare_error *err) {
    size_t row = (size_t)width * (size_t)in->channels;
    place *places = tare_arena_alloc(arena, (size_t)width, sizeof *places);
    rows kept = { { tare_arena_alloc_raw(arena, row, sizeof(int32_t)),
                    tare_arena_alloc_raw(arena, row, sizeof(int32_t)) },
                  { -1, -1 } };
    if (places == NULL || kept.sums[0] == NULL || kept.sums[1] == NULL) return tare_fail_memory(err, 0);
    for (int x = 0; x < width; x++) places[x] = make_place(x, in->width, width, true);
    TARE_TRY(tare_image_new(out, width, height, in->channels, false, arena, err));
    for (int y = 0; y < height; y++) {
        place p = make_place(y, in->height, height, false);
        int upper = clamp_row(p.at, in->height), lower = clamp_row(p.at + 1, in->height);
        const int32_t *a = row_at(&kept, upper, lower, in, places, width);
        const int32_t *b = row_at(&kept, lower, upper, in, places, width);
        uint8_t *to = out->u8 + (size_t)y * row;
        for (size_t i = 0; i < row; i++) {
            int32_t sum = (p.near * (a[i] >> 4) >> 16) + (p.far * (b[i] >> 4) >> 16) + 2;
            to[i] = (uint8_t)(sum >> 2);
        }
    }
    return TARE_OK;
}

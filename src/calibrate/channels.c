/* The extremes of the finite numbers in each channel of a value, where a depthwise product reads them one by one. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "calibrate/range.h"

enum {
    WIDTH = 64,  /* numbers of a row that are compared at once */
    PIECE = 1024 /* numbers of pixels that are: a call's cost is little beside them */
};

tare_status tare_range_want_channels(tare_range *range, size_t channels, tare_arena *arena, tare_error *err) {
    range->channel_min = tare_arena_alloc(arena, channels, sizeof(float));
    range->channel_max = tare_arena_alloc(arena, channels, sizeof(float));
    if (!range->channel_min || !range->channel_max) return tare_fail_memory(err, channels * sizeof(float));
    for (size_t i = 0; i < channels; i++) range->channel_min[i] = INFINITY, range->channel_max[i] = -INFINITY;
    range->channels = channels;
    return TARE_OK;
}

static void widen(float *min, float *max, const float *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        *min = numbers[i] < *min && numbers[i] >= -FLT_MAX ? numbers[i] : *min;
        *max = numbers[i] > *max && numbers[i] <= FLT_MAX ? numbers[i] : *max;
    }
}

/* The extremes of `count` finite numbers by their place in a piece of `width`; the last piece overlaps the one before. */
static void fold_pieces(float *low, float *high, const tare_kernels *kernels, const float *from, size_t count,
                        size_t width) {
    memcpy(low, from, width * sizeof *low);
    memcpy(high, from, width * sizeof *high);
    for (size_t i = width; i < count; i += width) {
        const float *piece = from + (i + width < count ? i : count - width);
        kernels->min_f32(low, low, 1, piece, 1, width);
        kernels->max_f32(high, high, 1, piece, 1, width);
    }
}

static void widen_long(float *min, float *max, const tare_kernels *kernels, const float *row, size_t count) {
    float low[WIDTH], high[WIDTH];
    fold_pieces(low, high, kernels, row, count, WIDTH);
    widen(min, max, low, WIDTH);
    widen(min, max, high, WIDTH);
}

static void widen_rows(tare_range *range, const tare_kernels *kernels, const tare_tensor *tensor, bool finite) {
    const tare_shape *shape = &tensor->shape;
    const size_t inner = (size_t)tare_shape_product(shape, 2, shape->rank), rows = (size_t)shape->dim[0];
    const float *row = tensor->data;
    for (size_t i = 0; i < rows * range->channels; i++, row += inner) {
        float *min = &range->channel_min[i % range->channels], *max = &range->channel_max[i % range->channels];
        if (finite && inner > WIDTH)
            widen_long(min, max, kernels, row, inner);
        else
            widen(min, max, row, inner);
    }
}

static void widen_pixel(tare_range *range, const tare_kernels *kernels, const float *low, const float *high) {
    kernels->min_f32(range->channel_min, range->channel_min, 1, low, 1, range->channels);
    kernels->max_f32(range->channel_max, range->channel_max, 1, high, 1, range->channels);
}

/* Of pixels whose numbers are finite, some together. */
static void widen_pieces(tare_range *range, const tare_kernels *kernels, const float *pixels, size_t count) {
    float low[PIECE], high[PIECE];
    const size_t channels = range->channels, fit = PIECE / channels, together = fit < count ? fit : count;
    fold_pieces(low, high, kernels, pixels, count * channels, together * channels);
    for (size_t i = 0; i < together; i++) widen_pixel(range, kernels, low + i * channels, high + i * channels);
}

static void widen_pixels(tare_range *range, const tare_kernels *kernels, const tare_tensor *tensor, bool finite) {
    const size_t channels = range->channels, count = tensor->size / sizeof(float) / channels;
    const float *pixels = tensor->data;
    if (finite && channels <= PIECE / 2 && count > 0)
        widen_pieces(range, kernels, pixels, count);
    else if (finite)
        for (size_t i = 0; i < count; i++) widen_pixel(range, kernels, pixels + i * channels, pixels + i * channels);
    else
        for (size_t i = 0; i < count * channels; i++)
            widen(&range->channel_min[i % channels], &range->channel_max[i % channels], pixels + i, 1);
}

void tare_range_count_channels(tare_range *range, const tare_kernels *kernels, const tare_tensor *tensor,
                               tare_layout layout, bool finite) {
    const tare_shape *shape = &tensor->shape;
    if (!range->channels) return;
    if (shape->rank < 2 || (size_t)shape->dim[tare_layout_axis(layout, 1, shape->rank)] != range->channels) {
        range->channels = 0;
        return;
    }
    if (layout == TARE_LAYOUT_LAST)
        widen_pixels(range, kernels, tensor, finite);
    else
        widen_rows(range, kernels, tensor, finite);
    for (size_t c = 0; c < range->channels; c++) { /* which zero came first is not kept */
        range->channel_min[c] += 0.0f;
        range->channel_max[c] += 0.0f;
    }
}

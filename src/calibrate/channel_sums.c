/* The sum of the finite numbers in each channel of a value: what its mean is where a product multiplies it. Eight lanes by the
 * place of a pixel, whatever the layout, so that the sum of a sample is one number; sums of samples are exact. */
#include "calibrate/range.h"

enum { LANES = 8, BLOCK = TARE_SUM_COLUMNS, CHUNK = 256 /* pixels that a cache holds */ };

tare_status tare_range_want_sums(tare_range *range, size_t channels, tare_arena *arena, tare_error *err) {
    range->channel_sum = tare_arena_alloc(arena, channels, sizeof *range->channel_sum);
    if (!range->channel_sum) return tare_fail_memory(err, channels * sizeof *range->channel_sum);
    range->summed = channels;
    return TARE_OK;
}

static double fold(double *lanes, size_t step) {
    for (size_t half = LANES / 2; half > 0; half /= 2)
        for (size_t k = 0; k < half; k++) lanes[k * step] += lanes[(k + half) * step];
    return lanes[0];
}

/* Numbers of one channel, the first of which is that of pixel `at`. */
static void add_row(double lanes[LANES], const float *row, size_t count, size_t at, bool finite) {
    size_t i = 0;
    for (; i < count && (at + i) % LANES; i++) lanes[(at + i) % LANES] += tare_finite_or_0(row[i]);
    if (finite)
        for (; i + LANES <= count; i += LANES)
            for (size_t k = 0; k < LANES; k++) lanes[k] += (double)row[i + k];
    for (; i < count; i++) lanes[(at + i) % LANES] += tare_finite_or_0(row[i]);
}

static void sum_rows(tare_range *range, const tare_tensor *tensor, bool finite) {
    const tare_shape *shape = &tensor->shape;
    const size_t inner = (size_t)tare_shape_product(shape, 2, shape->rank), images = (size_t)shape->dim[0];
    const float *numbers = tensor->data;
    for (size_t c = 0; c < range->summed; c++) {
        double lanes[LANES] = { 0 };
        for (size_t n = 0; n < images; n++)
            add_row(lanes, numbers + (n * range->summed + c) * inner, inner, n * inner, finite);
        tare_sum_add(&range->channel_sum[c], fold(lanes, 1));
    }
}

/* Every LANES-th of `count` pixels, `step` numbers apart, to one lane. */
static void add_some(double lane[BLOCK], const float *pixel, size_t channels, size_t count, size_t step) {
    for (size_t i = 0; i < count; i += LANES, pixel += LANES * step)
        for (size_t c = 0; c < channels; c++) lane[c] += tare_finite_or_0(pixel[c]);
}

static void add_chunk(double lanes[LANES][BLOCK], const float *pixel, size_t channels, size_t count, size_t step,
                      const tare_kernels *kernels) {
    for (size_t k = 0; k < LANES && k < count; k++, pixel += step)
        if (kernels && channels == BLOCK)
            kernels->add_columns_f32(lanes[k], pixel, LANES * step, (count - k + LANES - 1) / LANES);
        else
            add_some(lanes[k], pixel, channels, count - k, step);
}

/* Kernels: where all numbers are finite. */
static void sum_pixels(tare_range *range, const tare_tensor *tensor, const tare_kernels *kernels) {
    const size_t step = range->summed, pixels = tensor->size / sizeof(float) / step;
    const float *numbers = tensor->data;
    for (size_t first = 0; first < step; first += BLOCK) {
        const size_t channels = step - first < BLOCK ? step - first : BLOCK;
        double lanes[LANES][BLOCK] = { 0 };
        for (size_t i = 0; i < pixels; i += CHUNK)
            add_chunk(lanes, numbers + i * step + first, channels, pixels - i < CHUNK ? pixels - i : CHUNK, step,
                      kernels);
        for (size_t c = 0; c < channels; c++) tare_sum_add(&range->channel_sum[first + c], fold(&lanes[0][c], BLOCK));
    }
}

void tare_range_sum_channels(tare_range *range, const tare_kernels *kernels, const tare_tensor *tensor,
                             tare_layout layout, bool finite) {
    const tare_shape *shape = &tensor->shape;
    if (!range->summed) return;
    if (shape->rank < 2 || (size_t)shape->dim[tare_layout_axis(layout, 1, shape->rank)] != range->summed)
        range->summed = 0;
    else if (layout == TARE_LAYOUT_LAST)
        sum_pixels(range, tensor, finite ? kernels : NULL);
    else
        sum_rows(range, tensor, finite);
}

double tare_range_channel_mean(const tare_range *range, size_t channel) {
    const double numbers = (double)(range->count / range->summed);
    return numbers > 0 ? tare_sum_value(&range->channel_sum[channel]) / numbers : 0;
}

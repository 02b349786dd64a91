/* Mean and variance of rows (moments.h). */
#include "ops/moments.h"

float tare_moments_row(const tare_kernels *kernels, float *to, const float *from, size_t count, bool center,
                       float *mean) {
    float middle = center ? kernels->reduce_sum_f32(from, count) / (float)count : 0;
    tare_lanes lanes = { 0 };
    float squares[TARE_NUMBERS_CHUNK];
    for (size_t i = 0; i < count; i += TARE_NUMBERS_CHUNK) {
        size_t part = count - i < TARE_NUMBERS_CHUNK ? count - i : TARE_NUMBERS_CHUNK;
        kernels->sub_f32(to + i, from + i, 1, &middle, 0, part);
        kernels->mul_f32(squares, to + i, 1, to + i, 1, part);
        tare_lanes_add(&lanes, squares, part);
    }
    if (mean) *mean = middle;
    return tare_lanes_sum(&lanes) / (float)count;
}

void tare_moments_block(const tare_kernels *kernels, const tare_rows *rows, float *to, const float *from, size_t count,
                        float *mean, float *variance) {
    float lanes[TARE_LANES][TARE_MOMENTS_BLOCK] = { { 0 } }, squares[TARE_MOMENTS_BLOCK];
    float length = (float)rows->length;
    tare_row_walk walk;
    tare_row_begin(&walk, rows);
    for (int64_t k = 0; k < rows->length; k++, tare_row_next(&walk))
        kernels->add_f32(lanes[k % TARE_LANES], lanes[k % TARE_LANES], 1, from + walk.at, 1, count);
    tare_lanes_tree(lanes[0], TARE_MOMENTS_BLOCK, count, kernels->add_f32);
    for (size_t c = 0; c < count; c++) mean[c] = lanes[0][c] / length;
    for (int j = 0; j < TARE_LANES; j++)
        for (size_t c = 0; c < count; c++) lanes[j][c] = 0;
    tare_row_begin(&walk, rows);
    for (int64_t k = 0; k < rows->length; k++, tare_row_next(&walk)) {
        kernels->sub_f32(to + walk.at, from + walk.at, 1, mean, 1, count);
        kernels->mul_f32(squares, to + walk.at, 1, to + walk.at, 1, count);
        kernels->add_f32(lanes[k % TARE_LANES], lanes[k % TARE_LANES], 1, squares, 1, count);
    }
    tare_lanes_tree(lanes[0], TARE_MOMENTS_BLOCK, count, kernels->add_f32);
    for (size_t c = 0; c < count; c++) variance[c] = lanes[0][c] / length;
}

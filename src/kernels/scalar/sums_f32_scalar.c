/* Sums in f64 of what is made of f32 numbers: element by element, as kernels.h states it. */
#include "kernels/variants.h"

static double add_lanes(const double *lanes) {
    double sum = 0;
    for (size_t k = 0; k < TARE_SUM_LANES; k++) sum += lanes[k];
    return sum;
}

double tare_square_error_f32_scalar(const float *a, const float *b, size_t count) {
    double lanes[TARE_SUM_LANES] = { 0 };
    for (size_t i = 0; i < count; i++) {
        const double error = (double)(a[i] - b[i]);
        lanes[i % TARE_SUM_LANES] += error * error;
    }
    return add_lanes(lanes);
}

double tare_square_beyond_f32_scalar(const float *from, size_t count, float lo, float hi) {
    double lanes[TARE_SUM_LANES] = { 0 };
    for (size_t i = 0; i < count; i++) {
        const float high = from[i] < hi ? from[i] : hi;
        const double beyond = (double)(from[i] - (high > lo ? high : lo));
        lanes[i % TARE_SUM_LANES] += beyond * beyond;
    }
    return add_lanes(lanes);
}

void tare_add_columns_f32_scalar(double *sums, const float *from, size_t stride, size_t rows) {
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < TARE_SUM_COLUMNS; c++) sums[c] += (double)from[r * stride + c];
}

/* Template: sums in f64 of what is made of f32 numbers. Loops of a constant count, which compilers turn into vectors. */
#include "kernels/variants.h"

/* The sum over i of `expression`, by lanes. */
#define SUM(expression)                                                                                                \
    double lanes[TARE_SUM_LANES] = { 0 }, sum = 0;                                                                     \
    size_t at = 0;                                                                                                     \
    for (; at + TARE_SUM_LANES <= count; at += TARE_SUM_LANES)                                                         \
        for (size_t k = 0; k < TARE_SUM_LANES; k++) {                                                                  \
            const size_t i = at + k;                                                                                   \
            lanes[k] += (expression);                                                                                  \
        }                                                                                                              \
    for (size_t i = at; i < count; i++) lanes[i - at] += (expression);                                                 \
    for (size_t k = 0; k < TARE_SUM_LANES; k++) sum += lanes[k];                                                       \
    return sum;

static inline double square(double x) { return x * x; }

static inline double beyond(float x, float lo, float hi) {
    const float high = x < hi ? x : hi;
    return (double)(x - (high > lo ? high : lo));
}

double VARIANT(square_error_f32)(const float *a, const float *b, size_t count) { SUM(square((double)(a[i] - b[i]))) }

double VARIANT(square_beyond_f32)(const float *from, size_t count, float lo, float hi) {
    SUM(square(beyond(from[i], lo, hi)))
}

void VARIANT(add_columns_f32)(double *sums, const float *from, size_t stride, size_t rows) {
    double columns[TARE_SUM_COLUMNS];
    for (size_t c = 0; c < TARE_SUM_COLUMNS; c++) columns[c] = sums[c];
    for (size_t r = 0; r < rows; r++, from += stride)
        for (size_t c = 0; c < TARE_SUM_COLUMNS; c++) columns[c] += (double)from[c];
    for (size_t c = 0; c < TARE_SUM_COLUMNS; c++) sums[c] = columns[c];
}

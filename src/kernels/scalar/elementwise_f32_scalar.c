/* f32 arithmetic, clamp, row sums and maxima: element by element, as kernels.h states it. */
#include "kernels/variants.h"

#include <math.h>

#define BINARY(slot, expression)                                                                                       \
    void tare_##slot##_scalar(float *to, const float *a, size_t a_stride, const float *b, size_t b_stride,             \
                              size_t count) {                                                                          \
        for (size_t i = 0; i < count; i++) {                                                                           \
            float x = a[i * a_stride], y = b[i * b_stride];                                                            \
            to[i] = (expression);                                                                                      \
        }                                                                                                              \
    }

BINARY(add_f32, x + y)
BINARY(sub_f32, x - y)
BINARY(mul_f32, x *y)
BINARY(div_f32, x / y)
BINARY(max_f32, isnan(x) || x > y ? x : y)
BINARY(min_f32, isnan(x) || x < y ? x : y)

void tare_clamp_f32_scalar(float *to, const float *from, size_t count, float lo, float hi) {
    for (size_t i = 0; i < count; i++) {
        float x = from[i] < lo ? lo : from[i];
        to[i] = x > hi ? hi : x;
    }
}

float tare_reduce_sum_f32_scalar(const float *from, size_t count) {
    float lanes[TARE_LANES] = { 0 };
    for (size_t i = 0; i < count; i++) lanes[i % TARE_LANES] += from[i];
    for (size_t half = TARE_LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

float tare_reduce_max_f32_scalar(const float *from, size_t count) {
    float lanes[TARE_LANES];
    for (size_t i = 0; i < TARE_LANES; i++) lanes[i] = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (isnan(from[i])) return from[i];
        if (from[i] > lanes[i % TARE_LANES]) lanes[i % TARE_LANES] = from[i];
    }
    for (size_t half = TARE_LANES / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            if (lanes[i + half] > lanes[i]) lanes[i] = lanes[i + half];
    return lanes[0];
}

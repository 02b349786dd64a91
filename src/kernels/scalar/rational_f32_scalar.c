/* Sigmoid, Swish and Tanh as the rational functions of ONNX Runtime (kernels/rational.h), so that codes made from them agree. */
#include "kernels/rational.h"
#include "kernels/variants.h"

#include <math.h>

/* c[0] + c[1] s + c[2] s² …, each step one fma. */
static float polynomial(const float *c, size_t count, float s) {
    float p = c[count - 1];
    for (size_t i = count - 1; i-- > 0;) p = fmaf(p, s, c[i]);
    return p;
}

static float clamp(float x, float lo, float hi) {
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

static float sigmoid(float x) {
    x = clamp(x, -TARE_SIGMOID_RANGE, TARE_SIGMOID_RANGE);
    float s = x * x;
    float p = polynomial(tare_sigmoid_p, TARE_SIGMOID_P, s) * x, q = polynomial(tare_sigmoid_q, TARE_SIGMOID_Q, s);
    return clamp(p / q + 0.5f, 0, 1);
}

static float tangent(float x) {
    x = clamp(x, -TARE_TANH_RANGE, TARE_TANH_RANGE);
    float s = x * x;
    return polynomial(tare_tanh_p, TARE_TANH_P, s) * x / polynomial(tare_tanh_q, TARE_TANH_Q, s);
}

void tare_sigmoid_f32_scalar(float *to, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = sigmoid(from[i]);
}

/* As two operators would compute it. */
void tare_swish_f32_scalar(float *to, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = sigmoid(from[i]) * from[i];
}

void tare_tanh_f32_scalar(float *to, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = tangent(from[i]);
}

/* QuantizeLinear, DequantizeLinear and both in one, with ONNX Runtime 1.32's arithmetic (seen with 0 differing codes on
 * 77,811 values): true division, clamp, round to nearest even, zero point added in integers. */
#include "kernels/variants.h"

#include <math.h>

/* The code less the zero point, still a float; a NaN fails the comparison and becomes the lowest. */
static float round_code(float from, const tare_codes *codes) {
    float lo = (float)((int64_t)codes->lo - codes->zero_point), hi = (float)((int64_t)codes->hi - codes->zero_point);
    float x = from / codes->scale;
    x = x > lo ? x : lo;
    return rintf(x < hi ? x : hi);
}

#define CODES(name, type)                                                                                              \
    void tare_quantize_##name##_scalar(void *to, const float *from, size_t count, const tare_codes *codes) {           \
        type *q = to;                                                                                                  \
        for (size_t i = 0; i < count; i++) q[i] = (type)((int32_t)round_code(from[i], codes) + codes->zero_point);     \
    }                                                                                                                  \
    void tare_dequantize_##name##_scalar(float *to, const void *from, size_t count, const tare_codes *codes) {         \
        const type *q = from;                                                                                          \
        for (size_t i = 0; i < count; i++) to[i] = (float)(q[i] - codes->zero_point) * codes->scale;                   \
    }

CODES(s8, int8_t)
CODES(u8, uint8_t)
CODES(s16, int16_t)
CODES(u16, uint16_t)

/* Adding +0 turns a -0 that rounding left into the +0 that the integer stands for. */
void tare_fake_quantize_f32_scalar(float *to, const float *from, size_t count, const tare_codes *codes) {
    for (size_t i = 0; i < count; i++) to[i] = (round_code(from[i], codes) + 0.0f) * codes->scale;
}

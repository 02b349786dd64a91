/* Requantization: from an int32 sum of products of codes to a code. A closed list of epilogues as plain data, with a
 * number for each channel; targets fill them, kernels know each by name and never call back. `>>` is arithmetic. */
#ifndef TARE_KERNELS_REQUANT_H
#define TARE_KERNELS_REQUANT_H

#include <stddef.h>
#include <stdint.h>

typedef enum tare_requant_kind {
    /* v = (float)x * scale, clamped to lo - z … hi - z; y = rne(v) + z: one rounding of the sum to f32, one of the
     * product, ties to even, the zero point added to the integer.
     * Source: ONNX Runtime 1.32.0, MlasRequantizeOutput; XNNPACK's fp32 requantization is the same. */
    TARE_REQUANT_FLOAT_RNE,
    /* y = tare_q31_scale(x, multiplier, exponent) + z: two roundings, both away from zero on ties.
     * Source: TFLite's MultiplyByQuantizedMultiplier without TFLITE_SINGLE_ROUNDING: reference kernels, tflite-micro. */
    TARE_REQUANT_DOUBLY_ROUNDED,
    /* y = ((x multiplier + 2^(30 - exponent)) >> (31 - exponent)) + z: one rounding, ties towards +inf; -31 <= exponent
     * <= 30. Source: the same function with TFLITE_SINGLE_ROUNDING; CMSIS-NN's CMSIS_NN_USE_SINGLE_ROUNDING. */
    TARE_REQUANT_HALF_UP,
    /* y = ((x + 2^(n - 1)) >> n) + z for n = exponent > 0, else (x << -n) + z: a pure shift, ties towards +inf.
     * Source: TIDL's documentation of its symmetric styles; |n| <= 31. */
    TARE_REQUANT_SHIFT,
    TARE_REQUANT_COUNT
} tare_requant_kind;

/* Then y is clamped to lo … hi. The arrays have a number for each channel, or one for all; those that the kind does not
 * name are NULL. */
typedef struct tare_requant {
    tare_requant_kind kind;
    int32_t zero_point, lo, hi; /* z; the least and greatest code, also of an activation that is part of it */
    size_t step;                /* 1: a number for each channel; 0: one for all */
    float *scale;
    int32_t *multiplier; /* 2^30 … 2^31 - 1, or 0 */
    int32_t *exponent;
} tare_requant;

/* to[i] = the code of from[i], which belongs to channel first + i. A code of either sign is stored in its byte. */
void tare_requantize(const tare_requant *requant, uint8_t *to, const int32_t *from, size_t first, size_t count);

/* ---- the arithmetic of the doubly rounded form, which tflite's kernels use elsewhere too ---- */

/* real = multiplier · 2^(exponent - 31), real >= 0: the mantissa rounded away from zero on ties. 0 and what is below
 * 2^-32 give 0, 0. Source: TFLite's QuantizeMultiplier. */
void tare_q31_from_real(double real, int32_t *multiplier, int32_t *exponent);

/* a · b / 2^31 rounded to nearest, ties away from zero; INT32_MIN · INT32_MIN is INT32_MAX. Source: gemmlowp's
 * SaturatingRoundingDoublingHighMul. */
static inline int32_t tare_q31_mul(int32_t a, int32_t b) {
    if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
    const int64_t product = (int64_t)a * b, half = (int64_t)1 << 30;
    return (int32_t)((product + (product >= 0 ? half : 1 - half)) / ((int64_t)1 << 31));
}

/* x / 2^n rounded to nearest, ties away from zero; 0 <= n <= 31. Source: gemmlowp's RoundingDivideByPOT. */
static inline int32_t tare_divide_by_power(int32_t x, int32_t n) {
    const int64_t mask = ((int64_t)1 << n) - 1, rest = x & mask;
    return (int32_t)((x >> n) + (rest > (mask >> 1) + (x < 0) ? 1 : 0));
}

/* x · multiplier · 2^(exponent - 31); what is shifted out at the top is lost. exponent >= -31 */
static inline int32_t tare_q31_scale(int32_t x, int32_t multiplier, int32_t exponent) {
    const int32_t left = exponent > 0 ? exponent : 0;
    const int32_t shifted = left < 32 ? (int32_t)((uint32_t)x << left) : 0;
    return tare_divide_by_power(tare_q31_mul(shifted, multiplier), left - exponent);
}

#endif

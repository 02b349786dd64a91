/* Add on TensorFlow Lite's codes: both operands go to a common scale with 20 bits below the codes,
 *   T = f32(2 max(s_a, s_b)), A = MBQM((a - z_a) << 20, s_a / T), B likewise
 *   y = MBQM(A + B, T / f32(2^20 s_y)) + z_y, clamped to the activation's range
 * MBQM being MultiplyByQuantizedMultiplier: a multiplier of 31 bits formed in f64, two roundings, ties away from zero.
 * Source: reference/integer_ops/add.h, kernels/add.cc; checked against tflite-micro of 2026-10-23 and LiteRT 2.3.0's
 * reference kernels. */
#include "targets/codes.h"

enum { LEFT = 20 };

/* T, and what the sum is multiplied by. */
static double twice_largest(const tare_int_node *n) {
    const float a = n->inputs[0]->scale[0], b = n->inputs[1]->scale[0];
    return (double)(2 * (a > b ? a : b));
}

static double output_ratio(const tare_int_node *n) {
    return twice_largest(n) / (double)((float)(1 << LEFT) * n->output->scale[0]);
}

static const char *refuses(const tare_int_node *n) {
    return output_ratio(n) < 1 ? NULL : "its scales are out of proportion"; /* TFLite's own check */
}

static void fill(int32_t table[256], const tare_quant *quant, double largest) {
    int32_t multiplier, exponent;
    tare_q31_from_real((double)quant->scale[0] / largest, &multiplier, &exponent);
    for (int byte = 0; byte < 256; byte++) {
        const int32_t steps = tare_code_of(quant->code, (uint8_t)byte) - quant->zero_point[0];
        table[byte] = tare_q31_scale(steps * (1 << LEFT), multiplier, exponent);
    }
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_sum_codes *sum;
    TARE_TRY(tare_sum_codes_prepare(&sum, TARE_REQUANT_DOUBLY_ROUNDED, n, p, err));
    fill(sum->a, n->inputs[0], twice_largest(n));
    fill(sum->b, n->inputs[1], twice_largest(n));
    tare_requant_set(&sum->requant, 0, output_ratio(n));
    return TARE_OK;
}

const tare_int_row tare_tflite_add = {
    .profiles = 3, .codes = 1u << TARE_S8, .refuses = refuses, .prepare = prepare, .run = tare_sum_codes_run
};

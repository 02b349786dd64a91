/* Conv on TensorFlow Lite's codes (CONV_2D, DEPTHWISE_CONV_2D). Sums in s32, which wrap, the bias's codes used as they are; then
 *   y = MultiplyByQuantizedMultiplier(sum, s_x s_w / s_y) + z_y, clamped to the activation's range
 * The multiplier is formed in f64 from the f32 scales and has 31 bits; the product is rounded twice, ties away from zero.
 * Source: reference/integer_ops/conv.h, PopulateConvolutionQuantizationParams; checked against tflite-micro of 2026-10-23
 * and LiteRT 2.3.0's reference kernels. */
#include "targets/codes.h"

static const char *refuses(const tare_int_node *n) {
    const tare_quant *w = n->inputs[1];
    const char *why = tare_conv_codes_refuses(n);
    if (!why) why = tare_conv_bias_refuses(n, 0, 1e-6f);
    if (!why && w->code != TARE_S8) why = "its weight is not s8";
    if (!why) why = tare_conv_weight_refuses(n);
    for (size_t c = 0; !why && c < w->count; c++)
        if (!(tare_conv_ratio_f64(n, c) < TARE_REQUANT_MOST)) why = "its scales are out of proportion";
    return why;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    return tare_conv_codes_prepare(n, TARE_REQUANT_DOUBLY_ROUNDED, tare_conv_ratio_f64, p, err);
}

const tare_int_row tare_tflite_conv = {
    .profiles = 3, .codes = 1u << TARE_S8, .refuses = refuses, .prepare = prepare, .run = tare_conv_codes_run
};

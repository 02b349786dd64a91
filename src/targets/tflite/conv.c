/* Conv on TensorFlow Lite's codes (CONV_2D, DEPTHWISE_CONV_2D). Sums in s32, which wrap, the bias's codes used as they are; then
 *   y = MultiplyByQuantizedMultiplier(sum, s_x s_w / s_y) + z_y, clamped to the activation's range
 * The multiplier is formed in f64 from the f32 scales and has 31 bits; the product is rounded twice, ties away from zero.
 * Source: reference/integer_ops/conv.h, PopulateConvolutionQuantizationParams; checked against tflite-micro of 2026-10-23
 * and LiteRT 2.3.0's reference kernels. */
#include "targets/codes.h"

static double ratio(const tare_int_node *n, size_t channel) {
    const tare_quant *w = n->inputs[1];
    return (double)n->inputs[0]->scale[0] * (double)w->scale[w->count == 1 ? 0 : channel] / (double)n->output->scale[0];
}

static const char *refuses(const tare_int_node *n) {
    const tare_quant *w = n->inputs[1];
    const char *why = tare_conv_codes_refuses(n);
    if (!why) why = tare_conv_bias_refuses(n, 0, 1e-6f);
    if (!why && w->code != TARE_S8) why = "its weight is not s8";
    for (size_t c = 0; !why && c < w->count; c++) {
        if (w->zero_point[c]) why = "its weight has a zero point";
        if (!(ratio(n, c) < TARE_REQUANT_MOST)) why = "its scales are out of proportion";
    }
    return why;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_conv_codes *c;
    TARE_TRY(tare_conv_codes_prepare(&c, TARE_REQUANT_DOUBLY_ROUNDED, n, p, err));
    for (size_t m = 0; m < c->outputs; m++) tare_requant_set(&c->requant, m, ratio(n, m));
    return TARE_OK;
}

const tare_int_row tare_tflite_conv = {
    .profiles = 3, .codes = 1u << TARE_S8, .refuses = refuses, .prepare = prepare, .run = tare_conv_codes_run
};

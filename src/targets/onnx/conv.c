/* Conv on ONNX Runtime's codes (QLinearConv). Sums in s32, which wrap; the bias's codes are used as they are; then
 *   scale = (s_x · s_w) / s_y in f32, y = rne(clamp((float)sum · scale)) + z_y: ties to even, the zero point in integers.
 * Source: qlinearconv.cc and MlasRequantizeOutput; checked against ONNX Runtime 1.32.0. With s8 data it computes in float by
 * default (session.qdqisint8allowed makes it this formula): the codes are the same but at exact ties. */
#include <math.h>

#include "targets/codes.h"

static double ratio(const tare_int_node *n, size_t channel) {
    return (double)(tare_conv_product_scale(n, channel) / n->output->scale[0]);
}

/* ONNX Runtime leaves a Conv in float whose bias is measured in something else. */
static const char *refuses(const tare_int_node *n) {
    const char *why = tare_conv_codes_refuses(n);
    if (!why) why = tare_conv_bias_refuses(n, 1e-6f, 0.01f);
    for (size_t c = 0; !why && c < n->inputs[1]->count; c++)
        if (!isfinite(ratio(n, c))) why = "its scales are out of proportion";
    return why;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    return tare_conv_codes_prepare(n, TARE_REQUANT_FLOAT_RNE, ratio, p, err);
}

const tare_int_row tare_onnx_conv = {
    .profiles = 1,
    .codes = 1u << TARE_U8 | 1u << TARE_S8,
    .refuses = refuses,
    .prepare = prepare,
    .run = tare_conv_codes_run,
};

/* Gemm on ONNX Runtime's codes (QGemm). Sums in s32, which wrap, with the bias's codes as they are; then
 *   scale = ((alpha s_a) · s_b) / s_y in f32, y = rne(clamp((float)sum · scale)) + z_y: ties to even.
 * An alpha beside a bias, and a beta, stay in float there, and so they do here. ONNX Runtime takes the bias's codes whatever
 * their scale is, which gives wrong numbers; here such a node stays in float.
 * Source: quant_gemm.cc; checked against ONNX Runtime 1.32.0. */
#include <math.h>

#include "ops/attr.h"
#include "targets/codes.h"

static double ratio(const tare_int_node *n, size_t column) {
    const tare_quant *w = n->inputs[1];
    const float alpha = tare_attr_float(n->node, "alpha", 1);
    return (double)(alpha * n->inputs[0]->scale[0] * w->scale[w->count == 1 ? 0 : column] / n->output->scale[0]);
}

static const char *refuses(const tare_int_node *n) {
    const char *why = tare_product_codes_refuses(n);
    if (!why) why = tare_conv_bias_refuses(n, 1e-6f, 0.01f);
    if (!why && tare_node_input(n->node, 2)) {
        if (tare_attr_float(n->node, "alpha", 1) != 1) why = "it has an alpha beside its bias";
        if (tare_attr_float(n->node, "beta", 1) != 1) why = "it has a beta";
    }
    for (size_t c = 0; !why && c < n->inputs[1]->count; c++)
        if (!isfinite(ratio(n, c))) why = "its scales are out of proportion";
    return why;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    return tare_product_codes_prepare(n, TARE_REQUANT_FLOAT_RNE, ratio, p, err);
}

const tare_int_row tare_onnx_gemm = {
    .profiles = 1,
    .codes = 1u << TARE_U8 | 1u << TARE_S8,
    .refuses = refuses,
    .prepare = prepare,
    .run = tare_product_codes_run,
};

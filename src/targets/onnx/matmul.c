/* MatMul on ONNX Runtime's codes: QLinearMatMul, or MatMulIntegerToFloat where its output is not quantized. Sums in s32; then
 *   scale = (s_a · s_b) / s_y in f32, y = rne(clamp((float)sum · scale)) + z_y; as numbers y = (float)sum · (s_a · s_b).
 * Source: quantize_linear_matmul.cc and MlasRequantizeOutput; checked against ONNX Runtime 1.32.0. With s8 data it computes in
 * float by default (session.qdqisint8allowed makes it this formula): the codes are the same but at exact ties. */
#include <math.h>

#include "targets/codes.h"

static double ratio(const tare_int_node *n, size_t column) {
    return (double)(tare_conv_product_scale(n, column) / n->output->scale[0]);
}

static const char *refuses(const tare_int_node *n) {
    const char *why = tare_product_codes_refuses(n);
    for (size_t c = 0; !why && n->output && c < n->inputs[1]->count; c++)
        if (!isfinite(ratio(n, c))) why = "its scales are out of proportion";
    return why;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    return tare_product_codes_prepare(n, TARE_REQUANT_FLOAT_RNE, ratio, p, err);
}

const tare_int_row tare_onnx_matmul = {
    .profiles = 1,
    .codes = 1u << TARE_U8 | 1u << TARE_S8,
    .gives_numbers = true,
    .refuses = refuses,
    .prepare = prepare,
    .run = tare_product_codes_run,
};

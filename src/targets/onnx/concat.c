/* Concat on ONNX Runtime's codes (QLinearConcat): inputs with the output's codes are copied, others go through a table of
 * Q(DQ(code)): a true division, ties to even, the zero point added to the integer.
 * Source: qlinear_concat.cc; checked against ONNX Runtime 1.32.0. */
#include "targets/codes.h"

static tare_codes codes_of(const tare_quant *quant) {
    return (tare_codes){ quant->scale[0], quant->zero_point[0], tare_quant_lowest(quant),
                         tare_dtype_highest(quant->code) };
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_join_codes *join;
    uint8_t bytes[256];
    float reals[256];
    TARE_TRY(tare_join_codes_prepare(&join, n, p, err));
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    for (int i = 0; i < p->input_count; i++) {
        const tare_codes from = codes_of(n->inputs[i]), to = codes_of(n->output);
        const bool is_signed = n->output->code == TARE_S8;
        (is_signed ? p->kernels->dequantize_s8 : p->kernels->dequantize_u8)(reals, bytes, 256, &from);
        (is_signed ? p->kernels->quantize_s8 : p->kernels->quantize_u8)(join[i].table, reals, 256, &to);
    }
    return TARE_OK;
}

const tare_int_row tare_onnx_concat = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .prepare = prepare, .run = tare_join_codes_run
};

/* Concat on ONNX Runtime's codes (QLinearConcat): inputs with the output's codes are copied, others go through a table of
 * Q(DQ(code)): a true division, ties to even, the zero point added to the integer.
 * Source: qlinear_concat.cc; checked against ONNX Runtime 1.32.0. */
#include "targets/codes.h"

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_join_codes *join;
    TARE_TRY(tare_join_codes_prepare(&join, n, p, err));
    for (int i = 0; i < p->input_count; i++) tare_requantize_bytes(join[i].table, n->inputs[i], n->output, p->kernels);
    return TARE_OK;
}

const tare_int_row tare_onnx_concat = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .prepare = prepare, .run = tare_join_codes_run
};

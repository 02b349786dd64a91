/* Functions of one number on ONNX Runtime's codes: Q(f(DQ(code))) for each of 256 codes, f in f32 as the float operator has it.
 * That is QLinearSigmoid and QLinearLeakyRelu; other functions stay between DQ and Q there, which gives the same codes.
 * Source: qlinear_lookup_table.cc; checked against ONNX Runtime 1.32.0. */
#include "targets/codes.h"

const tare_int_row tare_onnx_table = {
    .profiles = 1,
    .codes = 1u << TARE_U8 | 1u << TARE_S8,
    .mixes = true,
    .refuses = tare_table_codes_refuses,
    .prepare = tare_table_codes_prepare,
    .run = tare_table_codes_run,
};

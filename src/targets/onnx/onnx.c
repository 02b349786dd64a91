/* Target onnx: what ONNX Runtime's CPU provider computes on codes once it has fused Q/DQ.
 * Source: its optimizer's behaviour as dumped from 1.32.0 (graph after ORT_ENABLE_ALL), u8 activations, s8 weights. */
#include <math.h>

#include "targets/codes.h"

static const char *const profiles[] = { "ort", NULL };

#define ROW(op, kind, flags)
#define CODES(op, kind, flags, x) extern const tare_int_row tare_onnx_##x;
#include "targets/onnx/onnx.def"
#undef ROW
#undef CODES

static const tare_target_row rows[] = {
#define ROW(op, kind, flags)      { #op, kind, flags, NULL },
#define CODES(op, kind, flags, x) { #op, kind, flags, &tare_onnx_##x },
#include "targets/onnx/onnx.def"
#undef ROW
#undef CODES
    { 0 },
};

/* Softmax on codes floors 1 / scale and wants 256 steps of 1/256 from its lowest code. */
static bool fixed_scale(const tare_node *node, tare_dtype code, float *scale, int32_t *zero_point) {
    if (!tare_node_is(node, "Softmax")) return false;
    *scale = 1.0f / (float)(tare_dtype_highest(code) - tare_dtype_lowest(code) + 1);
    *zero_point = tare_dtype_lowest(code);
    return true;
}

/* Relu before Q vanishes iff the zero point is the lowest code; Clip iff the codes' range lies inside its bounds, as f32:
 * the scale of [0, 6] is 6/255 rounded up, and 255 times that is 6 again. */
static bool fuses_activation(const tare_node *activation, const tare_quant *output) {
    if (output->count != 1) return false;
    const float lowest = output->scale[0] * (float)(tare_dtype_lowest(output->code) - output->zero_point[0]);
    const float highest = output->scale[0] * (float)(tare_dtype_highest(output->code) - output->zero_point[0]);
    double lo, hi;
    if (!tare_activation_read(activation, &lo, &hi)) return false;
    if (tare_node_is(activation, "Relu")) return output->zero_point[0] == tare_dtype_lowest(output->code);
    return (double)lowest >= lo && (double)highest <= hi;
}

const tare_target tare_target_onnx = {
    .name = "onnx",
    .help = "QDQ ONNX for ONNX Runtime's CPU provider",
    .profiles = profiles,
    .validated = "ONNX Runtime 1.32.0",
    .quantizes = true,
    .activation = TARE_U8,
    .weight = TARE_S8,
    .bias = TARE_S32,
    .per_channel = true,
    .rows = rows,
    .fixed_scale = fixed_scale,
    .fuses_activation = fuses_activation,
};

/* The target tflite: int8 as TensorFlow Lite's kernels compute it, with fixed-point multipliers that round twice, ties away
 * from zero. Its two profiles, tflite-micro and LiteRT's reference kernels, are one for the ops that have rows.
 * Source: reference/integer_ops and kernel_util.cc; the files of the rows say more. */
#include <math.h>

#include "targets/codes.h"

static const char *const profiles[] = { "micro", "ref", NULL };

#define CODES(op, kind, x) extern const tare_int_row tare_tflite_##x;
#include "targets/tflite/tflite.def"
#undef CODES

static const tare_target_row rows[] = {
#define CODES(op, kind, x) { #op, kind, 0, &tare_tflite_##x },
#include "targets/tflite/tflite.def"
#undef CODES
    { 0 },
};

/* Those that its ops have a field for: RELU, RELU6, RELU_N1_TO_1. */
static bool fuses_activation(const tare_node *activation, const tare_quant *output) {
    double lo, hi;
    (void)output;
    if (!tare_activation_read(activation, &lo, &hi)) return false;
    return (lo == 0 && (hi == 6 || hi == INFINITY)) || (lo == -1 && hi == 1);
}

const tare_target tare_target_tflite = {
    .name = "tflite",
    .help = "int8 TensorFlow Lite",
    .profiles = profiles,
    .validated = "tflite-micro of 2026-10-23, LiteRT 2.3.0",
    .activation = TARE_S8,
    .weight = TARE_S8,
    .bias = TARE_S32,
    .per_channel = true,
    .rows = rows,
    .fuses_activation = fuses_activation,
};

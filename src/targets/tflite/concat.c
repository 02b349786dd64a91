/* Concat on TensorFlow Lite's codes (CONCATENATION): codes of one scale are copied; it has no rescaling.
 * Source: kernels/concatenation.cc; checked against tflite-micro of 2026-10-23 and LiteRT 2.3.0's reference kernels. */
#include "targets/codes.h"

static const char *refuses(const tare_int_node *n) {
    for (int i = 0; i < n->node->input_count; i++)
        if (!tare_codes_are_alike(n->inputs[i], n->output)) return "its inputs and output have different scales";
    return NULL;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_join_codes *join;
    return tare_join_codes_prepare(&join, n, p, err);
}

const tare_int_row tare_tflite_concat = {
    .profiles = 3, .codes = 1u << TARE_S8, .refuses = refuses, .prepare = prepare, .run = tare_join_codes_run
};

/* Moves of codes: with equal scales and zero points ONNX Runtime drops DQ and Q, and the operator runs on the codes as they are.
 * Source: qdq_selectors.cc; checked against ONNX Runtime 1.32.0. */
#include "targets/codes.h"

static const char *refuses(const tare_int_node *n) {
    for (int i = 1; i < n->node->output_count; i++)
        if (n->node->outputs[i]) return "it has several outputs";
    if (tare_node_quant_kind(n->node) != TARE_QUANT_PASS) return "it computes numbers";
    return tare_codes_are_alike(n->inputs[0], n->output) ? NULL : "its input and output codes differ";
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    return n->node->op->prepare ? n->node->op->prepare(p, err) : TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) { return call->node->op->run(call, err); }

const tare_int_row tare_onnx_move = {
    .profiles = 1,
    .codes = 1u << TARE_U8 | 1u << TARE_S8,
    .refuses = refuses,
    .prepare = prepare,
    .run = run,
};

/* Identity, and Dropout, which is one when it does not train. */
#include <string.h>

#include "ops/move.h"

const tare_op tare_op_identity = {
    .name = "Identity",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_MOVES | TARE_OP_IDEMPOTENT | TARE_OP_IN_PLACE | TARE_OP_VIEW,
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = tare_infer_same,
    .run = tare_run_copy,
};

typedef struct dropout_attrs {
    int64_t seed;
} dropout_attrs;

static const tare_field dropout_fields[] = {
    { .name = "seed", .type = TARE_FIELD_INT, .offset = offsetof(dropout_attrs, seed) },
    { .type = TARE_FIELD_END },
};

static const tare_op_dual dropout_duals[] = {
    { .attribute = "ratio", .input = 1, .until = 11, .type = TARE_FIELD_FLOAT },
    { 0 },
};

static tare_status refuse_training(tare_error *err) {
    return tare_fail(err, TARE_E_UNSUPPORTED, "training_mode is on, and tare does not train");
}

static tare_status dropout_infer(tare_node *node, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0);
    double training;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    TARE_TRY(tare_infer_check(node, 2, 1u << TARE_BOOL, err));
    if (tare_value_read_scalar(tare_node_input(node, 2), &training) && training != 0) return refuse_training(err);
    TARE_TRY(tare_infer_set(node, 0, tare_input_dtype(node, 0), &shape, err));
    return tare_infer_set(node, 1, TARE_BOOL, &shape, err);
}

static tare_status dropout_run(const tare_call *call, tare_error *err) {
    const tare_tensor *training = call->input_count > 2 ? call->inputs[2] : NULL;
    if (training && training->size && *(const uint8_t *)training->data) return refuse_training(err);
    if (call->output_count > 1 && call->outputs[1]) memset(call->outputs[1]->data, 1, call->outputs[1]->size);
    return tare_run_copy(call, err);
}

const tare_op tare_op_dropout = {
    .name = "Dropout",
    .since = 7,
    .inputs = { 1, 3 },
    .outputs = { 1, 2 },
    .attrs = dropout_fields,
    .attrs_size = sizeof(dropout_attrs),
    .duals = dropout_duals,
    .flags = TARE_OP_MOVES | TARE_OP_IN_PLACE, /* no view: run() looks at training_mode */
    .layout = TARE_LAYOUT_EITHER,
    .layout_inputs = 1,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = dropout_infer,
    .run = dropout_run,
};

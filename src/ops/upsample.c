/* Upsample, before opset 10: rewritten to the Resize that computes the same. */
#include "ops/attr.h"

typedef struct attributes {
    int mode;
} attributes;

static const char *const modes[] = { "nearest", "linear", NULL };

static const tare_field fields[] = {
    { .name = "mode", .type = TARE_FIELD_ENUM, .offset = offsetof(attributes, mode), .names = modes },
    { .type = TARE_FIELD_END },
};

static const tare_op_dual duals[] = {
    { .attribute = "scales", .input = 1, .until = 8, .type = TARE_FIELD_FLOATS },
    { 0 },
};

/* Resize(X, roi none, scales), source = floor(x / scale), or linear between neighbours of x / scale (ONNX Upsample-9,
 * Resize-11 with `asymmetric`). */
static tare_status upgrade(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const attributes *attrs = node->attrs;
    const char *mode = modes[attrs->mode];
    if (node->input_count != 2 || node->output_count != 1)
        return tare_fail(err, TARE_E_MALFORMED, "has %d inputs and %d outputs, want 2 and 1", node->input_count,
                         node->output_count);
    tare_value *scales = node->inputs[1];
    TARE_TRY(tare_node_resize_inputs(node, 3, err));
    TARE_TRY(tare_node_set_input(node, 2, scales, err));
    TARE_TRY(tare_node_set_input(node, 1, NULL, err));
    TARE_TRY(tare_node_become(node, &tare_op_resize, err));
    tare_attr_set_word(node, "mode", mode);
    tare_attr_set_word(node, "coordinate_transformation_mode", "asymmetric");
    tare_attr_set_word(node, "nearest_mode", "floor");
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), NULL, err);
}

const tare_op tare_op_upsample = {
    .name = "Upsample",
    .since = 7,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .duals = duals,
    .upgrade = upgrade,
    .infer = infer,
};

/* Before:  y = Add(Constant, Shape(x))      x of a shape that is known
 * After:   y = an initializer
 * When:    all inputs are constants, or the node looks only at shapes that are known; Gather of a Shape: when the
 *          dimensions it takes are known. Results that are bigger than both the limit of tare_node_evaluate and the inputs
 *          stay nodes, as do graph outputs. Quantized constants: only moved (Reshape, Transpose, …), codes and scales
 *          with them, so that a weight behind a Transpose stays a weight.
 * Runs in order and infers as it goes: what is folded makes shapes known further on. */
#include <string.h>

#include "ops/attr.h"
#include "passes/rewrite.h"

enum { INPUTS_MAX = 64, DIMS_MAX = TARE_RANK_MAX };

static bool any_output_leaves(const tare_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] && node->outputs[i]->is_output) return true;
    return false;
}

static bool reads_quantized(const tare_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && node->inputs[i]->quant) return true;
    return false;
}

static bool writes_quantized(const tare_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] && node->outputs[i]->quant) return true;
    return false;
}

/* The outputs hold constants: the node goes, they stay as initializers. */
static void detach(tare_node *node) {
    for (int i = 0; i < node->output_count; i++) {
        tare_value *value = node->outputs[i];
        if (!value) continue;
        value->is_initializer = true;
        tare_value_set_producer(value, NULL, 0);
    }
    tare_node_remove(node);
}

/* ---- dimensions ---- */

/* Gather(Shape(x), indices): the dimensions it takes, when all are known. */
static bool read_dims(const tare_node *node, int64_t *dims, size_t *count) {
    if (!tare_node_is(node, "Gather") || !tare_node_output(node, 0)) return false;
    const tare_node *shape = node->inputs[0]->producer;
    if (!tare_node_is(shape, "Shape") || tare_attr_int(node, "axis", 0) || tare_attr_int(shape, "start", 0) ||
        !tare_value_read_s64(node->inputs[1], dims, DIMS_MAX, count))
        return false;
    const tare_shape *of = &shape->inputs[0]->shape;
    for (size_t i = 0; i < *count; i++) {
        if (of->rank < 0 || !tare_axis_normalize(&dims[i], of->rank) || of->dim[dims[i]] < 0) return false;
        dims[i] = of->dim[dims[i]];
    }
    return true;
}

static tare_status fold_dims(tare_node *node, bool *done, tare_error *err) {
    int64_t dims[DIMS_MAX];
    size_t count;
    tare_tensor *tensor;
    if (!read_dims(node, dims, &count)) return TARE_OK;
    const tare_shape *shape = &node->inputs[1]->constant->shape;
    TARE_TRY(tare_tensor_new(node->graph->model->arena, TARE_S64, shape, &tensor, err));
    if (count) memcpy(tensor->data, dims, count * sizeof *dims);
    TARE_TRY(tare_infer_set(node, 0, TARE_S64, shape, err));
    node->outputs[0]->constant = tensor;
    *done = true;
    return TARE_OK;
}

/* ---- quantized constants ---- */

/* The scales of a moved constant: as they are when there is one, with the axis where it went for a Transpose. */
static tare_status move_quant(const tare_node *node, const tare_quant **out, tare_error *err) {
    const tare_quant *quant = node->inputs[0]->quant;
    int axis = -1;
    *out = quant->count == 1 ? quant : NULL;
    if (quant->count == 1 && quant->axis < 0) return TARE_OK;
    if (!tare_node_is(node, "Transpose") || quant->block) {
        *out = NULL;
        return TARE_OK;
    }
    tare_ints perm = tare_attr_ints(node, "perm");
    int rank = node->inputs[0]->shape.rank;
    for (int i = 0; i < rank; i++)
        if ((perm.count ? perm.at[i] : rank - 1 - i) == quant->axis) axis = i;
    tare_quant *moved = tare_arena_alloc(node->graph->model->arena, 1, sizeof *moved);
    if (!moved) return tare_fail_memory(err, sizeof *moved);
    *moved = *quant;
    moved->axis = axis;
    *out = moved;
    return TARE_OK;
}

static tare_status run_on_codes(tare_node *node, tare_arena *arena, tare_tensor **out, tare_error *err) {
    tare_tensor *inputs[INPUTS_MAX] = { NULL };
    for (int i = 0; i < node->input_count; i++) {
        if (!node->inputs[i]) continue;
        inputs[i] = tare_arena_alloc(arena, 1, sizeof(tare_tensor));
        if (!inputs[i]) return tare_fail_memory(err, sizeof(tare_tensor));
        *inputs[i] = *node->inputs[i]->constant;
    }
    tare_tensor *moved;
    TARE_TRY(tare_node_run_once(node, inputs, &moved, tare_kernels_for(TARE_CPU_SCALAR), NULL, arena, err));
    TARE_TRY(tare_tensor_new(node->graph->model->arena, moved->dtype, &moved->shape, out, err));
    if (moved->size) memcpy((*out)->data, moved->data, moved->size);
    return TARE_OK;
}

/* A node that moves the elements of its quantized first input, the others being plain constants. */
static tare_status fold_moved(tare_node *node, bool *done, tare_error *err) {
    const tare_quant *quant;
    tare_tensor *tensor;
    tare_value *output = node->outputs[0];
    if (!node->op || !(node->op->flags & TARE_OP_MOVES) || tare_node_is(node, "Pad") || node->output_count != 1 ||
        !output || output->quant || node->input_count > INPUTS_MAX || !node->inputs[0] || !node->inputs[0]->quant)
        return TARE_OK;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && (!node->inputs[i]->constant || (i && node->inputs[i]->quant))) return TARE_OK;
    TARE_TRY(move_quant(node, &quant, err));
    if (!quant) return TARE_OK;
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = run_on_codes(node, arena, &tensor, err);
    tare_arena_free(arena);
    TARE_TRY(status);
    output->dtype = node->inputs[0]->dtype;
    output->shape = tensor->shape;
    output->constant = tensor;
    output->quant = quant;
    *done = true;
    return TARE_OK;
}

/* ---- the pass ---- */

static tare_status fold(tare_node *node, bool *done, tare_error *err) {
    if (any_output_leaves(node) || tare_node_is(node, "QuantizeLinear") || tare_node_is(node, "DequantizeLinear"))
        return TARE_OK;
    if (reads_quantized(node)) return fold_moved(node, done, err);
    if (writes_quantized(node)) return TARE_OK;
    TARE_TRY(tare_node_evaluate(node, done, err));
    return *done ? TARE_OK : fold_dims(node, done, err);
}

static tare_status run(tare_pass_context *context, tare_graph *graph, tare_error *err) {
    tare_for_nodes_safe (node, graph) {
        bool done = false;
        TARE_TRY(tare_node_infer(node, err));
        TARE_TRY(fold(node, &done, err));
        if (!done) continue;
        tare_pass_changed(context, "node '%s' (%s) folded into the constant '%s'", node->name, node->type,
                          node->outputs[0] ? node->outputs[0]->name : "");
        detach(node);
    }
    return TARE_OK;
}

const tare_pass tare_pass_fold_constants = {
    .name = "fold-constants",
    .help = "Nodes whose inputs are all constant, or that look only at known shapes, become initializers",
    .run = run,
};

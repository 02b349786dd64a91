/* In which order of dimensions each node works, and when nothing has to move between two orders. */
#include "run/plan.h"

tare_shape tare_layout_shape(const tare_shape *shape, tare_layout layout) {
    tare_shape laid = *shape;
    for (int i = 0; i < shape->rank; i++) laid.dim[tare_layout_axis(layout, i, shape->rank)] = shape->dim[i];
    return laid;
}

tare_shape tare_shape_expand(const tare_shape *shape, int rank) {
    tare_shape wide = { .rank = rank };
    int added = rank - shape->rank;
    for (int i = 0; i < rank; i++) wide.dim[i] = i < added ? 1 : shape->dim[i - added];
    return wide;
}

bool tare_input_is_last(const tare_node *node, int input, tare_layout layout) {
    const tare_op *op = node->op;
    if (layout == TARE_LAYOUT_FIRST) return false;
    if (!op->layout_inputs) return op->layout == TARE_LAYOUT_EITHER || input == 0;
    return input < 32 && op->layout_inputs & 1u << input;
}

bool tare_layout_is_same(const tare_shape *shape) {
    return shape->rank < 3 || shape->dim[1] == 1 || tare_shape_product(shape, 2, shape->rank) == 1;
}

/* ---- Transpose ---- */

/* order[i]: which ONNX axis is the i-th in memory. */
static void memory_order(int order[TARE_RANK_MAX], int rank, tare_layout layout) {
    for (int axis = 0; axis < rank; axis++) order[tare_layout_axis(layout, axis, rank)] = axis;
}

bool tare_transpose_is_view(const tare_node *node, tare_layout from, tare_layout to) {
    if (!tare_node_is(node, "Transpose")) return false;
    const tare_field *field = tare_fields_find(node->op->attrs, "perm");
    const tare_ints *perm = tare_field_get(field, node->attrs);
    const tare_shape *shape = &node->inputs[0]->shape;
    int rank = shape->rank, in[TARE_RANK_MAX], out[TARE_RANK_MAX], i = 0;
    if (rank < 3 && (from != TARE_LAYOUT_FIRST || to != TARE_LAYOUT_FIRST)) return false;
    memory_order(in, rank, from);
    memory_order(out, rank, to);
    for (int k = 0; k < rank; k++) {
        int axis = perm->count ? (int)perm->at[out[k]] : rank - 1 - out[k]; /* of the input */
        if (shape->dim[axis] == 1) continue;
        while (shape->dim[in[i]] == 1) i++;
        if (in[i++] != axis) return false;
    }
    return true;
}

/* ---- the choice ---- */

/* What an EITHER node costs in each layout: bytes of inputs that have to be brought there. */
static bool weigh(const tare_plan *plan, const tare_node *node, int rank, size_t cost[2]) {
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (!value || !tare_input_is_last(node, i, TARE_LAYOUT_LAST)) continue;
        if (value->shape.rank != rank && (value->shape.rank > rank || !(node->op->flags & TARE_OP_ELEMENTWISE)))
            return false;
        if (value->shape.rank != rank || !value->mark || tare_layout_is_same(&value->shape)) continue;
        const tare_plan_value *known = plan->values.at[value->mark - 1];
        size_t size = 0;
        tare_tensor_size(value->dtype, &value->shape, &size);
        if (known->value->constant && !known->is_pinned) continue;
        const tare_plan_value *other = known->other ? known->other : known;
        for (int layout = 0; layout < 2; layout++)
            if (!known->slot[layout] && !other->slot[layout]) cost[layout] += size;
    }
    return true;
}

/* Readers that want the outputs channels-last, less those that want ONNX's order. */
static int votes(const tare_node *node) {
    int sum = 0;
    const tare_value *value = node->outputs[0];
    for (size_t i = 0; i < value->uses.count; i++) {
        const tare_use *use = &value->uses.at[i];
        if (!use->node->op) continue;
        if (use->node->op->layout == TARE_LAYOUT_FIRST_ONLY) sum--;
        if (use->node->op->layout == TARE_LAYOUT_LAST_ONLY)
            sum += tare_input_is_last(use->node, use->index, TARE_LAYOUT_LAST) ? 1 : -1;
    }
    return sum - (value->is_output ? 1 : 0);
}

tare_layout tare_plan_choose_layout(const tare_plan *plan, const tare_node *node) {
    if (node->op->layout == TARE_LAYOUT_LAST_ONLY) return TARE_LAYOUT_LAST;
    if (node->op->layout == TARE_LAYOUT_FIRST_ONLY || !node->outputs[0]) return TARE_LAYOUT_FIRST;
    int rank = node->outputs[0]->shape.rank;
    size_t cost[2] = { 0, 0 };
    if (rank < 3) return TARE_LAYOUT_FIRST;
    for (int i = 1; i < node->output_count; i++)
        if (node->outputs[i] && node->outputs[i]->shape.rank != rank) return TARE_LAYOUT_FIRST;
    if (!weigh(plan, node, rank, cost)) return TARE_LAYOUT_FIRST;
    if (cost[TARE_LAYOUT_FIRST] != cost[TARE_LAYOUT_LAST])
        return cost[TARE_LAYOUT_LAST] < cost[TARE_LAYOUT_FIRST] ? TARE_LAYOUT_LAST : TARE_LAYOUT_FIRST;
    return votes(node) > 0 ? TARE_LAYOUT_LAST : TARE_LAYOUT_FIRST;
}

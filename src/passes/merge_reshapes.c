/* Before:  y = Reshape(Unsqueeze(x, axes), shape)
 * After:   y = Reshape(x, shape')
 * When:    both only rename dimensions (Reshape, Flatten, Squeeze, Unsqueeze), nothing else reads what is between, and y
 *          has at most one dimension that is not known, which becomes -1. Moves only: every number stays. Also a
 *          Transpose that moves nothing but dimensions of size 1 counts as a Reshape.
 * A quantization between must be that of x or y. */
#include <string.h>

#include "ops/attr.h"
#include "passes/rewrite.h"

static bool moves_only_ones(const tare_node *node) {
    const tare_shape *in = &node->inputs[0]->shape;
    tare_ints perm = tare_attr_ints(node, "perm");
    int64_t last = -1;
    if (in->rank < 1) return false;
    for (int i = 0; i < in->rank; i++) {
        int64_t from = perm.count ? perm.at[i] : in->rank - 1 - i;
        if (in->dim[from] == 1) continue;
        if (from < last) return false;
        last = from;
    }
    return true;
}

static bool is_reshape(const tare_node *node) {
    static const char *const ops[] = { "Reshape", "Flatten", "Squeeze", "Unsqueeze" };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (tare_node_is(node, ops[i])) return true;
    return tare_node_is(node, "Transpose") && moves_only_ones(node);
}

/* The shape as Reshape wants it; false: more than one dimension is not known, or one is 0. */
static bool target_shape(const tare_shape *shape, int64_t *dims) {
    int unknown = 0;
    if (shape->rank < 0) return false;
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] == 0) return false;
        unknown += shape->dim[i] < 0;
        dims[i] = shape->dim[i] < 0 ? -1 : shape->dim[i];
    }
    return unknown <= 1;
}

static bool can_drop(const tare_value *between, const tare_value *before, const tare_value *behind) {
    return tare_value_has_one_use(between) &&
           (!between->quant || tare_rewrite_same_quant(between->quant, before->quant) ||
            tare_rewrite_same_quant(between->quant, behind->quant)) &&
           (!before->quant || before->quant->axis < 0) && (!between->quant || between->quant->axis < 0);
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_value *between = node->inputs[0], *shape;
    tare_node *before = between->producer;
    int64_t dims[TARE_RANK_MAX];
    if (!before || before->graph != node->graph || !is_reshape(node) || !is_reshape(before) ||
        (tare_node_is(node, "Transpose") && tare_node_is(before, "Transpose")) ||
        !can_drop(between, before->inputs[0], node->outputs[0]) || !target_shape(&node->outputs[0]->shape, dims))
        return TARE_OK;
    const char *name = tare_arena_printf(context->model->arena, "%s_shape", node->outputs[0]->name);
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_s64(node->graph, name, dims, (size_t)node->outputs[0]->shape.rank, false, &shape, err));
    tare_pass_changed(context, "node '%s' (%s) merged into '%s' (%s)", before->name, before->type, node->name,
                      node->type);
    TARE_TRY(tare_node_set_input(node, 0, before->inputs[0], err));
    TARE_TRY(tare_node_resize_inputs(node, 2, err));
    TARE_TRY(tare_node_set_input(node, 1, shape, err));
    TARE_TRY(tare_node_become(node, tare_rewrite_op("Reshape"), err));
    return tare_rewrite_remove(&before, 1, node, err);
}

const tare_pass tare_pass_merge_reshapes = {
    .name = "merge-reshapes",
    .help = "Reshape, Flatten, Squeeze, Unsqueeze in a row become one Reshape",
    .roots = (const char *const[]){ "Flatten", "Reshape", "Squeeze", "Transpose", "Unsqueeze", NULL },
    .rewrite = rewrite,
};

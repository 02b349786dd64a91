/* Before:  y = If<then_branch, else_branch>(condition)      condition constant
 * After:   the nodes of the branch that is taken, y its output
 * When:    always; an output that cannot take y's place (an outer value, or one that is output twice) is copied by an
 *          Identity. */
#include "passes/rewrite.h"

static tare_graph *branch(const tare_node *node, const char *name) {
    const tare_field *field = tare_fields_find(node->op->attrs, name);
    return field ? *(tare_graph *const *)tare_field_get(field, node->attrs) : NULL;
}

/* `value` is what the branch gives for output `index`. */
static tare_status replace_output(tare_node *node, int index, tare_value *value, tare_error *err) {
    tare_value *output = node->outputs[index];
    if (!output) return TARE_OK;
    if (tare_rewrite_can_replace(output, value)) return tare_rewrite_replace(output, value, NULL, err);
    tare_node *identity;
    tare_value_set_producer(output, NULL, 0);
    return tare_graph_add_node(node->graph, node, tare_rewrite_op("Identity"), NULL, &value, 1, &output, 1, &identity,
                               err);
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    double condition;
    if (!tare_value_read_scalar(node->inputs[0], &condition)) return TARE_OK;
    tare_graph *taken = branch(node, condition != 0 ? "then_branch" : "else_branch");
    if (!taken || taken->outputs.count != (size_t)node->output_count) return TARE_OK;
    tare_pass_changed(context, "node '%s' (If): its condition is constant, the %s branch takes its place", node->name,
                      condition != 0 ? "then" : "else");
    TARE_TRY(tare_graph_inline(taken, node, err));
    for (int i = 0; i < node->output_count; i++) TARE_TRY(replace_output(node, i, taken->outputs.at[i], err));
    tare_node_remove(node);
    return TARE_OK;
}

const tare_pass tare_pass_fold_constant_if = {
    .name = "fold-constant-if",
    .help = "If with a constant condition becomes the branch that is taken",
    .roots = (const char *const[]){ "If", NULL },
    .rewrite = rewrite,
};

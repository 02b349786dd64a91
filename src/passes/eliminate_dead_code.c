/* Before:  a node, or an initializer, that nothing reads and that is no output of its graph
 * After:   gone
 * When:    always; graph inputs stay. A loop's body keeps what the loop counts on: its outputs. */
#include "passes/rewrite.h"

static bool is_unread(const tare_value *value) { return !value || (!value->uses.count && !value->is_output); }

static bool is_dead(const tare_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (!is_unread(node->outputs[i])) return false;
    return true;
}

static tare_status remove_node(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_pass_changed(context, "node '%s' (%s) removed: nothing reads it", node->name, node->type);
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i])
            TARE_TRY(tare_model_add_gone(context->model, node->outputs[i]->name, "nothing reads it", err));
    tare_node_remove(node);
    return TARE_OK;
}

static tare_status run(tare_pass_context *context, tare_graph *graph, tare_error *err) {
    for (tare_node *node = graph->last, *previous; node; node = previous) {
        previous = node->previous;
        if (is_dead(node)) TARE_TRY(remove_node(context, node, err));
    }
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (!value || value->producer || value->is_input || !is_unread(value)) continue;
        tare_pass_changed(context, "initializer '%s' removed: nothing reads it", value->name);
        tare_value_remove(value);
    }
    return TARE_OK;
}

const tare_pass tare_pass_eliminate_dead_code = {
    .name = "eliminate-dead-code",
    .help = "Nodes and initializers that nothing reads",
    .run = run,
};

/* Cutting a piece out of a graph. */
#include "graph/graph.h"

static bool is_unread(const tare_value *value) { return !value || (!value->uses.count && !value->is_output); }

static void remove_unread_nodes(tare_graph *graph) {
    for (tare_node *node = graph->last, *previous; node; node = previous) {
        bool dead = true;
        previous = node->previous;
        for (int i = 0; i < node->output_count; i++) dead &= is_unread(node->outputs[i]);
        if (dead) tare_node_remove(node);
    }
}

/* What nobody reads any more, inputs too. */
static void remove_unread_values(tare_graph *graph) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (value && !value->producer && is_unread(value)) tare_value_remove(value);
    }
}

static tare_status set_outputs(tare_graph *graph, tare_value *const *to, size_t count, tare_error *err) {
    for (size_t i = 0; i < graph->outputs.count; i++) graph->outputs.at[i]->is_output = false;
    graph->outputs.count = 0;
    for (size_t i = 0; i < count; i++)
        if (!to[i]->is_output) TARE_TRY(tare_graph_add_output(graph, to[i], err));
    return TARE_OK;
}

tare_status tare_graph_cut(tare_graph *graph, tare_value *const *to, size_t to_count, tare_value *const *from,
                           size_t from_count, tare_error *err) {
    if (to_count) TARE_TRY(set_outputs(graph, to, to_count, err));
    for (size_t i = 0; i < from_count; i++) {
        if (from[i]->is_input) continue;
        tare_value_set_producer(from[i], NULL, 0);
        TARE_TRY(tare_graph_add_input(graph, from[i], err));
    }
    remove_unread_nodes(graph);
    for (size_t i = 0; i < from_count; i++)
        if (is_unread(from[i])) return tare_fail(err, TARE_E_USAGE, "no output is computed from '%s'", from[i]->name);
    remove_unread_values(graph);
    return TARE_OK;
}

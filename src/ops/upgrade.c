/* Steps of rewriting a node to its canonical form (upgrade.h). */
#include "ops/upgrade.h"

tare_status tare_insert_node(tare_node *before, const tare_op *op, const char *base, tare_value *const *inputs,
                             int input_count, tare_value **out, tare_node **added, tare_error *err) {
    tare_graph *graph = before->graph;
    const char *name = tare_graph_unique_name(graph, base);
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_value(graph, name, out, err));
    return tare_graph_add_node(graph, before, op, name, inputs, input_count, out, 1, added, err);
}

tare_status tare_append_node(tare_node *node, const tare_op *op, tare_value **inputs, int input_count,
                             tare_node **added, tare_error *err) {
    tare_value *output = node->outputs[0];
    const char *name = tare_graph_unique_name(node->graph, output->name);
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_value(node->graph, name, &inputs[0], err));
    inputs[0]->dtype = output->dtype;
    tare_value_set_producer(output, NULL, 0);
    tare_value_set_producer(inputs[0], node, 0);
    return tare_graph_add_node(node->graph, node->next, op, name, inputs, input_count, &output, 1, added, err);
}

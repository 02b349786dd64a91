/* The rules of graph.h, checked as a whole: what readers, passes and the quantizer must leave behind. */
#include <math.h>
#include <string.h>

#include "graph/graph.h"

static const char *label(const tare_node *node) { return node->op ? tare_op_name(node->op) : node->type; }

static tare_status broken(tare_error *err, const char *what, const char *name) {
    return tare_fail(err, TARE_E_BUG, "graph: %s: '%s'", what, name);
}

static tare_status verify_quant(const tare_value *value, tare_error *err) {
    const tare_quant *quant = value->quant;
    if (!quant->count || !quant->scale || !quant->zero_point)
        return broken(err, "quantized without scales", value->name);
    if (quant->axis < 0 && quant->count != 1) return broken(err, "many scales and no axis", value->name);
    if (quant->axis >= 0 && value->shape.rank >= 0 && quant->axis >= value->shape.rank)
        return broken(err, "quantization axis past the rank", value->name);
    if (quant->axis >= 0 && !quant->block && value->shape.rank > 0) {
        int64_t dim = value->shape.dim[quant->axis];
        if (dim >= 0 && (uint64_t)dim != quant->count)
            return tare_fail(err, TARE_E_BUG, "graph: '%s' has %zu scales for %lld channels", value->name, quant->count,
                             (long long)dim);
    }
    for (size_t i = 0; i < quant->count; i++) {
        if (!isfinite(quant->scale[i]) || quant->scale[i] <= 0)
            return tare_fail(err, TARE_E_BUG, "graph: scale %g of channel %zu of '%s'", (double)quant->scale[i], i,
                             value->name);
        if (quant->code != TARE_S32 && (quant->zero_point[i] < tare_dtype_lowest(quant->code) ||
                                        quant->zero_point[i] > tare_dtype_highest(quant->code)))
            return broken(err, "zero point outside its type", value->name);
    }
    return TARE_OK;
}

static tare_status verify_value(const tare_graph *graph, const tare_value *value, const char *key, tare_error *err) {
    if (!value->name || !*value->name || strcmp(value->name, key)) return broken(err, "value under a wrong name", key);
    if (value->graph != graph) return broken(err, "value of another graph", key);
    if (value->producer && tare_node_output(value->producer, value->producer_index) != value)
        return broken(err, "producer does not know its output", key);
    for (size_t i = 0; i < value->uses.count; i++)
        if (tare_node_input(value->uses.at[i].node, value->uses.at[i].index) != value)
            return broken(err, "use that its node does not have", key);
    if (value->constant) {
        size_t size;
        if (!tare_tensor_size(value->constant->dtype, &value->constant->shape, &size) || size != value->constant->size)
            return broken(err, "constant whose size is not its shape's", key);
        if (value->is_initializer && !tare_shape_equal(&value->constant->shape, &value->shape))
            return broken(err, "constant of another shape than its value", key);
    }
    return value->quant ? verify_quant(value, err) : TARE_OK;
}

static tare_status verify_arity(const tare_node *node, tare_error *err) {
    int inputs[2], outputs[2];
    tare_op_arity(node->op, inputs, outputs);
    if (node->input_count < inputs[0] || (inputs[1] >= 0 && node->input_count > inputs[1]))
        return tare_fail(err, TARE_E_MALFORMED, "node '%s' (%s): %d inputs, wants %d to %d", node->name, label(node),
                         node->input_count, inputs[0], inputs[1]);
    if (node->output_count < outputs[0] || (outputs[1] >= 0 && node->output_count > outputs[1]))
        return tare_fail(err, TARE_E_MALFORMED, "node '%s' (%s): %d outputs, wants %d to %d", node->name, label(node),
                         node->output_count, outputs[0], outputs[1]);
    for (int i = 0; i < inputs[0]; i++)
        if (!node->inputs[i])
            return tare_fail(err, TARE_E_MALFORMED, "node '%s' (%s): required input %d is left out", node->name,
                             label(node), i);
    return TARE_OK;
}

/* Every use a value lists is an input of its node; that none is missing follows from equal totals. */
typedef struct tally {
    size_t inputs, uses;
} tally;

static tare_status verify_node(const tare_node *node, tally *total, tare_error *err) {
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (!value) continue;
        total->inputs++;
        if (value->producer && value->producer->mark == 0)
            return tare_fail(err, TARE_E_BUG, "graph: node '%s' reads '%s' before it is made", node->name, value->name);
    }
    for (int i = 0; i < node->output_count; i++) {
        const tare_value *value = node->outputs[i];
        if (value && (value->producer != node || value->producer_index != i))
            return broken(err, "output that its value does not know", node->name);
    }
    return node->op ? verify_arity(node, err) : TARE_OK;
}

static void clear_marks(const tare_graph *graph) {
    tare_for_nodes (node, graph) {
        node->mark = 0;
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) clear_marks(body);
    }
}

/* Depth: graphs nest at most 32 deep. A node is marked once all that it reads was. */
static tare_status verify_graph(const tare_graph *graph, tally *total, tare_error *err) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_map_entry *entry = &graph->values.entries.at[i];
        const tare_value *value = entry->value;
        if (!value) continue;
        TARE_TRY(verify_value(graph, value, entry->key, err));
        total->uses += value->uses.count;
    }
    size_t count = 0;
    const tare_node *previous = NULL;
    tare_for_nodes (node, graph) {
        if (node->graph != graph || node->previous != previous) return broken(err, "node list", node->name);
        previous = node;
        count++;
        TARE_TRY(verify_node(node, total, err));
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(verify_graph(body, total, err));
        node->mark = 1;
    }
    if (count != graph->node_count || graph->last != previous) return broken(err, "node count", graph->name);
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (!graph->outputs.at[i]->is_output) return broken(err, "output not marked", graph->outputs.at[i]->name);
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (!graph->inputs.at[i]->is_input) return broken(err, "input not marked", graph->inputs.at[i]->name);
    return TARE_OK;
}

tare_status tare_graph_verify(const tare_graph *graph, tare_error *err) {
    clear_marks(graph);
    tally total = { 0 };
    TARE_TRY(verify_graph(graph, &total, err));
    return total.inputs == total.uses ? TARE_OK : broken(err, "inputs that their values do not know", graph->name);
}

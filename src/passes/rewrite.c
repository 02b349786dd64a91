/* Steps that rewrites have in common. */
#include "passes/rewrite.h"

#include <assert.h>
#include <string.h>

bool tare_rewrite_same_quant(const tare_quant *a, const tare_quant *b) {
    if (a == b) return true;
    if (!a || !b || a->code != b->code || a->axis != b->axis || a->block != b->block || a->count != b->count ||
        a->narrow != b->narrow)
        return false;
    return !memcmp(a->scale, b->scale, a->count * sizeof *a->scale) &&
           !memcmp(a->zero_point, b->zero_point, a->count * sizeof *a->zero_point);
}

bool tare_rewrite_same_shape(const tare_shape *a, const tare_shape *b) {
    if (a->rank < 0 || a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i] || a->dim[i] == TARE_DIM_UNKNOWN) return false;
    return true;
}

bool tare_rewrite_is_inner(const tare_value *value) {
    return tare_value_has_one_use(value) && !value->quant && value->uses.at[0].node->graph == value->graph;
}

const tare_op *tare_rewrite_op(const char *name) { return tare_op_find("", name, INT64_MAX); }

bool tare_rewrite_can_replace(const tare_value *value, const tare_value *with) {
    if (value->dtype != with->dtype) return false;
    if (value->quant && !tare_rewrite_same_quant(value->quant, with->quant) &&
        (with->quant || !tare_value_has_one_use(with)))
        return false;
    if (!value->is_output) return true;
    return with->producer && !with->is_output && with->graph == value->graph;
}

tare_status tare_rewrite_replace(tare_value *value, tare_value *with, const tare_alias *how, tare_error *err) {
    bool is_output = value->is_output;
    assert(tare_rewrite_can_replace(value, with));
    if (value->quant && !with->quant) with->quant = value->quant;
    TARE_TRY(tare_value_replace(value, with, err));
    if (is_output) return tare_value_take_name(with, value, err);
    tare_alias alias = how ? *how : (tare_alias){ .factor = 1 };
    alias.target = with->name;
    return tare_model_add_alias(with->graph->model, value->name, &alias, err);
}

tare_status tare_rewrite_bypass(tare_node *node, tare_value *with, tare_error *err) {
    TARE_TRY(tare_rewrite_replace(node->outputs[0], with, NULL, err));
    tare_node_remove(node);
    return TARE_OK;
}

tare_status tare_rewrite_take_output(tare_node *producer, tare_node *node, const tare_alias *how, tare_error *err) {
    tare_model *model = node->graph->model;
    tare_value *between = producer->outputs[0], *output = node->outputs[0];
    tare_value_set_producer(output, NULL, 0);
    if (how) {
        tare_alias alias = *how;
        alias.target = output->name;
        TARE_TRY(tare_model_add_alias(model, between->name, &alias, err));
    } else {
        const char *reason = tare_arena_printf(model->arena, "folded into '%s' (%s)", output->name, node->type);
        if (!reason) return tare_fail_memory(err, 0);
        TARE_TRY(tare_model_add_gone(model, between->name, reason, err));
    }
    tare_node_remove(node);
    tare_value_set_producer(between, NULL, 0);
    tare_value_remove(between);
    tare_value_set_producer(output, producer, 0);
    return TARE_OK;
}

tare_status tare_rewrite_codes(tare_node *node, int index, const tare_tensor *tensor, const tare_quant *quant,
                               tare_error *err) {
    tare_value *old = node->inputs[index], *fresh;
    if (tare_value_has_one_use(old) && !old->is_input && !old->producer && old->graph == node->graph) {
        old->constant = tensor;
        old->shape = tensor->shape;
        old->quant = quant;
        return TARE_OK;
    }
    TARE_TRY(tare_graph_add_constant(node->graph, old->name, tensor, quant, true, &fresh, err));
    return tare_node_set_input(node, index, fresh, err);
}

tare_status tare_rewrite_constant(tare_node *node, int index, const tare_tensor *tensor, tare_error *err) {
    return tare_rewrite_codes(node, index, tensor, NULL, err);
}

/* Does nobody read a node's outputs? */
static bool is_unread(const tare_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] && (node->outputs[i]->uses.count || node->outputs[i]->is_output)) return false;
    return true;
}

tare_status tare_rewrite_remove(tare_node *const *nodes, size_t count, const tare_node *into, tare_error *err) {
    tare_model *model = into->graph->model;
    const char *reason = tare_arena_printf(model->arena, "part of '%s' (%s)", into->outputs[0]->name, into->type);
    if (!reason) return tare_fail_memory(err, 0);
    for (size_t done = 0; done < count;) {
        size_t before = done;
        for (size_t i = 0; i < count; i++) {
            /* A node that went has no graph neighbours to ask; its outputs are gone from it. */
            if (!nodes[i]->outputs[0] || !is_unread(nodes[i])) continue;
            for (int k = 0; k < nodes[i]->output_count; k++)
                if (nodes[i]->outputs[k]) TARE_TRY(tare_model_add_gone(model, nodes[i]->outputs[k]->name, reason, err));
            tare_node_remove(nodes[i]);
            done++;
        }
        if (done == before) break;
    }
    return TARE_OK;
}

tare_status tare_rewrite_become(tare_node *node, const char *op, tare_value *input, tare_error *err) {
    TARE_TRY(tare_node_set_input(node, 0, input, err));
    TARE_TRY(tare_node_resize_inputs(node, 1, err));
    return tare_node_become(node, tare_rewrite_op(op), err);
}

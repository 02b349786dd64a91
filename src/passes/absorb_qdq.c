/* Before:  x → QuantizeLinear → DequantizeLinear → d, e, …
 * After:   x, quantized                    readers of d, e, … read x
 * When:    the Q is all that reads x, x is no graph output, scales and zero points are constant and the DQs' are the Q's;
 *          at most one of the DQs' outputs is a graph output, which x becomes by taking its name. A float constant that
 *          others read too is copied first.
 * Before:  w = DequantizeLinear(codes, scale, zero_point)      codes constant
 * After:   w, a quantized constant
 * Before:  x → Q → Reshape → DQ → d        on codes: also Transpose, Slice, MaxPool, … what moves them or takes the largest
 * After:   x → Q → DQ → Reshape → d        on which the first rule works
 * Other Qs stay nodes whose output is a code-typed value. Half-precision scales stay nodes: their arithmetic is another. */
#include <string.h>

#include "passes/qdq.h"
#include "passes/rewrite.h"

typedef struct absorber {
    tare_graph *graph;
    TARE_VEC(tare_value *) parameters; /* may be unread now: scales, zero points, codes */
} absorber;

static tare_status keep_parameters(absorber *a, const tare_node *node, tare_error *err) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && node->inputs[i]->constant &&
            !tare_vec_push(a->graph->model->arena, &a->parameters, node->inputs[i]))
            return tare_fail_memory(err, 0);
    return TARE_OK;
}

static void drop_parameters(absorber *a) {
    for (size_t i = 0; i < a->parameters.count; i++) {
        tare_value *value = a->parameters.at[i];
        if (value->uses.count || value->is_output || value->is_input || value->producer || value->graph != a->graph ||
            tare_map_get(&a->graph->values, value->name) != value)
            continue;
        tare_value_remove(value);
    }
}

/* ---- DQ of constant codes ---- */

static tare_status absorb_constant(absorber *a, tare_node *dq, tare_error *err) {
    const tare_quant *quant;
    tare_value *codes = dq->inputs[0], *value = dq->outputs[0];
    TARE_TRY(tare_qdq_read(dq, &quant, err));
    if (!quant || value->is_output || value->dtype != TARE_F32) return TARE_OK;
    TARE_TRY(keep_parameters(a, dq, err));
    tare_value_set_producer(value, NULL, 0);
    value->shape = codes->constant->shape;
    value->constant = codes->constant;
    value->quant = quant;
    value->is_initializer = true;
    tare_node_remove(dq);
    return TARE_OK;
}

/* ---- Q, then only DQs ---- */

/* Are all readers of the codes DQs like the Q, and can x take the place of their outputs? */
static tare_status can_absorb(const tare_node *q, const tare_quant *quant, bool *can, tare_error *err) {
    const tare_value *x = q->inputs[0], *codes = q->outputs[0];
    size_t outputs = 0;
    *can = false;
    if (x->dtype != TARE_F32 || x->is_output || codes->is_output || !codes->uses.count || x->graph != q->graph)
        return TARE_OK;
    if (x->uses.count != 1 && !x->constant) return TARE_OK;
    for (size_t i = 0; i < codes->uses.count; i++) {
        const tare_node *dq = codes->uses.at[i].node;
        const tare_quant *other;
        if (!tare_node_is(dq, "DequantizeLinear") || codes->uses.at[i].index || dq->graph != q->graph) return TARE_OK;
        TARE_TRY(tare_qdq_read(dq, &other, err));
        if (!tare_rewrite_same_quant(quant, other) || dq->outputs[0]->dtype != TARE_F32) return TARE_OK;
        outputs += dq->outputs[0]->is_output;
    }
    /* A value that was quantized before, in the same way, is not changed by being so again. */
    *can = outputs + (outputs && !x->producer) <= 1 && (!x->quant || tare_rewrite_same_quant(x->quant, quant));
    return TARE_OK;
}

static tare_status own_constant(tare_node *q, tare_error *err) {
    tare_value *x = q->inputs[0], *copy;
    if (!x->constant || x->uses.count == 1) return TARE_OK;
    TARE_TRY(tare_graph_add_constant(q->graph, x->name, x->constant, NULL, true, &copy, err));
    return tare_node_set_input(q, 0, copy, err);
}

/* The codes are no value any more: per tensor they are x / scale + zero_point. */
static tare_status record_codes(const tare_value *codes, const tare_value *x, const tare_quant *quant,
                                tare_error *err) {
    tare_model *model = x->graph->model;
    const char *reason = tare_arena_printf(model->arena, "the codes of '%s'", x->name);
    if (!reason) return tare_fail_memory(err, 0);
    if (quant->count != 1) return tare_model_add_gone(model, codes->name, reason, err);
    const tare_alias alias = { .target = x->name,
                               .factor = 1 / (double)quant->scale[0],
                               .offset = (double)quant->zero_point[0] };
    return tare_model_add_alias(model, codes->name, &alias, err);
}

static tare_status absorb_pair(absorber *a, tare_node *q, tare_error *err) {
    const tare_quant *quant;
    bool can = false;
    TARE_TRY(tare_qdq_read(q, &quant, err));
    if (quant) TARE_TRY(can_absorb(q, quant, &can, err));
    if (!can) return TARE_OK;
    TARE_TRY(own_constant(q, err));
    tare_value *x = q->inputs[0], *codes = q->outputs[0];
    if (!x->quant) x->quant = quant;
    while (codes->uses.count) {
        tare_node *dq = codes->uses.at[0].node;
        TARE_TRY(keep_parameters(a, dq, err));
        TARE_TRY(tare_rewrite_replace(dq->outputs[0], x, NULL, err));
        tare_node_remove(dq);
    }
    TARE_TRY(record_codes(codes, x, quant, err));
    TARE_TRY(keep_parameters(a, q, err));
    tare_node_remove(q);
    return TARE_OK;
}

/* ---- codes that are moved between Q and DQ ---- */

/* Moves codes, or takes the largest: gives the same before and after dequantizing them, whose scale is positive. */
static bool moves_codes(const tare_node *node) {
    if (!node || !node->op || node->output_count != 1 || !node->outputs[0] || !node->inputs[0]) return false;
    if (tare_node_is(node, "MaxPool")) return true;
    return node->op->flags & TARE_OP_MOVES && !tare_node_is(node, "Pad") && !tare_node_is(node, "Concat") &&
           !tare_node_is(node, "Where");
}

static bool comes_from_q(const tare_value *value) {
    while (moves_codes(value->producer) && tare_value_has_one_use(value) && !value->constant)
        value = value->producer->inputs[0];
    return tare_node_is(value->producer, "QuantizeLinear");
}

/* m → codes → DQ → d becomes DQ' → real → m → d. */
static tare_status swap(tare_node *dq, tare_error *err) {
    tare_value *codes = dq->inputs[0], *real, *output = dq->outputs[0];
    tare_node *mover = codes->producer;
    const char *name = tare_graph_unique_name(dq->graph, mover->inputs[0]->name);
    const tare_quant *quant;
    TARE_TRY(tare_qdq_read(dq, &quant, err));
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_value(dq->graph, name, &real, err));
    TARE_TRY(record_codes(codes, output, quant, err));
    TARE_TRY(tare_node_set_input(dq, 0, mover->inputs[0], err));
    TARE_TRY(tare_node_set_input(mover, 0, real, err));
    tare_value_set_producer(output, NULL, 0);
    tare_value_set_producer(codes, NULL, 0);
    tare_value_remove(codes);
    tare_value_set_producer(real, dq, 0);
    tare_value_set_producer(output, mover, 0);
    tare_node_move_before(dq, mover);
    TARE_TRY(tare_node_infer(dq, err));
    return tare_node_infer(mover, err);
}

static tare_status draw_forward(tare_node *dq, tare_error *err) {
    const tare_quant *quant;
    if (!comes_from_q(dq->inputs[0])) return TARE_OK;
    TARE_TRY(tare_qdq_read(dq, &quant, err));
    if (!quant || quant->axis >= 0) return TARE_OK;
    while (!tare_node_is(dq->inputs[0]->producer, "QuantizeLinear")) TARE_TRY(swap(dq, err));
    return TARE_OK;
}

/* ---- all of a graph ---- */

static tare_status check_all(tare_graph *graph, const tare_normalize_options *options, tare_log *log, tare_error *err) {
    tare_for_nodes (node, graph) {
        if (!tare_qdq_is(node)) continue;
        TARE_TRY(tare_qdq_settle(node, err));
        TARE_TRY(tare_qdq_check(node, options, log, err));
    }
    return TARE_OK;
}

static tare_status absorb_all(absorber *a, tare_error *err) {
    tare_for_nodes_safe (node, a->graph)
        if (tare_node_is(node, "DequantizeLinear") && node->inputs[0]->constant)
            TARE_TRY(absorb_constant(a, node, err));
    tare_for_nodes_safe (node, a->graph)
        if (tare_node_is(node, "DequantizeLinear")) TARE_TRY(draw_forward(node, err));
    for (tare_node *node = a->graph->first, *previous; node;) {
        previous = node->previous;
        if (tare_node_is(node, "QuantizeLinear")) TARE_TRY(absorb_pair(a, node, err));
        tare_node *next = previous ? previous->next : a->graph->first;
        node = next == node ? node->next : next;
    }
    drop_parameters(a);
    return TARE_OK;
}

/* Depth: graphs nest at most 32 deep. */
tare_status tare_absorb_qdq(tare_graph *graph, const tare_normalize_options *options, tare_log *log, tare_error *err) {
    absorber a = { .graph = graph };
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(tare_absorb_qdq(body, options, log, err));
    }
    TARE_TRY(check_all(graph, options, log, err));
    return absorb_all(&a, err);
}

/* Making a graph concrete: shapes of the feeds go in, shapes of everything come out, and chains that only compute shapes
 * become constants. What still depends on numbers is held by pins, see plan.h. */
#include <string.h>

#include "base/size.h"
#include "run/session.h"

/* Folding at plan time is for shapes and small tables; what is larger was folded by the passes or runs as a step. */
static const size_t fold_limit = (size_t)1 << 20;
/* A pinned value of more elements is data: what is computed from it is computed each time. */
static const int64_t pin_fold_limit = 1024;

/* ---- the copy ---- */

static tare_graph *locate(const tare_model *copy, const tare_graph *graph) {
    if (!graph->owner) return copy->graph;
    const tare_node *owner = tare_map_get(&copy->node_names, graph->owner->name);
    int index = 0;
    while (tare_node_body(graph->owner, index) != graph) index++;
    return tare_node_body(owner, index);
}

/* What was inferred for symbolic dimensions is inferred anew for the known ones. */
static void forget_shapes(tare_graph *graph) {
    tare_for_nodes (node, graph)
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i] && !node->outputs[i]->constant) node->outputs[i]->shape = tare_shape_unknown();
}

static void clear_marks(tare_graph *graph) {
    for (; graph; graph = graph->outer) {
        for (size_t i = 0; i < graph->values.entries.count; i++) {
            tare_value *value = graph->values.entries.at[i].value;
            if (value) value->mark = 0;
        }
    }
}

/* ---- feeds ---- */

static tare_status fail_feed(const tare_model *model, const tare_value *value, const tare_feed_key *feed,
                             tare_error *err) {
    char got[128], want[128];
    tare_shape_print(got, sizeof got, &feed->shape, NULL);
    tare_shape_print(want, sizeof want, &value->shape, model->symbols.at);
    return tare_fail(err, TARE_E_USAGE, "input '%s': got %s %s, want %s %s", value->name, tare_dtype_name(feed->dtype),
                     got, tare_dtype_name(value->dtype), want);
}

/* One symbol is one size wherever it stands: sizes[symbol] is -1 until it is known. */
static bool fits_shape(const tare_shape *got, const tare_shape *want, int64_t *sizes) {
    if (want->rank == TARE_RANK_UNKNOWN) return true;
    if (got->rank != want->rank) return false;
    for (int i = 0; i < got->rank; i++) {
        int64_t dim = want->dim[i];
        if (dim >= 0 && dim != got->dim[i]) return false;
        if (dim >= TARE_DIM_UNKNOWN) continue;
        int64_t *size = &sizes[-2 - dim];
        if (*size >= 0 && *size != got->dim[i]) return false;
        *size = got->dim[i];
    }
    return true;
}

static tare_status set_feeds(tare_plan *plan, const tare_session *session, tare_error *err) {
    const tare_graph *graph = plan->graph;
    size_t symbols = plan->model->symbols.count;
    int64_t *sizes = tare_arena_alloc(plan->arena, symbols + 1, sizeof *sizes);
    if (!sizes) return tare_fail_memory(err, symbols * sizeof *sizes);
    for (size_t i = 0; i < symbols; i++) sizes[i] = -1;
    for (size_t i = 0; i < plan->feed_count; i++) {
        bool is_input = i < graph->inputs.count;
        tare_value *value = is_input ? graph->inputs.at[i]
                                     : tare_graph_find_value(graph, session->captures[i - graph->inputs.count]->name);
        const tare_feed_key *feed = &plan->feeds[i];
        if (!feed->dtype) {
            if (value->constant) continue;
            return tare_fail(err, TARE_E_USAGE, "input '%s' is not given and has no initializer", value->name);
        }
        bool is_checked = is_input && !graph->outer;
        if (is_checked &&
            ((value->dtype && value->dtype != feed->dtype) || !fits_shape(&feed->shape, &value->shape, sizes)))
            return fail_feed(plan->model, value, feed, err);
        value->dtype = feed->dtype;
        value->shape = feed->shape;
        value->constant = NULL;
    }
    return TARE_OK;
}

/* ---- what is needed ---- */

/* Is `around` the graph itself or one around it? */
static bool lies_in(const tare_graph *graph, const tare_graph *around) {
    for (; graph; graph = graph->outer)
        if (graph == around) return true;
    return false;
}

/* Graphs nest at most 32 deep (ops/infer.c), which bounds the recursion. */
static bool visit_body(const tare_graph *body, const tare_graph *home, tare_capture_visit *visit, void *context) {
    tare_for_nodes (node, body) {
        for (int i = 0; i < node->input_count; i++) {
            tare_value *value = node->inputs[i];
            if (value && lies_in(home, value->graph) && !visit(context, value)) return false;
        }
        const tare_graph *inner;
        for (int i = 0; (inner = tare_node_body(node, i)); i++)
            if (!visit_body(inner, home, visit, context)) return false;
    }
    for (size_t i = 0; i < body->outputs.count; i++) {
        tare_value *value = body->outputs.at[i];
        if (lies_in(home, value->graph) && !visit(context, value)) return false;
    }
    return true;
}

bool tare_graph_captures(const tare_graph *body, tare_capture_visit *visit, void *context) {
    return visit_body(body, body->outer, visit, context);
}

static bool mark_value(void *context, tare_value *value) {
    (void)context;
    value->mark = 1;
    return true;
}

static void need_reads(const tare_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i]) node->inputs[i]->mark = 1;
    const tare_graph *body;
    for (int i = 0; (body = tare_node_body(node, i)); i++) tare_graph_captures(body, mark_value, NULL);
}

static bool is_folded(const tare_plan *plan, const tare_node *node) {
    bool all = true;
    for (int i = 0; i < node->output_count; i++) {
        const tare_value *value = node->outputs[i];
        if (!value) continue;
        bool is_pinned = false;
        for (size_t p = 0; p < plan->pins.count; p++)
            is_pinned |= plan->pins.at[p].tensor->data && !strcmp(plan->pins.at[p].name, value->name);
        all &= value->constant && !is_pinned;
    }
    return all;
}

static void need_results(const tare_plan *plan, const tare_session *session) {
    const tare_graph *graph = plan->graph;
    for (size_t i = 0; i < graph->outputs.count; i++) graph->outputs.at[i]->mark = 1;
    for (size_t i = 0; i < session->tapped.entries.count; i++) {
        tare_value *value = tare_map_get(&graph->values, session->tapped.entries.at[i].key);
        value->mark = 1;
    }
}

/* A node that asked for numbers runs whether or not its outputs are wanted: its guard is what all that was folded behind
 * it relies on. */
static void need_pinned(const tare_plan *plan) {
    size_t index = 0;
    tare_for_nodes (node, plan->graph) {
        for (size_t i = 0; i < plan->pins.count; i++)
            if (plan->pins.at[i].node == index && node != plan->stop) node->mark = TARE_NODE_NEEDED;
        index++;
    }
}

/* Sets node->mark: backwards from what is wanted; a node whose outputs were folded need not run. */
static void find_needed(tare_plan *plan, const tare_session *session, bool are_folded) {
    tare_graph *graph = plan->graph;
    clear_marks(graph);
    tare_for_nodes (node, graph) node->mark = TARE_NODE_SKIPPED;
    if (are_folded) need_pinned(plan);
    if (plan->stop)
        need_reads(plan->stop);
    else
        need_results(plan, session);
    for (tare_node *node = plan->stop ? plan->stop->previous : graph->last; node; node = node->previous) {
        bool is_wanted = false;
        for (int i = 0; i < node->output_count; i++) is_wanted |= node->outputs[i] && node->outputs[i]->mark;
        if (is_wanted && !(are_folded && is_folded(plan, node))) node->mark = TARE_NODE_NEEDED;
        if (node->mark == TARE_NODE_NEEDED) need_reads(node);
    }
}

/* ---- inference ---- */

static bool is_complete(const tare_node *node) {
    for (int i = 0; i < node->output_count; i++) {
        const tare_value *value = node->outputs[i];
        if (value && (!value->dtype || !tare_shape_is_static(&value->shape))) return false;
    }
    return true;
}

/* Nothing quantized, all inputs known (constant, or only their shapes matter), results small. */
static bool may_fold(const tare_session *session, const tare_node *node) {
    size_t size, total = 0;
    bool reads_shape = node->op->flags & TARE_OP_READS_SHAPE;
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (value && !reads_shape && (!value->constant || value->quant)) return false;
    }
    for (int i = 0; i < node->output_count; i++) {
        const tare_value *value = node->outputs[i];
        if (!value) continue;
        if (value->quant && session->options.backend != TARE_BACKEND_FLOAT) return false;
        if (!tare_tensor_size(value->dtype, &value->shape, &size) || !tare_size_add(total, size, &total)) return false;
    }
    return total <= fold_limit;
}

/* Sets what the pins of node `index` hold; *any tells whether there were some. */
static void apply_pins(tare_plan *plan, size_t index, bool *any) {
    for (size_t i = 0; i < plan->pins.count; i++) {
        const tare_pin *pin = &plan->pins.at[i];
        if (pin->node != index) continue;
        tare_value *value = tare_graph_find_value(plan->graph, pin->name);
        *any = true;
        if (pin->tensor->data) {
            value->constant = pin->tensor;
        } else {
            value->dtype = pin->tensor->dtype;
            value->shape = pin->tensor->shape;
        }
    }
}

/* Large pinned data served the shape rule; from here on they are numbers like others. */
static void drop_data_pins(tare_plan *plan, size_t index) {
    for (size_t i = 0; i < plan->pins.count; i++) {
        const tare_pin *pin = &plan->pins.at[i];
        if (pin->node != index || !pin->tensor->data) continue;
        if (!tare_dtype_is_float(pin->tensor->dtype) && tare_shape_elements(&pin->tensor->shape) <= pin_fold_limit)
            continue;
        tare_graph_find_value(plan->graph, pin->name)->constant = NULL;
    }
}

static tare_status infer(tare_plan *plan, const tare_session *session, tare_node *node, size_t index, bool *known,
                         tare_error *err) {
    bool is_pinned = false, is_done = false;
    if (!node->op || (!node->op->run && !(node->op->flags & TARE_OP_CONTROL))) {
        tare_fail(err, TARE_E_UNSUPPORTED, "tare cannot run this operator");
        return tare_within(err, "node '%s' (%s)", node->name, node->type);
    }
    bool is_control = node->op->flags & TARE_OP_CONTROL;
    if (!is_control) apply_pins(plan, index, &is_pinned);
    TARE_TRY(tare_node_infer(node, err));
    if (is_control) apply_pins(plan, index, &is_pinned);
    *known = is_complete(node);
    if (*known && !is_pinned && may_fold(session, node)) TARE_TRY(tare_node_evaluate(node, &is_done, err));
    if (is_pinned && !is_control) drop_data_pins(plan, index);
    return TARE_OK;
}

static tare_status infer_all(tare_plan *plan, const tare_session *session, tare_error *err) {
    size_t index = 0;
    tare_for_nodes (node, plan->graph) {
        bool known = true;
        if (node->mark == TARE_NODE_NEEDED) TARE_TRY(infer(plan, session, node, index, &known, err));
        if (!known) {
            plan->stop = node;
            plan->stop_index = index;
            return TARE_OK;
        }
        index++;
    }
    return TARE_OK;
}

tare_status tare_plan_specialize(tare_plan *plan, const tare_session *session, tare_error *err) {
    TARE_TRY(tare_model_copy(&plan->model, session->model, err));
    plan->graph = locate(plan->model, session->graph);
    forget_shapes(plan->graph);
    TARE_TRY(set_feeds(plan, session, err));
    find_needed(plan, session, false);
    TARE_TRY(infer_all(plan, session, err));
    find_needed(plan, session, true);
    clear_marks(plan->graph);
    return TARE_OK;
}

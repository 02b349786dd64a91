/* Laying the steps of a plan: one per node that must run, and between them conversions of layout, copies and views. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "run/control.h"
#include "run/lay.h"

typedef tare_lay layer;

enum { LARGE = 1 << 18 /* numbers */ };

tare_status tare_lay_add(const layer *l, tare_step *step, tare_error *err) {
    tare_tensor **to = step->tensors;
    for (int i = 0; i < step->call.input_count; i++) *to++ = step->inputs[i] ? &step->inputs[i]->tensor : NULL;
    for (int i = 0; i < step->call.output_count; i++) *to++ = step->outputs[i] ? &step->outputs[i]->tensor : NULL;
    step->call.kernels = l->session->kernels;
    step->call.pool = l->session->options.pool;
    return tare_vec_push(l->plan->arena, &l->plan->steps, step) ? TARE_OK : tare_fail_memory(err, 0);
}

tare_status tare_lay_value(const layer *l, tare_value *value, tare_plan_value **out, tare_error *err) {
    *out = tare_plan_value_of(l->plan, l->session, value);
    return *out ? TARE_OK : tare_fail_memory(err, 0);
}

/* A step of the plan's own from one slot to a new one of this shape. */
tare_status tare_lay_plain(const layer *l, tare_step_kind kind, tare_slot *from, const tare_shape *shape,
                           tare_layout layout, tare_plan_value *made, tare_slot **out, tare_error *err) {
    tare_step *step = tare_step_new(l->plan, kind, 1, 1);
    *out = tare_slot_new(l->plan, from->tensor.dtype, shape, layout, TARE_STORED_SLAB);
    if (!step || !*out) return tare_fail_memory(err, 0);
    step->inputs[0] = from;
    step->outputs[0] = *out;
    step->made[0] = made;
    step->call.layout = layout;
    return tare_lay_add(l, step, err);
}

/* ---- reading values ---- */

/* from has the ONNX shape `shape`; the result the same in `layout`. */
static tare_status convert(const layer *l, tare_slot *from, const tare_shape *shape, tare_layout layout,
                           tare_slot **out, tare_error *err) {
    const tare_shape laid = tare_layout_shape(shape, layout);
    tare_step_kind kind = tare_layout_is_same(shape) ? TARE_STEP_VIEW : TARE_STEP_CONVERT;
    return tare_lay_plain(l, kind, from, &laid, layout, NULL, out, err);
}

tare_status tare_lay_get(const layer *l, tare_plan_value *known, tare_layout layout, int rank, tare_slot **out,
                         tare_error *err) {
    const tare_value *value = known->value;
    if (rank < 3) layout = TARE_LAYOUT_FIRST;
    if (value->constant && !known->is_pinned)
        return tare_plan_constant(l->plan, l->session, known, layout, rank, out, err);
    if (known->other && !known->slot[0] && !known->slot[1]) TARE_TRY(tare_lay_form(l, known, err));
    if (rank == value->shape.rank) {
        tare_slot **slot = &known->slot[layout];
        if (!*slot) {
            tare_slot *other = known->slot[layout == TARE_LAYOUT_FIRST ? TARE_LAYOUT_LAST : TARE_LAYOUT_FIRST];
            assert(other);
            TARE_TRY(convert(l, other, &value->shape, layout, slot, err));
        }
        *out = *slot;
        return TARE_OK;
    }
    tare_slot *own;
    const tare_shape wide = tare_shape_expand(&value->shape, rank);
    TARE_TRY(tare_lay_get(l, known, TARE_LAYOUT_FIRST, value->shape.rank, &own, err));
    if (layout == TARE_LAYOUT_LAST && tare_layout_is_same(&wide)) return convert(l, own, &wide, layout, out, err);
    TARE_TRY(tare_lay_plain(l, TARE_STEP_VIEW, own, &wide, TARE_LAYOUT_FIRST, NULL, &own, err));
    *out = own;
    return layout == TARE_LAYOUT_LAST ? convert(l, own, &wide, layout, out, err) : TARE_OK;
}

static tare_status get(const layer *l, tare_value *value, tare_layout layout, int rank, tare_slot **out,
                       tare_error *err) {
    tare_plan_value *known;
    TARE_TRY(tare_lay_value(l, value, &known, err));
    return tare_lay_get(l, known, layout, rank, out, err);
}

static tare_status get_first(const layer *l, tare_value *value, tare_slot **out, tare_error *err) {
    return get(l, value, TARE_LAYOUT_FIRST, value->shape.rank, out, err);
}

/* ---- feeds and results ---- */

/* Rounded inputs are copied: the caller's tensors are never written. */
static tare_status add_feed(const layer *l, size_t index, tare_error *err) {
    const tare_feed_key *feed = &l->plan->feeds[index];
    const tare_graph *graph = l->plan->graph;
    bool is_input = index < graph->inputs.count;
    if (!feed->dtype) return TARE_OK;
    tare_value *value = is_input
                            ? graph->inputs.at[index]
                            : tare_graph_find_value(graph, l->session->captures[index - graph->inputs.count]->name);
    tare_plan_value *known;
    TARE_TRY(tare_lay_value(l, value, &known, err));
    tare_slot *slot = tare_slot_new(l->plan, feed->dtype, &feed->shape, TARE_LAYOUT_FIRST, TARE_STORED_FEED);
    if (!slot) return tare_fail_memory(err, 0);
    slot->place = index;
    known->slot[TARE_LAYOUT_FIRST] = slot;
    if (known->twin_tapped && is_input) TARE_TRY(tare_lay_feed_twin(l, known, err));
    if (!is_input || (!known->quant && !known->tapped)) return TARE_OK;
    return tare_lay_plain(l, known->quant ? TARE_STEP_COPY : TARE_STEP_VIEW, slot, &feed->shape, TARE_LAYOUT_FIRST,
                          known, &known->slot[TARE_LAYOUT_FIRST], err);
}

/* The outputs must outlive the caller's tensors, so a feed that is one is copied. */
static tare_status add_results(const layer *l, tare_error *err) {
    tare_plan *plan = l->plan;
    const tare_graph *graph = plan->graph;
    plan->outputs = tare_arena_alloc(plan->arena, graph->outputs.count + 1, sizeof(tare_slot *));
    if (!plan->outputs) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < graph->outputs.count; i++) {
        tare_slot *slot;
        TARE_TRY(get_first(l, graph->outputs.at[i], &slot, err));
        if (slot->storage == TARE_STORED_FEED)
            TARE_TRY(tare_lay_plain(l, TARE_STEP_COPY, slot, &slot->tensor.shape, TARE_LAYOUT_FIRST, NULL, &slot, err));
        slot->last = TARE_STEP_END;
        plan->outputs[i] = slot;
    }
    return TARE_OK;
}

/* What the session needs to see of the node that planning stopped at. */
static tare_status add_stop(const layer *l, tare_error *err) {
    tare_plan *plan = l->plan;
    const tare_node *stop = plan->stop;
    tare_control *control = NULL;
    if (stop->op->flags & TARE_OP_CONTROL) TARE_TRY(tare_control_get(&control, l->session, stop, err));
    size_t captures = control ? control->capture_count : 0;
    plan->stop_slots = tare_arena_alloc(plan->arena, (size_t)stop->input_count + captures + 1, sizeof(tare_slot *));
    if (!plan->stop_slots) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < (size_t)stop->input_count + captures; i++) {
        bool is_own = i < (size_t)stop->input_count;
        tare_value *value =
            is_own ? stop->inputs[i]
                   : tare_graph_find_value(plan->graph, control->captures[i - (size_t)stop->input_count]->name);
        if (!value) continue;
        TARE_TRY(get_first(l, value, &plan->stop_slots[i], err));
        plan->stop_slots[i]->last = TARE_STEP_END;
    }
    return TARE_OK;
}

/* ---- nodes ---- */

tare_layout tare_lay_input(const tare_node *node, int input, tare_layout layout, int *rank) {
    bool is_last = tare_input_is_last(node, input, layout);
    bool is_wide = is_last && node->op->flags & TARE_OP_ELEMENTWISE;
    *rank = is_wide ? node->outputs[0]->shape.rank : node->inputs[input]->shape.rank;
    return is_last ? TARE_LAYOUT_LAST : TARE_LAYOUT_FIRST;
}

static tare_status add_guards(const layer *l, tare_step *step, tare_error *err) {
    for (size_t i = 0; i < l->plan->pins.count; i++) {
        const tare_pin *pin = &l->plan->pins.at[i];
        if (pin->node != step->node_index || !pin->tensor->data) continue;
        tare_guard guard = { .pin = pin };
        TARE_TRY(get_first(l, tare_graph_find_value(l->plan->graph, pin->name), &guard.slot, err));
        if (!tare_vec_push(l->plan->arena, &step->guards, guard)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

tare_status tare_lay_describe(const layer *l, const tare_step *step, float lo, float hi, tare_prepare *out,
                              tare_error *err) {
    size_t count = (size_t)step->call.input_count;
    const tare_tensor **inputs = tare_arena_alloc(l->plan->arena, count + 1, sizeof(*inputs));
    if (!inputs) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < count; i++) inputs[i] = step->tensors[i];
    for (size_t g = 0; g < step->guards.count; g++)
        for (size_t i = 0; i < count; i++)
            if (step->inputs[i] == step->guards.at[g].slot) inputs[i] = step->guards.at[g].pin->tensor;
    *out = (tare_prepare){ .node = step->node,
                           .attrs = step->node->attrs,
                           .inputs = inputs,
                           .input_count = step->call.input_count,
                           .outputs = (const tare_tensor *const *)step->call.outputs,
                           .output_count = step->call.output_count,
                           .layout = step->call.layout,
                           .kernels = l->session->kernels,
                           .threads = tare_pool_size(l->session->options.pool),
                           .arena = l->plan->packed,
                           .kept = &l->plan->kept,
                           .clamp_lo = lo,
                           .clamp_hi = hi };
    return TARE_OK;
}

/* What was made of a constant for this node alone, and packed from there, has served. Beside codes and twins a node's inputs
 * may be read once more. */
static void drop_taken(const layer *l, const tare_step *step, unsigned taken) {
    const tare_backend backend = l->session->options.backend;
    if (backend != TARE_BACKEND_FLOAT && backend != TARE_BACKEND_QDQ) return;
    for (int i = 0; i < step->call.input_count && taken >> i; i++) {
        const tare_value *value = step->node->inputs[i];
        tare_slot *slot = step->inputs[i];
        if (!(taken >> i & 1) || !slot || !slot->is_kept || value->uses.count > 1 || value->is_output) continue;
        if (l->plan->values.at[value->mark - 1]->tapped) continue;
        tare_kept_drop_one(&l->plan->kept, slot->tensor.data);
        slot->tensor.data = NULL;
    }
}

void tare_lay_take(const layer *l, tare_step *step, const tare_prepare *prepared) {
    drop_taken(l, step, prepared->taken);
    step->call.state = prepared->state;
    if (prepared->scratch_size > l->plan->scratch) l->plan->scratch = prepared->scratch_size;
}

tare_status tare_lay_prepare(const layer *l, tare_step *step, float lo, float hi, tare_error *err) {
    const tare_node *node = step->node;
    tare_prepare p;
    if (!node->op->prepare) return TARE_OK;
    TARE_TRY(tare_lay_describe(l, step, lo, hi, &p, err));
    if (node->op->prepare(&p, err) != TARE_OK) return tare_within(err, "node '%s' (%s)", node->name, node->type);
    tare_lay_take(l, step, &p);
    return TARE_OK;
}

/* Is anything to become of this output? The first ones an op cannot leave out. */
static bool is_wanted(const tare_node *node, int output) {
    const tare_value *value = node->outputs[output];
    return value && (value->uses.count || value->is_output || output < node->op->outputs[0]);
}

static tare_status make_outputs(const layer *l, tare_step *step, tare_value *const *values, tare_error *err) {
    for (int i = 0; i < step->node->output_count; i++) {
        tare_value *value = values[i];
        if (!value) continue;
        TARE_TRY(tare_lay_value(l, value, &step->made[i], err));
        if (!is_wanted(step->node, i) && !step->made[i]->tapped) {
            step->made[i] = NULL;
            continue;
        }
        tare_layout layout = value->shape.rank < 3 ? TARE_LAYOUT_FIRST : step->call.layout;
        const tare_shape laid = tare_layout_shape(&value->shape, layout);
        step->outputs[i] = tare_slot_new(l->plan, value->dtype, &laid, layout, TARE_STORED_SLAB);
        if (!step->outputs[i]) return tare_fail_memory(err, 0);
        step->made[i]->slot[layout] = step->outputs[i];
    }
    return TARE_OK;
}

tare_status tare_lay_node(const layer *l, tare_step_kind kind, const tare_node *node, size_t index, int inputs,
                          tare_step **out, tare_error *err) {
    tare_step *step = tare_step_new(l->plan, kind, inputs, node->output_count);
    if (!step) return tare_fail_memory(err, sizeof *step);
    step->node = node;
    step->node_index = index;
    step->call.node = node;
    step->call.attrs = node->attrs;
    *out = step;
    return TARE_OK;
}

/* A view's output is rounded again only when its codes are not its input's. */
static bool is_rounded_alike(const tare_plan_value *from, const tare_plan_value *to) {
    if (!from->quant || !to->quant || !tare_quant_is_equal(from->quant, to->quant)) return false;
    return from->quant->count == 1 || tare_shape_equal(&from->value->shape, &to->value->shape);
}

static tare_status add_view(const layer *l, const tare_node *node, size_t index, tare_layout from, tare_layout to,
                            tare_error *err) {
    tare_step *step = NULL;
    tare_plan_value *source, *made;
    TARE_TRY(tare_lay_node(l, TARE_STEP_VIEW, node, index, 1, &step, err));
    step->call.layout = to;
    TARE_TRY(add_guards(l, step, err));
    TARE_TRY(get(l, node->inputs[0], from, node->inputs[0]->shape.rank, &step->inputs[0], err));
    TARE_TRY(make_outputs(l, step, node->outputs, err));
    TARE_TRY(tare_lay_value(l, node->inputs[0], &source, err));
    TARE_TRY(tare_lay_value(l, node->outputs[0], &made, err));
    step->is_rounded = is_rounded_alike(source, made);
    return tare_lay_add(l, step, err);
}

/* Does the node only say other dimensions for the same bytes? The layouts of input and output, if so. */
static bool find_view(const layer *l, const tare_node *node, tare_layout layout, tare_layout *from, tare_layout *to) {
    for (int i = 1; i < node->output_count; i++)
        if (node->outputs[i] && is_wanted(node, i)) return false;
    if (node->op->flags & TARE_OP_VIEW) {
        *from = *to = layout;
        return layout == TARE_LAYOUT_FIRST || tare_shape_equal(&node->inputs[0]->shape, &node->outputs[0]->shape);
    }
    const tare_value *value = node->input_count == 1 ? node->inputs[0] : NULL;
    if (!value || !value->mark) return false;
    tare_slot *const *slots = l->plan->values.at[value->mark - 1]->slot;
    for (int i = 0; i < 4; i++) {
        *from = i & 1 ? TARE_LAYOUT_LAST : TARE_LAYOUT_FIRST;
        *to = i & 2 ? TARE_LAYOUT_LAST : TARE_LAYOUT_FIRST;
        if (slots[*from] && tare_transpose_is_view(node, *from, *to)) return true;
    }
    return false;
}

static tare_status add_control(const layer *l, const tare_node *node, size_t index, tare_error *err) {
    tare_control *control;
    tare_step *step = NULL;
    TARE_TRY(tare_control_get(&control, l->session, node, err));
    int own = node->input_count;
    TARE_TRY(tare_lay_node(l, TARE_STEP_CONTROL, node, index, own + (int)control->capture_count, &step, err));
    step->control = control;
    for (int i = 0; i < own; i++)
        if (node->inputs[i]) TARE_TRY(get_first(l, node->inputs[i], &step->inputs[i], err));
    for (size_t i = 0; i < control->capture_count; i++) {
        tare_value *value = tare_graph_find_value(l->plan->graph, control->captures[i]->name);
        TARE_TRY(get_first(l, value, &step->inputs[own + (int)i], err));
    }
    TARE_TRY(make_outputs(l, step, node->outputs, err));
    return tare_lay_add(l, step, err);
}

tare_status tare_lay_real(const layer *l, tare_node *node, size_t index, tare_error *err) {
    float lo = -INFINITY, hi = INFINITY;
    tare_layout from, to, layout = tare_plan_choose_layout(l->plan, node);
    if (find_view(l, node, layout, &from, &to)) {
        TARE_TRY(add_view(l, node, index, from, to, err));
        return l->session->options.backend == TARE_BACKEND_LOCAL ? tare_lay_twin(l, node, layout, err) : TARE_OK;
    }
    tare_step *step = NULL;
    TARE_TRY(tare_lay_node(l, TARE_STEP_NODE, node, index, node->input_count, &step, err));
    step->call.layout = layout;
    TARE_TRY(add_guards(l, step, err));
    for (int i = 0; i < node->input_count; i++) {
        int rank;
        if (!node->inputs[i]) continue;
        tare_layout wanted = tare_lay_input(node, i, layout, &rank);
        TARE_TRY(get(l, node->inputs[i], wanted, rank, &step->inputs[i], err));
    }
    tare_node *clamp = tare_plan_find_clamp(l->plan, l->session, node, &lo, &hi);
    if (clamp) {
        clamp->mark = TARE_NODE_SKIPPED;
        tare_value *first = clamp->outputs[0];
        assert(node->output_count == 1);
        TARE_TRY(make_outputs(l, step, &first, err));
    } else {
        lo = -INFINITY;
        hi = INFINITY;
        TARE_TRY(make_outputs(l, step, node->outputs, err));
    }
    TARE_TRY(tare_lay_add(l, step, err));
    TARE_TRY(tare_lay_prepare(l, step, lo, hi, err));
    TARE_TRY(tare_lay_trials(l, step, err));
    return l->session->options.backend == TARE_BACKEND_LOCAL ? tare_lay_twin(l, node, layout, err) : TARE_OK;
}

static tare_status add_node(const layer *l, tare_node *node, size_t index, tare_error *err) {
    bool done = false;
    if (node->op->flags & TARE_OP_CONTROL) return add_control(l, node, index, err);
    if (l->session->options.backend == TARE_BACKEND_INT) TARE_TRY(tare_lay_codes(l, node, index, &done, err));
    return done ? TARE_OK : tare_lay_real(l, node, index, err);
}

static bool reads_large(const tare_node *node) {
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (value && value->constant && tare_shape_elements(&value->shape) >= LARGE) return true;
    }
    return false;
}

/* What is made of large constants, step by step until it is packed, sessions make by turns. */
static tare_status add_by_turns(const layer *l, tare_node *node, size_t index, tare_error *err) {
    tare_constants *constants = l->session->options.constants;
    if (!reads_large(node)) return add_node(l, node, index, err);
    tare_constants_enter(constants);
    const tare_status status = add_node(l, node, index, err);
    tare_constants_leave(constants);
    return status;
}

/* A value that became a constant of these shapes is shown all the same. */
static tare_status show_folded(const layer *l, const tare_node *node, tare_error *err) {
    for (int i = 0; i < node->output_count; i++) {
        tare_value *value = node->outputs[i];
        tare_plan_value *known;
        tare_slot *slot;
        if (!value || !value->constant) continue;
        TARE_TRY(tare_lay_value(l, value, &known, err));
        if (!known->tapped || known->is_pinned) continue;
        TARE_TRY(get_first(l, value, &slot, err));
        TARE_TRY(tare_lay_plain(l, TARE_STEP_VIEW, slot, &slot->tensor.shape, TARE_LAYOUT_FIRST, known, &slot, err));
    }
    return TARE_OK;
}

tare_status tare_plan_lay_steps(tare_plan *plan, tare_session *session, tare_error *err) {
    const layer l = { .plan = plan, .session = session };
    size_t index = 0;
    for (size_t i = 0; i < plan->feed_count; i++) TARE_TRY(add_feed(&l, i, err));
    tare_for_nodes (node, plan->graph) {
        if (node->mark == TARE_NODE_NEEDED)
            TARE_TRY(add_by_turns(&l, node, index, err));
        else if (!plan->stop)
            TARE_TRY(show_folded(&l, node, err));
        index++;
    }
    return plan->stop ? add_stop(&l, err) : add_results(&l, err);
}

/* Running plans: steps in order, rounding and taps after each, and new plans where the old one does not hold. */
#include <string.h>

#include "run/control.h"
#include "run/lay.h"

/* ---- after a step ---- */

static char *before_room(const tare_session *session, const tare_plan *plan) {
    return session->slab + plan->activations + plan->scratch + plan->tap_real;
}

static tare_status show(tare_session *session, const tare_plan *plan, tare_step *step, int output,
                        const tare_tensor *before, tare_error *err) {
    const tare_plan_value *value = step->made[output];
    char *room = session->slab + plan->activations + plan->scratch;
    const bool is_raw = value->tapped->is_raw;
    const tare_tensor real = tare_tap_read(step->outputs[output], is_raw, room, false, session->options.pool);
    if (is_raw) {
        value->tapped->is_shown = true;
        return session->raw_tap(session->tap_context, value->tapped->value, &real, step->outputs[output]->layout, err);
    }
    tare_tensor reference;
    if (step->references) {
        reference =
            tare_tap_read(step->references[output], false, before_room(session, plan), false, session->options.pool);
        before = &reference;
    }
    if (!before && value->quant) before = &real; /* rounded before, to the same codes */
    value->tapped->is_shown = true;
    return session->tap(session->tap_context, value->tapped->value, &real, before, err);
}

/* Rounds and shows what a step has made; *shown tells whether there was something to show. */
static tare_status finish(tare_session *session, const tare_plan *plan, tare_step *step, bool *shown, tare_error *err) {
    tare_pool *pool = session->options.pool;
    for (int i = 0; i < step->call.output_count; i++) {
        tare_slot *slot = step->outputs[i];
        const tare_plan_value *value = step->made[i];
        if (!slot || !value) continue;
        bool is_shown = value->tapped && !value->tapped->is_shown;
        bool is_rounded = value->quant && !step->is_rounded;
        tare_tensor before = { 0 };
        if (is_shown && is_rounded && !step->references && !value->tapped->is_raw)
            before = tare_tap_read(slot, false, before_room(session, plan), true, pool);
        if (is_rounded) tare_round(&slot->tensor, slot->layout, value->quant, session->kernels, pool);
        if (is_shown) TARE_TRY(show(session, plan, step, i, is_rounded ? &before : NULL, err));
        *shown |= is_shown;
    }
    if (!step->trial) return TARE_OK;
    return session->trial(session->trial_context, step->trial, &step->call, &step->trial_of->call, err);
}

/* ---- a step ---- */

/* False: a node's outputs have other shapes than planned. */
static tare_status run_control(tare_step *step, bool *holds, tare_error *err) {
    const tare_node *node = step->node;
    if (tare_control_run(step->control, step->call.inputs, err) != TARE_OK)
        return tare_within(err, "node '%s' (%s)", node->name, node->type);
    for (int i = 0; i < step->call.output_count; i++) {
        const tare_slot *slot = step->outputs[i];
        const tare_tensor *result = step->control->outputs[i];
        if (!slot) continue;
        *holds = result->dtype == slot->tensor.dtype && tare_shape_equal(&result->shape, &slot->tensor.shape);
        if (!*holds) return TARE_OK;
        if (result->size) memcpy(slot->tensor.data, result->data, result->size);
    }
    return TARE_OK;
}

static bool guards_hold(const tare_step *step) {
    for (size_t i = 0; i < step->guards.count; i++) {
        const tare_tensor *got = &step->guards.at[i].slot->tensor, *want = step->guards.at[i].pin->tensor;
        if (got->size && memcmp(got->data, want->data, got->size) != 0) return false;
    }
    return true;
}

static tare_status run_step(tare_session *session, tare_step *step, bool *holds, tare_error *err) {
    *holds = guards_hold(step);
    if (!*holds) return TARE_OK;
    const tare_node *node = step->node;
    switch (step->kind) {
    case TARE_STEP_NODE:
        if ((step->row ? step->row->run : node->op->run)(&step->call, err) == TARE_OK) return TARE_OK;
        return tare_within(err, "node '%s' (%s)", node->name, node->type);
    case TARE_STEP_CONTROL: return run_control(step, holds, err);
    case TARE_STEP_CONVERT:
        tare_layout_convert(step->tensors[0], step->tensors[1], step->call.layout, session->options.pool);
        return TARE_OK;
    case TARE_STEP_CODE: tare_run_code(step); return TARE_OK;
    case TARE_STEP_COPY:
        if (step->tensors[0]->size) memcpy(step->tensors[1]->data, step->tensors[0]->data, step->tensors[0]->size);
        return TARE_OK;
    case TARE_STEP_VIEW: break;
    }
    return TARE_OK;
}

/* ---- the slab ---- */

static tare_status bind(tare_session *session, tare_plan *plan, tare_tensor *const *feeds, tare_error *err) {
    size_t size = tare_plan_slab(plan);
    if (size > session->slab_size || !session->slab) {
        tare_memory_free(session->slab);
        session->slab_size = 0;
        session->slab = tare_memory_new(size ? size : 1);
        for (size_t i = 0; i < TARE_PLANS_KEPT; i++)
            if (session->plans[i]) session->plans[i]->bound_to = NULL;
        if (!session->slab) return tare_fail_memory(err, size);
        session->slab_size = size;
    }
    tare_plan_bind(plan, session->slab);
    for (size_t i = 0; i < plan->slots.count; i++) {
        tare_slot *slot = plan->slots.at[i];
        if (slot->storage == TARE_STORED_FEED) slot->tensor.data = feeds[slot->place]->data;
    }
    return TARE_OK;
}

/* ---- plans that fit ---- */

/* The plan for these feeds, at the front. */
static tare_plan *find_plan(tare_session *session, tare_tensor *const *feeds) {
    for (size_t i = 0; i < TARE_PLANS_KEPT && session->plans[i]; i++) {
        tare_plan *plan = session->plans[i];
        if (!tare_plan_fits(plan, feeds)) continue;
        memmove(&session->plans[1], &session->plans[0], i * sizeof(tare_plan *));
        session->plans[0] = plan;
        return plan;
    }
    return NULL;
}

/* Makes a plan and puts it at the front, in the place of `old` (which is at the front), or of the one used longest ago. */
static tare_status make_plan(tare_session *session, tare_tensor *const *feeds, const tare_pin *pins, size_t count,
                             tare_plan *old, tare_error *err) {
    tare_plan *plan;
    TARE_TRY(tare_plan_new(&plan, session, feeds, pins, count, err));
    if (!old) {
        tare_plan_free(session->plans[TARE_PLANS_KEPT - 1]);
        memmove(&session->plans[1], &session->plans[0], (TARE_PLANS_KEPT - 1) * sizeof(tare_plan *));
    }
    tare_plan_free(old);
    session->plans[0] = plan;
    return TARE_OK;
}

tare_status tare_session_plan_feeds(tare_session *session, tare_tensor *const *feeds, tare_error *err) {
    return find_plan(session, feeds) ? TARE_OK : make_plan(session, feeds, NULL, 0, NULL, err);
}

/* ---- plans whose shapes depend on numbers ---- */

typedef struct pin_list {
    tare_arena *arena;
    TARE_VEC(tare_pin) pins;
} pin_list;

static tare_status add_pin(pin_list *list, size_t node, const char *name, const tare_tensor *tensor, tare_error *err) {
    const tare_pin pin = { .node = node, .name = name, .tensor = tensor };
    return tare_vec_push(list->arena, &list->pins, pin) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status keep_pins(pin_list *list, const tare_plan *plan, size_t before, tare_error *err) {
    for (size_t i = 0; i < plan->pins.count; i++) {
        const tare_pin *pin = &plan->pins.at[i];
        if (pin->node < before) TARE_TRY(add_pin(list, pin->node, pin->name, pin->tensor, err));
    }
    return TARE_OK;
}

/* Type and shape of what a control node has put out. */
static tare_status pin_outputs(pin_list *list, const tare_node *node, size_t index, const tare_control *control,
                               tare_error *err) {
    for (int i = 0; i < node->output_count; i++) {
        if (!node->outputs[i]) continue;
        tare_tensor *shape = tare_arena_alloc(list->arena, 1, sizeof *shape);
        if (!shape) return tare_fail_memory(err, sizeof *shape);
        *shape = *control->outputs[i];
        shape->data = NULL;
        TARE_TRY(add_pin(list, index, node->outputs[i]->name, shape, err));
    }
    return TARE_OK;
}

static bool is_pinned_at(const tare_plan *plan, size_t node, const char *name) {
    for (size_t i = 0; i < plan->pins.count; i++)
        if (plan->pins.at[i].node == node && !strcmp(plan->pins.at[i].name, name)) return true;
    return false;
}

/* The inputs that a shape rule may want to read: what is no float, first; then all. */
static tare_status pin_inputs(pin_list *list, const tare_plan *plan, tare_error *err) {
    const tare_node *node = plan->stop;
    for (int all = 0; all < 2; all++) {
        size_t before = list->pins.count;
        for (int i = 0; i < node->input_count; i++) {
            const tare_value *value = node->inputs[i];
            if (!value || (!all && tare_dtype_is_float(value->dtype))) continue;
            if (value->constant || is_pinned_at(plan, plan->stop_index, value->name)) continue;
            TARE_TRY(add_pin(list, plan->stop_index, value->name, &plan->stop_slots[i]->tensor, err));
        }
        if (list->pins.count > before) return TARE_OK;
    }
    tare_fail(err, TARE_E_UNSUPPORTED, "the shapes of its outputs cannot be told, even with all its inputs at hand");
    return tare_within(err, "node '%s' (%s)", node->name, node->type);
}

/* The plan stopped at a node: what is known of it now. */
static tare_status pin_stop(pin_list *list, tare_session *session, const tare_plan *plan, tare_error *err) {
    const tare_node *node = plan->stop;
    TARE_TRY(keep_pins(list, plan, plan->stop_index + 1, err));
    if (!(node->op->flags & TARE_OP_CONTROL)) return pin_inputs(list, plan, err);
    tare_control *control;
    TARE_TRY(tare_control_get(&control, session, node, err));
    size_t count = (size_t)node->input_count + control->capture_count;
    tare_tensor **inputs = tare_arena_alloc(list->arena, count + 1, sizeof(*inputs));
    if (!inputs) return tare_fail_memory(err, count * sizeof *inputs);
    for (size_t i = 0; i < count; i++) inputs[i] = plan->stop_slots[i] ? &plan->stop_slots[i]->tensor : NULL;
    if (tare_control_run(control, inputs, err) != TARE_OK)
        return tare_within(err, "node '%s' (%s)", node->name, node->type);
    return pin_outputs(list, node, plan->stop_index, control, err);
}

/* A guess did not hold: the numbers that are there now. What later nodes need is asked again. */
static tare_status pin_failed(pin_list *list, const tare_plan *plan, const tare_step *step, tare_error *err) {
    TARE_TRY(keep_pins(list, plan, step->node_index, err));
    if (step->kind == TARE_STEP_CONTROL) return pin_outputs(list, step->node, step->node_index, step->control, err);
    for (size_t i = 0; i < step->guards.count; i++)
        TARE_TRY(add_pin(list, step->node_index, step->guards.at[i].pin->name, &step->guards.at[i].slot->tensor, err));
    return TARE_OK;
}

/* Puts a plan that knows more in the place of one that ran as far as it could. */
static tare_status replan(tare_session *session, tare_tensor *const *feeds, const tare_step *failed, tare_error *err) {
    tare_plan *plan = session->plans[0];
    pin_list list = { .arena = tare_arena_new() };
    if (!list.arena) return tare_fail_memory(err, 0);
    tare_status status = failed ? pin_failed(&list, plan, failed, err) : pin_stop(&list, session, plan, err);
    if (status == TARE_OK) status = make_plan(session, feeds, list.pins.at, list.pins.count, plan, err);
    tare_arena_free(list.arena);
    return status;
}

/* ---- the run ---- */

static tare_status start(tare_session *session, tare_error *err) {
    session->next_step = 0;
    return bind(session, session->plans[0], session->feeds, err);
}

/* Says which model it was; a body's fault is told by the session around it. */
static tare_status told(const tare_session *session, tare_status status, tare_error *err) {
    const bool is_outer = session->graph == session->model->graph;
    return status != TARE_OK && is_outer && session->model->path ? tare_within(err, "%s", session->model->path)
                                                                 : status;
}

static tare_status begin(tare_session *session, tare_tensor *const *feeds, tare_error *err) {
    for (size_t i = 0; i < session->tapped.entries.count; i++)
        ((tare_tapped *)session->tapped.entries.at[i].value)->is_shown = false;
    session->feeds = feeds;
    TARE_TRY(tare_session_plan_feeds(session, feeds, err));
    return start(session, err);
}

tare_status tare_session_begin(tare_session *session, tare_tensor *const *feeds, tare_error *err) {
    return told(session, begin(session, feeds, err), err);
}

/* After each new plan the first node whose numbers are not known lies further on, or more of its inputs are known. */
static tare_status advance(tare_session *session, bool *done, tare_error *err) {
    *done = false;
    for (bool shown = false; !shown;) {
        tare_plan *plan = session->plans[0];
        tare_step *step = NULL;
        bool holds = true;
        if (session->next_step < plan->steps.count) {
            step = plan->steps.at[session->next_step++];
            TARE_TRY(run_step(session, step, &holds, err));
            if (holds) TARE_TRY(finish(session, plan, step, &shown, err));
            if (session->watch) session->watch(session->watch_context, step->node);
        } else if (!plan->stop) {
            *done = true;
            return TARE_OK;
        }
        if (holds && step) continue;
        TARE_TRY(replan(session, session->feeds, step, err));
        TARE_TRY(start(session, err));
    }
    return TARE_OK;
}

tare_status tare_session_advance(tare_session *session, bool *done, tare_error *err) {
    return told(session, advance(session, done, err), err);
}

/* The session: options, taps and plans of one graph, and the door of the room. */
#include "run/session.h"

#include <assert.h>
#include <string.h>

#include "run/control.h"

const char *const tare_backend_names[] = { "float", "qdq", "int", NULL }; /* ORDER: backend */

static tare_status open_session(tare_session **out, const tare_model *model, const tare_graph *graph,
                                const tare_session_options *options, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_session *session = arena ? tare_arena_alloc(arena, 1, sizeof *session) : NULL;
    if (!session) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *session);
    }
    session->arena = arena;
    session->model = model;
    session->graph = graph;
    session->options = *options;
    session->kernels = tare_kernels_for(options->cpu);
    if (!options->constants) {
        session->options.constants = session->own_constants = tare_constants_new();
        if (!session->own_constants) {
            tare_arena_free(arena);
            return tare_fail_memory(err, 0);
        }
    }
    tare_map_init(&session->tapped, arena);
    tare_map_init(&session->controls, arena);
    *out = session;
    return TARE_OK;
}

tare_status tare_session_new(tare_session **out, const tare_model *model, const tare_session_options *options,
                             tare_error *err) {
    return open_session(out, model, model->graph, options, err);
}

/* Plans, and with them the sessions of bodies, which have the same taps and filter. */
static void drop_plans(tare_session *session) {
    for (size_t i = 0; i < TARE_PLANS_KEPT; i++) {
        tare_plan_free(session->plans[i]);
        session->plans[i] = NULL;
    }
    for (size_t i = 0; i < session->controls.entries.count; i++)
        tare_control_free(session->controls.entries.at[i].value);
    tare_map_init(&session->controls, session->arena);
}

void tare_session_free(tare_session *session) {
    if (!session) return;
    drop_plans(session);
    tare_constants_free(session->own_constants);
    tare_memory_free(session->slab);
    tare_arena_free(session->arena);
}

/* ---- wishes ---- */

static tare_status add_tap(tare_session *session, const tare_value *value, tare_error *err) {
    if (value->graph != session->graph || value->constant) return TARE_OK;
    tare_tapped *tapped = tare_arena_alloc(session->arena, 1, sizeof *tapped);
    if (!tapped) return tare_fail_memory(err, sizeof *tapped);
    tapped->value = value;
    tapped->is_raw = session->raw_tap != NULL;
    return tare_map_put(&session->tapped, value->name, tapped) ? TARE_OK : tare_fail_memory(err, 0);
}

static bool is_made(const tare_value *value) { return value->producer || value->is_input; }

static tare_status set_taps(tare_session *session, const tare_value *const *values, size_t count, bool all,
                            void *context, tare_error *err) {
    drop_plans(session);
    tare_map_init(&session->tapped, session->arena);
    session->tap_context = context;
    session->tap_values = values;
    session->tap_count = count;
    session->taps_all = all;
    if (!session->tap && !session->raw_tap) return TARE_OK;
    for (size_t i = 0; !all && i < count; i++)
        if (is_made(values[i])) TARE_TRY(add_tap(session, values[i], err));
    for (size_t i = 0; all && i < session->graph->values.entries.count; i++) {
        const tare_value *value = session->graph->values.entries.at[i].value;
        if (value && is_made(value) && tare_dtype_is_float(value->dtype)) TARE_TRY(add_tap(session, value, err));
    }
    return TARE_OK;
}

tare_status tare_session_set_tap(tare_session *session, const tare_value *const *values, size_t count, bool all,
                                 tare_tap *tap, void *context, tare_error *err) {
    session->tap = tap;
    session->raw_tap = NULL;
    return set_taps(session, values, count, all, context, err);
}

tare_status tare_session_set_raw_tap(tare_session *session, const tare_value *const *values, size_t count,
                                     tare_raw_tap *tap, void *context, tare_error *err) {
    session->tap = NULL;
    session->raw_tap = tap;
    return set_taps(session, values, count, false, context, err);
}

void tare_session_set_quant_filter(tare_session *session, bool (*is_quantized)(void *context, const tare_value *value),
                                   void *context) {
    drop_plans(session);
    session->is_quantized = is_quantized;
    session->filter_context = context;
}

tare_status tare_session_set_trials(tare_session *session, const tare_trial *trials, size_t count, tare_trial_fn *fn,
                                    void *context, tare_error *err) {
    assert(session->options.backend == TARE_BACKEND_FLOAT);
    drop_plans(session);
    session->trials = trials;
    session->trial_count = count;
    session->trial = fn;
    session->trial_context = context;
    return tare_session_list_trials(session, err);
}

void tare_session_set_watch(tare_session *session, tare_step_watch *watch, void *context) {
    session->watch = watch;
    session->watch_context = context;
}

const tare_quant *tare_session_quant_of(const tare_session *session, const tare_value *original) {
    if (session->options.backend == TARE_BACKEND_FLOAT || !original->quant) return NULL;
    if (session->is_quantized && !session->is_quantized(session->filter_context, original)) return NULL;
    return original->quant;
}

/* ---- bodies ---- */

typedef struct collector {
    tare_arena *arena;
    TARE_VEC(tare_value *) values;
} collector;

/* Initializers are in the body's copy of the model; but those that are inputs may be overridden. */
static bool collect(void *context, tare_value *value) {
    collector *c = context;
    if (value->constant && !value->is_input) return true;
    for (size_t i = 0; i < c->values.count; i++)
        if (c->values.at[i] == value) return true;
    return tare_vec_push(c->arena, &c->values, value);
}

tare_status tare_session_new_body(tare_session **out, const tare_session *outer, const tare_graph *body,
                                  tare_error *err) {
    tare_session *session;
    TARE_TRY(open_session(&session, outer->model, body, &outer->options, err));
    collector c = { .arena = session->arena };
    tare_status status = tare_graph_captures(body, collect, &c) ? TARE_OK : tare_fail_memory(err, 0);
    session->captures = c.values.at;
    session->capture_count = c.values.count;
    tare_session_set_quant_filter(session, outer->is_quantized, outer->filter_context);
    session->tap = outer->tap;
    session->raw_tap = outer->raw_tap;
    if (status == TARE_OK)
        status = set_taps(session, outer->tap_values, outer->tap_count, outer->taps_all, outer->tap_context, err);
    if (status != TARE_OK) {
        tare_session_free(session);
        return status;
    }
    *out = session;
    return TARE_OK;
}

/* ---- the door ---- */

tare_status tare_session_plan(tare_session *session, tare_tensor *const *inputs, tare_error *err) {
    return tare_session_plan_feeds(session, inputs, err);
}

tare_status tare_session_run(tare_session *session, tare_tensor *const *inputs, tare_error *err) {
    return tare_session_run_feeds(session, inputs, err);
}

tare_status tare_session_run_feeds(tare_session *session, tare_tensor *const *feeds, tare_error *err) {
    bool done = false;
    TARE_TRY(tare_session_begin(session, feeds, err));
    while (!done) TARE_TRY(tare_session_advance(session, &done, err));
    return TARE_OK;
}

const tare_tensor *tare_session_output(const tare_session *session, size_t index) {
    assert(session->plans[0] && !session->plans[0]->stop && index < session->graph->outputs.count);
    return &session->plans[0]->outputs[index]->tensor;
}

tare_session_memory tare_session_get_memory(const tare_session *session) {
    tare_session_memory memory = { 0 };
    tare_plan *plan = session->plans[0];
    if (!plan) return memory;
    memory.slab = plan->activations + plan->tap_real + plan->tap_before;
    memory.scratch = plan->scratch;
    memory.packed = tare_arena_size(plan->packed) + tare_kept_size(&plan->kept);
    for (size_t i = 0; i < session->controls.entries.count; i++) {
        const tare_control *control = session->controls.entries.at[i].value;
        for (int b = 0; b < control->body_count; b++) {
            const tare_session_memory inner = tare_session_get_memory(control->bodies[b]);
            memory.slab += inner.slab;
            memory.scratch += inner.scratch;
            memory.packed += inner.packed;
        }
    }
    return memory;
}

void tare_session_get_macs(const tare_session *session, uint64_t *all, uint64_t *quantized) {
    const tare_plan *plan = session->plans[0];
    *all = plan ? plan->macs : 0;
    *quantized = plan ? plan->quantized_macs : 0;
}

size_t tare_session_get_left(const tare_session *session, const tare_int_left **left, size_t *on_codes) {
    const tare_plan *plan = session->plans[0];
    *left = plan ? plan->left.at : NULL;
    *on_codes = plan ? plan->on_codes : 0;
    return plan ? plan->left.count : 0;
}

/* If, Loop and Scan (their meaning: ONNX operators of these names): which body runs, with what, how often. */
#include "run/control.h"

#include <string.h>

#include "base/size.h"

/* A loop that goes on for longer is taken for one that never ends. */
static const int64_t iteration_limit = 1000000;

static const void *attr(const tare_node *node, const char *name) {
    return tare_field_get(tare_fields_find(node->op->attrs, name), node->attrs);
}

/* ---- making ---- */

static tare_status gather_captures(tare_control *control, tare_error *err) {
    size_t total = 0;
    for (int b = 0; b < control->body_count; b++) total += control->bodies[b]->capture_count;
    control->captures = tare_arena_alloc(control->arena, total + 1, sizeof(tare_value *));
    if (!control->captures) return tare_fail_memory(err, 0);
    for (int b = 0; b < control->body_count; b++) {
        const tare_session *body = control->bodies[b];
        control->places[b] = tare_arena_alloc(control->arena, body->capture_count + 1, sizeof(size_t));
        if (!control->places[b]) return tare_fail_memory(err, 0);
        for (size_t i = 0; i < body->capture_count; i++) {
            size_t at = 0;
            while (at < control->capture_count && control->captures[at] != body->captures[i]) at++;
            if (at == control->capture_count) control->captures[control->capture_count++] = body->captures[i];
            control->places[b][i] = at;
        }
    }
    return TARE_OK;
}

static tare_status open_bodies(tare_control *control, const tare_session *session, tare_error *err) {
    static const char *const names[] = { "then_branch", "else_branch", "body" };
    const tare_node *node = control->node;
    for (int i = 0; i < 2; i++) {
        control->rounds[i] = tare_arena_new();
        if (!control->rounds[i]) return tare_fail_memory(err, 0);
        control->round_marks[i] = tare_arena_get_mark(control->rounds[i]);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const tare_field *field = tare_fields_find(node->op->attrs, names[i]);
        if (!field) continue;
        const tare_graph *body = *(tare_graph *const *)tare_field_get(field, node->attrs);
        TARE_TRY(tare_session_new_body(&control->bodies[control->body_count], session, body, err));
        control->body_count++;
    }
    control->outputs = tare_arena_alloc(control->arena, (size_t)node->output_count + 1, sizeof(tare_tensor *));
    if (!control->outputs) return tare_fail_memory(err, 0);
    TARE_TRY(gather_captures(control, err));
    control->mark = tare_arena_get_mark(control->arena);
    return TARE_OK;
}

tare_status tare_control_get(tare_control **out, tare_session *session, const tare_node *node, tare_error *err) {
    *out = tare_map_get(&session->controls, node->name);
    if (*out) return TARE_OK;
    tare_arena *arena = tare_arena_new();
    tare_control *control = arena ? tare_arena_alloc(arena, 1, sizeof *control) : NULL;
    if (!control) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *control);
    }
    control->arena = arena;
    control->node = tare_map_get(&session->model->node_names, node->name);
    tare_status status = open_bodies(control, session, err);
    if (status == TARE_OK && !tare_map_put(&session->controls, control->node->name, control))
        status = tare_fail_memory(err, 0);
    if (status != TARE_OK) {
        tare_control_free(control);
        return status;
    }
    *out = control;
    return TARE_OK;
}

void tare_control_free(tare_control *control) {
    if (!control) return;
    for (int b = 0; b < control->body_count; b++) tare_session_free(control->bodies[b]);
    tare_arena_free(control->rounds[0]);
    tare_arena_free(control->rounds[1]);
    tare_arena_free(control->arena);
}

/* ---- tensors ---- */

static tare_status copy_tensor(tare_arena *arena, const tare_tensor *from, tare_tensor **out, tare_error *err) {
    TARE_TRY(tare_tensor_new(arena, from->dtype, &from->shape, out, err));
    if (from->size) memcpy((*out)->data, from->data, from->size);
    return TARE_OK;
}

static tare_status make_number(tare_arena *arena, tare_dtype dtype, tare_tensor **out, tare_error *err) {
    const tare_shape scalar = { .rank = 0 };
    return tare_tensor_new(arena, dtype, &scalar, out, err);
}

static tare_status read_number(const tare_tensor *tensor, const char *what, int64_t *number, tare_error *err) {
    if (tare_shape_elements(&tensor->shape) != 1 || (tensor->dtype != TARE_BOOL && tensor->dtype != TARE_S64))
        return tare_fail(err, TARE_E_MALFORMED, "the %s has %lld elements of type %s, want one s64 or bool", what,
                         (long long)tare_shape_elements(&tensor->shape), tare_dtype_name(tensor->dtype));
    *number = tensor->dtype == TARE_BOOL ? *(const uint8_t *)tensor->data : *(const int64_t *)tensor->data;
    return TARE_OK;
}

static void copy_slices(char *to, size_t to_step, const char *from, size_t from_step, size_t bytes, int64_t count) {
    for (int64_t i = 0; bytes && i < count; i++) memcpy(to + (size_t)i * to_step, from + (size_t)i * from_step, bytes);
}

static tare_shape without_axis(const tare_shape *shape, int axis) {
    tare_shape less = { .rank = shape->rank - 1 };
    for (int i = 0; i < less.rank; i++) less.dim[i] = shape->dim[i < axis ? i : i + 1];
    return less;
}

/* to = from[…, index, …] */
static tare_status take_slice(tare_arena *arena, const tare_tensor *from, int axis, int64_t index, tare_tensor **out,
                              tare_error *err) {
    const tare_shape shape = without_axis(&from->shape, axis);
    TARE_TRY(tare_tensor_new(arena, from->dtype, &shape, out, err));
    int64_t outer = tare_shape_product(&from->shape, 0, axis);
    size_t bytes = outer ? (*out)->size / (size_t)outer : 0, step = bytes * (size_t)from->shape.dim[axis];
    copy_slices((*out)->data, bytes, (const char *)from->data + bytes * (size_t)index, step, bytes, outer);
    return TARE_OK;
}

typedef TARE_VEC(tare_tensor *) tensor_list;

/* The slices of all rounds as one tensor, `axis` counting the rounds. */
static tare_status stack_slices(tare_arena *arena, const tensor_list *slices, int axis, bool is_reversed,
                                tare_tensor **out, tare_error *err) {
    const tare_tensor *first = slices->at[0];
    int64_t count = (int64_t)slices->count;
    tare_shape shape = { .rank = first->shape.rank + 1 };
    if (shape.rank > TARE_RANK_MAX)
        return tare_fail(err, TARE_E_LIMIT, "a stacked output would have %d dimensions, at most %d are allowed",
                         shape.rank, TARE_RANK_MAX);
    for (int i = 0; i < shape.rank; i++) shape.dim[i] = i == axis ? count : first->shape.dim[i < axis ? i : i - 1];
    TARE_TRY(tare_tensor_new(arena, first->dtype, &shape, out, err));
    int64_t outer = tare_shape_product(&shape, 0, axis);
    size_t bytes = outer ? first->size / (size_t)outer : 0;
    for (int64_t i = 0; i < count; i++) {
        const tare_tensor *slice = slices->at[i];
        if (slice->dtype != first->dtype || !tare_shape_equal(&slice->shape, &first->shape))
            return tare_fail(err, TARE_E_MALFORMED, "the shape of a stacked output changes in round %lld",
                             (long long)i);
        char *to = (char *)(*out)->data + bytes * (size_t)(is_reversed ? count - 1 - i : i);
        copy_slices(to, bytes * (size_t)count, slice->data, bytes, bytes, outer);
    }
    return TARE_OK;
}

/* What a stacked output is after no round at all: the body's declared shape, unknown dimensions taken as 0. */
static tare_status stack_nothing(tare_arena *arena, const tare_value *value, int axis, tare_tensor **out,
                                 tare_error *err) {
    if (!value->dtype || value->shape.rank < 0 || value->shape.rank >= TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "no round was run, and the shape of '%s' is not declared",
                         value->name);
    tare_shape shape = { .rank = value->shape.rank + 1 };
    for (int i = 0; i < shape.rank; i++) {
        int64_t dim = i == axis ? 0 : value->shape.dim[i < axis ? i : i - 1];
        shape.dim[i] = dim < 0 ? 0 : dim;
    }
    return tare_tensor_new(arena, value->dtype, &shape, out, err);
}

/* ---- running a body ---- */

/* feeds: the body's inputs, then room for its captures, which are taken from `inputs` behind the node's own. */
static tare_status run_body(tare_control *control, int body, tare_tensor **feeds, tare_tensor *const *inputs,
                            tare_error *err) {
    tare_session *session = control->bodies[body];
    tare_tensor **to = feeds + session->graph->inputs.count;
    for (size_t i = 0; i < session->capture_count; i++)
        to[i] = inputs[(size_t)control->node->input_count + control->places[body][i]];
    return tare_session_run_feeds(session, feeds, err);
}

static tare_tensor **new_feeds(tare_control *control, int body) {
    const tare_session *session = control->bodies[body];
    return tare_arena_alloc(control->arena, session->graph->inputs.count + session->capture_count + 1,
                            sizeof(tare_tensor *));
}

static tare_status run_if(tare_control *control, tare_tensor *const *inputs, tare_error *err) {
    int64_t condition;
    TARE_TRY(read_number(inputs[0], "condition", &condition, err));
    int body = condition ? 0 : 1;
    tare_tensor **feeds = new_feeds(control, body);
    if (!feeds) return tare_fail_memory(err, 0);
    TARE_TRY(run_body(control, body, feeds, inputs, err));
    for (int i = 0; i < control->node->output_count; i++)
        TARE_TRY(copy_tensor(control->arena, tare_session_output(control->bodies[body], (size_t)i),
                             &control->outputs[i], err));
    return TARE_OK;
}

/* Loop and Scan: states go round, slices are stacked. */
typedef struct rounds {
    tare_control *control;
    tare_tensor *const *inputs;
    tare_tensor **feeds;
    size_t state_feed, state_result; /* where the states begin among the body's inputs and outputs */
    size_t states, stacks;
    tensor_list *stacked;
    int64_t count;
} rounds;

static tare_status begin(rounds *r, tare_error *err) {
    tare_control *control = r->control;
    r->feeds = new_feeds(control, 0);
    r->stacked = tare_arena_alloc(control->arena, r->stacks + 1, sizeof *r->stacked);
    return r->feeds && r->stacked ? TARE_OK : tare_fail_memory(err, 0);
}

/* Runs the body once; its states become the next round's feeds. */
static tare_status run_round(rounds *r, tare_error *err) {
    tare_control *control = r->control;
    tare_session *body = control->bodies[0];
    if (r->count >= iteration_limit)
        return tare_fail(err, TARE_E_LIMIT, "the loop is not done after %lld rounds", (long long)r->count);
    TARE_TRY(run_body(control, 0, r->feeds, r->inputs, err));
    tare_arena *arena = control->rounds[r->count & 1];
    tare_arena_release(arena, control->round_marks[r->count & 1]);
    for (size_t i = 0; i < r->states; i++)
        TARE_TRY(copy_tensor(arena, tare_session_output(body, r->state_result + i), &r->feeds[r->state_feed + i], err));
    for (size_t i = 0; i < r->stacks; i++) {
        tare_tensor *slice;
        const tare_tensor *result = tare_session_output(body, r->state_result + r->states + i);
        TARE_TRY(copy_tensor(control->arena, result, &slice, err));
        if (!tare_vec_push(control->arena, &r->stacked[i], slice)) return tare_fail_memory(err, 0);
    }
    r->count++;
    return TARE_OK;
}

static tare_status end(rounds *r, const tare_ints *axes, const tare_ints *directions, tare_error *err) {
    tare_control *control = r->control;
    for (size_t i = 0; i < r->states + r->stacks; i++) {
        if ((int)i >= control->node->output_count) break;
        tare_tensor **out = &control->outputs[i];
        if (i < r->states) {
            TARE_TRY(copy_tensor(control->arena, r->feeds[r->state_feed + i], out, err));
            continue;
        }
        size_t k = i - r->states;
        const tare_value *value = control->bodies[0]->graph->outputs.at[r->state_result + i];
        int rank = r->count ? r->stacked[k].at[0]->shape.rank : value->shape.rank, axis = 0;
        if (axes && axes->count) TARE_TRY(tare_infer_axis(axes->at[k], rank + 1, &axis, err));
        bool is_reversed = directions && directions->count && directions->at[k];
        if (r->count)
            TARE_TRY(stack_slices(control->arena, &r->stacked[k], axis, is_reversed, out, err));
        else
            TARE_TRY(stack_nothing(control->arena, value, axis, out, err));
    }
    return TARE_OK;
}

/* inputs: trip count, condition, states; body: round, condition, states -> condition, states, slices. */
static tare_status run_loop(tare_control *control, tare_tensor *const *inputs, tare_error *err) {
    const tare_node *node = control->node;
    size_t states = (size_t)node->input_count - 2;
    rounds r = { .control = control, .inputs = inputs, .state_feed = 2, .state_result = 1, .states = states };
    r.stacks = control->bodies[0]->graph->outputs.count - 1 - states;
    int64_t trips = INT64_MAX, condition = 1;
    if (inputs[0]) TARE_TRY(read_number(inputs[0], "trip count", &trips, err));
    if (inputs[1]) TARE_TRY(read_number(inputs[1], "condition", &condition, err));
    TARE_TRY(begin(&r, err));
    for (size_t i = 0; i < states; i++) r.feeds[2 + i] = inputs[2 + i];
    TARE_TRY(make_number(control->arena, TARE_S64, &r.feeds[0], err));
    TARE_TRY(make_number(control->arena, TARE_BOOL, &r.feeds[1], err));
    while (r.count < trips && condition) {
        *(int64_t *)r.feeds[0]->data = r.count;
        *(uint8_t *)r.feeds[1]->data = 1;
        TARE_TRY(run_round(&r, err));
        TARE_TRY(read_number(tare_session_output(control->bodies[0], 0), "condition", &condition, err));
    }
    return end(&r, NULL, NULL, err);
}

/* How many rounds the inputs give; all must give as many. */
static tare_status count_rounds(const rounds *r, size_t scans, const int *axes, int64_t *count, tare_error *err) {
    for (size_t i = 0; i < scans; i++) {
        int64_t length = r->inputs[r->states + i]->shape.dim[axes[i]];
        if (i && length != *count)
            return tare_fail(err, TARE_E_MALFORMED, "scan input %zu has %lld slices, input 0 has %lld", i,
                             (long long)length, (long long)*count);
        *count = length;
    }
    return TARE_OK;
}

/* inputs: states, sequences; body: states, slices -> states, slices. */
static tare_status run_scan(tare_control *control, tare_tensor *const *inputs, tare_error *err) {
    const tare_node *node = control->node;
    size_t scans = (size_t) * (const int64_t *)attr(node, "num_scan_inputs");
    const tare_ints *axes = attr(node, "scan_input_axes"), *directions = attr(node, "scan_input_directions");
    rounds r = { .control = control, .inputs = inputs, .states = (size_t)node->input_count - scans };
    r.stacks = control->bodies[0]->graph->outputs.count - r.states;
    int *axis = tare_arena_alloc(control->arena, scans + 1, sizeof *axis);
    if (!axis) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < scans; i++)
        TARE_TRY(tare_infer_axis(axes->count ? axes->at[i] : 0, inputs[r.states + i]->shape.rank, &axis[i], err));
    int64_t count = 0;
    TARE_TRY(count_rounds(&r, scans, axis, &count, err));
    TARE_TRY(begin(&r, err));
    for (size_t i = 0; i < r.states; i++) r.feeds[i] = inputs[i];
    for (int64_t t = 0; t < count; t++) {
        for (size_t i = 0; i < scans; i++) {
            int64_t at = directions->count && directions->at[i] ? count - 1 - t : t;
            TARE_TRY(take_slice(control->arena, inputs[r.states + i], axis[i], at, &r.feeds[r.states + i], err));
        }
        TARE_TRY(run_round(&r, err));
    }
    return end(&r, attr(node, "scan_output_axes"), attr(node, "scan_output_directions"), err);
}

tare_status tare_control_run(tare_control *control, tare_tensor *const *inputs, tare_error *err) {
    tare_arena_release(control->arena, control->mark);
    memset(control->outputs, 0, (size_t)control->node->output_count * sizeof(tare_tensor *));
    if (tare_node_is(control->node, "If")) return run_if(control, inputs, err);
    if (tare_node_is(control->node, "Loop")) return run_loop(control, inputs, err);
    if (tare_node_is(control->node, "Scan")) return run_scan(control, inputs, err);
    return tare_fail(err, TARE_E_UNSUPPORTED, "tare cannot run this operator");
}

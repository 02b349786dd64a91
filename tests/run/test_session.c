/* Sessions: what they compute is, to the bit, what the nodes give one by one, whatever the plan did with layouts, memory,
 * views, clamps, threads and taps. */
#include <string.h>

#include "run/plan.h"
#include "run/session.h"
#include "support/fail_nth.h"
#include "support/graphs.h"

enum { RANDOM_GRAPHS = 150 };

typedef struct run {
    tare_backend backend;
    tare_pool *pool;
    bool taps_all;
    const tare_map *wanted; /* what taps compare with; NULL: they only count */
    size_t shown;
    const tare_value *last; /* shown: producers come in the nodes' order */
} run;

static tare_status look(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                        tare_error *err) {
    run *r = context;
    (void)err;
    r->shown++;
    assert_int_equal(real->dtype, TARE_F32);
    if (r->backend == TARE_BACKEND_FLOAT) assert_null(before);
    assert_int_equal(before != NULL, value->quant && r->backend == TARE_BACKEND_QDQ);
    if (r->wanted) graphs_check_same(value->name, real, tare_map_get(r->wanted, value->name));
    return TARE_OK;
}

static tare_session *open_session(const tare_model *model, run *r) {
    const tare_session_options options = { .backend = r->backend, .cpu = tare_cpu_detect(), .pool = r->pool };
    tare_session *session = NULL;
    assert_ok(tare_session_new(&session, model, &options, &err));
    if (r->taps_all) assert_ok(tare_session_set_tap(session, NULL, 0, true, look, r, &err));
    return session;
}

static void check_outputs(const tare_session *session, const tare_model *model, const tare_map *wanted) {
    for (size_t i = 0; i < model->graph->outputs.count; i++) {
        const char *name = model->graph->outputs.at[i]->name;
        graphs_check_same(name, tare_session_output(session, i), tare_map_get(wanted, name));
    }
}

/* ---- what a plan must never do ---- */

static void check_buffers(const tare_plan *plan) {
    for (size_t i = 0; i < plan->buffers.count; i++) {
        const tare_buffer *a = &plan->buffers.at[i];
        assert_int_equal(a->offset % 64, 0);
        assert_true(a->first <= a->last && a->offset + a->size <= plan->activations);
        for (size_t j = 0; j < i; j++) {
            const tare_buffer *b = &plan->buffers.at[j];
            bool together = a->first <= b->last && b->first <= a->last;
            bool overlap = a->offset < b->offset + b->size && b->offset < a->offset + a->size;
            if (together && overlap) fail_msg("buffers %zu and %zu live and lie together", i, j);
        }
    }
}

static void check_slots(const tare_plan *plan) {
    for (size_t i = 0; i < plan->slots.count; i++) {
        const tare_slot *slot = plan->slots.at[i];
        if (slot->storage != TARE_STORED_SLAB) continue;
        const tare_buffer *buffer = &plan->buffers.at[slot->place];
        assert_true(slot->tensor.size <= buffer->size);
        assert_true(buffer->first <= slot->first && slot->last <= buffer->last);
    }
}

static void check_plan(const tare_session *session) {
    const tare_plan *plan = session->plans[0];
    const tare_session_memory memory = tare_session_get_memory(session);
    check_buffers(plan);
    check_slots(plan);
    assert_int_equal(memory.slab + memory.scratch, tare_plan_slab(plan));
    assert_true(session->slab_size >= tare_plan_slab(plan));
}

/* ---- random graphs ---- */

static void run_random(uint64_t seed, tare_backend backend) {
    tare_arena *arena = tare_arena_new();
    const char *text = graphs_random_text(arena, seed);
    graphs_at_hand = text;
    tare_model *model = graphs_parse(text);
    if (backend == TARE_BACKEND_QDQ) graphs_quantize(model, seed);
    tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, seed);
    tare_map wanted;
    graphs_evaluate(&wanted, model, &x, backend, arena);
    const size_t threads[] = { 1, 2, 7 };
    for (size_t t = 0; t < 3; t++) {
        for (int taps_all = 0; taps_all < 2; taps_all++) {
            run r = { .backend = backend, .taps_all = taps_all, .wanted = &wanted };
            r.pool = threads[t] > 1 ? tare_pool_new(threads[t]) : NULL;
            tare_session *session = open_session(model, &r);
            for (int again = 0; again < 2; again++) {
                assert_ok(tare_session_run(session, &x, &err));
                check_outputs(session, model, &wanted);
            }
            check_plan(session);
            if (taps_all) assert_int_equal(r.shown, 2 * (wanted.entries.count));
            tare_session_free(session);
            tare_pool_free(r.pool);
        }
    }
    tare_model_free(model);
    tare_arena_free(arena);
}

static void random_graphs_in_float(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_GRAPHS; seed++) run_random(seed, TARE_BACKEND_FLOAT);
}

static void random_graphs_in_qdq(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_GRAPHS; seed++) run_random(seed, TARE_BACKEND_QDQ);
}

/* ---- numbers as they lie ---- */

/* The index in ONNX's order of the i-th number of a tensor that lies in the layout. */
static int64_t onnx_index(const tare_shape *shape, tare_layout layout, int64_t i) {
    int64_t index = 0, step[TARE_RANK_MAX], size = 1;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        step[axis] = size;
        size *= shape->dim[tare_layout_axis(layout, axis, shape->rank)];
    }
    for (int d = shape->rank - 1; d >= 0; i /= shape->dim[d--])
        for (int axis = 0; axis < shape->rank; axis++)
            if (tare_layout_axis(layout, axis, shape->rank) == d) index += i % shape->dim[d] * step[axis];
    return index;
}

typedef struct raw_look {
    const tare_map *wanted;
    size_t shown, last; /* last: in channels-last order */
} raw_look;

static tare_status look_raw(void *context, const tare_value *value, const tare_tensor *real, tare_layout layout,
                            tare_error *err) {
    raw_look *l = context;
    (void)err;
    l->shown++;
    l->last += layout == TARE_LAYOUT_LAST;
    const tare_tensor *wanted = tare_map_get(l->wanted, value->name);
    const float *got = real->data, *want = wanted->data;
    assert_int_equal(real->size, wanted->size);
    for (int i = 0; i < real->shape.rank; i++)
        assert_int_equal(real->shape.dim[tare_layout_axis(layout, i, real->shape.rank)], wanted->shape.dim[i]);
    for (size_t i = 0; i < real->size / sizeof *got; i++)
        assert_memory_equal(&got[i], &want[onnx_index(&real->shape, layout, (int64_t)i)], sizeof *got);
    return TARE_OK;
}

static void random_graphs_as_they_lie(void **state) {
    (void)state;
    size_t last = 0;
    for (uint64_t seed = 0; seed < RANDOM_GRAPHS; seed++) {
        tare_arena *arena = tare_arena_new();
        graphs_at_hand = graphs_random_text(arena, seed);
        tare_model *model = graphs_parse(graphs_at_hand);
        tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, seed);
        tare_map wanted;
        graphs_evaluate(&wanted, model, &x, TARE_BACKEND_FLOAT, arena);
        TARE_VEC(const tare_value *) values = { 0 };
        for (size_t i = 0; i < model->graph->values.entries.count; i++)
            if (tare_map_get(&wanted, model->graph->values.entries.at[i].key))
                assert_true(tare_vec_push(arena, &values, model->graph->values.entries.at[i].value));
        run r = { .backend = TARE_BACKEND_FLOAT };
        raw_look l = { .wanted = &wanted };
        tare_session *session = open_session(model, &r);
        assert_ok(tare_session_set_raw_tap(session, values.at, values.count, look_raw, &l, &err));
        assert_ok(tare_session_run(session, &x, &err));
        check_outputs(session, model, &wanted);
        check_plan(session);
        assert_int_equal(l.shown, wanted.entries.count);
        last += l.last;
        tare_session_free(session);
        tare_model_free(model);
        tare_arena_free(arena);
    }
    assert_true(last > RANDOM_GRAPHS);
}

/* ---- twins ---- */

typedef struct local_look {
    const tare_map *real, *local;
    size_t shown;
} local_look;

static tare_status look_local(void *context, const tare_value *value, const tare_tensor *real,
                              const tare_tensor *before, tare_error *err) {
    local_look *l = context;
    (void)err;
    l->shown++;
    assert_non_null(tare_map_get(l->local, value->name));
    graphs_check_same(value->name, before, tare_map_get(l->real, value->name));
    graphs_check_same(value->name, real, tare_map_get(l->local, value->name));
    return TARE_OK;
}

static void random_graphs_by_node(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < RANDOM_GRAPHS; seed++) {
        tare_arena *arena = tare_arena_new();
        graphs_at_hand = graphs_random_text(arena, seed);
        tare_model *model = graphs_parse(graphs_at_hand);
        tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, seed);
        tare_map real, local;
        graphs_evaluate(&real, model, &x, TARE_BACKEND_FLOAT, arena);
        graphs_quantize(model, seed);
        graphs_evaluate_local(&local, model, &real, arena);
        run r = { .backend = TARE_BACKEND_LOCAL };
        local_look l = { .real = &real, .local = &local };
        tare_session *session = open_session(model, &r);
        assert_ok(tare_session_set_tap(session, NULL, 0, true, look_local, &l, &err));
        assert_ok(tare_session_run(session, &x, &err));
        check_outputs(session, model, &real);
        check_plan(session);
        assert_int_equal(l.shown, local.entries.count);
        tare_session_free(session);
        tare_model_free(model);
        tare_arena_free(arena);
    }
}

/* ---- watches ---- */

typedef struct steps_seen {
    const tare_session *session;
    size_t count;
} steps_seen;

static void see_step(void *context, const tare_node *node) {
    steps_seen *seen = context;
    assert_ptr_equal(node, seen->session->plans[0]->steps.at[seen->count++]->node);
}

/* Every step is told once, in order, and nothing that is computed changes. */
static void random_graphs_watched(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        tare_arena *arena = tare_arena_new();
        tare_map wanted;
        tare_model *model = graphs_parse(graphs_random_text(arena, seed));
        graphs_quantize(model, seed);
        tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, seed);
        graphs_evaluate(&wanted, model, &x, TARE_BACKEND_QDQ, arena);
        run r = { .backend = TARE_BACKEND_QDQ };
        tare_session *session = open_session(model, &r);
        steps_seen seen = { .session = session };
        tare_session_set_watch(session, see_step, &seen);
        assert_ok(tare_session_run(session, &x, &err));
        assert_int_equal(seen.count, session->plans[0]->steps.count);
        check_outputs(session, model, &wanted);
        tare_session_free(session);
        tare_model_free(model);
        tare_arena_free(arena);
    }
}

/* ---- what sessions share ---- */

typedef struct sharing {
    const tare_model *model;
    tare_session *sessions[3];
    tare_tensor *const *inputs;
    tare_status status[3];
    tare_error errors[3];
} sharing;

static void run_one(void *context, size_t index, size_t thread) {
    sharing *s = context;
    (void)thread;
    s->status[index] = tare_session_run(s->sessions[index], s->inputs, &s->errors[index]);
}

/* Sessions with one store hold what they made of constants once, whichever makes it first, and no more than one of them
 * alone; what is left runs on when others go. */
static void share_random(uint64_t seed, tare_backend backend, tare_pool *pool) {
    tare_arena *arena = tare_arena_new();
    tare_map wanted;
    graphs_at_hand = graphs_random_text(arena, seed);
    tare_model *model = graphs_parse(graphs_at_hand);
    graphs_quantize(model, seed);
    tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, seed);
    graphs_evaluate(&wanted, model, &x, backend, arena);
    const tare_session_options options = { .backend = backend,
                                           .cpu = tare_cpu_detect(),
                                           .constants = tare_constants_new() };
    sharing s = { .model = model, .inputs = &x };
    for (int i = 0; i < 3; i++) assert_ok(tare_session_new(&s.sessions[i], model, &options, &err));
    run_one(&s, 0, 0);
    const size_t alone = tare_constants_size(options.constants);
    const tare_session_memory memory = tare_session_get_memory(s.sessions[0]);
    assert_true(alone <= memory.packed);
    tare_pool_run(pool, 3, run_one, &s);
    assert_int_equal(tare_constants_size(options.constants), alone);
    for (int i = 0; i < 3; i++) {
        assert_ok(s.status[i]);
        assert_int_equal(tare_session_get_memory(s.sessions[i]).packed, memory.packed);
        check_outputs(s.sessions[i], model, &wanted);
    }
    tare_session_free(s.sessions[0]);
    tare_session_free(s.sessions[1]);
    assert_int_equal(tare_constants_size(options.constants), alone);
    assert_ok(tare_session_run(s.sessions[2], &x, &err));
    check_outputs(s.sessions[2], model, &wanted);
    tare_session_free(s.sessions[2]);
    assert_int_equal(tare_constants_size(options.constants), 0);
    tare_constants_free(options.constants);
    tare_model_free(model);
    tare_arena_free(arena);
}

static void constants_are_shared(void **state) {
    (void)state;
    tare_pool *pool = tare_pool_new(3);
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int backend = TARE_BACKEND_FLOAT; backend <= TARE_BACKEND_QDQ; backend++)
            share_random(seed, (tare_backend)backend, pool);
    tare_pool_free(pool);
}

/* A weight that is rounded, then packed, is held packed alone: 2 outputs in a panel of 16, for 1 tap of 2 channels. */
static void packed_constants_are_held_once(void **state) {
    (void)state;
    tare_model *model =
        graphs_parse("<ir_version: 8, opset_import: [\"\" : 17]>\n"
                     "g (float[1,2,2,2] x) => (float[1,2,2,2] y) <float[2,2,1,1] w = {1, 2, 3, 4}> { y = Conv(x, w) }");
    const float scale = 0.5f;
    const int32_t zero_point = 0;
    const tare_quant quant = { .code = TARE_S8, .axis = -1, .count = 1, .scale = &scale, .zero_point = &zero_point };
    tare_graph_find_value(model->graph, "w")->quant = &quant;
    tare_arena *arena = tare_arena_new();
    tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, 1);
    const tare_session_options options = { .backend = TARE_BACKEND_QDQ,
                                           .cpu = tare_cpu_detect(),
                                           .constants = tare_constants_new() };
    tare_session *session;
    assert_ok(tare_session_new(&session, model, &options, &err));
    assert_ok(tare_session_run(session, &x, &err));
    assert_int_equal(tare_constants_size(options.constants), 16 * 2 * sizeof(float));
    tare_session_free(session);
    tare_constants_free(options.constants);
    tare_model_free(model);
    tare_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_in_float),         cmocka_unit_test(random_graphs_in_qdq),
        cmocka_unit_test(random_graphs_as_they_lie),      cmocka_unit_test(random_graphs_by_node),
        cmocka_unit_test(random_graphs_watched),          cmocka_unit_test(constants_are_shared),
        cmocka_unit_test(packed_constants_are_held_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

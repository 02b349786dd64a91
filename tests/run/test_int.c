/* The int backend of every target and profile: neither taps, threads nor instruction set change a code. */
#include <string.h>

#include "run/run.h"
#include "support/graphs.h"

enum { RANDOM_GRAPHS = 60 };

/* ---- quantized as the target likes it ---- */

typedef struct painter {
    tare_model *model;
    const tare_target *target;
    test_random random;
    bool is_wild; /* scales of any size */
} painter;

/* Of few, since some targets join what has one scale only. */
static float draw_scale(painter *p) {
    static const float any[] = { 0.01f, 0.017f, 0.03f }, power[] = { 0x1p-7f, 0x1p-6f, 0x1p-5f };
    static const float wild[] = { 1e-45f, 0x1p-120f, 0x1p-40f, 1, 0x1p60f, 0x1p127f, 3.4e38f };
    if (p->is_wild) return wild[test_random_next(&p->random) % (sizeof wild / sizeof *wild)];
    return (p->target->power_of_two ? power : any)[test_random_next(&p->random) % 3];
}

static const tare_quant *new_quant(painter *p, tare_dtype code, size_t count) {
    tare_quant *quant = tare_arena_alloc(p->model->arena, 1, sizeof *quant);
    float *scale = tare_arena_alloc(p->model->arena, count, sizeof *scale);
    int32_t *zero = tare_arena_alloc(p->model->arena, count, sizeof *zero);
    for (size_t i = 0; i < count; i++) scale[i] = draw_scale(p);
    if (code == TARE_U8) zero[0] = (int32_t)(test_random_next(&p->random) % 256);
    *quant =
        (tare_quant){ .code = code, .axis = count > 1 ? 0 : -1, .count = count, .scale = scale, .zero_point = zero };
    return quant;
}

static const tare_quant *softmax_quant(painter *p, tare_dtype code) {
    tare_quant *quant = tare_arena_alloc(p->model->arena, 1, sizeof *quant);
    static const float scale = 1.0f / 256;
    static const int32_t zero[] = { 0, -128 };
    *quant =
        (tare_quant){ .code = code, .axis = -1, .count = 1, .scale = &scale, .zero_point = &zero[code == TARE_S8] };
    return quant;
}

/* s_x · s_w of each output. */
static const tare_quant *bias_quant(painter *p, const tare_quant *x, const tare_quant *w) {
    tare_quant *quant = tare_arena_alloc(p->model->arena, 1, sizeof *quant);
    float *scale = tare_arena_alloc(p->model->arena, w->count, sizeof *scale);
    int32_t *zero = tare_arena_alloc(p->model->arena, w->count, sizeof *zero);
    for (size_t i = 0; i < w->count; i++) scale[i] = x->scale[0] * w->scale[i];
    *quant = *w;
    quant->code = TARE_S32;
    quant->scale = scale;
    quant->zero_point = zero;
    return quant;
}

static void paint(painter *p) {
    const tare_dtype code = p->target->activation;
    for (size_t i = 0; i < p->model->graph->values.entries.count; i++) {
        tare_value *value = p->model->graph->values.entries.at[i].value;
        const bool is_wanted = value && value->dtype == TARE_F32 && test_random_unit(&p->random) < 0.9;
        if (!is_wanted || (value->constant && !value->shape.rank)) continue;
        value->quant = value->producer && tare_node_is(value->producer, "Softmax") ? softmax_quant(p, code)
                                                                                   : new_quant(p, code, 1);
    }
    tare_for_nodes (node, p->model->graph) {
        if (!tare_node_is(node, "Conv")) continue;
        const size_t outputs = (size_t)node->inputs[1]->shape.dim[0];
        node->inputs[1]->quant = new_quant(p, TARE_S8, test_random_next(&p->random) % 2 ? outputs : 1);
        const tare_quant *x = node->inputs[0]->quant;
        node->inputs[2]->quant = x ? bias_quant(p, x, node->inputs[1]->quant) : NULL;
    }
}

/* ---- runs side by side ---- */

typedef struct run {
    tare_session_options options;
    bool taps_all;
    tare_arena *arena;
    tare_map outputs, shown; /* by name: tare_tensor * */
    size_t on_codes;
} run;

static void put(run *r, tare_map *to, const char *name, const tare_tensor *tensor) {
    tare_tensor *copy = tare_arena_alloc(r->arena, 1, sizeof *copy);
    *copy = *tensor;
    copy->data = tare_arena_copy(r->arena, tensor->data, tensor->size);
    assert_true(tare_map_put(to, name, copy));
}

static tare_status look(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                        tare_error *err) {
    run *r = context;
    (void)err;
    assert_int_equal(before != NULL, value->quant != NULL);
    put(r, &r->shown, value->name, real);
    return TARE_OK;
}

static void run_once(run *r, const tare_model *model, tare_tensor *x) {
    tare_session *session = NULL;
    const tare_int_left *left;
    tare_map_init(&r->outputs, r->arena);
    tare_map_init(&r->shown, r->arena);
    assert_ok(tare_session_new(&session, model, &r->options, &err));
    if (r->taps_all) assert_ok(tare_session_set_tap(session, NULL, 0, true, look, r, &err));
    assert_ok(tare_session_run(session, &x, &err));
    for (size_t i = 0; i < model->graph->outputs.count; i++)
        put(r, &r->outputs, model->graph->outputs.at[i]->name, tare_session_output(session, i));
    const size_t count = tare_session_get_left(session, &left, &r->on_codes);
    for (size_t i = 0; i < count; i++) assert_true(left[i].name && left[i].type && left[i].why);
    tare_session_free(session);
}

static void check_same(const tare_map *got, const tare_map *want) {
    assert_int_equal(got->entries.count, want->entries.count);
    for (size_t i = 0; i < want->entries.count; i++) {
        const char *name = want->entries.at[i].key;
        graphs_check_same(name, tare_map_get(got, name), want->entries.at[i].value);
    }
}

/* How many nodes were computed on codes. */
static size_t run_random(const tare_target *target, int profile, uint64_t seed, bool is_wild) {
    tare_arena *arena = tare_arena_new();
    graphs_at_hand = graphs_random_text(arena, seed);
    tare_model *model = graphs_parse(graphs_at_hand);
    painter p = { .model = model, .target = target, .random = { seed + 5 }, .is_wild = is_wild };
    paint(&p);
    tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, seed);
    const size_t threads[] = { 1, 2, 7 };
    run runs[6];
    for (size_t i = 0; i < 6; i++) {
        run *r = &runs[i];
        *r = (run){ .taps_all = i >= 3, .arena = arena };
        r->options = (tare_session_options){ .backend = TARE_BACKEND_INT, .target = target, .profile = profile };
        r->options.cpu = i % 2 ? TARE_CPU_SCALAR : tare_cpu_detect();
        r->options.pool = threads[i % 3] > 1 ? tare_pool_new(threads[i % 3]) : NULL;
        run_once(r, model, x);
        tare_pool_free(r->options.pool);
        check_same(&r->outputs, &runs[0].outputs);
        if (i > 3) check_same(&r->shown, &runs[3].shown);
        assert_int_equal(r->on_codes, runs[0].on_codes);
    }
    for (size_t i = 0; i < model->graph->outputs.count; i++) {
        const char *name = model->graph->outputs.at[i]->name;
        graphs_check_same(name, tare_map_get(&runs[3].shown, name), tare_map_get(&runs[3].outputs, name));
    }
    const size_t on_codes = runs[0].on_codes;
    tare_model_free(model);
    tare_arena_free(arena);
    return on_codes;
}

static void run_targets(bool is_wild, size_t least) {
    for (size_t t = 0; t < tare_target_count(); t++) {
        const tare_target *target = tare_target_at(t);
        for (int profile = 0; target->profiles[profile]; profile++) {
            size_t on_codes = 0;
            for (uint64_t seed = 0; seed < RANDOM_GRAPHS; seed++)
                on_codes += run_random(target, profile, seed, is_wild);
            print_message("%s %s: %zu nodes on codes\n", target->name, target->profiles[profile], on_codes);
            assert_true(on_codes > least);
        }
    }
}

static void every_target(void **state) {
    (void)state;
    run_targets(false, 2 * RANDOM_GRAPHS);
}

/* Ratios of scales that no integer holds are refused or computed all the same. */
static void wild_scales(void **state) {
    (void)state;
    run_targets(true, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target),
        cmocka_unit_test(wild_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

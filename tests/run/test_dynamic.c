/* Shapes that depend on numbers, bodies, plans that are kept or given up, limits and faults. */
#include <stdlib.h>
#include <string.h>

#include "run/session.h"
#include "support/fail_nth.h"
#include "support/graphs.h"

#define HEAD "<ir_version: 8, opset_import: [\"\" : 18]>\n"

typedef struct looks {
    size_t count;
    char names[1024]; /* what was shown, in order: "a b c " */
} looks;

static tare_status look(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                        tare_error *err) {
    looks *l = context;
    (void)real;
    (void)before;
    (void)err;
    l->count++;
    strncat(l->names, value->name, sizeof l->names - strlen(l->names) - 2);
    strcat(l->names, " ");
    return TARE_OK;
}

static tare_session *open_session(const tare_model *model, tare_backend backend) {
    const tare_session_options options = { .backend = backend, .cpu = tare_cpu_detect() };
    tare_session *session = NULL;
    assert_ok(tare_session_new(&session, model, &options, &err));
    return session;
}

static tare_tensor floats(float *numbers, int rank, const int64_t *dim) {
    tare_tensor tensor = { .dtype = TARE_F32, .shape = tare_shape_of(rank, dim), .data = numbers };
    tensor.size = (size_t)tare_shape_elements(&tensor.shape) * sizeof(float);
    return tensor;
}

static tare_tensor integers(int64_t *numbers, int rank, const int64_t *dim) {
    tare_tensor tensor = { .dtype = TARE_S64, .shape = tare_shape_of(rank, dim), .data = numbers };
    tensor.size = (size_t)tare_shape_elements(&tensor.shape) * sizeof(int64_t);
    return tensor;
}

static void check_floats(const tare_tensor *got, int rank, const int64_t *dim, const float *numbers) {
    float copy[64];
    tare_tensor want = floats(copy, rank, dim);
    memcpy(copy, numbers, want.size);
    graphs_check_same("output", got, &want);
}

static void check_integers(const tare_tensor *got, int rank, const int64_t *dim, const int64_t *numbers) {
    int64_t copy[64];
    tare_tensor want = integers(copy, rank, dim);
    memcpy(copy, numbers, want.size);
    graphs_check_same("output", got, &want);
}

/* ---- shapes from numbers ---- */

/* A shape that is an input: planned again when other numbers come. */
static void shape_is_an_input(void **state) {
    (void)state;
    tare_model *model =
        graphs_parse(HEAD "g (float[6] x, int64[2] s) => (float[?,?] y) { t = Neg(x)\n u = Reshape(t, s)\n"
                          " y = Neg(u) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[] = { 1, 2, 3, 4, 5, 6 };
    int64_t s[][2] = { { 2, 3 }, { 3, 2 }, { 6, -1 }, { 6, -1 } };
    looks l = { 0 };
    assert_ok(tare_session_set_tap(session, NULL, 0, true, look, &l, &err));
    for (int i = 0; i < 4; i++) {
        tare_tensor a = floats(x, 1, (int64_t[]){ 6 }), b = integers(s[i], 1, (int64_t[]){ 2 });
        tare_tensor *inputs[] = { &a, &b };
        assert_ok(tare_session_run(session, inputs, &err));
        check_floats(tare_session_output(session, 0), 2, (int64_t[]){ s[i][0], 6 / s[i][0] }, x);
        assert_string_equal(l.names, "x t u y "); /* each once, though plans were given up half way */
        l.names[0] = '\0';
    }
    tare_session_free(session);
    tare_model_free(model);
}

/* Twice: how many come out decides the shape behind, and that decides another. */
static void nonzero_then_more(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[5] x) => (int64[?,?] i, float[?] y, float[?] z) {\n"
                                          "i = NonZero(x)\n j = Transpose(i)\n y = GatherND(x, j)\n"
                                          "k = NonZero(y)\n n = Size(k)\n f = Cast<to = 1>(n)\n z = Mul(y, f) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[][5] = { { 0, 2, 0, 4, 5 }, { 1, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 }, { 1, 2, 3, 4, 5 } };
    for (int i = 0; i < 4; i++) {
        tare_tensor a = floats(x[i], 1, (int64_t[]){ 5 }), *input = &a;
        assert_ok(tare_session_run(session, &input, &err));
        int64_t at[5], count = 0;
        float kept[5], scaled[5];
        for (int k = 0; k < 5; k++)
            if (x[i][k] != 0) kept[count] = x[i][k], at[count++] = k;
        for (int k = 0; k < count; k++) scaled[k] = kept[k] * (float)count;
        check_integers(tare_session_output(session, 0), 2, (int64_t[]){ 1, count }, at);
        check_floats(tare_session_output(session, 1), 1, &count, kept);
        check_floats(tare_session_output(session, 2), 1, &count, scaled);
    }
    tare_session_free(session);
    tare_model_free(model);
}

/* Nothing but shapes are read behind the node that asked: its guard must stand all the same. */
static void only_shapes_are_read(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[6] x, int64[2] s) => (int64[?] y) {\n u = Reshape(x, s)\n"
                                          " y = Shape(u) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[6] = { 0 };
    int64_t s[][2] = { { 2, 3 }, { 6, 1 }, { 3, 2 } };
    for (int i = 0; i < 3; i++) {
        tare_tensor a = floats(x, 1, (int64_t[]){ 6 }), b = integers(s[i], 1, (int64_t[]){ 2 });
        tare_tensor *inputs[] = { &a, &b };
        assert_ok(tare_session_run(session, inputs, &err));
        check_integers(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, s[i]);
    }
    tare_session_free(session);
    tare_model_free(model);
}

/* ---- bodies ---- */

static const char if_text[] = HEAD "g (bool c, float[2] x) => (float[?] y) { t = Neg(x)\n"
                                   "y = If<then_branch = a () => (float[2] p) { p = Add(t, x) },\n"
                                   "       else_branch = b () => (float[4] q) { q = Concat<axis = 0>(t, t) }>(c) }";

static void if_of_two_shapes(void **state) {
    (void)state;
    tare_model *model = graphs_parse(if_text);
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[] = { 1, 2 };
    for (int i = 0; i < 5; i++) {
        uint8_t is = i == 0 || i == 3;
        tare_tensor c = { .dtype = TARE_BOOL, .shape = { .rank = 0 }, .data = &is, .size = 1 };
        tare_tensor a = floats(x, 1, (int64_t[]){ 2 });
        tare_tensor *inputs[] = { &c, &a };
        assert_ok(tare_session_run(session, inputs, &err));
        if (is)
            check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, (float[]){ 0, 0 });
        else
            check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 4 }, (float[]){ -1, -2, -1, -2 });
    }
    tare_session_free(session);
    tare_model_free(model);
}

/* s grows by a number each round; w has all of them; the captured k is a value of the graph around. */
static const char loop_text[] =
    HEAD "g (int64 m, float[1] x) => (float[?] s, float[?,?] w) { k = Neg(x)\n"
         "s, w = Loop<body = b (int64 i, bool c, float[?] a) => (bool d, float[?] e, float[?] f) {\n"
         "d = Identity(c)\n n = Cast<to = 1>(i)\n f = Add(k, n)\n e = Concat<axis = 0>(a, f) }>(m, \"\", x) }";

static void loop_that_grows(void **state) {
    (void)state;
    tare_model *model = graphs_parse(loop_text);
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[] = { 3 };
    int64_t trips[] = { 3, 1, 0, 3 };
    for (int i = 0; i < 4; i++) {
        tare_tensor m = integers(&trips[i], 0, NULL), a = floats(x, 1, (int64_t[]){ 1 });
        tare_tensor *inputs[] = { &m, &a };
        assert_ok(tare_session_run(session, inputs, &err));
        check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 1 + trips[i] }, (float[]){ 3, -3, -2, -1 });
        if (trips[i])
            check_floats(tare_session_output(session, 1), 2, (int64_t[]){ trips[i], 1 }, (float[]){ -3, -2, -1 });
        else
            assert_int_equal(tare_session_output(session, 1)->shape.dim[0], 0);
    }
    tare_session_free(session);
    tare_model_free(model);
}

/* Running sums along the columns of x, backwards; the slices are stacked as columns. */
static void scan_of_columns(void **state) {
    (void)state;
    tare_model *model =
        graphs_parse(HEAD "g (float[2] a, float[2,3] x) => (float[?] s, float[?,?] y) {\n"
                          "s, y = Scan<num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1],\n"
                          "scan_output_axes = [1], body = b (float[2] t, float[2] c) => (float[2] u, float[2] v) {\n"
                          "u = Add(t, c)\n v = Identity(u) }>(a, x) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float a[] = { 10, 20 }, x[] = { 1, 2, 3, 4, 5, 6 };
    tare_tensor s = floats(a, 1, (int64_t[]){ 2 }), m = floats(x, 2, (int64_t[]){ 2, 3 });
    tare_tensor *inputs[] = { &s, &m };
    assert_ok(tare_session_run(session, inputs, &err));
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, (float[]){ 16, 35 });
    check_floats(tare_session_output(session, 1), 2, (int64_t[]){ 2, 3 }, (float[]){ 13, 15, 16, 26, 31, 35 });
    tare_session_free(session);
    tare_model_free(model);
}

/* ---- plans ---- */

static void plans_are_kept(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[N,2] x, float[N] z) => (float[N,2] y) { y = Neg(x) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[64];
    for (int i = 0; i < 64; i++) x[i] = (float)i;
    const tare_plan *first = NULL;
    for (int64_t i = 0; i < 24; i++) {
        const int64_t dim[] = { 1 + i % TARE_PLANS_KEPT, 2 };
        float want[64];
        tare_tensor a = floats(x, 2, dim), z = floats(x, 1, dim), *inputs[] = { &a, &z };
        assert_ok(tare_session_run(session, inputs, &err));
        for (int k = 0; k < 8; k++) want[k] = -x[k];
        check_floats(tare_session_output(session, 0), 2, dim, want);
        if (i == 0) first = session->plans[0];
        if (i % TARE_PLANS_KEPT == 0) assert_ptr_equal(first, session->plans[0]);
    }
    const int64_t dim[] = { 3, 2 }, other[] = { 4 };
    tare_tensor a = floats(x, 2, dim), z = floats(x, 1, other), *inputs[] = { &a, &z };
    assert_error(tare_session_run(session, inputs, &err), TARE_E_USAGE, "input 'z': got f32 4, want f32 N");
    tare_tensor narrow = floats(x, 1, dim), *bad[] = { &narrow, &z };
    assert_error(tare_session_run(session, bad, &err), TARE_E_USAGE, "input 'x': got f32 3, want f32 Nx2");
    tare_session_free(session);
    tare_model_free(model);
}

static void peak_is_known_before(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[1,64] x) => (float[1,64] y) { a = Sigmoid(x)\n b = Tanh(x)\n"
                                          " y = Add(a, b) }");
    tare_session_options options = { .cpu = tare_cpu_detect() };
    tare_session *session = NULL;
    tare_arena *arena = tare_arena_new();
    tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, 1);
    assert_ok(tare_session_new(&session, model, &options, &err));
    assert_ok(tare_session_plan(session, &x, &err));
    const tare_session_memory memory = tare_session_get_memory(session);
    assert_int_equal(memory.slab, 2 * 64 * 4); /* a and b; y lies on a */
    tare_session_free(session);
    options.memory_limit = memory.slab + memory.scratch;
    assert_ok(tare_session_new(&session, model, &options, &err));
    assert_ok(tare_session_run(session, &x, &err));
    tare_session_free(session);
    options.memory_limit--;
    assert_ok(tare_session_new(&session, model, &options, &err));
    assert_error(tare_session_run(session, &x, &err), TARE_E_LIMIT, "needs 512 bytes of memory for activations, 511");
    tare_session_free(session);
    tare_arena_free(arena);
    tare_model_free(model);
}

/* An initializer that is an input too holds unless it is fed. */
static void initializer_is_overridden(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {10, 20}>"
                                          "{ y = Mul(x, w) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[] = { 1, 2 }, w[] = { 3, 4 };
    tare_tensor a = floats(x, 1, (int64_t[]){ 2 }), b = floats(w, 1, (int64_t[]){ 2 });
    tare_tensor *inputs[] = { &a, NULL };
    assert_ok(tare_session_run(session, inputs, &err));
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, (float[]){ 10, 40 });
    inputs[1] = &b;
    assert_ok(tare_session_run(session, inputs, &err));
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, (float[]){ 3, 8 });
    inputs[0] = NULL;
    assert_error(tare_session_run(session, inputs, &err), TARE_E_USAGE, "input 'x' is not given");
    tare_session_free(session);
    tare_model_free(model);
}

/* Outputs that no node makes. */
static void outputs_of_inputs(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[4] x) => (float[4] x, float[2] w, float[2,2] v)\n"
                                          "<float[2] w = {7, 8}, int64[2] s = {2, 2}> { v = Reshape(x, s) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[] = { 1, 2, 3, 4 };
    tare_tensor a = floats(x, 1, (int64_t[]){ 4 }), *input = &a;
    assert_ok(tare_session_run(session, &input, &err));
    memset(x, 0, sizeof x); /* what was fed may be gone */
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 4 }, (float[]){ 1, 2, 3, 4 });
    check_floats(tare_session_output(session, 1), 1, (int64_t[]){ 2 }, (float[]){ 7, 8 });
    check_floats(tare_session_output(session, 2), 2, (int64_t[]){ 2, 2 }, (float[]){ 1, 2, 3, 4 });
    tare_session_free(session);
    tare_model_free(model);
}

/* A chain that computes a shape leaves no step behind. */
static void shape_chains_fold(void **state) {
    (void)state;
    tare_model *model = graphs_parse(
        HEAD "g (float[N,2,3] x) => (float[?,?] y) <int64[1] zero = {0}, int64[1] end = {1}, int64[1] rest = {-1}> {\n"
             "s = Shape(x)\n n = Slice(s, zero, end)\n t = Concat<axis = 0>(n, rest)\n y = Reshape(x, t) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    tare_arena *arena = tare_arena_new();
    const tare_shape shape = { .rank = 3, .dim = { 5, 2, 3 } };
    tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &shape, 1);
    assert_ok(tare_session_run(session, &x, &err));
    assert_int_equal(session->plans[0]->steps.count, 1);
    assert_int_equal(tare_session_output(session, 0)->shape.dim[1], 6);
    tare_arena_free(arena);
    tare_session_free(session);
    tare_model_free(model);
}

/* ---- taps, filters, twins ---- */

static void only_what_is_asked_for(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[4] x) => (float[4] y) { a = Neg(x)\n b = Relu(a)\n dead = Tanh(a)\n"
                                          " y = Neg(b) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    tare_arena *arena = tare_arena_new();
    tare_tensor *x = graphs_random_tensor(arena, TARE_F32, &model->graph->inputs.at[0]->shape, 1);
    looks l = { 0 };
    const tare_value *wanted[] = { tare_graph_find_value(model->graph, "b"), tare_graph_find_value(model->graph, "x") };
    assert_ok(tare_session_run(session, &x, &err));
    assert_int_equal(session->plans[0]->steps.count, 3); /* nobody wants `dead` */
    assert_ok(tare_session_set_tap(session, wanted, 2, false, look, &l, &err));
    assert_ok(tare_session_run(session, &x, &err));
    assert_string_equal(l.names, "x b ");
    tare_arena_free(arena);
    tare_session_free(session);
    tare_model_free(model);
}

static bool is_output(void *context, const tare_value *value) {
    (void)context;
    return value->is_output;
}

static tare_quant eighths(const float *scale, const int32_t *zero) {
    return (tare_quant){ .code = TARE_S8, .axis = -1, .count = 1, .scale = scale, .zero_point = zero };
}

static void filter_leaves_values_alone(void **state) {
    (void)state;
    const float scale = 1;
    const int32_t zero = 0;
    const tare_quant quant = eighths(&scale, &zero);
    tare_model *model = graphs_parse(HEAD "g (float[2] x) => (float[2] y) <float[2] w = {0.4, 0.6}> { y = Add(x, w) }");
    for (size_t i = 0; i < model->graph->values.entries.count; i++)
        ((tare_value *)model->graph->values.entries.at[i].value)->quant = &quant;
    float x[] = { 1.2f, 1.6f };
    tare_tensor a = floats(x, 1, (int64_t[]){ 2 }), *input = &a;
    tare_session *session = open_session(model, TARE_BACKEND_QDQ);
    assert_ok(tare_session_run(session, &input, &err));
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, (float[]){ 1, 3 });
    tare_session_set_quant_filter(session, is_output, NULL);
    assert_ok(tare_session_run(session, &input, &err));
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, (float[]){ 2, 2 });
    tare_session_set_quant_filter(session, NULL, NULL);
    assert_ok(tare_session_run(session, &input, &err));
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 2 }, (float[]){ 1, 3 });
    tare_session_free(session);
    tare_model_free(model);
}

/* ---- faults ---- */

static tare_status fail_in_run(void *context, tare_error *err) {
    const char *text = context;
    tare_model *model = NULL;
    tare_session *session = NULL;
    float x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    int64_t m = 2;
    uint8_t c = 1;
    tare_tensor inputs[2], *links[2] = { &inputs[0], &inputs[1] };
    const tare_session_options options = { .backend = TARE_BACKEND_QDQ, .cpu = tare_cpu_detect() };
    TARE_TRY(tare_model_parse(&model, text, strlen(text), err));
    tare_status status = tare_graph_infer(model->graph, err);
    for (size_t i = 0; i < model->graph->inputs.count; i++) {
        const tare_value *value = model->graph->inputs.at[i];
        void *data = value->dtype == TARE_F32 ? (void *)x : value->dtype == TARE_S64 ? (void *)&m : (void *)&c;
        inputs[i] = (tare_tensor){ .dtype = value->dtype, .shape = value->shape, .data = data };
        tare_tensor_size(value->dtype, &value->shape, &inputs[i].size);
    }
    looks l = { 0 };
    if (status == TARE_OK) status = tare_session_new(&session, model, &options, err);
    if (status == TARE_OK) status = tare_session_set_tap(session, NULL, 0, true, look, &l, err);
    if (status == TARE_OK) status = tare_session_run(session, links, err);
    if (status == TARE_OK) status = tare_session_run(session, links, err);
    tare_session_free(session);
    tare_model_free(model);
    return status;
}

static void every_allocation_fails(void **state) {
    (void)state;
    static char plain[] = HEAD "g (float[1,2,2,2] x) => (float[1,2,2,2] y) <float[2,2,1,1] w = {1, 2, 3, 4}> {\n"
                               "a = Conv(x, w)\n b = Relu(a)\n c = Transpose<perm = [0, 2, 3, 1]>(b)\n y = Neg(c) }";
    char nonzero[] = HEAD "g (float[5] x) => (int64[?,?] i) { i = NonZero(x) }";
    char loop[sizeof loop_text], branch[sizeof if_text];
    memcpy(loop, loop_text, sizeof loop);
    memcpy(branch, if_text, sizeof branch);
    assert_true(test_fail_allocations(fail_in_run, plain) > 10);
    assert_true(test_fail_allocations(fail_in_run, nonzero) > 10);
    assert_true(test_fail_allocations(fail_in_run, loop) > 10);
    assert_true(test_fail_allocations(fail_in_run, branch) > 10);
}

/* What a node says about numbers comes up with its name. */
static void faults_name_the_node(void **state) {
    (void)state;
    tare_model *model = graphs_parse(HEAD "g (float[4] x, int64[1] i) => (float[1] y) { y = Gather(x, i) }");
    tare_session *session = open_session(model, TARE_BACKEND_FLOAT);
    float x[] = { 1, 2, 3, 4 };
    int64_t at = 9;
    tare_tensor a = floats(x, 1, (int64_t[]){ 4 }), b = integers(&at, 1, (int64_t[]){ 1 }), *inputs[] = { &a, &b };
    assert_error(tare_session_run(session, inputs, &err), TARE_E_MALFORMED, "node 'Gather#0' (Gather): ");
    at = 2;
    assert_ok(tare_session_run(session, inputs, &err));
    check_floats(tare_session_output(session, 0), 1, (int64_t[]){ 1 }, (float[]){ 3 });
    tare_session_free(session);
    tare_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_is_an_input),
        cmocka_unit_test(nonzero_then_more),
        cmocka_unit_test(only_shapes_are_read),
        cmocka_unit_test(if_of_two_shapes),
        cmocka_unit_test(loop_that_grows),
        cmocka_unit_test(scan_of_columns),
        cmocka_unit_test(plans_are_kept),
        cmocka_unit_test(peak_is_known_before),
        cmocka_unit_test(initializer_is_overridden),
        cmocka_unit_test(outputs_of_inputs),
        cmocka_unit_test(shape_chains_fold),
        cmocka_unit_test(only_what_is_asked_for),
        cmocka_unit_test(filter_leaves_values_alone),
        cmocka_unit_test(every_allocation_fails),
        cmocka_unit_test(faults_name_the_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

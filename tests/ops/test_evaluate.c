/* Evaluation of single nodes: what is folded, what is not, and what run_once makes of inputs that lie otherwise. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "graph/text_form.h"
#include "ops/op.h"
#include "support/fail_nth.h"
#include "support/support.h"

/* g (INPUTS) => (y) <CONSTANTS> { NODES } */
static tare_model *parse(const char *graph) {
    char text[1024];
    tare_model *model;
    int length = snprintf(text, sizeof text, "<ir_version: 10, opset_import: [\"\" : 23]> g %s", graph);
    assert_ok(tare_model_parse(&model, text, (size_t)length, &err));
    assert_ok(tare_graph_infer(model->graph, &err));
    return model;
}

static bool evaluate_last(tare_model *model) {
    bool done;
    assert_ok(tare_node_evaluate(model->graph->last, &done, &err));
    return done;
}

static void test_what_is_folded(void **state) {
    (void)state;
    static const struct {
        const char *graph;
        bool folds;
    } examples[] = {
        { "(float[2,3] x) => (y) { y = Shape(x) }", true },
        { "(float[2,3] x) => (y) { y = Size(x) }", true },
        { "(float[N,3] x) => (y) { y = Shape(x) }", false },
        { "(float[2,3] x) => (y) { y = EyeLike(x) }", true },
        { "(float[2,3] x) => (y) { y = Identity(x) }", false },
        { "() => (y) { y = Constant<value_ints = [1, 2]>() }", true },
        { "() => (y) <bool[3] x = {1, 0, 1}> { y = NonZero(x) }", true },
        { "() => (y) <int64[2] s = {100, 100}> { y = ConstantOfShape(s) }", true },
        { "() => (y) <int64[3] s = {100000, 100000, 10}> { y = ConstantOfShape(s) }", false },
        { "() => (y) <bool c = {1}, float[1] x = {2}> { y = If<then_branch = a () => (u) { u = Identity(x) }, "
          "else_branch = b () => (v) { v = Identity(x) }>(c) }",
          false },
        { "() => (y) <float[1] x = {2}> { y = some.domain.Thing(x) }", false },
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        tare_model *model = parse(examples[i].graph);
        if (evaluate_last(model) != examples[i].folds) fail_msg("%s", examples[i].graph);
        const tare_value *value = model->graph->last->outputs[0];
        assert_true((value->constant != NULL) == examples[i].folds);
        tare_model_free(model);
    }
}

static void test_numbers_and_shapes_are_kept(void **state) {
    (void)state;
    tare_model *model = parse("(float[2,3] x) => (y) { y = Shape<start = -1>(x) }");
    assert_true(evaluate_last(model));
    int64_t number;
    size_t count;
    assert_true(tare_value_read_s64(model->graph->last->outputs[0], &number, 1, &count));
    assert_int_equal(number, 3);
    tare_model_free(model);

    model = parse("() => (y) <bool[2,2] x = {1, 0, 0, 1}> { y = NonZero(x) }");
    assert_true(evaluate_last(model));
    const tare_value *value = model->graph->last->outputs[0];
    const int64_t places[4] = { 0, 1, 0, 1 };
    assert_int_equal(value->shape.dim[0], 2);
    assert_int_equal(value->shape.dim[1], 2);
    assert_memory_equal(value->constant->data, places, sizeof places);
    tare_model_free(model);
}

static void test_codes_are_dequantized(void **state) {
    (void)state;
    tare_model *model = parse("() => (y) <float[2] x = {0, 0}> { y = Identity(x) }");
    tare_value *x = tare_graph_find_value(model->graph, "x");
    static const float scale = 0.5f;
    static const int32_t zero_point = 3;
    static int8_t codes[2] = { 5, -3 };
    const tare_quant quant = { .code = TARE_S8, .axis = -1, .count = 1, .scale = &scale, .zero_point = &zero_point };
    const tare_tensor tensor = { .dtype = TARE_S8, .shape = x->shape, .data = codes, .size = 2 };
    x->quant = &quant;
    x->constant = &tensor;
    assert_true(evaluate_last(model));
    const float *reals = model->graph->last->outputs[0]->constant->data;
    assert_true(reals[0] == 1.0f && reals[1] == -3.0f);
    tare_model_free(model);
}

static void test_errors_name_the_node(void **state) {
    (void)state;
    tare_model *model = parse("(float[2] x) => (y) <int64[1] i = {1}> { [pick] y = Gather(x, i) }");
    tare_arena *arena = tare_arena_new();
    const tare_shape two = { .rank = 1, .dim = { 2 } }, one = { .rank = 1, .dim = { 1 } };
    tare_tensor *inputs[2], *output;
    assert_ok(tare_tensor_new(arena, TARE_F32, &two, &inputs[0], &err));
    assert_ok(tare_tensor_new(arena, TARE_S64, &one, &inputs[1], &err));
    *(int64_t *)inputs[1]->data = 2;
    const tare_kernels *kernels = tare_kernels_for(TARE_CPU_SCALAR);
    assert_error(tare_node_run_once(model->graph->last, inputs, &output, kernels, NULL, arena, &err), TARE_E_MALFORMED,
                 "node 'pick' (Gather): index 2");
    tare_arena_free(arena);
    tare_model_free(model);

    model = parse("(float[1] x) => (y) { [odd] y = some.domain.Thing(x) }");
    arena = tare_arena_new();
    assert_error(tare_node_run_once(model->graph->last, inputs, &output, kernels, NULL, arena, &err),
                 TARE_E_UNSUPPORTED, "node 'odd' (Thing)");
    tare_arena_free(arena);
    tare_model_free(model);
}

/* A 1x1 convolution by the unit matrix, whose kernel works channels-last: what comes back lies as it came. */
static void test_channels_last_and_back(void **state) {
    (void)state;
    tare_model *model = parse("(float[1,2,2,3] x) => (y) <float[2,2,1,1] w = {1, 0, 0, 1}> { y = Conv(x, w) }");
    assert_int_equal(model->graph->last->op->layout, TARE_LAYOUT_LAST_ONLY);
    tare_arena *arena = tare_arena_new();
    const tare_value *w = tare_graph_find_value(model->graph, "w");
    tare_tensor weight = *w->constant, *inputs[2] = { NULL, &weight }, *output;
    const tare_shape shape = { .rank = 4, .dim = { 1, 2, 2, 3 } };
    assert_ok(tare_tensor_new(arena, TARE_F32, &shape, &inputs[0], &err));
    for (int i = 0; i < 12; i++) ((float *)inputs[0]->data)[i] = (float)i;
    assert_ok(
        tare_node_run_once(model->graph->last, inputs, &output, tare_kernels_for(TARE_CPU_SCALAR), NULL, arena, &err));
    assert_true(tare_shape_equal(&output->shape, &shape));
    assert_memory_equal(output->data, inputs[0]->data, output->size);
    tare_arena_free(arena);
    tare_model_free(model);
}

static tare_status parse_infer_evaluate(void *context, tare_error *err) {
    const char *text = context;
    tare_model *model;
    bool done;
    TARE_TRY(tare_model_parse(&model, text, strlen(text), err));
    tare_status status = tare_graph_infer(model->graph, err);
    for (tare_node *node = model->graph->first; node && status == TARE_OK; node = node->next)
        status = tare_node_evaluate(node, &done, err);
    tare_model_free(model);
    return status;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    char text[] =
        "<ir_version: 10, opset_import: [\"\" : 23]> g (bool c, float[1,2,2,3] q) => (t, z) <float[1,2,2,2] x = {1, 2,"
        "3, 4, 5, 6, 7, 8}, float[2,2,1,1] w = {1, 0, 0, 1}, int64[2] s = {1, 1}, int64[1] k = {1}> { v = Conv(x,"
        "w) a, b = Split<axis = 1>(v, s) t, i = TopK(a, k) n = NonZero(b) h = Shape(q) z = If<then_branch = e () "
        "=> (f) { f, g = Split<axis = 1>(q, s) }, else_branch = l () => (m) { m = Identity(q) }>(c) }";
    assert_true(test_fail_allocations(parse_infer_evaluate, text) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_folded),         cmocka_unit_test(test_numbers_and_shapes_are_kept),
        cmocka_unit_test(test_codes_are_dequantized),  cmocka_unit_test(test_errors_name_the_node),
        cmocka_unit_test(test_channels_last_and_back), cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

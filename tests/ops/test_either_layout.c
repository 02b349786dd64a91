/* Ops that run in either layout: channels-last gives the same elements as ONNX's order does. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "graph/text_form.h"
#include "ops/op.h"
#include "support/support.h"

static const char *const examples[] = {
    "(float[2,3,4,5] x, float[2,6,4,5] z) => (y) { y = Concat<axis = 1>(x, z) }",
    "(float[2,3,4,5] x, float[2,3,1,5] z) => (y) { y = Concat<axis = -2>(x, z) }",
    "(float[1,3,5] x, float[2,3,5] z) => (y) { y = Concat<axis = 0>(x, z) }",
    "(float[2,7,4] x) => (y, z) { y, z = Split<axis = 1, num_outputs = 2>(x) }",
    "(float[2,6,4,5] x) => (y, z) <int64[2] s = {1, 3}> { y, z = Split<axis = 2>(x, s) }",
    "(float[2,6,4,5] x) => (y) <int64[2] s = {-1, 1}, int64[2] e = {-7, 9}, int64[2] a = {1, 3}, int64[2] t = {-2, 2}>"
    "{ y = Slice(x, s, e, a, t) }",
    "(float16[2,6,4,5] x) => (y) <int64[1] s = {1}, int64[1] e = {2}> { y = Slice(x, s, e) }",
    "(float[1,2,3,4] x) => (y) <int64[8] p = {0, 1, 2, 0, 1, 0, 1, 3}> { y = Pad(x, p) }",
    "(float[1,2,3,4] x) => (y) <int64[4] p = {2, 1, 1, 3}, int64[2] a = {2, -1}> { y = Pad<mode = \"reflect\">(x, p, "
    "\"\", a) }",
    "(uint8[1,3,3,4] x) => (y) <int64[8] p = {0, -1, 2, 0, 0, 0, 1, 3}> { y = Pad<mode = \"edge\">(x, p) }",
    "(float[1,12,3,2] x) => (y) { y = DepthToSpace<blocksize = 2>(x) }",
    "(float[2,12,3,2] x) => (y) { y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x) }",
    "(float[2,3,4,6] x) => (y) { y = SpaceToDepth<blocksize = 2>(x) }",
    "(float[2,3,4] x) => (y) { y = Identity(x) }",
    "(float[2,3,4] x) => (y) { y = Cast<to = 6>(x) }",
    "(float[2,3,4] x) => (y, m) { y, m = Dropout(x) }",
};

enum { LINKS_MAX = 5 };

static tare_tensor *to_last(const tare_tensor *first, tare_arena *arena, bool copies) {
    tare_shape shape = first->shape;
    tare_tensor *last;
    for (int i = 0; i < shape.rank; i++)
        shape.dim[tare_layout_axis(TARE_LAYOUT_LAST, i, shape.rank)] = first->shape.dim[i];
    assert_ok(tare_tensor_new(arena, first->dtype, &shape, &last, &err));
    memset(last->data, 0xa5, last->size);
    if (copies) tare_layout_convert(first, last, TARE_LAYOUT_LAST, NULL);
    return last;
}

static void check(const char *graph) {
    char text[1024];
    tare_model *model;
    int length = snprintf(text, sizeof text, "<ir_version: 10, opset_import: [\"\" : 23]> g %s", graph);
    assert_ok(tare_model_parse(&model, text, (size_t)length, &err));
    assert_ok(tare_graph_infer(model->graph, &err));
    tare_arena *arena = tare_arena_new();
    tare_node *node = model->graph->last;
    assert_int_equal(node->op->layout, TARE_LAYOUT_EITHER);
    test_random random = { 3 };
    tare_tensor *first[LINKS_MAX] = { NULL }, *last[LINKS_MAX] = { NULL }, constants[LINKS_MAX];
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (!value) continue;
        if (value->constant) {
            constants[i] = *value->constant;
            first[i] = last[i] = &constants[i];
            continue;
        }
        assert_ok(tare_tensor_new(arena, value->dtype, &value->shape, &first[i], &err));
        for (size_t b = 0; b < first[i]->size; b++)
            ((uint8_t *)first[i]->data)[b] = (uint8_t)(test_random_next(&random) & 0x3f);
        last[i] = to_last(first[i], arena, true);
    }
    const tare_kernels *kernels = tare_kernels_for(TARE_CPU_SCALAR);
    tare_tensor *want[LINKS_MAX] = { NULL }, *got[LINKS_MAX] = { NULL };
    assert_ok(tare_node_run_once(node, first, want, kernels, NULL, arena, &err));
    for (int i = 0; i < node->output_count; i++) got[i] = to_last(want[i], arena, false);
    const tare_call call = { .node = node,
                             .attrs = node->attrs,
                             .inputs = last,
                             .input_count = node->input_count,
                             .outputs = got,
                             .output_count = node->output_count,
                             .layout = TARE_LAYOUT_LAST,
                             .kernels = kernels };
    assert_ok(node->op->run(&call, &err));
    for (int i = 0; i < node->output_count; i++)
        if (memcmp(to_last(want[i], arena, true)->data, got[i]->data, got[i]->size) != 0) fail_msg("%s", graph);
    tare_arena_free(arena);
    tare_model_free(model);
}

static void test_channels_last(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) check(examples[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_channels_last) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

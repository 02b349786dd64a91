/* Ops that run in either order of dimensions give the same bits in both: an example of every such op in ops.def, on
 * random inputs, in ONNX's order and channels-last. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/text_form.h"
#include "ops/op.h"
#include "support/support.h"

typedef struct example {
    const char *inputs, *constants, *node;
} example;

#define X "float[2,35,6,5] x"
static const example examples[] = {
    { X ", float[35,1,1] c", "", "y = Add(x, c)" },
    { X ", float[5] c", "", "y = Sub(x, c)" },
    { X ", float[2,1,6,1] c", "", "y = Mul(c, x)" },
    { X, "float c = {0.7}", "y = Div(x, c)" },
    { "float[2,3,4] x, float[3,1] c", "", "y = Add(x, c)" },
    { "float[2,3,4,5,6] x, float[3,1,1,6] c", "", "y = Pow(x, c)" },
    { X ", float[35,1,1] c", "", "y = Mod<fmod = 1>(x, c)" },
    { X ", float[35,6,1] c", "", "y = PRelu(x, c)" },
    { X ", float[35,1,1] c, float[1] d", "", "y = Max(x, c, d)" },
    { X ", float[35,1,1] c, float[1] d", "", "y = Min(c, x, d)" },
    { X ", float[35,1,1] c, float[1] d", "", "y = Sum(x, c, d)" },
    { X ", float[35,1,1] c, float[1] d", "", "y = Mean(x, c, d)" },
    { X ", float[35,1,1] c", "", "y = Equal(x, c)" },
    { X ", float[35,1,1] c", "", "y = Greater(x, c)" },
    { X ", float[35,1,1] c", "", "y = GreaterOrEqual(x, c)" },
    { X ", float[35,1,1] c", "", "y = Less(x, c)" },
    { X ", float[35,1,1] c", "", "y = LessOrEqual(x, c)" },
    { "bool[2,3,4,5] x, bool[3,1,1] c", "", "y = And(x, c)" },
    { "bool[2,3,4,5] x, bool[3,1,1] c", "", "y = Or(x, c)" },
    { "bool[2,3,4,5] x, bool[3,1,1] c", "", "y = Xor(x, c)" },
    { "bool[2,3,4,5] x", "", "y = Not(x)" },
    { "uint8[2,3,4,5] x, uint8[3,1,1] c", "", "y = BitwiseAnd(x, c)" },
    { "uint8[2,3,4,5] x, uint8[3,1,1] c", "", "y = BitwiseOr(x, c)" },
    { "uint8[2,3,4,5] x, uint8[3,1,1] c", "", "y = BitwiseXor(x, c)" },
    { "uint8[2,3,4,5] x", "", "y = BitwiseNot(x)" },
    { "uint8[2,3,4,5] x, uint8[3,1,1] c", "", "y = BitShift<direction = \"LEFT\">(x, c)" },
    { X, "float l = {-0.5}, float h = {0.5}", "y = Clip(x, l, h)" },
    { X, "", "y = Cast<to = 6>(x)" },
    { X, "", "y = Identity(x)" },
    { X ", float[2,4,6,5] c", "", "y = Concat<axis = 1>(x, c)" },
    { X ", float[2,35,6,2] c", "", "y = Concat<axis = 3>(x, c)" },
    { "float[2,36,3,5] x", "", "y = DepthToSpace<blocksize = 3>(x)" },
    { "float[2,5,6,9] x", "", "y = SpaceToDepth<blocksize = 3>(x)" },
    { X, "int64[8] p = {0, 1, 2, 0, 1, 0, -1, 3}", "y = Pad(x, p)" },
    { X, "int64[4] s = {1, 3, 5, 0}, int64[4] e = {2, 30, 0, 5}, int64[4] a = {0, 1, 2, 3}, int64[4] t = {1, 4, -2, 1}",
      "y = Slice(x, s, e, a, t)" },
    { X, "", "y, z = Split<axis = 1, num_outputs = 2>(x)" },
    { X, "float[4] s = {1, 1, 2, 1.5}", "y = Resize<mode = \"linear\">(x, \"\", s)" },
    { X, "float[4] s = {1, 1, 0.5, 3}", "y = Resize<mode = \"nearest\">(x, \"\", s)" },
    { X, "float[4] s = {1, 1, 2, 0.7}", "y = Resize<mode = \"cubic\">(x, \"\", s)" },
    { X ", float[35] s, float[35] b, float[35] m, float[35] v", "",
      "y = BatchNormalization<epsilon = 3.0>(x, s, b, m, v)" },
    { X ", float[35] s, float[35] b", "", "y = InstanceNormalization(x, s, b)" },
    { "float[2,70,19] x, float[70] s, float[70] b", "", "y = InstanceNormalization(x, s, b)" },
    { X, "", "y = LRN<size = 4, alpha = 0.5>(x)" },
    { X, "", "y = LpNormalization<axis = 1>(x)" },
    { X, "", "y = LpNormalization<axis = 3, p = 1>(x)" },
    { X, "", "y = MeanVarianceNormalization(x)" },
    { X, "", "y = MeanVarianceNormalization<axes = [1, 3]>(x)" },
    { X, "", "y = Softmax<axis = 0>(x)" },
    { X, "", "y = Softmax<axis = 1>(x)" },
    { X, "", "y = Softmax<axis = 2>(x)" },
    { X, "", "y = Softmax<axis = 3>(x)" },
    { X, "", "y = LogSoftmax<axis = 1>(x)" },
    { X, "", "y = LogSoftmax<axis = 3>(x)" },
    { X, "", "y = Hardmax<axis = 1>(x)" },
    { X, "", "y = Hardmax<axis = 2>(x)" },
    { X, "int64[2] a = {2, 3}", "y = ReduceMean(x, a)" },
    { X, "int64[2] a = {2, 3}", "y = ReduceMean<keepdims = 0>(x, a)" },
    { X, "int64[1] a = {1}", "y = ReduceSum(x, a)" },
    { X, "int64[1] a = {1}", "y = ReduceSum<keepdims = 0>(x, a)" },
    { X, "int64[1] a = {0}", "y = ReduceSumSquare<keepdims = 0>(x, a)" },
    { X, "int64[3] a = {1, 2, 3}", "y = ReduceL1(x, a)" },
    { X, "int64[2] a = {1, 3}", "y = ReduceL2(x, a)" },
    { X, "int64[1] a = {1}", "y = ReduceLogSumExp(x, a)" },
    { X, "int64[2] a = {0, 2}", "y = ReduceLogSum(x, a)" },
    { X, "int64[1] a = {1}", "y = ReduceMax(x, a)" },
    { X, "int64[2] a = {2, 3}", "y = ReduceMin<keepdims = 0>(x, a)" },
    { X, "int64[1] a = {3}", "y = ReduceProd<keepdims = 0>(x, a)" },
    { "float[2,3,4,5,6] x", "int64[2] a = {1, 4}", "y = ReduceSum<keepdims = 0>(x, a)" },
    { X ", float[1,35,1,1] s", "float z = {1}, float b = {4}",
      "y = qonnx.custom_op.general.Quant<narrow = 0>(x, s, z, b)" },
    { X ", float[35,1,1] s", "", "y = qonnx.custom_op.general.BipolarQuant(x, s)" },
    { X, "float s = {0.1}, float z = {0}, float i = {8}, float o = {4}",
      "y = qonnx.custom_op.general.Trunc(x, s, z, i, o)" },
};

/* Of one input: alike but for the name. */
static const char *const plain_ops[] = {
    "Dropout",
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Celu",
    "Cos",
    "Cosh",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "IsInf",
    "IsNaN",
    "LeakyRelu",
    "Log",
    "Mish",
    "Neg",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "HardSigmoid",
    "HardSwish",
    "ThresholdedRelu",
};

static tare_model *parse(const example *e) {
    char text[1024];
    tare_model *model;
    tare_error err = { 0 };
    int length = snprintf(text, sizeof text,
                          "<ir_version: 10, opset_import: [\"\" : 24, \"qonnx.custom_op.general\" : 1]> "
                          "g (%s) => (y) <%s> { %s }",
                          e->inputs, e->constants, e->node);
    assert_in_range(length, 1, sizeof text - 1);
    if (tare_model_parse(&model, text, (size_t)length, &err) != TARE_OK) fail_msg("%s: %s", text, err.text);
    return model;
}

/* Positive where the op wants that, else two-sided. */
static void fill(tare_tensor *tensor, const char *node, test_random *random) {
    size_t count = tensor->size / tare_dtype_size(tensor->dtype);
    bool positive = strstr(node, "Pow") || strstr(node, "Log") || strstr(node, "Sqrt") || strstr(node, "Acosh");
    for (size_t i = 0; i < count; i++) {
        double unit = test_random_unit(random);
        if (tensor->dtype == TARE_F32)
            ((float *)tensor->data)[i] = (float)(positive ? 1 + unit : 2 * unit - 1);
        else
            ((uint8_t *)tensor->data)[i] = (uint8_t)(unit * (tensor->dtype == TARE_BOOL ? 2 : 256));
    }
}

static tare_tensor *laid_out(const tare_tensor *from, int rank, tare_arena *arena) {
    tare_tensor wide = *from, *to;
    while (wide.shape.rank < rank) {
        memmove(wide.shape.dim + 1, wide.shape.dim, (size_t)wide.shape.rank * sizeof(int64_t));
        wide.shape.dim[0] = 1;
        wide.shape.rank++;
    }
    tare_shape last = wide.shape;
    for (int i = 0; i < wide.shape.rank; i++)
        last.dim[tare_layout_axis(TARE_LAYOUT_LAST, i, wide.shape.rank)] = wide.shape.dim[i];
    assert_ok(tare_tensor_new(arena, wide.dtype, &last, &to, &err));
    tare_layout_convert(&wide, to, TARE_LAYOUT_LAST, NULL);
    return to;
}

enum { VALUES_MAX = 8 };

/* One call of the op on channels-last tensors, prepared as a plan does it. */
static void run_last(const tare_node *node, tare_tensor *const *inputs, tare_tensor *const *outputs,
                     tare_arena *arena) {
    const tare_tensor *seen[VALUES_MAX];
    tare_tensor copies[VALUES_MAX];
    for (int i = 0; i < node->input_count; i++) {
        seen[i] = NULL;
        if (!inputs[i]) continue;
        copies[i] = *inputs[i];
        if (!node->inputs[i]->constant) copies[i].data = NULL;
        seen[i] = &copies[i];
    }
    const tare_kernels *kernels = tare_kernels_for(tare_cpu_detect());
    tare_kept kept = { .arena = arena };
    tare_prepare prepare = { .node = node,
                             .attrs = node->attrs,
                             .inputs = seen,
                             .input_count = node->input_count,
                             .outputs = (const tare_tensor *const *)outputs,
                             .output_count = node->output_count,
                             .layout = TARE_LAYOUT_LAST,
                             .kernels = kernels,
                             .threads = 1,
                             .arena = arena,
                             .kept = &kept,
                             .clamp_lo = -INFINITY,
                             .clamp_hi = INFINITY };
    if (node->op->prepare) assert_ok(node->op->prepare(&prepare, &err));
    const tare_call call = { .node = node,
                             .attrs = node->attrs,
                             .inputs = inputs,
                             .input_count = node->input_count,
                             .outputs = outputs,
                             .output_count = node->output_count,
                             .layout = TARE_LAYOUT_LAST,
                             .kernels = kernels,
                             .state = prepare.state,
                             .scratch = tare_arena_alloc(arena, prepare.scratch_size + 64, 1) };
    assert_ok(node->op->run(&call, &err));
}

static void compare(const example *e, const tare_tensor *first, const tare_tensor *last, tare_arena *arena) {
    tare_tensor *back;
    if (first->shape.rank < 3) {
        if (memcmp(first->data, last->data, first->size)) fail_msg("%s (%s): differs", e->node, e->inputs);
        return;
    }
    assert_ok(tare_tensor_new(arena, first->dtype, &first->shape, &back, &err));
    tare_layout_convert(last, back, TARE_LAYOUT_FIRST, NULL);
    size_t size = tare_dtype_size(first->dtype);
    for (size_t i = 0; i < first->size; i += size)
        if (memcmp((char *)first->data + i, (char *)back->data + i, size))
            fail_msg("%s (%s): element %zu differs", e->node, e->inputs, i / size);
}

static void check(const example *e, test_random *random) {
    tare_model *model = parse(e);
    tare_arena *arena = tare_arena_new();
    const tare_node *node = model->graph->first;
    tare_tensor *inputs[VALUES_MAX] = { 0 }, *laid[VALUES_MAX] = { 0 }, *outputs[VALUES_MAX], *made[VALUES_MAX];
    int rank = 0;
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (!value) continue;
        assert_ok(tare_tensor_new(arena, value->dtype, &value->shape, &inputs[i], &err));
        if (value->constant)
            memcpy(inputs[i]->data, value->constant->data, inputs[i]->size);
        else
            fill(inputs[i], e->node, random);
        if (value->shape.rank > rank) rank = value->shape.rank;
    }
    const tare_kernels *kernels = tare_kernels_for(tare_cpu_detect());
    assert_ok(tare_node_run_once(node, inputs, outputs, kernels, NULL, arena, &err));
    for (int i = 0; i < node->input_count; i++) {
        unsigned data = node->op->layout_inputs ? node->op->layout_inputs : ~0u;
        bool is_wide = node->op->flags & TARE_OP_ELEMENTWISE ? inputs[i] && inputs[i]->shape.rank > 0
                                                             : inputs[i] && inputs[i]->shape.rank >= 3;
        laid[i] = is_wide && data & 1u << i ? laid_out(inputs[i], rank, arena) : inputs[i];
    }
    for (int i = 0; i < node->output_count; i++) {
        tare_shape shape = outputs[i]->shape;
        for (int d = 0; d < outputs[i]->shape.rank; d++)
            shape.dim[tare_layout_axis(TARE_LAYOUT_LAST, d, shape.rank)] = outputs[i]->shape.dim[d];
        assert_ok(tare_tensor_new(arena, outputs[i]->dtype, &shape, &made[i], &err));
    }
    run_last(node, laid, made, arena);
    for (int i = 0; i < node->output_count; i++) compare(e, outputs[i], made[i], arena);
    tare_arena_free(arena);
    tare_model_free(model);
}

static void test_both_layouts_give_the_same_bits(void **state) {
    (void)state;
    test_random random = { 1 };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) check(&examples[i], &random);
    for (size_t i = 0; i < sizeof plain_ops / sizeof *plain_ops; i++) {
        char node[64];
        snprintf(node, sizeof node, "y = %s(x)", plain_ops[i]);
        check(&(const example){ X, "", node }, &random);
    }
}

static bool is_covered(const tare_op *op) {
    for (size_t i = 0; i < sizeof plain_ops / sizeof *plain_ops; i++)
        if (!strcmp(plain_ops[i], op->name)) return true;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        char call[64];
        snprintf(call, sizeof call, "%s%s", op->domain ? "." : " ", op->name);
        const char *found = strstr(examples[i].node, call);
        if (found && strchr("(<", found[strlen(call)])) return true;
    }
    return false;
}

static void test_every_such_op_has_an_example(void **state) {
    (void)state;
    for (size_t i = 0; i < tare_op_count(); i++) {
        const tare_op *op = tare_op_at(i);
        if (op->layout != TARE_LAYOUT_EITHER || !op->run || op->upgrade) continue;
        if (!is_covered(op)) fail_msg("%s runs in either layout, but has no example here", op->name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_layouts_give_the_same_bits),
        cmocka_unit_test(test_every_such_op_has_an_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

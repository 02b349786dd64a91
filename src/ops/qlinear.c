/* The operator-oriented quantized forms, QLinearConv to com.microsoft's QGemm. tare's one form of a quantized op is
 *   DequantizeLinear of each data input → the float op → QuantizeLinear,
 * and these are rewritten to it. A bias of s32 codes has the scale f32(x_scale · w_scale). */
#include <stddef.h>

#include "ops/attr.h"
#include "ops/upgrade.h"
#include "ops/window.h"

/* The attributes of all of them; what an op does not have stays at 0. */
typedef struct attributes {
    tare_window_attrs window;
    int64_t group, axis, opset;
    float alpha;
    bool ceil_mode, count_include_pad, channels_last, trans_a, trans_b;
} attributes;

#define INT_FIELD(member, value)                                                                                       \
    { .name = #member, .type = TARE_FIELD_INT, .offset = offsetof(attributes, member), .fallback.i = value }
#define CHANNELS_LAST                                                                                                  \
    { .name = "channels_last", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, channels_last) }
#define ALPHA(value)                                                                                                   \
    { .name = "alpha", .type = TARE_FIELD_FLOAT, .offset = offsetof(attributes, alpha), .fallback.f = value }

static const tare_field no_fields[] = { { 0 } };
static const tare_field conv_fields[] = { TARE_WINDOW_FIELDS(attributes, window), INT_FIELD(group, 1), { 0 } };
static const tare_field pool_fields[] = {
    TARE_WINDOW_FIELDS(attributes, window),
    { .name = "ceil_mode", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, ceil_mode) },
    { .name = "count_include_pad", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, count_include_pad) },
    CHANNELS_LAST,
    { 0 },
};
static const tare_field global_pool_fields[] = { CHANNELS_LAST, { 0 } };
static const tare_field leaky_fields[] = { ALPHA(0.01), { 0 } };
static const tare_field softmax_fields[] = { INT_FIELD(axis, -1), INT_FIELD(opset, 13), { 0 } };
static const tare_field concat_fields[] = { INT_FIELD(axis, 0), { 0 } };
static const tare_field gemm_fields[] = {
    ALPHA(1),
    { .name = "transA", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, trans_a) },
    { .name = "transB", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, trans_b) },
    { 0 },
};

/* ---- steps ---- */

/* The real numbers of the codes at input `index`, their scale and zero point behind them. */
static tare_status dequantize(tare_node *node, int index, int64_t axis, tare_value **real, tare_error *err) {
    tare_value *links[3];
    tare_node *added;
    for (int i = 0; i < 3; i++) links[i] = tare_node_input(node, index + i);
    if (!links[0] || !links[1])
        return tare_fail(err, TARE_E_MALFORMED, "input %d is left out, but it is required",
                         links[0] ? index + 1 : index);
    TARE_TRY(
        tare_insert_node(node, &tare_op_dequantize_linear, links[0]->name, links, links[2] ? 3 : 2, real, &added, err));
    tare_attr_set_int(added, "axis", axis);
    return TARE_OK;
}

/* Quantizes what the node makes; without a zero point the codes are of type `code`. */
static tare_status quantize(tare_node *node, tare_value *scale, tare_value *zero, tare_dtype code, tare_error *err) {
    tare_value *links[3] = { NULL, scale, zero };
    tare_node *added;
    if (!scale) return tare_fail(err, TARE_E_MALFORMED, "the scale of the output is left out, but it is required");
    TARE_TRY(tare_append_node(node, &tare_op_quantize_linear, links, zero ? 3 : 2, &added, err));
    links[0]->dtype = TARE_DTYPE_NONE; /* real now: inference says which */
    if (!zero && code) tare_attr_set_int(added, "output_dtype", tare_dtype_to_onnx(code));
    return TARE_OK;
}

/* The node becomes `op` on these inputs; attributes that both have are kept. */
static tare_status become(tare_node *node, const char *op_name, tare_value *const *inputs, int count, tare_error *err) {
    const void *old = node->attrs;
    const tare_field *old_fields = node->op->attrs;
    const tare_op *op = tare_op_find("", op_name, 13);
    if (!op) return tare_fail(err, TARE_E_BUG, "there is no op %s", op_name);
    TARE_TRY(tare_node_become(node, op, err));
    if (op->attrs && old_fields) tare_fields_copy(op->attrs, node->attrs, old_fields, old);
    TARE_TRY(tare_node_resize_inputs(node, count, err));
    for (int i = 0; i < count; i++) TARE_TRY(tare_node_set_input(node, i, inputs[i], err));
    return TARE_OK;
}

/* a · b [· factor] as f32: a constant when both are, else made by Mul. */
static tare_status product(tare_node *node, tare_value *a, tare_value *b, float factor, tare_value **out,
                           tare_error *err) {
    tare_arena *arena = node->graph->model->arena;
    const float *x, *y;
    size_t x_count, y_count;
    tare_node *added;
    if (!a->constant || !b->constant) {
        TARE_TRY(tare_insert_node(node, tare_op_find("", "Mul", 13), "bias_scale", (tare_value *[]){ a, b }, 2, out,
                                  &added, err));
        if (factor == 1) return TARE_OK;
        tare_value *constant, *unscaled = *out;
        TARE_TRY(tare_graph_add_f32(node->graph, "alpha", factor, &constant, err));
        return tare_insert_node(node, tare_op_find("", "Mul", 13), "bias_scale", (tare_value *[]){ unscaled, constant },
                                2, out, &added, err);
    }
    TARE_TRY(tare_value_read_f32(a, arena, &x, &x_count, err));
    TARE_TRY(tare_value_read_f32(b, arena, &y, &y_count, err));
    if (x_count != 1) return tare_fail(err, TARE_E_MALFORMED, "the input has %zu scales, want one", x_count);
    tare_tensor scale = { .dtype = TARE_F32, .shape = b->shape, .size = y_count * sizeof(float) };
    float *numbers = tare_arena_alloc_raw(arena, y_count, sizeof *numbers);
    if (!numbers) return tare_fail_memory(err, scale.size);
    for (size_t i = 0; i < y_count; i++) numbers[i] = factor * x[0] * y[i];
    scale.data = numbers;
    return tare_graph_add_constant(node->graph, "bias_scale", &scale, NULL, true, out, err);
}

/* DequantizeLinear of s32 codes without a zero point. */
static tare_status dequantize_bias(tare_node *node, tare_value *bias, tare_value *scale, int64_t axis,
                                   tare_value **real, tare_error *err) {
    tare_node *added;
    TARE_TRY(tare_insert_node(node, &tare_op_dequantize_linear, bias->name, (tare_value *[]){ bias, scale }, 2, real,
                              &added, err));
    tare_attr_set_int(added, "axis", axis);
    return TARE_OK;
}

/* ---- the forms ---- */

/* QLinearConv: x, w (3 each), y_scale, y_zero_point [, B]. */
static tare_status upgrade_conv(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    tare_value *in[9], *real[3], *bias_scale;
    tare_dtype code = tare_input_dtype(node, 0);
    for (int i = 0; i < 9; i++) in[i] = tare_node_input(node, i);
    TARE_TRY(dequantize(node, 0, 1, &real[0], err));
    TARE_TRY(dequantize(node, 3, 0, &real[1], err));
    if (in[8]) {
        TARE_TRY(product(node, in[1], in[4], 1, &bias_scale, err));
        TARE_TRY(dequantize_bias(node, in[8], bias_scale, 0, &real[2], err));
    }
    TARE_TRY(become(node, "Conv", real, in[8] ? 3 : 2, err));
    return quantize(node, in[6], in[7], code, err);
}

/* QLinearMatMul: a, b (3 each), y_scale, y_zero_point. Scales of a go by row, those of b by column. */
static tare_status upgrade_matmul(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    tare_value *real[2], *scale = tare_node_input(node, 6), *zero = tare_node_input(node, 7);
    tare_dtype code = tare_input_dtype(node, 0);
    TARE_TRY(dequantize(node, 0, -2, &real[0], err));
    TARE_TRY(dequantize(node, 3, -1, &real[1], err));
    TARE_TRY(become(node, "MatMul", real, 2, err));
    return quantize(node, scale, zero, code, err);
}

/* QGemm: A, B (3 each) [, C] [, y_scale, y_zero_point]. C has the scale alpha · a_scale · b_scale and is not multiplied by
 * alpha again; without y_scale the output is real. */
static tare_status upgrade_gemm(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const attributes old = *(const attributes *)node->attrs;
    tare_value *in[9], *real[3], *bias_scale;
    tare_dtype code = tare_input_dtype(node, 0);
    for (int i = 0; i < 9; i++) in[i] = tare_node_input(node, i);
    TARE_TRY(dequantize(node, 0, 1, &real[0], err));
    TARE_TRY(dequantize(node, 3, old.trans_b ? 0 : 1, &real[1], err));
    if (in[6]) {
        TARE_TRY(product(node, in[1], in[4], old.alpha, &bias_scale, err));
        TARE_TRY(dequantize_bias(node, in[6], bias_scale, -1, &real[2], err));
    }
    TARE_TRY(become(node, "Gemm", real, in[6] ? 3 : 2, err));
    return in[7] ? quantize(node, in[7], in[8], code, err) : TARE_OK;
}

/* Two operands and the output, 3 each. */
static tare_status upgrade_binary(tare_node *node, const char *op, tare_error *err) {
    tare_value *real[2], *scale = tare_node_input(node, 6), *zero = tare_node_input(node, 7);
    tare_dtype code = tare_input_dtype(node, 0);
    TARE_TRY(dequantize(node, 0, 1, &real[0], err));
    TARE_TRY(dequantize(node, 3, 1, &real[1], err));
    TARE_TRY(become(node, op, real, 2, err));
    return quantize(node, scale, zero, code, err);
}
static tare_status upgrade_add(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade_binary(node, "Add", err);
}
static tare_status upgrade_mul(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade_binary(node, "Mul", err);
}

/* One operand, then y_scale, y_zero_point. */
static tare_status upgrade_unary(tare_node *node, const char *op, tare_error *err) {
    const attributes *old = node->attrs;
    tare_value *real, *scale = tare_node_input(node, 3), *zero = tare_node_input(node, 4);
    tare_dtype code = tare_input_dtype(node, 0);
    if (old->channels_last)
        return tare_fail(err, TARE_E_UNSUPPORTED, "attribute 'channels_last' is 1, only channels-first is read");
    TARE_TRY(dequantize(node, 0, 1, &real, err));
    TARE_TRY(become(node, op, &real, 1, err));
    return quantize(node, scale, zero, code, err);
}
static tare_status upgrade_average_pool(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade_unary(node, "AveragePool", err);
}
static tare_status upgrade_global_pool(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade_unary(node, "GlobalAveragePool", err);
}
static tare_status upgrade_sigmoid(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade_unary(node, "Sigmoid", err);
}
static tare_status upgrade_leaky_relu(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade_unary(node, "LeakyRelu", err);
}

/* Attribute opset says whose Softmax it is: before 13 it flattens, and that form is upgraded in its turn. */
static tare_status upgrade_softmax(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const attributes old = *(const attributes *)node->attrs;
    TARE_TRY(upgrade_unary(node, "Softmax", err));
    if (old.opset >= 13) return TARE_OK;
    TARE_TRY(tare_node_become(node, &tare_op_softmax_1, err));
    tare_attr_set_int(node, "axis", old.axis);
    return TARE_OK;
}

/* y_scale, y_zero_point, then each operand (3). */
static tare_status upgrade_concat(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    int count = (node->input_count - 2) / 3;
    tare_value *scale = node->inputs[0], *zero = node->inputs[1];
    tare_value **real = tare_arena_alloc(node->graph->model->arena, (size_t)count, sizeof(*real));
    tare_dtype code = tare_input_dtype(node, 2);
    if (!real) return tare_fail_memory(err, (size_t)count * sizeof *real);
    for (int i = 0; i < count; i++) TARE_TRY(dequantize(node, 2 + 3 * i, 1, &real[i], err));
    TARE_TRY(become(node, "Concat", real, count, err));
    return quantize(node, scale, zero, code, err);
}

/* condition, X, Y (3 each), z_scale, z_zero_point. */
static tare_status upgrade_where(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    tare_value *links[3] = { node->inputs[0] }, *scale = tare_node_input(node, 7), *zero = tare_node_input(node, 8);
    tare_dtype code = tare_input_dtype(node, 1);
    TARE_TRY(dequantize(node, 1, 1, &links[1], err));
    TARE_TRY(dequantize(node, 4, 1, &links[2], err));
    TARE_TRY(become(node, "Where", links, 3, err));
    return quantize(node, scale, zero, code, err);
}

/* ---- inference: the types; shapes follow once rewritten ---- */

static tare_status infer_codes(tare_node *node, int data, int zero, tare_error *err) {
    tare_dtype dtype = tare_input_dtype(node, zero);
    unsigned codes = 1u << TARE_S8 | 1u << TARE_U8 | 1u << TARE_S16 | 1u << TARE_U16;
    TARE_TRY(tare_infer_check(node, data, codes, err));
    return tare_infer_set(node, 0, dtype ? dtype : tare_input_dtype(node, data), NULL, err);
}
static tare_status infer_unary(tare_node *node, tare_error *err) { return infer_codes(node, 0, 4, err); }
static tare_status infer_binary(tare_node *node, tare_error *err) { return infer_codes(node, 0, 7, err); }
static tare_status infer_where(tare_node *node, tare_error *err) { return infer_codes(node, 1, 8, err); }
static tare_status infer_concat(tare_node *node, tare_error *err) {
    if ((node->input_count - 2) % 3)
        return tare_fail(err, TARE_E_MALFORMED, "has %d inputs, want 2 and 3 for each operand", node->input_count);
    return infer_codes(node, 2, 1, err);
}
static tare_status infer_gemm(tare_node *node, tare_error *err) {
    if (!tare_node_input(node, 7)) return tare_infer_set(node, 0, TARE_F32, NULL, err);
    return infer_codes(node, 0, 8, err);
}

#define OP(op, symbol, op_domain, opset, least, most, fields, infer_rule, upgrade_rule)                                \
    const tare_op tare_op_##symbol = { .name = #op,                                                                    \
                                       .domain = op_domain,                                                            \
                                       .since = opset,                                                                 \
                                       .inputs = { least, most },                                                      \
                                       .outputs = { 1, 1 },                                                            \
                                       .attrs = fields,                                                                \
                                       .attrs_size = sizeof(attributes),                                               \
                                       .upgrade = upgrade_rule,                                                        \
                                       .infer = infer_rule };
#define MS "com.microsoft"
OP(QLinearConv, qlinear_conv, NULL, 10, 8, 9, conv_fields, infer_binary, upgrade_conv)
OP(QLinearMatMul, qlinear_matmul, NULL, 10, 8, 8, no_fields, infer_binary, upgrade_matmul)
OP(QGemm, microsoft_qgemm, MS, 1, 6, 9, gemm_fields, infer_gemm, upgrade_gemm)
OP(QLinearAdd, microsoft_qlinear_add, MS, 1, 7, 8, no_fields, infer_binary, upgrade_add)
OP(QLinearAveragePool, microsoft_qlinear_average_pool, MS, 1, 4, 5, pool_fields, infer_unary, upgrade_average_pool)
OP(QLinearConcat, microsoft_qlinear_concat, MS, 1, 5, -1, concat_fields, infer_concat, upgrade_concat)
OP(QLinearGlobalAveragePool, microsoft_qlinear_global_average_pool, MS, 1, 5, 5, global_pool_fields, infer_unary,
   upgrade_global_pool)
OP(QLinearLeakyRelu, microsoft_qlinear_leaky_relu, MS, 1, 4, 5, leaky_fields, infer_unary, upgrade_leaky_relu)
OP(QLinearMul, microsoft_qlinear_mul, MS, 1, 7, 8, no_fields, infer_binary, upgrade_mul)
OP(QLinearSigmoid, microsoft_qlinear_sigmoid, MS, 1, 4, 5, no_fields, infer_unary, upgrade_sigmoid)
OP(QLinearSoftmax, microsoft_qlinear_softmax, MS, 1, 4, 5, softmax_fields, infer_unary, upgrade_softmax)
OP(QLinearWhere, microsoft_qlinear_where, MS, 1, 9, 9, no_fields, infer_where, upgrade_where)

/* Ops of newer opsets as formulas of older ones. */
#include "ops/spell.h"

#include <math.h>

#include "ops/attr.h"
#include "ops/upgrade.h"

/* What is built before `node`, which becomes the last step itself. The first error stays. */
typedef struct speller {
    tare_node *node;
    tare_status status;
    tare_error *err;
} speller;

static tare_value *constant(speller *s, const char *name, double number) {
    tare_value *value = NULL;
    if (s->status == TARE_OK) s->status = tare_graph_add_f32(s->node->graph, name, (float)number, &value, s->err);
    return value;
}

/* A node of one or two inputs (b NULL: one). */
static tare_value *apply(speller *s, const tare_op *op, tare_value *a, tare_value *b) {
    tare_value *out = NULL, *const inputs[] = { a, b };
    tare_node *added;
    if (s->status != TARE_OK) return NULL;
    const char *name = tare_arena_printf(s->node->graph->model->arena, "%s_%s", s->node->outputs[0]->name, op->name);
    if (!name) {
        s->status = tare_fail_memory(s->err, 0);
        return NULL;
    }
    s->status = tare_insert_node(s->node, op, name, inputs, b ? 2 : 1, &out, &added, s->err);
    if (s->status == TARE_OK) s->status = tare_node_infer(added, s->err);
    return out;
}

/* The node itself becomes the last step. */
static tare_status finish(speller *s, const tare_op *op, tare_value *a, tare_value *b) {
    if (s->status != TARE_OK) return s->status;
    TARE_TRY(tare_node_resize_inputs(s->node, 2, s->err));
    TARE_TRY(tare_node_set_input(s->node, 0, a, s->err));
    TARE_TRY(tare_node_set_input(s->node, 1, b, s->err));
    return tare_node_become(s->node, op, s->err);
}

static bool is_f32(const tare_node *node) { return tare_input_dtype(node, 0) == TARE_F32; }

tare_status tare_spell_swish(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err) {
    (void)graph, (void)opset;
    speller s = { .node = node, .err = err };
    float alpha = tare_attr_float(node, "alpha", 1);
    tare_value *x = node->inputs[0], *scaled = x;
    if (!is_f32(node)) return TARE_OK;
    if (alpha != 1) scaled = apply(&s, &tare_op_mul, x, constant(&s, "alpha", (double)alpha));
    return finish(&s, &tare_op_mul, x, apply(&s, &tare_op_sigmoid, scaled, NULL));
}

tare_status tare_spell_hard_swish(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err) {
    (void)graph, (void)opset;
    speller s = { .node = node, .err = err };
    tare_value *x = node->inputs[0];
    if (!is_f32(node)) return TARE_OK;
    tare_value *gate = apply(&s, &tare_op_hard_sigmoid, x, NULL);
    if (s.status != TARE_OK) return s.status;
    tare_attr_set_float(gate->producer, "alpha", 1.0f / 6);
    tare_attr_set_float(gate->producer, "beta", 0.5f);
    return finish(&s, &tare_op_mul, x, gate);
}

/* √(2/π)·(x + 0.044715·x³) */
static tare_value *tanh_argument(speller *s, tare_value *x) {
    static const double root = 0.7978845608028654;
    tare_value *square = apply(s, &tare_op_mul, x, x), *cube = apply(s, &tare_op_mul, x, square);
    tare_value *small = apply(s, &tare_op_mul, cube, constant(s, "cubic", 0.044715));
    return apply(s, &tare_op_mul, apply(s, &tare_op_add, x, small), constant(s, "root", root));
}

tare_status tare_spell_gelu(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err) {
    (void)graph, (void)opset;
    static const double root2 = 1.4142135623730951;
    speller s = { .node = node, .err = err };
    tare_value *x = node->inputs[0], *curve;
    if (!is_f32(node)) return TARE_OK;
    if (tare_attr_is(node, "approximate", "tanh", "none"))
        curve = apply(&s, &tare_op_tanh, tanh_argument(&s, x), NULL);
    else
        curve = apply(&s, &tare_op_erf, apply(&s, &tare_op_div, x, constant(&s, "root", root2)), NULL);
    tare_value *gate = apply(&s, &tare_op_add, curve, constant(&s, "one", 1));
    tare_value *half = apply(&s, &tare_op_mul, x, constant(&s, "half", 0.5));
    return finish(&s, &tare_op_mul, half, gate);
}

/* ---- LayerNormalization ---- */

static tare_value *axes_of(speller *s) {
    int64_t axes[TARE_RANK_MAX], first = tare_attr_int(s->node, "axis", -1);
    int rank = s->node->inputs[0]->shape.rank;
    tare_value *value = NULL;
    tare_axis_normalize(&first, rank);
    for (int64_t i = first; i < rank; i++) axes[i - first] = i;
    if (s->status == TARE_OK)
        s->status = tare_graph_add_s64(s->node->graph, "axes", axes, (size_t)(rank - first), false, &value, s->err);
    return value;
}

static bool can_spell_layer_normalization(const tare_node *node) {
    int64_t axis = tare_attr_int(node, "axis", -1);
    return is_f32(node) && !tare_node_output(node, 1) && !tare_node_output(node, 2) &&
           node->inputs[0]->shape.rank > 0 && tare_axis_normalize(&axis, node->inputs[0]->shape.rank);
}

tare_status tare_spell_layer_normalization(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err) {
    (void)graph, (void)opset;
    speller s = { .node = node, .err = err };
    if (!can_spell_layer_normalization(node)) return TARE_OK;
    tare_value *x = node->inputs[0], *scale = node->inputs[1], *bias = tare_node_input(node, 2), *axes = axes_of(&s);
    tare_value *epsilon = constant(&s, "epsilon", (double)tare_attr_float(node, "epsilon", 1e-5f));
    tare_value *d = apply(&s, &tare_op_sub, x, apply(&s, &tare_op_reduce_mean, x, axes));
    tare_value *variance = apply(&s, &tare_op_reduce_mean, apply(&s, &tare_op_mul, d, d), axes);
    tare_value *deviation = apply(&s, &tare_op_sqrt, apply(&s, &tare_op_add, variance, epsilon), NULL);
    tare_value *normal = apply(&s, &tare_op_div, d, deviation);
    if (!bias) return finish(&s, &tare_op_mul, normal, scale);
    return finish(&s, &tare_op_add, apply(&s, &tare_op_mul, normal, scale), bias);
}

/* ---- QONNX ---- */

/* x < 0 ? -scale : scale */
static tare_status take_signs(speller *s, tare_value *x, double scale) {
    tare_value *negative = apply(s, &tare_op_less, x, constant(s, "zero", 0));
    tare_value *minus = constant(s, "minus", -scale), *plus = constant(s, "plus", scale);
    if (s->status != TARE_OK) return s->status;
    TARE_TRY(tare_node_resize_inputs(s->node, 3, s->err));
    TARE_TRY(tare_node_set_input(s->node, 0, negative, s->err));
    TARE_TRY(tare_node_set_input(s->node, 1, minus, s->err));
    TARE_TRY(tare_node_set_input(s->node, 2, plus, s->err));
    return tare_node_become(s->node, &tare_op_where, s->err);
}

/* Codes of `bits` bits: -2^(bits-1) to 2^(bits-1) - 1, or 0 to 2^bits - 1; narrow: one less, at the side away from 0. */
static tare_status clamp(speller *s, tare_value *x, double scale, double zero, double bits) {
    bool is_signed = tare_attr_int(s->node, "signed", 1) != 0, is_narrow = tare_attr_int(s->node, "narrow", 0) != 0;
    double top = ldexp(1, (int)bits - (is_signed ? 1 : 0));
    double lo = !is_signed ? 0 : is_narrow ? 1 - top : -top, hi = top - 1 - (!is_signed && is_narrow ? 1 : 0);
    tare_value *min = constant(s, "min", (lo - zero) * scale), *max = constant(s, "max", (hi - zero) * scale);
    if (s->status != TARE_OK) return s->status;
    TARE_TRY(tare_node_resize_inputs(s->node, 3, s->err));
    TARE_TRY(tare_node_set_input(s->node, 0, x, s->err));
    TARE_TRY(tare_node_set_input(s->node, 1, min, s->err));
    TARE_TRY(tare_node_set_input(s->node, 2, max, s->err));
    return tare_node_become(s->node, &tare_op_clip, s->err);
}

tare_status tare_spell_qonnx_quant(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err) {
    (void)graph, (void)opset;
    speller s = { .node = node, .err = err };
    const tare_quant *quant = node->outputs[0] ? node->outputs[0]->quant : NULL;
    double scale, zero = 0, bits = 1;
    bool is_bipolar = node->input_count == 2;
    if (!quant || !is_f32(node) || !tare_value_read_scalar(node->inputs[1], &scale) ||
        (!is_bipolar &&
         (!tare_value_read_scalar(node->inputs[2], &zero) || !tare_value_read_scalar(node->inputs[3], &bits))) ||
        quant->count != 1 || (double)quant->scale[0] != scale || (double)quant->zero_point[0] != zero)
        return TARE_OK;
    if (is_bipolar || (bits == 1 && tare_attr_int(node, "signed", 1)))
        return zero == 0 ? take_signs(&s, node->inputs[0], scale) : TARE_OK;
    bool is_even = tare_attr_is(node, "rounding_mode", "ROUND", "ROUND") ||
                   tare_attr_is(node, "rounding_mode", "HALF_EVEN", "ROUND");
    return is_even ? clamp(&s, node->inputs[0], scale, zero, bits) : TARE_OK;
}

/* ---- which opset has them ---- */

/* Broadcasting in numpy's way came with opset 7, Erf with 9, negative axes with 11. */
enum { OPSET_BROADCAST = 7, OPSET_ERF = 9, OPSET_AXES = 11 };

int tare_spell_swish_needs(const tare_node *node) { return is_f32(node) ? OPSET_BROADCAST : node->op->since; }

int tare_spell_hard_swish_needs(const tare_node *node) { return is_f32(node) ? OPSET_BROADCAST : node->op->since; }

int tare_spell_gelu_needs(const tare_node *node) {
    if (!is_f32(node)) return node->op->since;
    return tare_attr_is(node, "approximate", "tanh", "none") ? OPSET_BROADCAST : OPSET_ERF;
}

int tare_spell_layer_normalization_needs(const tare_node *node) {
    return can_spell_layer_normalization(node) ? OPSET_AXES : node->op->since;
}

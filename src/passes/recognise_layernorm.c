/* Before:  d = x - ReduceMean(x)   y = d / √(ReduceMean(d²) + ε) · γ + β
 * After:   y = LayerNormalization<axis, epsilon>(x, γ, β)
 * When:    the means run over the last dimensions of a known shape and keep them; d² is Pow(d, 2) or Mul(d, d); the division a
 *          Div or a Mul by the Reciprocal; γ and β are constants of just these dimensions, or absent (γ: ones); nothing else
 *          reads what is between. Files of an opset before LayerNormalization (17) get the nodes back when they are
 *          written. */
#include <math.h>
#include <string.h>

#include "ops/attr.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

typedef struct layernorm {
    tare_value *x;
    tare_value *gamma, *beta; /* NULL: none */
    int axis;
    double epsilon;
    tare_pattern pattern;
} layernorm;

/* Notes the node of a value whose readers are all of the pattern; checked as a whole before the rewrite. */
static bool note(layernorm *l, const tare_value *value, const char *op) {
    if (!tare_node_is(value->producer, op) || value->producer->graph != value->graph || value->quant ||
        value->is_output || value->producer->output_count != 1 || l->pattern.count == TARE_PATTERN_NODES)
        return false;
    for (size_t i = 0; i < l->pattern.count; i++)
        if (l->pattern.nodes[i] == value->producer) return true;
    l->pattern.nodes[l->pattern.count++] = value->producer;
    return true;
}

/* Is everything that reads the noted nodes noted itself, or the root? */
static bool is_closed(const layernorm *l, const tare_node *root) {
    for (size_t i = 0; i < l->pattern.count; i++) {
        const tare_value *value = l->pattern.nodes[i]->outputs[0];
        for (size_t k = 0; k < value->uses.count; k++) {
            bool inside = value->uses.at[k].node == root;
            for (size_t m = 0; m < l->pattern.count; m++) inside |= value->uses.at[k].node == l->pattern.nodes[m];
            if (!inside) return false;
        }
    }
    return true;
}

/* ReduceMean of `of` (NULL: of anything) over the last dimensions from *axis on (-1: not known yet), keeping them. */
static bool is_mean(layernorm *l, const tare_value *mean, const tare_value *of) {
    int64_t axes[TARE_RANK_MAX];
    size_t count;
    if (!note(l, mean, "ReduceMean")) return false;
    const tare_node *node = mean->producer;
    int rank = node->inputs[0]->shape.rank;
    bool seen[TARE_RANK_MAX] = { false };
    if (node->inputs[0] != of || rank < 1 || !tare_attr_int(node, "keepdims", 1) ||
        !tare_value_read_s64(tare_node_input(node, 1), axes, TARE_RANK_MAX, &count) || !count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!tare_axis_normalize(&axes[i], rank)) return false;
        seen[axes[i]] = true;
    }
    int first = rank;
    while (first && seen[first - 1]) first--;
    if ((size_t)(rank - first) != count || (l->axis >= 0 && l->axis != first)) return false;
    l->axis = first;
    return true;
}

static bool is_square(layernorm *l, const tare_value *square, const tare_value *of) {
    double exponent;
    if (note(l, square, "Mul")) return square->producer->inputs[0] == of && square->producer->inputs[1] == of;
    return note(l, square, "Pow") && square->producer->inputs[0] == of &&
           tare_pattern_scalar(square->producer->inputs[1], of, &exponent) && exponent == 2;
}

/* √(ReduceMean(d²) + ε) */
static bool is_deviation(layernorm *l, const tare_value *root, const tare_value *d) {
    if (!note(l, root, "Sqrt")) return false;
    const tare_value *sum = root->producer->inputs[0];
    if (!note(l, sum, "Add")) return false;
    for (int i = 0; i < 2; i++) {
        const tare_value *variance = sum->producer->inputs[i];
        if (!tare_pattern_scalar(sum->producer->inputs[1 - i], variance, &l->epsilon) || !variance->producer) continue;
        const tare_value *square = variance->producer->inputs[0];
        return is_mean(l, variance, square) && square && is_square(l, square, d);
    }
    return false;
}

/* d = x - ReduceMean(x) */
static bool is_centred(layernorm *l, const tare_value *d) {
    if (!note(l, d, "Sub")) return false;
    l->x = d->producer->inputs[0];
    return is_mean(l, d->producer->inputs[1], l->x);
}

/* d / deviation, made by `node`. */
static bool is_normalized(layernorm *l, const tare_node *node) {
    const tare_value *a = node->inputs[0], *b = node->inputs[1];
    if (tare_node_is(node, "Div")) return is_centred(l, a) && is_deviation(l, b, a);
    if (!tare_node_is(node, "Mul")) return false;
    if (tare_node_is(a->producer, "Reciprocal")) a = node->inputs[1], b = node->inputs[0];
    return note(l, b, "Reciprocal") && is_centred(l, a) && is_deviation(l, b->producer->inputs[0], a);
}

/* A float constant of the normalized dimensions, leading ones aside. */
static bool is_parameter(const layernorm *l, const tare_value *value) {
    if (!tare_value_is_constant(value) || value->constant->dtype != TARE_F32 || value->quant) return false;
    const tare_shape *shape = &value->constant->shape, *in = &l->x->shape;
    int count = in->rank - l->axis, lead = shape->rank - count;
    if (lead < 0) return false;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] != (i < lead ? 1 : in->dim[l->axis + i - lead])) return false;
    return true;
}

/* A node that applies a parameter to what `base` may be: its other input is taken as parameter, to be checked later. */
static tare_value *split_parameter(const tare_node *node, tare_value **parameter) {
    for (int i = 0; i < 2; i++) {
        if (!tare_value_is_constant(node->inputs[i])) continue;
        *parameter = node->inputs[i];
        return node->inputs[1 - i];
    }
    return NULL;
}

/* y = normalized · γ + β, with either left out. */
static bool read_layernorm(layernorm *l, const tare_node *root) {
    const tare_node *node = root;
    tare_value *rest;
    if (tare_node_is(node, "Add")) {
        rest = split_parameter(node, &l->beta);
        if (!rest || !rest->producer || !(note(l, rest, "Mul") || note(l, rest, "Div"))) return false;
        node = rest->producer;
    }
    if (tare_node_is(node, "Mul") && (rest = split_parameter(node, &l->gamma))) {
        if (!rest->producer || !(note(l, rest, "Div") || note(l, rest, "Mul"))) return false;
        node = rest->producer;
    }
    return is_normalized(l, node) && is_closed(l, root) && (!l->gamma || is_parameter(l, l->gamma)) &&
           (!l->beta || is_parameter(l, l->beta));
}

/* The parameter with just the normalized dimensions; ones when there is none. */
static tare_status make_parameter(const layernorm *l, const tare_node *root, tare_value **out, tare_error *err) {
    const tare_shape *in = &l->x->shape;
    tare_shape shape = tare_shape_of(in->rank - l->axis, in->dim + l->axis);
    tare_value *old = *out;
    tare_tensor *tensor;
    if (old && tare_shape_equal(&old->shape, &shape)) return TARE_OK;
    TARE_TRY(tare_tensor_new(root->graph->model->arena, TARE_F32, &shape, &tensor, err));
    for (size_t i = 0; i < tensor->size / sizeof(float); i++)
        ((float *)tensor->data)[i] = old ? ((const float *)old->constant->data)[i] : 1;
    const char *name = tare_arena_printf(root->graph->model->arena, "%s_scale", root->outputs[0]->name);
    if (!name) return tare_fail_memory(err, 0);
    return tare_graph_add_constant(root->graph, old ? old->name : name, tensor, NULL, true, out, err);
}

static bool is_static_from(const tare_shape *shape, int axis) {
    for (int i = axis; i < shape->rank; i++)
        if (shape->dim[i] < 0) return false;
    return true;
}

static tare_status replace(layernorm *l, tare_node *root, tare_error *err) {
    TARE_TRY(make_parameter(l, root, &l->gamma, err));
    if (l->beta) TARE_TRY(make_parameter(l, root, &l->beta, err));
    TARE_TRY(tare_rewrite_become(root, "LayerNormalization", l->x, err));
    TARE_TRY(tare_node_resize_inputs(root, l->beta ? 3 : 2, err));
    TARE_TRY(tare_node_set_input(root, 1, l->gamma, err));
    if (l->beta) TARE_TRY(tare_node_set_input(root, 2, l->beta, err));
    tare_attr_set_int(root, "axis", l->axis == l->x->shape.rank - 1 ? -1 : l->axis);
    tare_attr_set_float(root, "epsilon", (float)l->epsilon);
    return tare_rewrite_remove(l->pattern.nodes, l->pattern.count, root, err);
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    layernorm l = { .axis = -1 };
    if (!tare_rewrite_op("LayerNormalization") || !read_layernorm(&l, node) || l.x->dtype != TARE_F32 ||
        !is_static_from(&l.x->shape, l.axis))
        return TARE_OK;
    tare_pass_changed(context, "node '%s' (%s) and %zu before it are LayerNormalization of '%s'", node->name,
                      node->type, l.pattern.count, l.x->name);
    return replace(&l, node, err);
}

const tare_pass tare_pass_recognise_layernorm = {
    .name = "recognise-layernorm",
    .help = "LayerNormalization written as ReduceMean, Sub, Pow, Sqrt, Div, Mul, Add",
    .roots = (const char *const[]){ "Add", "Div", "Mul", NULL },
    .rewrite = rewrite,
};

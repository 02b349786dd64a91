/* Before:  d = x - ReduceMean(x)   y = d / √(ReduceMean(d²) + ε)
 * After:   y = LayerNormalization<axis, epsilon>(x, 1)
 * Before:  y = LayerNormalization(x, γ, β) · g + b
 * After:   y = LayerNormalization(x, γ·g, β·g + b)
 * When:    the means run over the last dimensions, whose sizes are known, and keep them; d² is Pow(d, 2) or Mul(d, d); the
 *          division a Div or a Mul by the Reciprocal; g and b are constants of just these dimensions; nothing else reads what
 *          is between. Files of an opset before LayerNormalization (17) get nodes that compute it when they are written. */
#include <math.h>
#include <string.h>

#include "ops/attr.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

typedef struct layernorm {
    tare_value *x;
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

static bool is_static_from(const tare_shape *shape, int axis) {
    for (int i = axis; i < shape->rank; i++)
        if (shape->dim[i] < 0) return false;
    return true;
}

/* A tensor of the normalized dimensions: old·factor + term, each of which may be NULL (1, 1, 0; without `old` a term stands
 * alone). */
static tare_status new_parameter(tare_model *model, const tare_shape *x, int axis, const float *old,
                                 const float *factor, const float *term, tare_tensor **out, tare_error *err) {
    tare_shape shape = tare_shape_of(x->rank - axis, x->dim + axis);
    TARE_TRY(tare_tensor_new(model->arena, TARE_F32, &shape, out, err));
    for (size_t i = 0; i < (*out)->size / sizeof(float); i++) {
        double number = old ? (double)old[i] : term ? 0 : 1;
        number = number * (factor ? (double)factor[i] : 1) + (term ? (double)term[i] : 0);
        ((float *)(*out)->data)[i] = (float)number;
    }
    return TARE_OK;
}

/* Gives the node a parameter it had not. */
static tare_status add_parameter(tare_node *node, int index, const char *suffix, const tare_tensor *tensor,
                                 tare_error *err) {
    tare_value *fresh;
    const char *name = tare_arena_printf(node->graph->model->arena, "%s%s", node->outputs[0]->name, suffix);
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_constant(node->graph, name, tensor, NULL, true, &fresh, err));
    if (node->input_count <= index) TARE_TRY(tare_node_resize_inputs(node, index + 1, err));
    return tare_node_set_input(node, index, fresh, err);
}

static tare_status recognise(tare_pass_context *context, tare_node *root, tare_error *err) {
    layernorm l = { .axis = -1 };
    tare_tensor *scale;
    if (!is_normalized(&l, root) || !is_closed(&l, root) || l.x->dtype != TARE_F32 ||
        !is_static_from(&l.x->shape, l.axis))
        return TARE_OK;
    tare_pass_changed(context, "node '%s' (%s) and %zu before it are LayerNormalization of '%s'", root->name,
                      root->type, l.pattern.count, l.x->name);
    TARE_TRY(new_parameter(context->model, &l.x->shape, l.axis, NULL, NULL, NULL, &scale, err));
    TARE_TRY(tare_rewrite_become(root, "LayerNormalization", l.x, err));
    TARE_TRY(add_parameter(root, 1, "_scale", scale, err));
    tare_attr_set_int(root, "axis", l.axis == l.x->shape.rank - 1 ? -1 : l.axis);
    tare_attr_set_float(root, "epsilon", (float)l.epsilon);
    return tare_rewrite_remove(l.pattern.nodes, l.pattern.count, root, err);
}

/* ---- scale and bias behind it ---- */

/* The numbers of a float constant of the dimensions of `x` from `axis` on, leading ones aside; NULL: it is none. */
static const float *read_parameter(const tare_value *value, const tare_shape *x, int axis) {
    if (!tare_value_is_constant(value) || value->constant->dtype != TARE_F32 || value->quant) return NULL;
    const tare_shape *shape = &value->constant->shape;
    int lead = shape->rank - (x->rank - axis);
    if (lead < 0) return NULL;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] != (i < lead ? 1 : x->dim[axis + i - lead])) return NULL;
    return value->constant->data;
}

/* Applies factor and term to the LayerNormalization's scale (index 1) or bias (2). */
static tare_status set_parameter(tare_node *ln, int index, int axis, const float *factor, const float *term,
                                 tare_error *err) {
    const tare_value *old = tare_node_input(ln, index);
    tare_tensor *tensor;
    TARE_TRY(new_parameter(ln->graph->model, &ln->inputs[0]->shape, axis, old ? old->constant->data : NULL, factor,
                           term, &tensor, err));
    return old ? tare_rewrite_constant(ln, index, tensor, err) : add_parameter(ln, index, "_bias", tensor, err);
}

/* A LayerNormalization whose output this node alone reads, and whose parameters are constants of its dimensions. */
static tare_node *layernorm_before(const tare_value *between, int *axis) {
    tare_node *ln = between->producer;
    int64_t first = -1;
    if (!tare_node_is(ln, "LayerNormalization") || ln->graph != between->graph || ln->output_count != 1 ||
        !tare_rewrite_is_inner(between))
        return NULL;
    const tare_shape *x = &ln->inputs[0]->shape;
    first = tare_attr_int(ln, "axis", -1);
    if (!tare_axis_normalize(&first, x->rank) || !is_static_from(x, (int)first)) return NULL;
    *axis = (int)first;
    for (int i = 1; i < ln->input_count; i++)
        if (ln->inputs[i] && !read_parameter(ln->inputs[i], x, *axis)) return NULL;
    return ln;
}

static tare_status fold_parameter(tare_pass_context *context, tare_node *node, bool *done, tare_error *err) {
    for (int i = 0; i < 2 && !*done; i++) {
        int axis;
        tare_node *ln = layernorm_before(node->inputs[i], &axis);
        const float *number = ln ? read_parameter(node->inputs[1 - i], &ln->inputs[0]->shape, axis) : NULL;
        if (!number) continue;
        *done = true;
        tare_pass_changed(context, "node '%s' (%s) folded into '%s' (LayerNormalization)", node->name, node->type,
                          ln->name);
        if (tare_node_is(node, "Mul")) {
            TARE_TRY(set_parameter(ln, 1, axis, number, NULL, err));
            if (tare_node_input(ln, 2)) TARE_TRY(set_parameter(ln, 2, axis, number, NULL, err));
        } else {
            TARE_TRY(set_parameter(ln, 2, axis, NULL, number, err));
        }
        TARE_TRY(tare_rewrite_take_output(ln, node, NULL, err));
    }
    return TARE_OK;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    bool done = false;
    if (!tare_rewrite_op("LayerNormalization")) return TARE_OK;
    if (!tare_node_is(node, "Div")) TARE_TRY(fold_parameter(context, node, &done, err));
    return done || tare_node_is(node, "Add") ? TARE_OK : recognise(context, node, err);
}

const tare_pass tare_pass_recognise_layernorm = {
    .name = "recognise-layernorm",
    .help = "LayerNormalization written as ReduceMean, Sub, Pow, Sqrt, Div, Mul, Add",
    .roots = (const char *const[]){ "Add", "Div", "Mul", NULL },
    .rewrite = rewrite,
};

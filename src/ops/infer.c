/* Shape inference: the shape rules that many ops share, the checks that every node gets before its own rule, and the
 * walk over a graph. */
#include <math.h>
#include <stdio.h>

#include "ops/op.h"

enum { DEPTH_MAX = 32 }; /* graphs inside graphs */

static const int64_t dim_max = INT32_MAX;

tare_dtype tare_input_dtype(const tare_node *node, int index) {
    const tare_value *value = tare_node_input(node, index);
    return value ? value->dtype : TARE_DTYPE_NONE;
}

tare_shape tare_input_shape(const tare_node *node, int index) {
    const tare_value *value = tare_node_input(node, index);
    return value ? value->shape : tare_shape_unknown();
}

/* The names of the model's symbols, for messages. */
static void print_shape(char *to, size_t size, const tare_shape *shape, const tare_node *node) {
    const char *const *symbols = node->graph && node->graph->model ? node->graph->model->symbols.at : NULL;
    tare_shape_print(to, size, shape, symbols);
}

static tare_status check_limits(const tare_node *node, const tare_shape *shape, tare_error *err) {
    char text[128];
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dim[i] <= dim_max) continue;
        print_shape(text, sizeof text, shape, node);
        return tare_fail(err, TARE_E_LIMIT, "the result would be %s, and a dimension may be %lld at most", text,
                         (long long)dim_max);
    }
    int64_t count = 0;
    if (tare_shape_is_static(shape) && !tare_shape_count(shape, &count)) {
        print_shape(text, sizeof text, shape, node);
        return tare_fail(err, TARE_E_LIMIT, "the result would be %s, more than the 2^40 elements a tensor may have",
                         text);
    }
    return TARE_OK;
}

/* A known size wins over a symbol, and either over nothing; what the op says wins over what was declared, since a file
 * that was made flexible later may still declare the old size. */
static bool merge_shape(tare_shape *merged, const tare_shape *inferred, const tare_shape *declared) {
    *merged = *inferred;
    if (declared->rank < 0) return true;
    if (inferred->rank < 0) {
        *merged = *declared;
        return true;
    }
    if (inferred->rank != declared->rank) return false;
    for (int i = 0; i < merged->rank; i++) {
        int64_t ours = inferred->dim[i], theirs = declared->dim[i];
        if (ours >= 0 && theirs >= 0 && ours != theirs) return false;
        if (ours == TARE_DIM_UNKNOWN) merged->dim[i] = theirs;
    }
    return true;
}

tare_status tare_infer_set(tare_node *node, int output, tare_dtype dtype, const tare_shape *shape, tare_error *err) {
    tare_value *value = tare_node_output(node, output);
    if (!value) return TARE_OK;
    if (dtype && value->dtype && dtype != value->dtype)
        return tare_fail(err, TARE_E_MALFORMED, "output '%s' is declared %s, but the operator gives %s", value->name,
                         tare_dtype_name(value->dtype), tare_dtype_name(dtype));
    if (dtype) value->dtype = dtype;
    if (!shape) return TARE_OK;
    TARE_TRY(check_limits(node, shape, err));
    tare_shape merged;
    if (!merge_shape(&merged, shape, &value->shape)) {
        char want[128], got[128];
        print_shape(want, sizeof want, &value->shape, node);
        print_shape(got, sizeof got, shape, node);
        return tare_fail(err, TARE_E_MALFORMED, "output '%s' is declared %s, but the operator gives %s", value->name,
                         want, got);
    }
    value->shape = merged;
    return TARE_OK;
}

tare_status tare_infer_check(const tare_node *node, int input, unsigned mask, tare_error *err) {
    tare_dtype dtype = tare_input_dtype(node, input);
    if (!dtype || mask & 1u << dtype) return TARE_OK;
    char wanted[160] = "";
    size_t length = 0;
    for (int i = 1; i < TARE_DTYPE_COUNT && length < sizeof wanted - 16; i++)
        if (mask & 1u << i)
            length += (size_t)snprintf(wanted + length, sizeof wanted - length, "%s%s", length ? ", " : "",
                                       tare_dtype_name((tare_dtype)i));
    return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') is %s, want %s", input, node->inputs[input]->name,
                     tare_dtype_name(dtype), wanted);
}

tare_status tare_infer_one_type(const tare_node *node, unsigned inputs, tare_dtype *dtype, tare_error *err) {
    int first = -1;
    *dtype = TARE_DTYPE_NONE;
    for (int i = 0; i < node->input_count; i++) {
        tare_dtype other = inputs >> (i < 31 ? i : 31) & 1u ? tare_input_dtype(node, i) : TARE_DTYPE_NONE;
        if (!other) continue;
        if (*dtype && other != *dtype)
            return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') is %s, but input %d ('%s') is %s", i,
                             node->inputs[i]->name, tare_dtype_name(other), first, node->inputs[first]->name,
                             tare_dtype_name(*dtype));
        if (!*dtype) first = i;
        *dtype = other;
    }
    return TARE_OK;
}

tare_status tare_infer_rank(const tare_node *node, int input, int rank, tare_error *err) {
    const tare_value *value = tare_node_input(node, input);
    if (!value || value->shape.rank < 0 || value->shape.rank == rank) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') has rank %d, want %d", input, value->name,
                     value->shape.rank, rank);
}

tare_status tare_infer_axis(int64_t axis, int rank, int *out, tare_error *err) {
    int64_t normal = axis;
    if (!tare_axis_normalize(&normal, rank))
        return tare_fail(err, TARE_E_MALFORMED, "axis %lld is outside the %d dimensions of the input", (long long)axis,
                         rank);
    *out = (int)normal;
    return TARE_OK;
}

tare_status tare_infer_same(tare_node *node, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0);
    for (int i = 0; i < node->output_count; i++)
        TARE_TRY(tare_infer_set(node, i, tare_input_dtype(node, 0), &shape, err));
    return TARE_OK;
}

static tare_status check_same_type(const tare_node *node, int input, tare_dtype *dtype, tare_error *err) {
    const tare_value *value = node->inputs[input];
    if (*dtype && value->dtype && value->dtype != *dtype)
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') is %s, but those before it are %s", input, value->name,
                         tare_dtype_name(value->dtype), tare_dtype_name(*dtype));
    if (!*dtype) *dtype = value->dtype;
    return TARE_OK;
}

tare_status tare_infer_broadcast_shape(const tare_node *node, tare_dtype *dtype, tare_shape *shape, tare_error *err) {
    *dtype = TARE_DTYPE_NONE;
    *shape = tare_shape_of(0, NULL);
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (!value) continue;
        TARE_TRY(check_same_type(node, i, dtype, err));
        tare_shape before = *shape;
        if (tare_shape_broadcast(shape, &before, &value->shape)) continue;
        char got[128], want[128];
        print_shape(got, sizeof got, &value->shape, node);
        print_shape(want, sizeof want, &before, node);
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') of shape %s does not broadcast with %s", i,
                         value->name, got, want);
    }
    return TARE_OK;
}

tare_status tare_infer_real(tare_node *node, tare_error *err) {
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    return tare_infer_same(node, err);
}

tare_status tare_infer_number(tare_node *node, tare_error *err) {
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, err));
    return tare_infer_same(node, err);
}

static tare_status check_count(const char *what, int count, const int range[2], tare_error *err) {
    if (count >= range[0] && (range[1] < 0 || count <= range[1])) return TARE_OK;
    if (range[0] == range[1]) return tare_fail(err, TARE_E_MALFORMED, "has %d %s, want %d", count, what, range[0]);
    if (count < range[0]) return tare_fail(err, TARE_E_MALFORMED, "has %d %s, want %d at least", count, what, range[0]);
    return tare_fail(err, TARE_E_MALFORMED, "has %d %s, want %d at most", count, what, range[1]);
}

static tare_status check_arity(const tare_node *node, tare_error *err) {
    const tare_op *op = node->op;
    TARE_TRY(check_count("inputs", node->input_count, op->inputs, err));
    TARE_TRY(check_count("outputs", node->output_count, op->outputs, err));
    for (int i = 0; i < op->inputs[0]; i++)
        if (!node->inputs[i]) return tare_fail(err, TARE_E_MALFORMED, "input %d is left out, but it is required", i);
    return TARE_OK;
}

static tare_status check_number(const tare_field *field, double number, bool is_real, tare_error *err) {
    if (is_real && !isfinite(number) && !(field->flags & TARE_FIELD_ANY_REAL))
        return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' is %g, want a finite number", field->name, number);
    if ((field->lo != 0 || field->hi != 0) && !(number >= field->lo && number <= field->hi))
        return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' is %g, want %g to %g", field->name, number, field->lo,
                         field->hi);
    return TARE_OK;
}

static tare_status check_attr(const tare_field *field, const void *attrs, tare_error *err) {
    const void *at = tare_field_get(field, attrs);
    if (field->flags & TARE_FIELD_REQUIRED && tare_field_is_absent(field, attrs))
        return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' is missing", field->name);
    if (field->type == TARE_FIELD_INT) return check_number(field, (double)*(const int64_t *)at, false, err);
    if (field->type == TARE_FIELD_FLOAT) return check_number(field, (double)*(const float *)at, true, err);
    if (field->type == TARE_FIELD_FLOATS) {
        const tare_floats *floats = at;
        for (size_t i = 0; i < floats->count; i++) TARE_TRY(check_number(field, (double)floats->at[i], true, err));
    }
    return TARE_OK;
}

static tare_status infer_node(tare_node *node, tare_error *err) {
    TARE_TRY(check_arity(node, err));
    for (const tare_field *field = node->op->attrs; field && field->type != TARE_FIELD_END; field++)
        TARE_TRY(check_attr(field, node->attrs, err));
    return node->op->infer ? node->op->infer(node, err) : TARE_OK;
}

tare_status tare_node_infer(tare_node *node, tare_error *err) {
    if (!node->op) return TARE_OK;
    if (infer_node(node, err) == TARE_OK) return TARE_OK;
    return tare_within(err, "node '%s' (%s)", node->name, node->type);
}

tare_status tare_graph_infer(tare_graph *graph, tare_error *err) {
    int depth = 0;
    for (const tare_graph *outer = graph->outer; outer; outer = outer->outer) depth++;
    if (depth > DEPTH_MAX) return tare_fail(err, TARE_E_LIMIT, "graphs are nested more than %d deep", DEPTH_MAX);
    tare_for_nodes (node, graph) TARE_TRY(tare_node_infer(node, err));
    return TARE_OK;
}

/* If, Loop, Scan: their attributes and what is known of their outputs before they run. Executing them is run/'s part. */
#include "ops/op.h"

static const char *body_name(const tare_graph *body) { return body->name ? body->name : ""; }

static tare_status check_count(const tare_graph *body, const char *what, size_t got, size_t want, tare_error *err) {
    if (got == want) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "graph '%s' has %zu %s, want %zu", body_name(body), got, what, want);
}

/* Gives an input of a body what is known of the value that comes in; NULL: its shape is not. */
static tare_status give(tare_value *value, tare_dtype dtype, const tare_shape *shape, tare_error *err) {
    if (dtype && value->dtype && dtype != value->dtype)
        return tare_fail(err, TARE_E_MALFORMED, "input '%s' of the body is declared %s, but gets %s", value->name,
                         tare_dtype_name(value->dtype), tare_dtype_name(dtype));
    if (dtype) value->dtype = dtype;
    if (!shape || shape->rank < 0) return TARE_OK;
    if (value->shape.rank >= 0 && value->shape.rank != shape->rank)
        return tare_fail(err, TARE_E_MALFORMED, "input '%s' of the body is declared with rank %d, but gets %d",
                         value->name, value->shape.rank, shape->rank);
    for (int i = 0; i < shape->rank; i++) {
        int64_t declared = value->shape.rank >= 0 ? value->shape.dim[i] : TARE_DIM_UNKNOWN, got = shape->dim[i];
        if (declared >= 0 && got >= 0 && declared != got)
            return tare_fail(err, TARE_E_MALFORMED,
                             "input '%s' of the body is declared %lld in dimension %d, but gets "
                             "%lld",
                             value->name, (long long)declared, i, (long long)got);
        value->shape.dim[i] = got == TARE_DIM_UNKNOWN ? declared : got;
    }
    value->shape.rank = shape->rank;
    return TARE_OK;
}

/* What two shapes have in common. */
static tare_shape common_shape(const tare_shape *a, const tare_shape *b) {
    if (a->rank < 0 || a->rank != b->rank) return tare_shape_unknown();
    tare_shape both = *a;
    for (int i = 0; i < both.rank; i++)
        if (a->dim[i] != b->dim[i]) both.dim[i] = TARE_DIM_UNKNOWN;
    return both;
}

/* ---- If ---- */

typedef struct if_attrs {
    tare_graph *then_branch, *else_branch;
} if_attrs;

static const tare_field if_fields[] = {
    { .name = "then_branch",
      .type = TARE_FIELD_GRAPH,
      .offset = offsetof(if_attrs, then_branch),
      .flags = TARE_FIELD_REQUIRED },
    { .name = "else_branch",
      .type = TARE_FIELD_GRAPH,
      .offset = offsetof(if_attrs, else_branch),
      .flags = TARE_FIELD_REQUIRED },
    { .type = TARE_FIELD_END },
};

static tare_status check_branch(const tare_node *node, const tare_graph *body, tare_error *err) {
    TARE_TRY(check_count(body, "inputs", body->inputs.count, 0, err));
    return check_count(body, "outputs", body->outputs.count, (size_t)node->output_count, err);
}

static tare_status set_from_branches(tare_node *node, const tare_graph *a, const tare_graph *b, tare_error *err) {
    for (int i = 0; i < node->output_count; i++) {
        const tare_value *x = a->outputs.at[i], *y = b->outputs.at[i];
        if (x->dtype && y->dtype && x->dtype != y->dtype)
            return tare_fail(err, TARE_E_MALFORMED, "output %d is %s in one branch and %s in the other", i,
                             tare_dtype_name(x->dtype), tare_dtype_name(y->dtype));
        tare_shape shape = common_shape(&x->shape, &y->shape);
        TARE_TRY(tare_infer_set(node, i, x->dtype ? x->dtype : y->dtype, &shape, err));
    }
    return TARE_OK;
}

/* Not the model's fault, and not to be passed over. */
static bool is_trouble(tare_status status) {
    return status != TARE_OK && status != TARE_E_MALFORMED && status != TARE_E_UNSUPPORTED;
}

/* A branch that never runs may be wrong for the shapes that come in (exporters guard a Squeeze so): while the condition
 * is not known, one of the two has to be right. */
static tare_status if_infer(tare_node *node, tare_error *err) {
    const if_attrs *attrs = node->attrs;
    tare_graph *then_branch = attrs->then_branch, *else_branch = attrs->else_branch;
    tare_shape condition = tare_input_shape(node, 0);
    double taken;
    TARE_TRY(tare_infer_check(node, 0, 1u << TARE_BOOL, err));
    if (tare_shape_is_static(&condition) && tare_shape_elements(&condition) != 1)
        return tare_fail(err, TARE_E_MALFORMED, "the condition has %lld elements, want one",
                         (long long)tare_shape_elements(&condition));
    TARE_TRY(check_branch(node, then_branch, err));
    TARE_TRY(check_branch(node, else_branch, err));
    if (tare_value_read_scalar(node->inputs[0], &taken)) {
        tare_graph *branch = taken != 0 ? then_branch : else_branch;
        TARE_TRY(tare_graph_infer(branch, err));
        return set_from_branches(node, branch, branch, err);
    }
    tare_error first = { 0 }, second = { 0 };
    tare_graph_infer(then_branch, &first);
    tare_graph_infer(else_branch, &second);
    if (is_trouble(first.status) || (first.status != TARE_OK && second.status != TARE_OK)) {
        *err = first;
        return err->status;
    }
    if (is_trouble(second.status)) {
        *err = second;
        return err->status;
    }
    if (first.status == second.status) return set_from_branches(node, then_branch, else_branch, err);
    const tare_graph *right = first.status == TARE_OK ? then_branch : else_branch;
    for (int i = 0; i < node->output_count; i++)
        TARE_TRY(tare_infer_set(node, i, right->outputs.at[i]->dtype, NULL, err));
    return TARE_OK;
}

const tare_op tare_op_if = {
    .name = "If",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, -1 },
    .attrs = if_fields,
    .attrs_size = sizeof(if_attrs),
    .flags = TARE_OP_CONTROL,
    .infer = if_infer,
};

/* ---- Loop ---- */

typedef struct loop_attrs {
    tare_graph *body;
} loop_attrs;

static const tare_field loop_fields[] = {
    { .name = "body", .type = TARE_FIELD_GRAPH, .offset = offsetof(loop_attrs, body), .flags = TARE_FIELD_REQUIRED },
    { .type = TARE_FIELD_END },
};

/* One output of the loop: a state keeps its type, and its shape when the body keeps it; slices are stacked. */
static tare_status set_loop_output(tare_node *node, const tare_graph *body, int index, int states, tare_error *err) {
    const tare_value *made = body->outputs.at[index + 1];
    tare_shape shape = tare_shape_unknown();
    if (index < states) {
        const tare_value *state = node->inputs[2 + index];
        tare_dtype dtype = state->dtype ? state->dtype : made->dtype;
        if (made->dtype && made->dtype != dtype)
            return tare_fail(err, TARE_E_MALFORMED, "state %d starts as %s, but the body gives %s", index,
                             tare_dtype_name(dtype), tare_dtype_name(made->dtype));
        shape = common_shape(&state->shape, &made->shape);
        return tare_infer_set(node, index, dtype, &shape, err);
    }
    if (made->shape.rank >= TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "output %d would have rank %d, more than %d", index,
                         made->shape.rank + 1, TARE_RANK_MAX);
    if (made->shape.rank >= 0) {
        /* How many rounds there will be is not known: the condition may end them. */
        shape = (tare_shape){ .rank = made->shape.rank + 1, .dim = { TARE_DIM_UNKNOWN } };
        for (int i = 1; i < shape.rank; i++) shape.dim[i] = TARE_DIM_UNKNOWN;
    }
    return tare_infer_set(node, index, made->dtype, &shape, err);
}

/* The shape of a state may change from round to round, so that only its type is handed in. */
static tare_status loop_infer(tare_node *node, tare_error *err) {
    const loop_attrs *attrs = node->attrs;
    tare_graph *body = attrs->body;
    int states = node->input_count > 2 ? node->input_count - 2 : 0;
    TARE_TRY(tare_infer_check(node, 0, 1u << TARE_S64, err));
    TARE_TRY(tare_infer_check(node, 1, 1u << TARE_BOOL, err));
    TARE_TRY(check_count(body, "inputs", body->inputs.count, (size_t)states + 2, err));
    TARE_TRY(check_count(body, "outputs", body->outputs.count, (size_t)node->output_count + 1, err));
    if (node->output_count < states)
        return tare_fail(err, TARE_E_MALFORMED, "has %d outputs, want one for each of %d states", node->output_count,
                         states);
    TARE_TRY(give(body->inputs.at[0], TARE_S64, NULL, err));
    TARE_TRY(give(body->inputs.at[1], TARE_BOOL, NULL, err));
    for (int i = 0; i < states; i++) {
        if (!node->inputs[2 + i]) return tare_fail(err, TARE_E_MALFORMED, "state %d is left out", i);
        TARE_TRY(give(body->inputs.at[2 + i], node->inputs[2 + i]->dtype, NULL, err));
    }
    TARE_TRY(tare_graph_infer(body, err));
    for (int i = 0; i < node->output_count; i++) TARE_TRY(set_loop_output(node, body, i, states, err));
    return TARE_OK;
}

const tare_op tare_op_loop = {
    .name = "Loop",
    .since = 1,
    .inputs = { 0, -1 },
    .outputs = { 0, -1 },
    .attrs = loop_fields,
    .attrs_size = sizeof(loop_attrs),
    .flags = TARE_OP_CONTROL,
    .infer = loop_infer,
};

/* ---- Scan ---- */

typedef struct scan_attrs {
    tare_graph *body;
    int64_t num_scan_inputs;
    tare_ints scan_input_axes, scan_input_directions, scan_output_axes, scan_output_directions;
} scan_attrs;

#define LIST(member)                                                                                                   \
    { .name = #member, .type = TARE_FIELD_INTS, .offset = offsetof(scan_attrs, member) }

static const tare_field scan_fields[] = {
    { .name = "body", .type = TARE_FIELD_GRAPH, .offset = offsetof(scan_attrs, body), .flags = TARE_FIELD_REQUIRED },
    { .name = "num_scan_inputs",
      .type = TARE_FIELD_INT,
      .offset = offsetof(scan_attrs, num_scan_inputs),
      .flags = TARE_FIELD_REQUIRED,
      .lo = 1,
      .hi = INT32_MAX },
    LIST(scan_input_axes),
    LIST(scan_input_directions),
    LIST(scan_output_axes),
    LIST(scan_output_directions),
    { .type = TARE_FIELD_END },
};

#undef LIST

static tare_status check_list(const char *name, const tare_ints *list, size_t want, bool is_direction,
                              tare_error *err) {
    if (!list->at) return TARE_OK;
    if (list->count != want)
        return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' has %zu entries, want %zu", name, list->count, want);
    for (size_t i = 0; is_direction && i < list->count; i++)
        if (list->at[i] != 0 && list->at[i] != 1)
            return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' has %lld, want 0 or 1", name,
                             (long long)list->at[i]);
    return TARE_OK;
}

static tare_status give_slice(tare_value *to, const tare_value *from, int64_t axis, int64_t *length, tare_error *err) {
    tare_shape slice = tare_shape_unknown();
    if (from->shape.rank >= 0) {
        int at;
        TARE_TRY(tare_infer_axis(axis, from->shape.rank, &at, err));
        int64_t dim = from->shape.dim[at];
        if (*length >= 0 && dim >= 0 && dim != *length)
            return tare_fail(err, TARE_E_MALFORMED, "'%s' has %lld slices, those before it %lld", from->name,
                             (long long)dim, (long long)*length);
        if (*length < 0) *length = dim;
        slice.rank = from->shape.rank - 1;
        for (int i = 0; i < slice.rank; i++) slice.dim[i] = from->shape.dim[i < at ? i : i + 1];
    }
    return give(to, from->dtype, &slice, err);
}

static tare_status set_stacked(tare_node *node, int index, const tare_value *made, int64_t axis, int64_t length,
                               tare_error *err) {
    tare_shape shape = tare_shape_unknown();
    if (made->shape.rank >= TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "output %d would have rank %d, more than %d", index,
                         made->shape.rank + 1, TARE_RANK_MAX);
    if (made->shape.rank >= 0) {
        int at;
        shape.rank = made->shape.rank + 1;
        TARE_TRY(tare_infer_axis(axis, shape.rank, &at, err));
        for (int i = 0, next = 0; i < shape.rank; i++) shape.dim[i] = i == at ? length : made->shape.dim[next++];
    }
    return tare_infer_set(node, index, made->dtype, &shape, err);
}

static tare_status scan_infer(tare_node *node, tare_error *err) {
    const scan_attrs *attrs = node->attrs;
    tare_graph *body = attrs->body;
    int64_t scans = attrs->num_scan_inputs, length = TARE_DIM_UNKNOWN;
    if (scans > node->input_count || node->output_count < node->input_count - scans)
        return tare_fail(err, TARE_E_MALFORMED, "has %d inputs, %lld of them to scan, and %d outputs",
                         node->input_count, (long long)scans, node->output_count);
    int states = node->input_count - (int)scans, stacked = node->output_count - states;
    TARE_TRY(check_count(body, "inputs", body->inputs.count, (size_t)node->input_count, err));
    TARE_TRY(check_count(body, "outputs", body->outputs.count, (size_t)node->output_count, err));
    TARE_TRY(check_list("scan_input_axes", &attrs->scan_input_axes, (size_t)scans, false, err));
    TARE_TRY(check_list("scan_input_directions", &attrs->scan_input_directions, (size_t)scans, true, err));
    TARE_TRY(check_list("scan_output_axes", &attrs->scan_output_axes, (size_t)stacked, false, err));
    TARE_TRY(check_list("scan_output_directions", &attrs->scan_output_directions, (size_t)stacked, true, err));
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *from = node->inputs[i];
        if (!from) return tare_fail(err, TARE_E_MALFORMED, "input %d is left out", i);
        int64_t axis = i >= states && attrs->scan_input_axes.at ? attrs->scan_input_axes.at[i - states] : 0;
        if (i < states)
            TARE_TRY(give(body->inputs.at[i], from->dtype, &from->shape, err));
        else
            TARE_TRY(give_slice(body->inputs.at[i], from, axis, &length, err));
    }
    TARE_TRY(tare_graph_infer(body, err));
    for (int i = 0; i < node->output_count; i++) {
        const tare_value *made = body->outputs.at[i];
        int64_t axis = i >= states && attrs->scan_output_axes.at ? attrs->scan_output_axes.at[i - states] : 0;
        if (i < states)
            TARE_TRY(tare_infer_set(node, i, made->dtype, &made->shape, err));
        else
            TARE_TRY(set_stacked(node, i, made, axis, length, err));
    }
    return TARE_OK;
}

const tare_op tare_op_scan = {
    .name = "Scan",
    .since = 9,
    .inputs = { 1, -1 },
    .outputs = { 1, -1 },
    .attrs = scan_fields,
    .attrs_size = sizeof(scan_attrs),
    .flags = TARE_OP_CONTROL,
    .infer = scan_infer,
};

/* ---- Scan of opset 8: over a batch, with sequence lengths ---- */

static tare_status scan_8_infer(tare_node *node, tare_error *err) {
    (void)node;
    return tare_fail(err, TARE_E_UNSUPPORTED, "the Scan of opset 8 is not supported; convert the model to opset 9");
}

const tare_op tare_op_scan_8 = {
    .name = "Scan",
    .since = 8,
    .until = 8,
    .inputs = { 0, -1 },
    .outputs = { 1, -1 },
    .attrs = scan_fields,
    .attrs_size = sizeof(scan_attrs),
    .flags = TARE_OP_CONTROL,
    .infer = scan_8_infer,
};

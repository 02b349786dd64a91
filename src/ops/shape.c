/* Shape and Size: a tensor's dimensions as numbers. */
#include "ops/op.h"

typedef struct shape_attrs {
    int64_t start, end;
} shape_attrs;

static const tare_field shape_fields[] = {
    { .name = "start", .type = TARE_FIELD_INT, .offset = offsetof(shape_attrs, start) },
    { .name = "end", .type = TARE_FIELD_INT, .offset = offsetof(shape_attrs, end), .fallback = { .i = INT64_MAX } },
    { .type = TARE_FIELD_END },
};

/* Negative bounds count from the end; both are clamped, as in Python. */
static int clamp_bound(int64_t bound, int rank) {
    if (bound < 0) bound += rank;
    return (int)(bound < 0 ? 0 : bound > rank ? rank : bound);
}

static int dim_range(const shape_attrs *attrs, int rank, int *first) {
    *first = clamp_bound(attrs->start, rank);
    int end = clamp_bound(attrs->end, rank);
    return end > *first ? end - *first : 0;
}

static tare_status shape_infer(tare_node *node, tare_error *err) {
    tare_shape from = tare_input_shape(node, 0), to = { .rank = 1, .dim = { TARE_DIM_UNKNOWN } };
    int first;
    if (from.rank >= 0) to.dim[0] = dim_range(node->attrs, from.rank, &first);
    return tare_infer_set(node, 0, TARE_S64, &to, err);
}

static tare_status shape_run(const tare_call *call, tare_error *err) {
    (void)err;
    const tare_shape *shape = &call->inputs[0]->shape;
    int first, count = dim_range(call->attrs, shape->rank, &first);
    int64_t *to = call->outputs[0]->data;
    for (int i = 0; i < count; i++) to[i] = shape->dim[first + i];
    return TARE_OK;
}

static int shape_needs(const tare_node *node) {
    const shape_attrs *attrs = node->attrs;
    return attrs->start == 0 && attrs->end == INT64_MAX ? 1 : 15;
}

const tare_op tare_op_shape = {
    .name = "Shape",
    .since = 15,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = shape_fields,
    .attrs_size = sizeof(shape_attrs),
    .flags = TARE_OP_READS_SHAPE,
    .needs = shape_needs,
    .infer = shape_infer,
    .run = shape_run,
};

static tare_status size_infer(tare_node *node, tare_error *err) {
    tare_shape scalar = { .rank = 0 };
    return tare_infer_set(node, 0, TARE_S64, &scalar, err);
}

static tare_status size_run(const tare_call *call, tare_error *err) {
    (void)err;
    *(int64_t *)call->outputs[0]->data = tare_shape_elements(&call->inputs[0]->shape);
    return TARE_OK;
}

const tare_op tare_op_size = {
    .name = "Size",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_READS_SHAPE,
    .infer = size_infer,
    .run = size_run,
};

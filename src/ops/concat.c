/* Concat: joins tensors along one axis. */
#include "base/size.h"
#include "ops/move.h"

typedef struct attributes {
    int64_t axis;
} attributes;

static const tare_field fields[] = {
    { .name = "axis",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, axis),
      .flags = TARE_FIELD_REQUIRED | TARE_FIELD_AXIS },
    { .type = TARE_FIELD_END },
};

/* Adds one input's shape to the sum: equal but for the axis. */
static tare_status join(tare_shape *all, const tare_value *value, int index, int axis, tare_error *err) {
    const tare_shape *shape = &value->shape;
    if (shape->rank != all->rank)
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') has rank %d, those before it %d", index, value->name,
                         shape->rank, all->rank);
    for (int i = 0; i < all->rank; i++) {
        int64_t *dim = &all->dim[i];
        int64_t other = shape->dim[i];
        if (i == axis) {
            if (*dim < 0 || other < 0)
                *dim = TARE_DIM_UNKNOWN;
            else if (!tare_i64_add(*dim, other, dim))
                return tare_fail(err, TARE_E_LIMIT, "the joined dimension has more elements than 2^40");
        } else if (*dim >= 0 && other >= 0 && *dim != other) {
            return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') has %lld in dimension %d, those before it %lld",
                             index, value->name, (long long)other, i, (long long)*dim);
        } else if (*dim < 0 && (other >= 0 || *dim == TARE_DIM_UNKNOWN)) {
            *dim = other;
        }
    }
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape all = tare_shape_unknown();
    tare_dtype dtype;
    int axis = 0;
    bool complete = true;
    TARE_TRY(tare_infer_one_type(node, ~0u, &dtype, err));
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *value = node->inputs[i];
        if (!value) return tare_fail(err, TARE_E_MALFORMED, "input %d is left out", i);
        if (value->shape.rank < 0) {
            complete = false;
        } else if (all.rank < 0) {
            all = value->shape;
            TARE_TRY(tare_infer_axis(attrs->axis, all.rank, &axis, err));
        } else {
            TARE_TRY(join(&all, value, i, axis, err));
        }
    }
    if (!complete && all.rank >= 0) all.dim[axis] = TARE_DIM_UNKNOWN;
    return tare_infer_set(node, 0, dtype, &all, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    const attributes *attrs = call->attrs;
    tare_tensor *to = call->outputs[0];
    size_t size = tare_dtype_size(to->dtype);
    int64_t normal = attrs->axis;
    tare_axis_normalize(&normal, to->shape.rank);
    int axis = tare_layout_axis(call->layout, (int)normal, to->shape.rank);
    int64_t outer = tare_shape_product(&to->shape, 0, axis), row = tare_shape_product(&to->shape, axis, to->shape.rank);
    char *at = to->data;
    for (int i = 0; i < call->input_count; i++) {
        const tare_tensor *from = call->inputs[i];
        int64_t inner = tare_shape_product(&from->shape, axis, from->shape.rank);
        tare_move move = { .to = at,
                           .from = from->data,
                           .size = size,
                           .rank = 2,
                           .dim = { outer, inner },
                           .to_stride = { row, 1 },
                           .from_stride = { inner, 1 } };
        tare_move_run(&move, call->pool);
        at += (size_t)inner * size;
    }
    return TARE_OK;
}

const tare_op tare_op_concat = {
    .name = "Concat",
    .since = 4,
    .inputs = { 1, -1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES,
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_SAME, .data_inputs = ~0u },
    .infer = infer,
    .run = run,
};

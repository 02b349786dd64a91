/* OneHot: values[1] where the new axis is at the index, values[0] elsewhere. */
#include "ops/entries.h"
#include "ops/move.h"
#include "ops/numbers.h"

typedef struct attributes {
    int64_t axis;
} attributes;

static const tare_field fields[] = {
    { .name = "axis", .type = TARE_FIELD_INT, .offset = offsetof(attributes, axis), .fallback = { .i = -1 } },
    { .type = TARE_FIELD_END },
};

static tare_status read_depth(const tare_value *value, int64_t *depth, tare_error *err) {
    double number;
    *depth = TARE_DIM_UNKNOWN;
    if (value->shape.rank > 1 || (value->shape.rank == 1 && value->shape.dim[0] >= 0 && value->shape.dim[0] != 1))
        return tare_fail(err, TARE_E_MALFORMED, "input 1 (depth) must be one number");
    if (!tare_value_read_scalar(value, &number)) return TARE_OK;
    if (!(number >= 0 && number <= INT32_MAX))
        return tare_fail(err, TARE_E_MALFORMED, "depth is %g, want 0 to %d", number, INT32_MAX);
    *depth = (int64_t)number;
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = tare_shape_unknown(), values = tare_input_shape(node, 2);
    const unsigned numbers = TARE_TYPES_FLOAT | TARE_TYPES_INTEGER;
    int64_t depth;
    int axis;
    TARE_TRY(tare_infer_check(node, 0, numbers, err));
    TARE_TRY(tare_infer_check(node, 1, numbers, err));
    TARE_TRY(tare_infer_rank(node, 2, 1, err));
    if (values.rank == 1 && values.dim[0] >= 0 && values.dim[0] != 2)
        return tare_fail(err, TARE_E_MALFORMED, "input 2 has %lld values, want two: off and on",
                         (long long)values.dim[0]);
    TARE_TRY(read_depth(node->inputs[1], &depth, err));
    if (from.rank >= 0) {
        to.rank = from.rank + 1;
        if (to.rank > TARE_RANK_MAX)
            return tare_fail(err, TARE_E_UNSUPPORTED, "the result would have rank %d, more than %d", to.rank,
                             TARE_RANK_MAX);
        TARE_TRY(tare_infer_axis(attrs->axis, to.rank, &axis, err));
        for (int i = 0, next = 0; i < to.rank; i++) to.dim[i] = i == axis ? depth : from.dim[next++];
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 2), &to, err);
}

/* The index as a number in 0…depth-1, or -1 when it is outside (then all is off). */
static int64_t index_of(const tare_tensor *indices, int64_t at, int64_t depth) {
    tare_numbers number;
    int64_t index = -1;
    tare_numbers_load(&number, indices->dtype, indices->data, at, 1);
    switch (tare_number_of(indices->dtype)) {
    case TARE_NUMBER_F32:
        if (!(number.f32[0] > -0x1p31f && number.f32[0] < 0x1p31f)) return -1;
        index = (int64_t)number.f32[0];
        break;
    case TARE_NUMBER_F64:
        if (!(number.f64[0] > -0x1p31 && number.f64[0] < 0x1p31)) return -1;
        index = (int64_t)number.f64[0];
        break;
    case TARE_NUMBER_U64: index = number.u64[0] < (uint64_t)depth ? number.s64[0] : depth; break;
    default: index = number.s64[0]; break;
    }
    if (index < 0) index += depth;
    return index >= 0 && index < depth ? index : -1;
}

static tare_status run(const tare_call *call, tare_error *err) {
    const attributes *attrs = call->attrs;
    const tare_tensor *indices = call->inputs[0];
    tare_tensor *to = call->outputs[0];
    size_t size = tare_dtype_size(to->dtype);
    const char *off = call->inputs[2]->data, *on = off + size;
    const tare_value value = tare_value_of(call->inputs[1]);
    int64_t axis = attrs->axis, depth;
    TARE_TRY(read_depth(&value, &depth, err));
    tare_axis_normalize(&axis, to->shape.rank);
    tare_shape want = to->shape;
    want.dim[axis] = depth;
    TARE_TRY(tare_run_check_shape(to, &want, err));
    int64_t inner = tare_shape_product(&to->shape, (int)axis + 1, to->shape.rank);
    int64_t count = tare_shape_elements(&indices->shape);
    tare_move_fill(to->data, off, size, (int64_t)(to->size / size));
    for (int64_t i = 0; i < count; i++) {
        int64_t index = index_of(indices, i, depth);
        if (index < 0) continue;
        int64_t at = (i / inner * depth + index) * inner + i % inner;
        tare_move_fill((char *)to->data + (size_t)at * size, on, size, 1);
    }
    return TARE_OK;
}

const tare_op tare_op_one_hot = {
    .name = "OneHot",
    .since = 9,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .infer = infer,
    .run = run,
};

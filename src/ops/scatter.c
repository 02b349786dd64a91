/* ScatterElements (Scatter before opset 11) and ScatterND: updates put, or combined, into a copy of the data at given
 * indices; in the order of the indices, so that repeated ones have one result. */
#include <string.h>

#include "ops/indices.h"
#include "ops/move.h"
#include "ops/numbers.h"

enum { PUT, ADD, MUL, MIN, MAX };
static const char *const reductions[] = { "none", "add", "mul", "min", "max", NULL }; /* ORDER: the enum above */

/* NaN wins, as in numpy's minimum and maximum. */
#define COMBINE(type, member)                                                                                          \
    do {                                                                                                               \
        type *x = into->member;                                                                                        \
        const type *y = update->member;                                                                                \
        for (size_t i = 0; i < count; i++) {                                                                           \
            switch (reduction) {                                                                                       \
            case ADD: x[i] += y[i]; break;                                                                             \
            case MUL: x[i] *= y[i]; break;                                                                             \
            case MIN: x[i] = y[i] < x[i] || y[i] != y[i] ? y[i] : x[i]; break;                                         \
            default: x[i] = y[i] > x[i] || y[i] != y[i] ? y[i] : x[i]; break;                                          \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

static void combine(tare_numbers *into, const tare_numbers *update, tare_number number, int reduction, size_t count) {
    switch (number) {
    case TARE_NUMBER_F32: COMBINE(float, f32); break;
    case TARE_NUMBER_F64: COMBINE(double, f64); break;
    case TARE_NUMBER_U64: COMBINE(uint64_t, u64); break;
    default:
        if (reduction == ADD || reduction == MUL)
            COMBINE(uint64_t, u64); /* signed ones wrap */
        else
            COMBINE(int64_t, s64);
    }
}

/* `count` elements of updates, from `from` on, into the output from `to` on. */
static void scatter_run(const tare_tensor *output, int64_t to, const tare_tensor *updates, int64_t from, int64_t count,
                        int reduction) {
    size_t size = tare_dtype_size(output->dtype);
    if (reduction == PUT) {
        memcpy((char *)output->data + (size_t)to * size, (const char *)updates->data + (size_t)from * size,
               (size_t)count * size);
        return;
    }
    for (int64_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t part = (size_t)(count - done < TARE_NUMBERS_CHUNK ? count - done : TARE_NUMBERS_CHUNK);
        tare_numbers into, update;
        tare_numbers_load(&into, output->dtype, output->data, to + done, part);
        tare_numbers_load(&update, output->dtype, updates->data, from + done, part);
        combine(&into, &update, tare_number_of(output->dtype), reduction, part);
        tare_numbers_store(output->dtype, output->data, to + done, &into, part);
    }
}

static tare_status check_types(const tare_node *node, int reduction, tare_error *err) {
    tare_dtype dtype;
    TARE_TRY(tare_infer_one_type(node, 5, &dtype, err));
    TARE_TRY(tare_infer_check(node, 1, TARE_TYPES_INDEX, err));
    if (reduction == PUT) return TARE_OK;
    return tare_infer_check(node, 0, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, err);
}

static int needs(int reduction, int plain) { return reduction == PUT ? plain : reduction <= MUL ? 16 : 18; }

/* ---- ScatterElements ---- */

typedef struct elements_attrs {
    int64_t axis;
    int reduction;
} elements_attrs;

static const tare_field elements_fields[] = {
    { .name = "axis", .type = TARE_FIELD_INT, .offset = offsetof(elements_attrs, axis), .flags = TARE_FIELD_AXIS },
    { .name = "reduction",
      .type = TARE_FIELD_ENUM,
      .offset = offsetof(elements_attrs, reduction),
      .names = reductions },
    { .type = TARE_FIELD_END },
};

static tare_status elements_infer(tare_node *node, tare_error *err) {
    const elements_attrs *attrs = node->attrs;
    tare_shape data = tare_input_shape(node, 0), picks = tare_input_shape(node, 1), updates = tare_input_shape(node, 2);
    int axis = 0;
    TARE_TRY(check_types(node, attrs->reduction, err));
    if (data.rank >= 0) {
        TARE_TRY(tare_infer_axis(attrs->axis, data.rank, &axis, err));
        TARE_TRY(tare_infer_rank(node, 1, data.rank, err));
        TARE_TRY(tare_infer_rank(node, 2, data.rank, err));
        TARE_TRY(tare_infer_indices(node, 1, data.dim[axis], err));
    }
    for (int i = 0; i < picks.rank && i < updates.rank; i++)
        if (picks.dim[i] >= 0 && updates.dim[i] >= 0 && picks.dim[i] != updates.dim[i])
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d is %lld in the indices and %lld in the updates", i,
                             (long long)picks.dim[i], (long long)updates.dim[i]);
    for (int i = 0; i < data.rank && i < picks.rank; i++)
        if (i != axis && data.dim[i] >= 0 && picks.dim[i] > data.dim[i])
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d is %lld in the indices and %lld in the data", i,
                             (long long)picks.dim[i], (long long)data.dim[i]);
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &data, err);
}

static tare_status elements_run(const tare_call *call, tare_error *err) {
    const elements_attrs *attrs = call->attrs;
    const tare_tensor *data = call->inputs[0], *indices = call->inputs[1], *updates = call->inputs[2];
    tare_tensor *to = call->outputs[0];
    int rank = data->shape.rank;
    int64_t axis = attrs->axis, strides[TARE_RANK_MAX];
    tare_axis_normalize(&axis, rank);
    int64_t dim = data->shape.dim[axis], count = tare_shape_elements(&indices->shape);
    TARE_TRY(tare_indices_check(indices, dim, err));
    TARE_TRY(tare_run_copy(call, err));
    tare_shape_strides(strides, &data->shape);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = tare_index_of(indices, i, dim) * strides[axis], rest = i;
        for (int k = rank - 1; k >= 0; k--) {
            if (k != axis) at += rest % indices->shape.dim[k] * strides[k];
            rest /= indices->shape.dim[k];
        }
        scatter_run(to, at, updates, i, 1, attrs->reduction);
    }
    return TARE_OK;
}

static int elements_needs(const tare_node *node) {
    const elements_attrs *attrs = node->attrs;
    return needs(attrs->reduction, 11);
}

const tare_op tare_op_scatter_elements = {
    .name = "ScatterElements",
    .since = 18,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .attrs = elements_fields,
    .attrs_size = sizeof(elements_attrs),
    .flags = TARE_OP_IN_PLACE,
    .needs = elements_needs,
    .infer = elements_infer,
    .run = elements_run,
};

/* ---- Scatter ---- */

static const tare_field scatter_fields[] = {
    { .name = "axis", .type = TARE_FIELD_INT, .offset = offsetof(elements_attrs, axis), .flags = TARE_FIELD_AXIS },
    { .type = TARE_FIELD_END },
};

static tare_status scatter_upgrade(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const elements_attrs *attrs = node->attrs;
    int64_t axis = attrs->axis;
    TARE_TRY(tare_node_become(node, &tare_op_scatter_elements, err));
    elements_attrs *own = node->attrs;
    own->axis = axis;
    return TARE_OK;
}

const tare_op tare_op_scatter = {
    .name = "Scatter",
    .since = 9,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .attrs = scatter_fields,
    .attrs_size = sizeof(elements_attrs),
    .upgrade = scatter_upgrade,
    .infer = elements_infer,
    .run = elements_run,
};

/* ---- ScatterND ---- */

typedef struct nd_attrs {
    int reduction;
} nd_attrs;

static const tare_field nd_fields[] = {
    { .name = "reduction", .type = TARE_FIELD_ENUM, .offset = offsetof(nd_attrs, reduction), .names = reductions },
    { .type = TARE_FIELD_END },
};

/* updates = indices.shape[:-1] + data.shape[length:] */
static tare_status check_updates(const tare_shape *data, const tare_shape *picks, const tare_shape *updates,
                                 tare_error *err) {
    int64_t length = picks->dim[picks->rank - 1];
    if (length < 0) return TARE_OK;
    if (length < 1 || length > data->rank)
        return tare_fail(err, TARE_E_MALFORMED, "the last dimension of the indices is %lld, want 1 to %d",
                         (long long)length, data->rank);
    int rank = picks->rank - 1 + data->rank - (int)length;
    if (updates->rank >= 0 && updates->rank != rank)
        return tare_fail(err, TARE_E_MALFORMED, "the updates have rank %d, want %d", updates->rank, rank);
    for (int i = 0; i < updates->rank; i++) {
        int64_t want = i < picks->rank - 1 ? picks->dim[i] : data->dim[data->rank - rank + i];
        if (want >= 0 && updates->dim[i] >= 0 && want != updates->dim[i])
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d of the updates is %lld, want %lld", i,
                             (long long)updates->dim[i], (long long)want);
    }
    return TARE_OK;
}

static tare_status nd_infer(tare_node *node, tare_error *err) {
    const nd_attrs *attrs = node->attrs;
    tare_shape data = tare_input_shape(node, 0), picks = tare_input_shape(node, 1), updates = tare_input_shape(node, 2);
    TARE_TRY(check_types(node, attrs->reduction, err));
    if (data.rank == 0 || picks.rank == 0)
        return tare_fail(err, TARE_E_MALFORMED, "data and indices need rank 1 at least");
    if (data.rank > 0 && picks.rank > 0) {
        TARE_TRY(check_updates(&data, &picks, &updates, err));
        const tare_tensor *constant = node->inputs[1]->constant;
        if (constant && tare_shape_is_static(&data)) TARE_TRY(tare_index_tuples_check(constant, data.dim, err));
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &data, err);
}

static tare_status nd_run(const tare_call *call, tare_error *err) {
    const nd_attrs *attrs = call->attrs;
    const tare_tensor *data = call->inputs[0], *indices = call->inputs[1], *updates = call->inputs[2];
    tare_tensor *to = call->outputs[0];
    int rank = data->shape.rank, length = (int)indices->shape.dim[indices->shape.rank - 1];
    int64_t strides[TARE_RANK_MAX];
    int64_t tuples = tare_shape_product(&indices->shape, 0, indices->shape.rank - 1);
    int64_t block = tare_shape_product(&data->shape, length, rank);
    TARE_TRY(tare_index_tuples_check(indices, data->shape.dim, err));
    TARE_TRY(tare_run_copy(call, err));
    tare_shape_strides(strides, &data->shape);
    for (int64_t i = 0; i < tuples; i++) {
        int64_t at = 0;
        for (int k = 0; k < length; k++) at += tare_index_of(indices, i * length + k, data->shape.dim[k]) * strides[k];
        scatter_run(to, at, updates, i * block, block, attrs->reduction);
    }
    return TARE_OK;
}

static int nd_needs(const tare_node *node) {
    const nd_attrs *attrs = node->attrs;
    return needs(attrs->reduction, 11);
}

const tare_op tare_op_scatter_nd = {
    .name = "ScatterND",
    .since = 18,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .attrs = nd_fields,
    .attrs_size = sizeof(nd_attrs),
    .flags = TARE_OP_IN_PLACE,
    .needs = nd_needs,
    .infer = nd_infer,
    .run = nd_run,
};

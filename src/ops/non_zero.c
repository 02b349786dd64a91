/* NonZero and Compress: how many elements come out depends on the data. */
#include <string.h>

#include "ops/entries.h"

/* ---- NonZero ---- */

/* Every element of more bytes than one is not zero when any of its bits is set; of a float, any but the sign. */
static bool is_zero(const tare_tensor *tensor, int64_t at) {
    size_t size = tare_dtype_size(tensor->dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)tensor->data + (size_t)at * size, size);
    if (tare_dtype_is_float(tensor->dtype)) bits &= ~(UINT64_C(1) << (8 * size - 1));
    return bits == 0;
}

static int64_t count_non_zero(const tare_tensor *tensor) {
    int64_t count = tare_shape_elements(&tensor->shape), found = 0;
    for (int64_t i = 0; i < count; i++) found += !is_zero(tensor, i);
    return found;
}

static tare_status non_zero_infer(tare_node *node, tare_error *err) {
    tare_shape from = tare_input_shape(node, 0);
    tare_shape to = { .rank = 2, .dim = { from.rank >= 0 ? from.rank : TARE_DIM_UNKNOWN, TARE_DIM_UNKNOWN } };
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_ALL & ~(1u << TARE_STRING), err));
    if (node->inputs[0]->constant) to.dim[1] = count_non_zero(node->inputs[0]->constant);
    return tare_infer_set(node, 0, TARE_S64, &to, err);
}

static tare_status non_zero_run(const tare_call *call, tare_error *err) {
    const tare_tensor *from = call->inputs[0];
    tare_tensor *to = call->outputs[0];
    int rank = from->shape.rank;
    int64_t found = count_non_zero(from), count = tare_shape_elements(&from->shape), next = 0;
    const tare_shape want = { .rank = 2, .dim = { rank, found } };
    TARE_TRY(tare_run_check_shape(to, &want, err));
    int64_t *places = to->data;
    for (int64_t i = 0; i < count; i++) {
        if (is_zero(from, i)) continue;
        int64_t rest = i;
        for (int k = rank - 1; k >= 0; k--) {
            places[k * found + next] = rest % from->shape.dim[k];
            rest /= from->shape.dim[k];
        }
        next++;
    }
    return TARE_OK;
}

const tare_op tare_op_non_zero = {
    .name = "NonZero",
    .since = 9,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .infer = non_zero_infer,
    .run = non_zero_run,
};

/* ---- Compress ---- */

typedef struct attributes {
    int64_t axis;
} attributes;

static const int64_t no_axis = INT64_MIN; /* of the flattened input */

static const tare_field fields[] = {
    { .name = "axis",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, axis),
      .flags = TARE_FIELD_AXIS,
      .fallback = { .i = INT64_MIN } },
    { .type = TARE_FIELD_END },
};

/* Conditions past the dimension do not count. */
static tare_status count_kept(const tare_tensor *condition, int64_t dim, int64_t *kept, tare_error *err) {
    const uint8_t *keep = condition->data;
    int64_t count = tare_shape_elements(&condition->shape);
    if (dim >= 0 && count > dim)
        return tare_fail(err, TARE_E_MALFORMED, "has %lld conditions for the %lld elements of the axis",
                         (long long)count, (long long)dim);
    *kept = 0;
    for (int64_t i = 0; i < count; i++) *kept += keep[i] != 0;
    return TARE_OK;
}

static tare_status compress_infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = from;
    int64_t kept = TARE_DIM_UNKNOWN, dim = TARE_DIM_UNKNOWN;
    int axis = 0;
    TARE_TRY(tare_infer_check(node, 1, 1u << TARE_BOOL, err));
    TARE_TRY(tare_infer_rank(node, 1, 1, err));
    if (attrs->axis == no_axis) {
        if (tare_shape_is_static(&from) && !tare_shape_count(&from, &dim)) dim = TARE_DIM_UNKNOWN;
        to = (tare_shape){ .rank = 1 };
    } else if (from.rank >= 0) {
        TARE_TRY(tare_infer_axis(attrs->axis, from.rank, &axis, err));
        dim = from.dim[axis];
    }
    if (node->inputs[1]->constant) TARE_TRY(count_kept(node->inputs[1]->constant, dim, &kept, err));
    if (to.rank >= 0) to.dim[axis] = kept;
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

static tare_status compress_run(const tare_call *call, tare_error *err) {
    const attributes *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0], *condition = call->inputs[1];
    tare_tensor *to = call->outputs[0];
    int rank = from->shape.rank;
    int64_t axis = attrs->axis, dim = tare_shape_elements(&from->shape), inner = 1, outer = 1, kept;
    tare_shape want = { .rank = 1 };
    if (axis != no_axis) {
        tare_axis_normalize(&axis, rank);
        want = from->shape;
        dim = from->shape.dim[axis];
        inner = tare_shape_product(&from->shape, (int)axis + 1, rank);
        outer = tare_shape_product(&from->shape, 0, (int)axis);
    } else {
        axis = 0;
    }
    TARE_TRY(count_kept(condition, dim, &kept, err));
    want.dim[axis] = kept;
    TARE_TRY(tare_run_check_shape(to, &want, err));
    const uint8_t *keep = condition->data;
    int64_t conditions = tare_shape_elements(&condition->shape);
    size_t bytes = (size_t)inner * tare_dtype_size(from->dtype);
    char *at = to->data;
    for (int64_t row = 0; bytes && row < outer; row++) {
        for (int64_t i = 0; i < conditions; i++) {
            if (!keep[i]) continue;
            memcpy(at, (const char *)from->data + (size_t)(row * dim + i) * bytes, bytes);
            at += bytes;
        }
    }
    return TARE_OK;
}

const tare_op tare_op_compress = {
    .name = "Compress",
    .since = 9,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = compress_infer,
    .run = compress_run,
};

/* Transpose: output dimension i is input dimension perm[i]. */
#include "ops/move.h"

typedef struct attributes {
    tare_ints perm;
} attributes;

static const tare_field fields[] = {
    { .name = "perm", .type = TARE_FIELD_INTS, .offset = offsetof(attributes, perm), .flags = TARE_FIELD_AXIS },
    { .type = TARE_FIELD_END },
};

/* The reverse when it is not given. */
static int source_of(const attributes *attrs, int rank, int i) {
    return attrs->perm.at ? (int)attrs->perm.at[i] : rank - 1 - i;
}

static tare_status check_perm(const tare_ints *perm, tare_error *err) {
    unsigned seen = 0;
    if (perm->count > TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "attribute 'perm' has %zu entries, more than %d", perm->count,
                         TARE_RANK_MAX);
    for (size_t i = 0; i < perm->count; i++) {
        if (perm->at[i] < 0 || (uint64_t)perm->at[i] >= perm->count || seen & 1u << perm->at[i])
            return tare_fail(err, TARE_E_MALFORMED, "attribute 'perm' is no permutation: entry %zu is %lld", i,
                             (long long)perm->at[i]);
        seen |= 1u << perm->at[i];
    }
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = from;
    if (attrs->perm.at) {
        TARE_TRY(check_perm(&attrs->perm, err));
        if (from.rank >= 0 && attrs->perm.count != (size_t)from.rank)
            return tare_fail(err, TARE_E_MALFORMED, "attribute 'perm' has %zu entries, the input has rank %d",
                             attrs->perm.count, from.rank);
        to.rank = (int)attrs->perm.count;
    }
    for (int i = 0; i < to.rank; i++)
        to.dim[i] = from.rank < 0 ? TARE_DIM_UNKNOWN : from.dim[source_of(attrs, to.rank, i)];
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    const tare_tensor *from = call->inputs[0];
    tare_tensor *to = call->outputs[0];
    int64_t strides[TARE_RANK_MAX];
    tare_shape_strides(strides, &from->shape);
    tare_move move = { .to = to->data, .from = from->data, .size = tare_dtype_size(to->dtype), .rank = to->shape.rank };
    for (int i = 0; i < move.rank; i++) {
        int source = source_of(call->attrs, move.rank, i);
        move.dim[i] = from->shape.dim[source];
        move.from_stride[i] = strides[source];
    }
    tare_move_dense(&move);
    tare_move_run(&move, call->pool);
    return TARE_OK;
}

const tare_op tare_op_transpose = {
    .name = "Transpose",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = infer,
    .run = run,
};

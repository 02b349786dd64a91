/* Expand and Tile: repeats along dimensions. */
#include "base/size.h"
#include "ops/entries.h"
#include "ops/move.h"

static tare_status check_entries(const tare_entries *entries, tare_error *err) {
    if (entries->count > TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "the result would have rank %d, more than %d", entries->count,
                         TARE_RANK_MAX);
    for (int i = 0; i < entries->count; i++)
        if (entries->at[i].kind == TARE_ENTRY_NUMBER && entries->at[i].number < 0)
            return tare_fail(err, TARE_E_MALFORMED, "entry %d of input 1 is %lld, want 0 or more", i,
                             (long long)entries->at[i].number);
    return TARE_OK;
}

static tare_status expand_shape(const tare_shape *from, const tare_entries *entries, tare_shape *to, tare_error *err) {
    *to = tare_shape_unknown();
    TARE_TRY(check_entries(entries, err));
    if (from->rank < 0 || entries->count < 0) return TARE_OK;
    tare_shape wanted = { .rank = entries->count };
    for (int i = 0; i < wanted.rank; i++) wanted.dim[i] = tare_entry_dim(&entries->at[i]);
    if (tare_shape_broadcast(to, from, &wanted)) return TARE_OK;
    char have[128], want[128];
    tare_shape_print(have, sizeof have, from, NULL);
    tare_shape_print(want, sizeof want, &wanted, NULL);
    return tare_fail(err, TARE_E_MALFORMED, "the input's shape %s does not broadcast with %s", have, want);
}

static tare_status expand_infer(tare_node *node, tare_error *err) {
    tare_shape from = tare_input_shape(node, 0), to;
    tare_entries entries;
    TARE_TRY(tare_infer_entries(node, 1, &entries, err));
    TARE_TRY(expand_shape(&from, &entries, &to, err));
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

static tare_status expand_run(const tare_call *call, tare_error *err) {
    const tare_tensor *from = call->inputs[0];
    tare_tensor *to = call->outputs[0];
    const tare_value list = tare_value_of(call->inputs[1]);
    tare_entries entries;
    tare_shape shape;
    tare_entries_read(&entries, &list);
    TARE_TRY(expand_shape(&from->shape, &entries, &shape, err));
    TARE_TRY(tare_run_check_shape(to, &shape, err));
    tare_move move = { .to = to->data, .from = from->data, .size = tare_dtype_size(to->dtype), .rank = shape.rank };
    for (int i = 0; i < shape.rank; i++) move.dim[i] = shape.dim[i];
    tare_shape_broadcast_strides(move.from_stride, &from->shape, &shape);
    tare_move_dense(&move);
    tare_move_run(&move, call->pool);
    return TARE_OK;
}

const tare_op tare_op_expand = {
    .name = "Expand",
    .since = 8,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = expand_infer,
    .run = expand_run,
};

/* ---- Tile ---- */

static tare_status tile_shape(const tare_shape *from, const tare_entries *repeats, tare_shape *to, tare_error *err) {
    *to = *from;
    TARE_TRY(check_entries(repeats, err));
    if (from->rank >= 0 && repeats->count >= 0 && repeats->count != from->rank)
        return tare_fail(err, TARE_E_MALFORMED, "input 1 has %d repeats, the input has rank %d", repeats->count,
                         from->rank);
    for (int i = 0; i < from->rank; i++) {
        const tare_entry unknown = { 0 }, *times = repeats->count >= 0 ? &repeats->at[i] : &unknown;
        int64_t count = tare_entry_dim(times), dim = from->dim[i];
        if (count == 1) continue;
        if (dim == 1)
            to->dim[i] = count;
        else if (dim < 0 || count < 0)
            to->dim[i] = TARE_DIM_UNKNOWN;
        else if (!tare_i64_mul(dim, count, &to->dim[i]))
            return tare_fail(err, TARE_E_LIMIT, "dimension %d would be %lld times %lld", i, (long long)count,
                             (long long)dim);
    }
    return TARE_OK;
}

static tare_status tile_infer(tare_node *node, tare_error *err) {
    tare_shape from = tare_input_shape(node, 0), to;
    tare_entries repeats;
    TARE_TRY(tare_infer_entries(node, 1, &repeats, err));
    TARE_TRY(tile_shape(&from, &repeats, &to, err));
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

/* Each dimension is two: which repeat, and the place in it. */
static tare_status tile_run(const tare_call *call, tare_error *err) {
    const tare_tensor *from = call->inputs[0];
    tare_tensor *to = call->outputs[0];
    const tare_value list = tare_value_of(call->inputs[1]);
    tare_entries repeats;
    tare_shape shape;
    tare_entries_read(&repeats, &list);
    TARE_TRY(tile_shape(&from->shape, &repeats, &shape, err));
    TARE_TRY(tare_run_check_shape(to, &shape, err));
    int64_t strides[TARE_RANK_MAX];
    tare_shape_strides(strides, &from->shape);
    tare_move move = { .to = to->data, .from = from->data, .size = tare_dtype_size(to->dtype), .rank = 2 * shape.rank };
    for (int i = 0; i < shape.rank; i++) {
        move.dim[2 * i] = repeats.at[i].number;
        move.dim[2 * i + 1] = from->shape.dim[i];
        move.from_stride[2 * i + 1] = strides[i];
    }
    tare_move_dense(&move);
    tare_move_run(&move, call->pool);
    return TARE_OK;
}

const tare_op tare_op_tile = {
    .name = "Tile",
    .since = 6,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = tile_infer,
    .run = tile_run,
};

/* ReverseSequence: turns round the first sequence_lens[b] steps of every sequence b. */
#include "ops/indices.h"
#include "ops/move.h"

typedef struct attributes {
    int64_t batch_axis, time_axis;
} attributes;

static const tare_field fields[] = {
    { .name = "batch_axis",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, batch_axis),
      .fallback = { .i = 1 },
      .hi = 1 },
    { .name = "time_axis", .type = TARE_FIELD_INT, .offset = offsetof(attributes, time_axis), .hi = 1 },
    { .type = TARE_FIELD_END },
};

static tare_status check_length(int64_t length, int64_t steps, tare_error *err) {
    if (length >= 0 && length <= steps) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "a sequence length is %lld, want 0 to %lld", (long long)length,
                     (long long)steps);
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape shape = tare_input_shape(node, 0), lengths = tare_input_shape(node, 1);
    TARE_TRY(tare_infer_check(node, 1, 1u << TARE_S64, err));
    TARE_TRY(tare_infer_rank(node, 1, 1, err));
    if (attrs->batch_axis == attrs->time_axis)
        return tare_fail(err, TARE_E_MALFORMED, "batch_axis and time_axis are both %lld", (long long)attrs->time_axis);
    if (shape.rank >= 0 && shape.rank < 2)
        return tare_fail(err, TARE_E_MALFORMED, "input 0 has rank %d, want 2 at least", shape.rank);
    if (shape.rank >= 0 && lengths.rank == 1) {
        int64_t batch = shape.dim[attrs->batch_axis];
        if (batch >= 0 && lengths.dim[0] >= 0 && batch != lengths.dim[0])
            return tare_fail(err, TARE_E_MALFORMED, "has %lld sequence lengths for a batch of %lld",
                             (long long)lengths.dim[0], (long long)batch);
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &shape, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    const attributes *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0], *lengths = call->inputs[1];
    tare_tensor *to = call->outputs[0];
    size_t size = tare_dtype_size(from->dtype);
    int rank = from->shape.rank;
    int64_t strides[TARE_RANK_MAX], steps = from->shape.dim[attrs->time_axis],
                                    batch = from->shape.dim[attrs->batch_axis];
    tare_shape_strides(strides, &from->shape);
    int64_t batch_step = strides[attrs->batch_axis], time_step = strides[attrs->time_axis];
    int64_t inner = tare_shape_product(&from->shape, 2, rank);
    for (int64_t b = 0; b < batch; b++) {
        int64_t length = tare_index_at(lengths, b);
        TARE_TRY(check_length(length, steps, err));
        size_t start = (size_t)(b * batch_step) * size, rest = start + (size_t)(length * time_step) * size;
        tare_move turned = { .to = (char *)to->data + start,
                             .size = size,
                             .rank = 2,
                             .dim = { length, inner },
                             .to_stride = { time_step, 1 },
                             .from_stride = { -time_step, 1 } };
        turned.from = (const char *)from->data + start + (size_t)(length > 0 ? (length - 1) * time_step : 0) * size;
        tare_move kept = { .to = (char *)to->data + rest,
                           .from = (const char *)from->data + rest,
                           .size = size,
                           .rank = 2,
                           .dim = { steps - length, inner },
                           .to_stride = { time_step, 1 },
                           .from_stride = { time_step, 1 } };
        tare_move_run(&turned, call->pool);
        tare_move_run(&kept, call->pool);
    }
    return TARE_OK;
}

const tare_op tare_op_reverse_sequence = {
    .name = "ReverseSequence",
    .since = 10,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = infer,
    .run = run,
};

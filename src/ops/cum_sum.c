/* CumSum: running sums along an axis, in the order of the axis, each from +0. f16 and bf16 sum in f32. */
#include "ops/entries.h"
#include "ops/numbers.h"

typedef struct attributes {
    bool exclusive, reverse;
} attributes;

static const tare_field fields[] = {
    { .name = "exclusive", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, exclusive) },
    { .name = "reverse", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, reverse) },
    { .type = TARE_FIELD_END },
};

static tare_status read_axis(const tare_value *value, int rank, int *axis, tare_error *err) {
    tare_entries entries;
    *axis = -1;
    tare_entries_read(&entries, value);
    if (entries.count >= 0 && entries.count != 1)
        return tare_fail(err, TARE_E_MALFORMED, "input 1 has %d numbers, want one axis", entries.count);
    if (entries.count < 0 || entries.at[0].kind != TARE_ENTRY_NUMBER) return TARE_OK;
    return tare_infer_axis(entries.at[0].number, rank, axis, err);
}

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0);
    int axis;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, err));
    TARE_TRY(tare_infer_check(node, 1, TARE_TYPES_INDEX, err));
    if (shape.rank >= 0) TARE_TRY(read_axis(node->inputs[1], shape.rank, &axis, err));
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &shape, err);
}

typedef struct sum_job {
    const tare_tensor *from;
    tare_tensor *to;
    int64_t dim, inner, blocks; /* blocks of columns in an outer index */
    bool exclusive, reverse;
} sum_job;

static void add_numbers(tare_numbers *sum, const tare_numbers *more, tare_number number, size_t count) {
    for (size_t i = 0; i < count; i++) {
        switch (number) {
        case TARE_NUMBER_F32: sum->f32[i] += more->f32[i]; break;
        case TARE_NUMBER_F64: sum->f64[i] += more->f64[i]; break;
        default: sum->u64[i] += more->u64[i]; break; /* wraps, signed or not */
        }
    }
}

/* The index-th block of up to TARE_NUMBERS_CHUNK columns. */
static void sum_block(void *context, size_t index, size_t thread) {
    (void)thread;
    const sum_job *job = context;
    int64_t outer = (int64_t)index / job->blocks, column = (int64_t)index % job->blocks * TARE_NUMBERS_CHUNK;
    size_t count = (size_t)(job->inner - column);
    if (count > TARE_NUMBERS_CHUNK) count = TARE_NUMBERS_CHUNK;
    tare_dtype dtype = job->from->dtype;
    tare_number number = tare_number_of(dtype);
    tare_numbers sum = { .u64 = { 0 } }, more;
    for (int64_t step = 0; step < job->dim; step++) {
        int64_t row = job->reverse ? job->dim - 1 - step : step;
        int64_t at = (outer * job->dim + row) * job->inner + column;
        tare_numbers_load(&more, dtype, job->from->data, at, count);
        if (job->exclusive) tare_numbers_store(dtype, job->to->data, at, &sum, count);
        add_numbers(&sum, &more, number, count);
        if (!job->exclusive) tare_numbers_store(dtype, job->to->data, at, &sum, count);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    const attributes *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0];
    const tare_value list = tare_value_of(call->inputs[1]);
    int axis;
    TARE_TRY(read_axis(&list, from->shape.rank, &axis, err));
    sum_job job = { .from = from,
                    .to = call->outputs[0],
                    .exclusive = attrs->exclusive,
                    .reverse = attrs->reverse,
                    .dim = from->shape.dim[axis],
                    .inner = tare_shape_product(&from->shape, axis + 1, from->shape.rank) };
    job.blocks = (job.inner + TARE_NUMBERS_CHUNK - 1) / TARE_NUMBERS_CHUNK;
    int64_t blocks = tare_shape_product(&from->shape, 0, axis) * job.blocks;
    bool is_big = from->size > (size_t)1 << 16;
    if (from->size) tare_pool_run(is_big ? call->pool : NULL, (size_t)blocks, sum_block, &job);
    return TARE_OK;
}

const tare_op tare_op_cum_sum = {
    .name = "CumSum",
    .since = 11,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .infer = infer,
    .run = run,
};

/* ArgMax and ArgMin: where along an axis the largest or smallest element is. NaN counts as either. */
#include "ops/keys.h"
#include "ops/op.h"

enum {
    LANES = 256,             /* columns, or elements of a row, looked at together */
    CHUNK_ELEMENTS = 1 << 14 /* what one piece of work looks at least at */
};

typedef struct attributes {
    int64_t axis;
    bool keepdims, select_last_index;
} attributes;

static const tare_field fields[] = {
    { .name = "axis", .type = TARE_FIELD_INT, .offset = offsetof(attributes, axis), .flags = TARE_FIELD_AXIS },
    { .name = "keepdims", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, keepdims), .fallback = { .i = 1 } },
    { .name = "select_last_index", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, select_last_index) },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = from;
    int axis;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, err));
    if (from.rank >= 0) {
        TARE_TRY(tare_infer_axis(attrs->axis, from.rank, &axis, err));
        if (from.dim[axis] == 0)
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d has no elements to choose from", axis);
        to.dim[axis] = 1;
        if (!attrs->keepdims) {
            for (int i = axis + 1; i < from.rank; i++) to.dim[i - 1] = from.dim[i];
            to.rank--;
        }
    }
    return tare_infer_set(node, 0, TARE_S64, &to, err);
}

typedef struct arg_job {
    const tare_tensor *from;
    int64_t *to;
    int64_t dim, inner;          /* along the axis; behind it */
    int64_t blocks, block_count; /* of columns in an outer index; in all */
    int64_t per_chunk;
    uint64_t flip; /* makes small ones great */
    bool last;
} arg_job;

/* Is the new key better? A NaN has the greatest key of all and is best both ways. */
static inline bool is_better(uint64_t key, uint64_t best, bool last) { return last ? key >= best : key > best; }

static inline uint64_t rank_key(uint64_t key, uint64_t flip) { return key == UINT64_MAX ? key : key ^ flip; }

static void scan_row(const arg_job *job, int64_t row) {
    uint64_t keys[LANES], best = 0;
    int64_t place = 0;
    for (int64_t a = 0; a < job->dim; a += LANES) {
        int64_t count = job->dim - a < LANES ? job->dim - a : LANES;
        tare_keys_load(keys, job->from->dtype, job->from->data, row * job->dim + a, 1, count);
        for (int64_t i = 0; i < count; i++) {
            uint64_t key = rank_key(keys[i], job->flip);
            if (a + i > 0 && !is_better(key, best, job->last)) continue;
            best = key;
            place = a + i;
        }
    }
    job->to[row] = place;
}

static void scan_columns(const arg_job *job, int64_t outer, int64_t first, int64_t count) {
    uint64_t keys[LANES], best[LANES];
    int64_t *to = job->to + outer * job->inner + first;
    for (int64_t a = 0; a < job->dim; a++) {
        int64_t at = (outer * job->dim + a) * job->inner + first;
        tare_keys_load(keys, job->from->dtype, job->from->data, at, 1, count);
        for (int64_t i = 0; i < count; i++) {
            uint64_t key = rank_key(keys[i], job->flip);
            if (a > 0 && !is_better(key, best[i], job->last)) continue;
            best[i] = key;
            to[i] = a;
        }
    }
}

static void scan_blocks(void *context, size_t index, size_t thread) {
    (void)thread;
    const arg_job *job = context;
    int64_t first = (int64_t)index * job->per_chunk, end = first + job->per_chunk;
    for (int64_t i = first; i < end && i < job->block_count; i++) {
        int64_t column = i % job->blocks * LANES, rest = job->inner - column;
        if (job->inner == 1)
            scan_row(job, i);
        else
            scan_columns(job, i / job->blocks, column, rest < LANES ? rest : LANES);
    }
}

static tare_status run_arg(const tare_call *call, bool is_min) {
    const attributes *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0];
    int64_t axis = attrs->axis;
    tare_axis_normalize(&axis, from->shape.rank);
    arg_job job = { .from = from,
                    .to = call->outputs[0]->data,
                    .dim = from->shape.dim[axis],
                    .inner = tare_shape_product(&from->shape, (int)axis + 1, from->shape.rank),
                    .flip = is_min ? UINT64_MAX : 0,
                    .last = attrs->select_last_index };
    job.blocks = (job.inner + LANES - 1) / LANES;
    job.block_count = tare_shape_product(&from->shape, 0, (int)axis) * job.blocks;
    int64_t width = job.inner < LANES ? job.inner : LANES;
    if (!job.block_count) return TARE_OK;
    job.per_chunk = CHUNK_ELEMENTS / (width * job.dim) + 1;
    int64_t chunks = (job.block_count + job.per_chunk - 1) / job.per_chunk;
    tare_pool_run(chunks > 1 ? call->pool : NULL, (size_t)chunks, scan_blocks, &job);
    return TARE_OK;
}

static tare_status run_max(const tare_call *call, tare_error *err) {
    (void)err;
    return run_arg(call, false);
}

static tare_status run_min(const tare_call *call, tare_error *err) {
    (void)err;
    return run_arg(call, true);
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    return attrs->select_last_index ? 12 : 1;
}

const tare_op tare_op_arg_max = {
    .name = "ArgMax",
    .since = 12,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .needs = needs,
    .infer = infer,
    .run = run_max,
};

const tare_op tare_op_arg_min = {
    .name = "ArgMin",
    .since = 12,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .needs = needs,
    .infer = infer,
    .run = run_min,
};

/* Gather, GatherElements, GatherND: copies picked by index. */
#include <string.h>

#include "ops/indices.h"
#include "ops/move.h"

enum { CHUNK_BYTES = 64 * 1024 /* what one piece of work copies at least */ };

typedef struct axis_attrs {
    int64_t axis;
} axis_attrs;

static const tare_field axis_fields[] = {
    { .name = "axis", .type = TARE_FIELD_INT, .offset = offsetof(axis_attrs, axis), .flags = TARE_FIELD_AXIS },
    { .type = TARE_FIELD_END },
};

static tare_status too_many_dims(int rank, tare_error *err) {
    return tare_fail(err, TARE_E_UNSUPPORTED, "the result would have rank %d, more than %d", rank, TARE_RANK_MAX);
}

/* Copies of blocks: block i comes from source(i). */
typedef struct block_job {
    char *to;
    const char *from;
    size_t bytes;      /* of a block */
    int64_t count;     /* blocks in all */
    int64_t per_chunk; /* blocks of one piece of work */
    const tare_tensor *indices;
    const int64_t *dims, *strides; /* of what a tuple of indices selects; strides in blocks */
    int length;                    /* of a tuple */
    int64_t per_batch, batch_step; /* blocks with the same batch index; blocks of the source from batch to batch */
    bool shared;                   /* one batch of indices for all: Gather's */
} block_job;

static void copy_blocks(void *context, size_t index, size_t thread) {
    (void)thread;
    const block_job *job = context;
    int64_t first = (int64_t)index * job->per_chunk, end = first + job->per_chunk;
    if (end > job->count) end = job->count;
    for (int64_t i = first; i < end; i++) {
        int64_t source = i / job->per_batch * job->batch_step;
        int64_t tuple = (job->shared ? i % job->per_batch : i) * job->length;
        for (int k = 0; k < job->length; k++)
            source += tare_index_of(job->indices, tuple + k, job->dims[k]) * job->strides[k];
        memcpy(job->to + (size_t)i * job->bytes, job->from + (size_t)source * job->bytes, job->bytes);
    }
}

static void run_blocks(block_job *job, tare_pool *pool) {
    if (!job->bytes || !job->count) return;
    job->per_chunk = (int64_t)(CHUNK_BYTES / job->bytes) + 1;
    int64_t chunks = (job->count + job->per_chunk - 1) / job->per_chunk;
    tare_pool_run(chunks > 1 ? pool : NULL, (size_t)chunks, copy_blocks, job);
}

/* ---- Gather ---- */

static tare_status gather_infer(tare_node *node, tare_error *err) {
    const axis_attrs *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), picks = tare_input_shape(node, 1), to = tare_shape_unknown();
    int axis = 0;
    if (from.rank >= 0) TARE_TRY(tare_infer_axis(attrs->axis, from.rank, &axis, err));
    TARE_TRY(tare_infer_indices(node, 1, from.rank >= 0 ? from.dim[axis] : TARE_DIM_UNKNOWN, err));
    if (from.rank >= 0 && picks.rank >= 0) {
        to.rank = from.rank - 1 + picks.rank;
        if (to.rank > TARE_RANK_MAX) return too_many_dims(to.rank, err);
        for (int i = 0; i < axis; i++) to.dim[i] = from.dim[i];
        for (int i = 0; i < picks.rank; i++) to.dim[axis + i] = picks.dim[i];
        for (int i = axis + 1; i < from.rank; i++) to.dim[picks.rank - 1 + i] = from.dim[i];
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

static tare_status gather_run(const tare_call *call, tare_error *err) {
    const axis_attrs *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0], *indices = call->inputs[1];
    int64_t axis = attrs->axis, one = 1;
    tare_axis_normalize(&axis, from->shape.rank);
    int64_t dim = from->shape.dim[axis], picks = tare_shape_elements(&indices->shape);
    TARE_TRY(tare_indices_check(indices, dim, err));
    block_job job = { .to = call->outputs[0]->data,
                      .from = from->data,
                      .indices = indices,
                      .dims = &dim,
                      .strides = &one,
                      .length = 1,
                      .per_batch = picks,
                      .batch_step = dim,
                      .shared = true };
    job.bytes =
        (size_t)tare_shape_product(&from->shape, (int)axis + 1, from->shape.rank) * tare_dtype_size(from->dtype);
    job.count = tare_shape_product(&from->shape, 0, (int)axis) * picks;
    run_blocks(&job, call->pool);
    return TARE_OK;
}

const tare_op tare_op_gather = {
    .name = "Gather",
    .since = 1,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = axis_fields,
    .attrs_size = sizeof(axis_attrs),
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = gather_infer,
    .run = gather_run,
};

/* ---- GatherND ---- */

typedef struct nd_attrs {
    int64_t batch_dims;
} nd_attrs;

static const tare_field nd_fields[] = {
    { .name = "batch_dims", .type = TARE_FIELD_INT, .offset = offsetof(nd_attrs, batch_dims), .hi = TARE_RANK_MAX },
    { .type = TARE_FIELD_END },
};

static tare_status nd_check(const tare_shape *from, const tare_shape *picks, int batch, tare_error *err) {
    int64_t length = picks->dim[picks->rank - 1];
    if (batch >= from->rank || batch >= picks->rank)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'batch_dims' is %d, but the inputs have rank %d and %d",
                         batch, from->rank, picks->rank);
    for (int i = 0; i < batch; i++)
        if (from->dim[i] >= 0 && picks->dim[i] >= 0 && from->dim[i] != picks->dim[i])
            return tare_fail(err, TARE_E_MALFORMED, "batch dimension %d is %lld in the data and %lld in the indices", i,
                             (long long)from->dim[i], (long long)picks->dim[i]);
    if (length >= 0 && (length < 1 || length > from->rank - batch))
        return tare_fail(err, TARE_E_MALFORMED, "the last dimension of the indices is %lld, want 1 to %d",
                         (long long)length, from->rank - batch);
    return TARE_OK;
}

static tare_status nd_infer(tare_node *node, tare_error *err) {
    const nd_attrs *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), picks = tare_input_shape(node, 1), to = tare_shape_unknown();
    int batch = (int)attrs->batch_dims;
    TARE_TRY(tare_infer_check(node, 1, TARE_TYPES_INDEX, err));
    if (from.rank == 0 || picks.rank == 0)
        return tare_fail(err, TARE_E_MALFORMED, "data and indices need rank 1 at least");
    if (from.rank < 0 || picks.rank < 0) return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
    TARE_TRY(nd_check(&from, &picks, batch, err));
    int64_t length = picks.dim[picks.rank - 1];
    const tare_tensor *constant = node->inputs[1]->constant;
    if (constant && tare_shape_is_static(&from)) TARE_TRY(tare_index_tuples_check(constant, from.dim + batch, err));
    if (length >= 0) {
        to.rank = picks.rank - 1 + from.rank - batch - (int)length;
        if (to.rank > TARE_RANK_MAX) return too_many_dims(to.rank, err);
        for (int i = 0; i < picks.rank - 1; i++) to.dim[i] = i < batch && picks.dim[i] < 0 ? from.dim[i] : picks.dim[i];
        for (int i = picks.rank - 1; i < to.rank; i++) to.dim[i] = from.dim[from.rank - to.rank + i];
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

static tare_status nd_run(const tare_call *call, tare_error *err) {
    const nd_attrs *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0], *indices = call->inputs[1];
    int batch = (int)attrs->batch_dims, rank = from->shape.rank;
    int length = (int)indices->shape.dim[indices->shape.rank - 1];
    int64_t strides[TARE_RANK_MAX];
    TARE_TRY(tare_index_tuples_check(indices, from->shape.dim + batch, err));
    for (int k = 0; k < length; k++) strides[k] = tare_shape_product(&from->shape, batch + k + 1, batch + length);
    block_job job = { .to = call->outputs[0]->data,
                      .from = from->data,
                      .indices = indices,
                      .dims = from->shape.dim + batch,
                      .strides = strides,
                      .length = length };
    job.bytes = (size_t)tare_shape_product(&from->shape, batch + length, rank) * tare_dtype_size(from->dtype);
    job.count = tare_shape_product(&indices->shape, 0, indices->shape.rank - 1);
    job.per_batch = tare_shape_product(&indices->shape, batch, indices->shape.rank - 1);
    job.batch_step = tare_shape_product(&from->shape, batch, batch + length);
    run_blocks(&job, call->pool);
    return TARE_OK;
}

static int nd_needs(const tare_node *node) {
    const nd_attrs *attrs = node->attrs;
    return attrs->batch_dims ? 12 : 11;
}

const tare_op tare_op_gather_nd = {
    .name = "GatherND",
    .since = 12,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = nd_fields,
    .attrs_size = sizeof(nd_attrs),
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .needs = nd_needs,
    .infer = nd_infer,
    .run = nd_run,
};

/* ---- GatherElements ---- */

static tare_status elements_infer(tare_node *node, tare_error *err) {
    const axis_attrs *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = tare_input_shape(node, 1);
    int axis = 0;
    if (from.rank >= 0) TARE_TRY(tare_infer_axis(attrs->axis, from.rank, &axis, err));
    TARE_TRY(tare_infer_indices(node, 1, from.rank >= 0 ? from.dim[axis] : TARE_DIM_UNKNOWN, err));
    if (from.rank >= 0) TARE_TRY(tare_infer_rank(node, 1, from.rank, err));
    for (int i = 0; from.rank >= 0 && i < to.rank; i++)
        if (i != axis && from.dim[i] >= 0 && to.dim[i] > from.dim[i])
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d of the indices is %lld, of the data %lld", i,
                             (long long)to.dim[i], (long long)from.dim[i]);
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

typedef struct element_job {
    const tare_tensor *from, *indices;
    tare_tensor *to;
    int axis;
    int64_t rows, per_chunk; /* rows along the last dimension */
} element_job;

static inline void copy_element(char *to, const char *from, size_t size) {
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
    }
}

static void copy_elements(void *context, size_t index, size_t thread) {
    (void)thread;
    const element_job *job = context;
    const tare_shape *shape = &job->to->shape;
    int last = shape->rank - 1;
    int64_t strides[TARE_RANK_MAX], dim = job->from->shape.dim[job->axis], columns = shape->dim[last];
    size_t size = tare_dtype_size(job->to->dtype);
    tare_shape_strides(strides, &job->from->shape);
    int64_t first = (int64_t)index * job->per_chunk, end = first + job->per_chunk;
    for (int64_t row = first; row < end && row < job->rows; row++) {
        int64_t base = 0, rest = row;
        for (int i = last - 1; i >= 0; i--) {
            if (i != job->axis) base += rest % shape->dim[i] * strides[i];
            rest /= shape->dim[i];
        }
        for (int64_t column = 0; column < columns; column++) {
            int64_t at = row * columns + column;
            int64_t source = base + tare_index_of(job->indices, at, dim) * strides[job->axis];
            if (job->axis != last) source += column;
            copy_element((char *)job->to->data + (size_t)at * size,
                         (const char *)job->from->data + (size_t)source * size, size);
        }
    }
}

static tare_status elements_run(const tare_call *call, tare_error *err) {
    const axis_attrs *attrs = call->attrs;
    int64_t axis = attrs->axis;
    element_job job = { .from = call->inputs[0], .indices = call->inputs[1], .to = call->outputs[0] };
    int rank = job.from->shape.rank;
    tare_axis_normalize(&axis, rank);
    TARE_TRY(tare_indices_check(job.indices, job.from->shape.dim[axis], err));
    if (!job.to->size) return TARE_OK;
    job.axis = (int)axis;
    job.rows = tare_shape_product(&job.to->shape, 0, rank - 1);
    job.per_chunk = CHUNK_BYTES / 8 / job.to->shape.dim[rank - 1] + 1;
    int64_t chunks = (job.rows + job.per_chunk - 1) / job.per_chunk;
    tare_pool_run(chunks > 1 ? call->pool : NULL, (size_t)chunks, copy_elements, &job);
    return TARE_OK;
}

const tare_op tare_op_gather_elements = {
    .name = "GatherElements",
    .since = 11,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = axis_fields,
    .attrs_size = sizeof(axis_attrs),
    .flags = TARE_OP_MOVES,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = elements_infer,
    .run = elements_run,
};

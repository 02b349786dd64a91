/* Trilu: the upper or lower triangle of matrices, zeros elsewhere. */
#include <string.h>

#include "ops/op.h"

typedef struct attributes {
    bool upper;
} attributes;

static const tare_field fields[] = {
    { .name = "upper", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, upper), .fallback = { .i = 1 } },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0), k = tare_input_shape(node, 1);
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_ALL & ~(1u << TARE_STRING), err));
    TARE_TRY(tare_infer_check(node, 1, 1u << TARE_S64, err));
    if (shape.rank >= 0 && shape.rank < 2)
        return tare_fail(err, TARE_E_MALFORMED, "input 0 has rank %d, want 2 at least", shape.rank);
    if (tare_shape_is_static(&k) && tare_shape_elements(&k) != 1)
        return tare_fail(err, TARE_E_MALFORMED, "input 1 (k) must be one number");
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &shape, err);
}

typedef struct trilu_job {
    const tare_tensor *from;
    tare_tensor *to;
    int64_t k;
    bool upper;
} trilu_job;

/* The index-th matrix: of row i, columns from i + k on (upper) or up to i + k (lower) are kept. */
static void cut_matrix(void *context, size_t index, size_t thread) {
    (void)thread;
    const trilu_job *job = context;
    const tare_shape *shape = &job->to->shape;
    int64_t rows = shape->dim[shape->rank - 2], columns = shape->dim[shape->rank - 1];
    size_t size = tare_dtype_size(job->to->dtype);
    for (int64_t i = 0; i < rows; i++) {
        size_t at = ((size_t)index * (size_t)rows + (size_t)i) * (size_t)columns * size;
        int64_t edge = i + job->k + (job->upper ? 0 : 1);
        edge = edge < 0 ? 0 : edge > columns ? columns : edge;
        size_t first = (size_t)edge * size, rest = (size_t)columns * size - first;
        char *to = (char *)job->to->data + at;
        const char *from = (const char *)job->from->data + at;
        if (to != from)
            memcpy(job->upper ? to + first : to, job->upper ? from + first : from, job->upper ? rest : first);
        memset(job->upper ? to : to + first, 0, job->upper ? first : rest);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    const attributes *attrs = call->attrs;
    trilu_job job = { .from = call->inputs[0], .to = call->outputs[0], .upper = attrs->upper };
    const int64_t far = INT32_MAX; /* past every dimension */
    if (call->input_count > 1 && call->inputs[1]) job.k = *(const int64_t *)call->inputs[1]->data;
    job.k = job.k > far ? far : job.k < -far ? -far : job.k;
    int64_t matrices = tare_shape_product(&job.to->shape, 0, job.to->shape.rank - 2);
    if (job.to->size) tare_pool_run(call->pool, (size_t)matrices, cut_matrix, &job);
    return TARE_OK;
}

const tare_op tare_op_trilu = {
    .name = "Trilu",
    .since = 14,
    .inputs = { 1, 2 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES | TARE_OP_IN_PLACE,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = infer,
    .run = run,
};

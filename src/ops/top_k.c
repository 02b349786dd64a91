/* TopK: the k largest or smallest elements along an axis, sorted; of equal ones those that come first. NaN is largest. */
#include <string.h>

#include "ops/entries.h"
#include "ops/keys.h"

typedef struct attributes {
    int64_t axis;
    bool largest, sorted;
} attributes;

static const tare_field fields[] = {
    { .name = "axis",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, axis),
      .flags = TARE_FIELD_AXIS,
      .fallback = { .i = -1 } },
    { .name = "largest", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, largest), .fallback = { .i = 1 } },
    { .name = "sorted", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, sorted), .fallback = { .i = 1 } },
    { .type = TARE_FIELD_END },
};

static const tare_op_dual duals[] = {
    { .attribute = "k", .input = 1, .until = 9, .type = TARE_FIELD_INT },
    { 0 },
};

static tare_status check_k(const tare_entries *k, int64_t dim, int64_t *count, tare_error *err) {
    *count = TARE_DIM_UNKNOWN;
    if (k->count >= 0 && k->count != 1)
        return tare_fail(err, TARE_E_MALFORMED, "input 1 has %d numbers, want one", k->count);
    if (k->count < 0 || k->at[0].kind != TARE_ENTRY_NUMBER) return TARE_OK;
    *count = k->at[0].number;
    if (*count >= 0 && (dim < 0 || *count <= dim)) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "k is %lld, want 0 to the %lld elements of the axis", (long long)*count,
                     (long long)dim);
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = from;
    tare_entries k;
    int axis = 0;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, err));
    TARE_TRY(tare_infer_entries(node, 1, &k, err));
    if (from.rank >= 0) {
        TARE_TRY(tare_infer_axis(attrs->axis, from.rank, &axis, err));
        TARE_TRY(check_k(&k, from.dim[axis], &to.dim[axis], err));
    }
    TARE_TRY(tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err));
    return tare_infer_set(node, 1, TARE_S64, &to, err);
}

/* What one thread ranks with: the keys of a row, and a heap of places whose root is the worst of the best so far. */
typedef struct ranking {
    uint64_t *keys;
    int64_t *heap;
} ranking;

/* Scratch: per thread `dim` keys and `dim` places (k may not be known yet). */
static tare_status prepare(tare_prepare *prepare, tare_error *err) {
    const attributes *attrs = prepare->attrs;
    const tare_shape *shape = &prepare->inputs[0]->shape;
    int64_t axis = attrs->axis;
    tare_axis_normalize(&axis, shape->rank);
    size_t *threads = tare_arena_alloc(prepare->arena, 1, sizeof *threads);
    if (!threads) return tare_fail_memory(err, sizeof *threads);
    *threads = prepare->threads;
    prepare->state = threads;
    prepare->scratch_size = *threads * (size_t)shape->dim[axis] * (sizeof(uint64_t) + sizeof(int64_t));
    return TARE_OK;
}

/* Does place a rank behind place b? */
static inline bool is_worse(const uint64_t *keys, int64_t a, int64_t b) {
    return keys[a] < keys[b] || (keys[a] == keys[b] && a > b);
}

static void sift_down(const ranking *r, int64_t at, int64_t count) {
    int64_t moved = r->heap[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && is_worse(r->keys, r->heap[child + 1], r->heap[child])) child++;
        if (!is_worse(r->keys, r->heap[child], moved)) break;
        r->heap[at] = r->heap[child];
        at = child;
    }
    r->heap[at] = moved;
}

/* Leaves the places of the k best in the heap, best first. */
static void rank_row(const ranking *r, int64_t dim, int64_t k) {
    for (int64_t i = 0; i < k; i++) r->heap[i] = i;
    for (int64_t i = k / 2 - 1; i >= 0; i--) sift_down(r, i, k);
    for (int64_t i = k; i < dim; i++) {
        if (!is_worse(r->keys, r->heap[0], i)) continue;
        r->heap[0] = i;
        sift_down(r, 0, k);
    }
    for (int64_t left = k - 1; left > 0; left--) {
        int64_t worst = r->heap[0];
        r->heap[0] = r->heap[left];
        r->heap[left] = worst;
        sift_down(r, 0, left);
    }
}

typedef struct rank_job {
    const tare_tensor *from;
    tare_tensor *values, *places;
    int64_t dim, inner, k;
    uint64_t flip;
    char *scratch;
} rank_job;

static void rank_one(void *context, size_t index, size_t thread) {
    const rank_job *job = context;
    int64_t outer = (int64_t)index / job->inner, column = (int64_t)index % job->inner;
    int64_t from = outer * job->dim * job->inner + column, to = outer * job->k * job->inner + column;
    size_t size = tare_dtype_size(job->from->dtype), row = (size_t)job->dim * sizeof(uint64_t);
    char *own = job->scratch + thread * 2 * row;
    const ranking r = { .keys = (uint64_t *)(void *)own, .heap = (int64_t *)(void *)(own + row) };
    tare_keys_load(r.keys, job->from->dtype, job->from->data, from, job->inner, job->dim);
    for (int64_t i = 0; i < job->dim; i++) r.keys[i] ^= job->flip;
    rank_row(&r, job->dim, job->k);
    for (int64_t i = 0; i < job->k; i++) {
        int64_t at = to + i * job->inner, source = from + r.heap[i] * job->inner;
        if (job->values)
            memcpy((char *)job->values->data + (size_t)at * size, (const char *)job->from->data + (size_t)source * size,
                   size);
        if (job->places) ((int64_t *)job->places->data)[at] = r.heap[i];
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    const attributes *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0];
    const tare_value list = tare_value_of(call->inputs[1]);
    int64_t axis = attrs->axis;
    tare_axis_normalize(&axis, from->shape.rank);
    rank_job job = { .from = from,
                     .dim = from->shape.dim[axis],
                     .flip = attrs->largest ? 0 : UINT64_MAX,
                     .inner = tare_shape_product(&from->shape, (int)axis + 1, from->shape.rank),
                     .scratch = call->scratch };
    if (call->output_count > 0) job.values = call->outputs[0];
    if (call->output_count > 1) job.places = call->outputs[1];
    tare_entries k;
    tare_entries_read(&k, &list);
    TARE_TRY(check_k(&k, job.dim, &job.k, err));
    tare_shape want = from->shape;
    want.dim[axis] = job.k;
    if (job.values) TARE_TRY(tare_run_check_shape(job.values, &want, err));
    if (job.places) TARE_TRY(tare_run_check_shape(job.places, &want, err));
    const size_t *threads = call->state;
    bool has_room = tare_pool_size(call->pool) <= *threads;
    int64_t rows = tare_shape_product(&from->shape, 0, (int)axis) * job.inner;
    if (rows && job.k) tare_pool_run(has_room ? call->pool : NULL, (size_t)rows, rank_one, &job);
    return TARE_OK;
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    return attrs->largest && attrs->sorted ? 1 : 11;
}

const tare_op tare_op_top_k = {
    .name = "TopK",
    .since = 11,
    .inputs = { 2, 2 },
    .outputs = { 1, 2 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .duals = duals,
    .needs = needs,
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

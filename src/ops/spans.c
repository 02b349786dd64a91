/* Walks over broadcast tensors (spans.h): merging dimensions, and cutting the walk into ranges. */
#include "ops/spans.h"

#include <assert.h>

/* Do dimensions d - 1 and d lie together in every operand? */
static bool lie_together(const tare_spans *spans, int d) {
    for (int k = 0; k < spans->operands; k++)
        if (spans->stride[k][d - 1] != spans->stride[k][d] * spans->dim[d]) return false;
    return true;
}

static void drop_dim(tare_spans *spans, int d) {
    for (int i = d; i + 1 < spans->rank; i++) {
        spans->dim[i] = spans->dim[i + 1];
        for (int k = 0; k < spans->operands; k++) spans->stride[k][i] = spans->stride[k][i + 1];
    }
    spans->rank--;
}

void tare_spans_init(tare_spans *spans, const tare_shape *to, const tare_shape *const *shapes, int operands) {
    assert(operands <= TARE_SPANS_OPERANDS);
    spans->operands = operands;
    spans->rank = to->rank;
    for (int i = 0; i < to->rank; i++) spans->dim[i] = to->dim[i];
    for (int k = 0; k < operands; k++) tare_shape_broadcast_strides(spans->stride[k], shapes[k], to);
    for (int d = spans->rank - 1; d >= 0; d--)
        if (spans->dim[d] == 1) drop_dim(spans, d);
    for (int d = spans->rank - 1; d > 0; d--) {
        if (!lie_together(spans, d)) continue;
        spans->dim[d] *= spans->dim[d - 1];
        drop_dim(spans, d - 1);
    }
    if (spans->rank == 0) {
        spans->rank = 1;
        spans->dim[0] = 1;
        for (int k = 0; k < operands; k++) spans->stride[k][0] = 0;
    }
    spans->span = spans->dim[spans->rank - 1];
    spans->rows = 1;
    for (int d = 0; d + 1 < spans->rank; d++) spans->rows *= spans->dim[d];
}

struct walk {
    const tare_spans *spans;
    tare_span_work *work;
    void *context;
    int64_t first, last; /* of the span, when one span is cut */
};

/* Rows first … last-1, the part of each span that the walk covers. */
static void walk_rows(const struct walk *walk, int64_t first, int64_t last) {
    const tare_spans *spans = walk->spans;
    int outer = spans->rank - 1;
    int64_t index[TARE_RANK_MAX] = { 0 }, at[TARE_SPANS_OPERANDS] = { 0 };
    for (int k = 0; k < spans->operands; k++) at[k] = walk->first * spans->stride[k][outer];
    int64_t rest = first;
    for (int d = outer - 1; d >= 0; d--) {
        index[d] = rest % spans->dim[d];
        rest /= spans->dim[d];
        for (int k = 0; k < spans->operands; k++) at[k] += index[d] * spans->stride[k][d];
    }
    for (int64_t row = first; row < last; row++) {
        walk->work(walk->context, row * spans->span + walk->first, at, (size_t)(walk->last - walk->first));
        for (int d = outer - 1; d >= 0; d--) {
            for (int k = 0; k < spans->operands; k++) at[k] += spans->stride[k][d];
            if (++index[d] < spans->dim[d]) break;
            for (int k = 0; k < spans->operands; k++) at[k] -= index[d] * spans->stride[k][d];
            index[d] = 0;
        }
    }
}

static void rows_work(void *context, int64_t first, int64_t last) { walk_rows(context, first, last); }

/* A range of the one span there is. */
static void span_work(void *context, int64_t first, int64_t last) {
    struct walk part = *(const struct walk *)context;
    part.first = first;
    part.last = last;
    walk_rows(&part, 0, 1);
}

void tare_spans_run(const tare_spans *spans, tare_pool *pool, tare_span_work *work, void *context) {
    if (!spans->rows || !spans->span) return;
    struct walk whole = { spans, work, context, 0, spans->span };
    if (spans->rows == 1)
        tare_ranges_run(pool, spans->span, 1, span_work, &whole);
    else
        tare_ranges_run(pool, spans->rows, spans->span, rows_work, &whole);
}

struct ranges {
    tare_range_work *work;
    void *context;
    int64_t count, step;
};

static void range_work(void *context, size_t index, size_t thread) {
    (void)thread;
    const struct ranges *ranges = context;
    int64_t first = (int64_t)index * ranges->step, last = first + ranges->step;
    ranges->work(ranges->context, first, last < ranges->count ? last : ranges->count);
}

void tare_ranges_run(tare_pool *pool, int64_t count, int64_t cost, tare_range_work *work, void *context) {
    if (count <= 0) return;
    int64_t step = cost < TARE_SPANS_GRAIN ? TARE_SPANS_GRAIN / (cost > 0 ? cost : 1) : 1;
    if (count <= step || tare_pool_size(pool) == 1) {
        work(context, 0, count);
        return;
    }
    struct ranges all = { work, context, count, step };
    tare_pool_run(pool, (size_t)((count + step - 1) / step), range_work, &all);
}

/* Walks over broadcast tensors: how arithmetic ops reach their elements. Dimensions that lie together in every operand
 * are merged, so that a loop gets the longest spans there are, each with strides 0 or 1; work is cut for threads. */
#ifndef TARE_OPS_SPANS_H
#define TARE_OPS_SPANS_H

#include "base/threads.h"
#include "graph/graph.h"

enum {
    TARE_SPANS_OPERANDS = 5,
    TARE_SPANS_GRAIN = 1 << 14 /* elements that are worth a thread's waking */
};

typedef struct tare_spans {
    int rank; /* after merging; 1 at least */
    int operands;
    int64_t dim[TARE_RANK_MAX];                         /* the last one is the span */
    int64_t stride[TARE_SPANS_OPERANDS][TARE_RANK_MAX]; /* elements; the last one is 0 or 1 */
    int64_t rows, span;                                 /* spans, and elements in each */
} tare_spans;

/* The operands, dense and row-major, broadcast to the shape `to`, which the output has, dense too. */
void tare_spans_init(tare_spans *spans, const tare_shape *to, const tare_shape *const *shapes, int operands);

/* Handles `count` elements of the output from element `to` on; operand k's first one is at[k], its next
 * at[k] + spans->stride[k][spans->rank - 1]. */
typedef void tare_span_work(void *context, int64_t to, const int64_t *at, size_t count);

/* All spans, on the pool when they are many; a NULL pool runs them here. */
void tare_spans_run(const tare_spans *spans, tare_pool *pool, tare_span_work *work, void *context);

static inline size_t tare_spans_stride(const tare_spans *spans, int operand) {
    return (size_t)spans->stride[operand][spans->rank - 1];
}

/* Cuts `count` things of `cost` elements each into ranges for threads; the cut depends on nothing but these numbers. */
typedef void tare_range_work(void *context, int64_t first, int64_t last);
void tare_ranges_run(tare_pool *pool, int64_t count, int64_t cost, tare_range_work *work, void *context);

#endif

/* Copies between strided arrays, for every operator that only moves elements: the longest contiguous runs go by memcpy,
 * transposes by tiles, big ones over the pool. Elements are bytes here, whatever their type. */
#ifndef TARE_OPS_MOVE_H
#define TARE_OPS_MOVE_H

#include "ops/op.h"

enum { TARE_MOVE_RANK = 2 * TARE_RANK_MAX }; /* Tile and DepthToSpace split dimensions */

/* to[Σ i·to_stride] = from[Σ i·from_stride] for all indices i below dim. Strides count elements; a from_stride may be 0
 * (repeat) or negative. No two of the written places may be the same, and the arrays may not overlap. */
typedef struct tare_move {
    void *to;
    const void *from;
    size_t size; /* bytes of an element: 1, 2, 4 or 8 */
    int rank;
    int64_t dim[TARE_MOVE_RANK];
    int64_t to_stride[TARE_MOVE_RANK];
    int64_t from_stride[TARE_MOVE_RANK];
} tare_move;

/* Sets to_stride for a row-major `to` of exactly these dimensions. */
void tare_move_dense(tare_move *move);
/* pool may be NULL. */
void tare_move_run(const tare_move *move, tare_pool *pool);

/* Writes `count` copies of one element. */
void tare_move_fill(void *to, const void *element, size_t size, int64_t count);

/* Copies bytes from `from` to `to`, over the pool when there are many. */
void tare_move_bytes(void *to, const void *from, size_t bytes, tare_pool *pool);

/* A run() that copies input 0 to output 0: for operators that change the shape only. */
tare_status tare_run_copy(const tare_call *call, tare_error *err);

#endif

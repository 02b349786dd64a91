/* Which matrices a product of many is of: what the float operator and the rows of targets both walk. */
#ifndef TARE_OPS_MATRICES_H
#define TARE_OPS_MATRICES_H

#include "graph/graph.h"

/* Matrix i of c, counted row-major over dim, is the product of a's and b's matrices Σ index * stride. */
typedef struct tare_matrices {
    int rank;
    int64_t dim[TARE_RANK_MAX], a_stride[TARE_RANK_MAX], b_stride[TARE_RANK_MAX];
} tare_matrices;
int64_t tare_matrices_count(const tare_matrices *matrices);
void tare_matrices_find(const tare_matrices *matrices, int64_t index, int64_t *a, int64_t *b);

/* MatMul's: a right side that is the same for all makes one product of all rows on the left (matrices.rank 0). */
typedef struct tare_matmul {
    int64_t rows, columns, depth;
    tare_matrices matrices;
    int64_t a_count, b_count; /* of either side */
} tare_matmul;

/* Of static shapes that numpy's matmul takes. */
tare_matmul tare_matmul_measure(const tare_shape *a, const tare_shape *b);
/* The dimensions of one side as matrices: a vector gets its 1. And those before the last two. */
tare_shape tare_matmul_widen(const tare_shape *shape, bool is_left);
tare_shape tare_matmul_leading(const tare_shape *shape);

#endif

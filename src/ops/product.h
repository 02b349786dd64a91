/* Matrix products c = a b on dense row-major matrices, many at once: what MatMul and Gemm stand on. */
#ifndef TARE_OPS_PRODUCT_H
#define TARE_OPS_PRODUCT_H

#include "base/threads.h"
#include "graph/shape.h"
#include "kernels/kernels.h"
#include "ops/matrices.h"

typedef struct tare_product {
    size_t rows, columns, depth;
    tare_matrices matrices;
    const float *a;    /* rows × depth each */
    const float *b;    /* tare_packed_f32_size(depth, columns) floats each, packed */
    const float *bias; /* of the columns, padded to whole panels; NULL: none */
    float *c;
    float lo, hi;
} tare_product;

/* How work is cut for `threads` does not change a bit of the results. */
void tare_product_run(const tare_product *product, const tare_kernels *kernels, tare_pool *pool);

/* Packs `count` matrices of depth × columns, element (k, n) at k * k_stride + n * n_stride; pool may be NULL. */
void tare_product_pack(float *to, const float *from, size_t count, size_t depth, size_t columns, size_t k_stride,
                       size_t n_stride, tare_pool *pool);

#endif

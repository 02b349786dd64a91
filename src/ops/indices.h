/* Index tensors of the gather and scatter ops: s32 or s64, negative ones count from the end, all checked before use. */
#ifndef TARE_OPS_INDICES_H
#define TARE_OPS_INDICES_H

#include "ops/op.h"

static inline int64_t tare_index_at(const tare_tensor *indices, int64_t i) {
    return indices->dtype == TARE_S32 ? ((const int32_t *)indices->data)[i] : ((const int64_t *)indices->data)[i];
}

/* The i-th index into a dimension of `dim`, 0…dim-1; only after the check below. */
static inline int64_t tare_index_of(const tare_tensor *indices, int64_t i, int64_t dim) {
    int64_t index = tare_index_at(indices, i);
    return index < 0 ? index + dim : index;
}

/* Are all indices in -dim…dim-1? */
tare_status tare_indices_check(const tare_tensor *indices, int64_t dim, tare_error *err);

/* The same for tuples: the indices' last dimension goes over dim[0], dim[1], … */
tare_status tare_index_tuples_check(const tare_tensor *indices, const int64_t *dims, tare_error *err);

/* While inferring: s32 or s64; and when they and the dimension are known, in range. dim < 0: not known. */
tare_status tare_infer_indices(const tare_node *node, int input, int64_t dim, tare_error *err);

#endif

/* Copies tensors between ONNX's order of dimensions and channels-last. */
#include <assert.h>

#include "ops/move.h"

void tare_layout_convert(const tare_tensor *from, tare_tensor *to, tare_layout to_layout, tare_pool *pool) {
    int rank = from->shape.rank;
    assert(rank >= 3 && to->shape.rank == rank && to->dtype == from->dtype);
    int64_t strides[TARE_RANK_MAX];
    tare_shape_strides(strides, &from->shape);
    tare_move move = { .rank = rank, .size = tare_dtype_size(from->dtype), .to = to->data, .from = from->data };
    for (int i = 0; i < rank; i++) {
        /* The i-th dimension of `to` lies at `source` in `from`. */
        int source = i;
        if (to_layout == TARE_LAYOUT_LAST && i > 0) source = i == rank - 1 ? 1 : i + 1;
        if (to_layout == TARE_LAYOUT_FIRST && i > 0) source = i == 1 ? rank - 1 : i - 1;
        assert(to->shape.dim[i] == from->shape.dim[source]);
        move.dim[i] = to->shape.dim[i];
        move.from_stride[i] = strides[source];
    }
    tare_move_dense(&move);
    tare_move_run(&move, pool);
}

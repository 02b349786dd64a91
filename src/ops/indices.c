/* Checks of index tensors; see indices.h. */
#include "ops/indices.h"

static tare_status fail_index(int64_t index, int64_t at, int64_t dim, tare_error *err) {
    return tare_fail(err, TARE_E_MALFORMED, "index %lld at %lld of the indices is outside a dimension of %lld",
                     (long long)index, (long long)at, (long long)dim);
}

tare_status tare_indices_check(const tare_tensor *indices, int64_t dim, tare_error *err) {
    int64_t count = tare_shape_elements(&indices->shape);
    for (int64_t i = 0; i < count; i++) {
        int64_t index = tare_index_at(indices, i);
        if (index < -dim || index >= dim) return fail_index(index, i, dim, err);
    }
    return TARE_OK;
}

tare_status tare_index_tuples_check(const tare_tensor *indices, const int64_t *dims, tare_error *err) {
    int64_t count = tare_shape_elements(&indices->shape), length = indices->shape.dim[indices->shape.rank - 1];
    for (int64_t i = 0; i < count; i++) {
        int64_t index = tare_index_at(indices, i), dim = dims[i % length];
        if (index < -dim || index >= dim) return fail_index(index, i, dim, err);
    }
    return TARE_OK;
}

tare_status tare_infer_indices(const tare_node *node, int input, int64_t dim, tare_error *err) {
    const tare_value *value = tare_node_input(node, input);
    TARE_TRY(tare_infer_check(node, input, TARE_TYPES_INDEX, err));
    if (!value || !value->constant || dim < 0) return TARE_OK;
    return tare_indices_check(value->constant, dim, err);
}

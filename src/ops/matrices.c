/* Matrices of many products (matrices.h). */
#include "ops/matrices.h"

int64_t tare_matrices_count(const tare_matrices *matrices) {
    int64_t count = 1;
    for (int i = 0; i < matrices->rank; i++) count *= matrices->dim[i];
    return count;
}

void tare_matrices_find(const tare_matrices *matrices, int64_t index, int64_t *a, int64_t *b) {
    *a = *b = 0;
    for (int i = matrices->rank - 1; i >= 0; i--) {
        *a += index % matrices->dim[i] * matrices->a_stride[i];
        *b += index % matrices->dim[i] * matrices->b_stride[i];
        index /= matrices->dim[i];
    }
}

tare_shape tare_matmul_widen(const tare_shape *shape, bool is_left) {
    if (shape->rank != 1) return *shape;
    return (tare_shape){ .rank = 2, .dim = { is_left ? 1 : shape->dim[0], is_left ? shape->dim[0] : 1 } };
}

tare_shape tare_matmul_leading(const tare_shape *shape) {
    tare_shape lead = *shape;
    lead.rank -= 2;
    return lead;
}

/* Row-major strides in matrices, 0 where the side is broadcast. */
static void set_strides(int64_t *strides, const tare_shape *lead, int rank) {
    int64_t next = 1;
    for (int i = rank - 1, own = lead->rank - 1; i >= 0; i--, own--) {
        int64_t dim = own >= 0 ? lead->dim[own] : 1;
        strides[i] = dim == 1 ? 0 : next;
        next *= dim;
    }
}

tare_matmul tare_matmul_measure(const tare_shape *a_shape, const tare_shape *b_shape) {
    tare_shape a = tare_matmul_widen(a_shape, true), b = tare_matmul_widen(b_shape, false), all;
    tare_shape a_lead = tare_matmul_leading(&a), b_lead = tare_matmul_leading(&b);
    tare_matmul m = { .rows = a.dim[a.rank - 2], .depth = a.dim[a.rank - 1], .columns = b.dim[b.rank - 1] };
    tare_shape_broadcast(&all, &a_lead, &b_lead);
    m.a_count = tare_shape_elements(&a_lead);
    m.b_count = tare_shape_elements(&b_lead);
    if (m.b_count == 1) {
        m.rows *= m.a_count;
        return m;
    }
    m.matrices.rank = all.rank;
    for (int i = 0; i < all.rank; i++) m.matrices.dim[i] = all.dim[i];
    set_strides(m.matrices.a_stride, &a_lead, all.rank);
    set_strides(m.matrices.b_stride, &b_lead, all.rank);
    return m;
}

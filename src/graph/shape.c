/* Shapes: counting, broadcasting, printing. */
#include "graph/shape.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

/* More elements than this are no tensor of ours. */
static const int64_t elements_max = (int64_t)1 << 40;

tare_shape tare_shape_of(int rank, const int64_t *dims) {
    assert(rank >= 0 && rank <= TARE_RANK_MAX);
    tare_shape shape = { .rank = rank };
    for (int i = 0; i < rank; i++) shape.dim[i] = dims[i];
    return shape;
}

bool tare_shape_is_static(const tare_shape *shape) {
    if (shape->rank < 0) return false;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] < 0) return false;
    return true;
}

bool tare_shape_equal(const tare_shape *a, const tare_shape *b) {
    return a->rank == b->rank && (a->rank <= 0 || !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]));
}

bool tare_shape_count(const tare_shape *shape, int64_t *count) {
    *count = 0;
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] == 0) return true; /* whatever the others are */
    *count = 1;
    for (int i = 0; i < shape->rank; i++)
        if (!tare_i64_mul(*count, shape->dim[i], count) || *count > elements_max) return false;
    return true;
}

int64_t tare_shape_elements(const tare_shape *shape) { return tare_shape_product(shape, 0, shape->rank); }

int64_t tare_shape_product(const tare_shape *shape, int first, int last) {
    int64_t product = 1;
    for (int i = first; i < last; i++) product *= shape->dim[i];
    return product;
}

/* One dimension of a broadcast; false: they clash. An unknown against 1 stays unknown; a known other than 1 wins. */
static bool broadcast_dim(int64_t *out, int64_t a, int64_t b) {
    if (a == b || b == 1)
        *out = a;
    else if (a == 1)
        *out = b;
    else if (a >= 0 && b >= 0)
        return false;
    else if (a >= 0)
        *out = a;
    else if (b >= 0)
        *out = b;
    else
        *out = TARE_DIM_UNKNOWN;
    return true;
}

bool tare_shape_broadcast(tare_shape *out, const tare_shape *a, const tare_shape *b) {
    if (a->rank < 0 || b->rank < 0) {
        *out = tare_shape_unknown();
        return true;
    }
    tare_shape result = { .rank = a->rank > b->rank ? a->rank : b->rank };
    for (int i = 1; i <= result.rank; i++) {
        int64_t x = i <= a->rank ? a->dim[a->rank - i] : 1, y = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (!broadcast_dim(&result.dim[result.rank - i], x, y)) return false;
    }
    *out = result;
    return true;
}

void tare_shape_strides(int64_t strides[TARE_RANK_MAX], const tare_shape *shape) {
    int64_t stride = 1;
    for (int i = shape->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= shape->dim[i];
    }
}

void tare_shape_broadcast_strides(int64_t strides[TARE_RANK_MAX], const tare_shape *shape, const tare_shape *to) {
    int64_t own[TARE_RANK_MAX];
    tare_shape_strides(own, shape);
    int lead = to->rank - shape->rank;
    for (int i = 0; i < to->rank; i++)
        strides[i] = i < lead || (shape->dim[i - lead] == 1 && to->dim[i] != 1) ? 0 : own[i - lead];
}

bool tare_axis_normalize(int64_t *axis, int rank) {
    if (*axis < -rank || *axis >= rank) return false;
    if (*axis < 0) *axis += rank;
    return true;
}

void tare_shape_print(char *to, size_t size, const tare_shape *shape, const char *const *symbols) {
    if (shape->rank <= 0) {
        snprintf(to, size, "%s", shape->rank ? "?" : "scalar");
        return;
    }
    size_t used = 0;
    for (int i = 0; i < shape->rank && used < size; i++) {
        const char *cross = i ? "x" : "";
        const int64_t dim = shape->dim[i];
        int n;
        if (dim >= 0)
            n = snprintf(to + used, size - used, "%s%lld", cross, (long long)dim);
        else if (dim == TARE_DIM_UNKNOWN)
            n = snprintf(to + used, size - used, "%s?", cross);
        else if (symbols)
            n = snprintf(to + used, size - used, "%s%s", cross, symbols[-2 - dim]);
        else
            n = snprintf(to + used, size - used, "%ss%lld", cross, (long long)(-2 - dim));
        used += n > 0 ? (size_t)n : 0;
    }
}

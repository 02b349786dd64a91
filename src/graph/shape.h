/* Shapes, with dimensions that are known, named or unknown. */
#ifndef TARE_GRAPH_SHAPE_H
#define TARE_GRAPH_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TARE_RANK_MAX = 8, TARE_RANK_UNKNOWN = -1 };

/* A dimension: >= 0 known; TARE_DIM_UNKNOWN; below that the symbol number -2 - dim of the model (tare_graph_symbol).
 * One symbol is one size wherever it stands. */
#define TARE_DIM_UNKNOWN ((int64_t)-1)

typedef struct tare_shape {
    int rank; /* TARE_RANK_UNKNOWN: nothing is known */
    int64_t dim[TARE_RANK_MAX];
} tare_shape;

static inline tare_shape tare_shape_unknown(void) { return (tare_shape){ .rank = TARE_RANK_UNKNOWN }; }
tare_shape tare_shape_of(int rank, const int64_t *dims);
bool tare_shape_is_static(const tare_shape *shape); /* rank and every dimension known */
bool tare_shape_equal(const tare_shape *a, const tare_shape *b);

/* Elements of a static shape (1 for a scalar); false when they do not fit in 2^40, the limit. */
bool tare_shape_count(const tare_shape *shape, int64_t *count);
/* Elements of a static shape whose count was checked before; product of dims from `first` up to but without `last`. */
int64_t tare_shape_elements(const tare_shape *shape);
int64_t tare_shape_product(const tare_shape *shape, int first, int last);

/* numpy's multidirectional broadcasting; symbols and unknowns are kept where they can be. False: they clash. */
bool tare_shape_broadcast(tare_shape *out, const tare_shape *a, const tare_shape *b);

/* Row-major strides in elements; where the dimension is 1 and the other's is not, 0 (broadcast `shape` to `to`). */
void tare_shape_strides(int64_t strides[TARE_RANK_MAX], const tare_shape *shape);
void tare_shape_broadcast_strides(int64_t strides[TARE_RANK_MAX], const tare_shape *shape, const tare_shape *to);

/* axis in -rank…rank-1 to 0…rank-1; false when outside. */
bool tare_axis_normalize(int64_t *axis, int rank);

/* "1x3x224x224", "Nx3x?x?" (names from `symbols`, NULL: s0, s1, …), "scalar", "?" ; to has size bytes. */
void tare_shape_print(char *to, size_t size, const tare_shape *shape, const char *const *symbols);

#endif

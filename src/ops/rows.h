/* Rows: how reductions, Softmax and the like see a tensor. The elements of a row are those that share an output; rows
 * whose outputs lie side by side are taken together, so that vectors go over outputs. And the order of adding in a row,
 * which kernels.h states: 16 lanes, then the tree 8-4-2-1, whatever the layout. */
#ifndef TARE_OPS_ROWS_H
#define TARE_OPS_ROWS_H

#include "ops/numbers.h"
#include "ops/op.h"

typedef struct tare_rows {
    int outer_rank, row_rank;
    int64_t outer_dim[TARE_RANK_MAX], outer_stride[TARE_RANK_MAX]; /* elements of the input */
    int64_t outer_to[TARE_RANK_MAX];                               /* elements of the output */
    int64_t row_dim[TARE_RANK_MAX], row_stride[TARE_RANK_MAX];     /* merged, in ONNX's order of dimensions */
    int64_t outer;                                                 /* groups of rows */
    int64_t length;                                                /* elements in a row */
    int64_t inner; /* rows in a group: row c starts c elements after the first, and so does its output */
} tare_rows;

/* Rows over the dimensions in `axes` (bits, ONNX's numbering) of a tensor whose shape is given as it lies in `layout`;
 * `keeps`: the output has those dimensions too, as ones, else it has not. */
void tare_rows_init(tare_rows *rows, const tare_shape *shape, tare_layout layout, unsigned axes, bool keeps);

/* Where a group starts in the input and its outputs in the output. */
void tare_rows_start(const tare_rows *rows, int64_t group, int64_t *from, int64_t *to);

/* A walk along a row: element after element, or a run of those that lie together. */
typedef struct tare_row_walk {
    const tare_rows *rows;
    int64_t at; /* of the current element, relative to the row's first */
    int64_t index[TARE_RANK_MAX];
} tare_row_walk;
void tare_row_begin(tare_row_walk *walk, const tare_rows *rows);
void tare_row_next(tare_row_walk *walk);

/* The next `count` elements (of `size` bytes) of the row at `row`, one after the other. */
void tare_row_gather(tare_row_walk *walk, void *to, const void *row, size_t size, size_t count);

/* The sum over a row by chunks: each chunk but the last a multiple of TARE_LANES numbers. */
typedef struct tare_lanes {
    float at[TARE_LANES];
} tare_lanes;
void tare_lanes_add(tare_lanes *lanes, const float *from, size_t count); /* lanes start as { 0 } */
float tare_lanes_sum(tare_lanes *lanes);

/* The tree over vectors: lane j's numbers at lanes + j * stride; the result lies in lane 0. */
void tare_lanes_tree(float *lanes, size_t stride, size_t count, tare_binary_f32_fn *add);

#endif

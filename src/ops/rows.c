/* Rows of tensors and the order of adding in them (rows.h). */
#include "ops/rows.h"

#include <string.h>

typedef struct dim {
    int64_t size, stride, to;
} dim;

/* Adds a dimension, merged with the one before when both lie together. */
static int push(dim *dims, int count, dim next) {
    if (next.size == 1) return count;
    if (count && dims[count - 1].stride == next.stride * next.size && dims[count - 1].to == next.to * next.size) {
        next.size *= dims[count - 1].size;
        count--;
    }
    dims[count] = next;
    return count + 1;
}

/* Strides in the output of the dimensions that stay (0 for those that go), by ONNX's numbering. */
static void output_strides(int64_t to[TARE_RANK_MAX], const int64_t *size, int rank, tare_layout layout, unsigned axes,
                           bool keeps) {
    int kept = 0, onnx_dim[TARE_RANK_MAX];
    for (int i = 0; i < rank; i++) {
        if (keeps || !(axes & 1u << i)) onnx_dim[kept++] = i;
        to[i] = 0;
    }
    int64_t stride = 1;
    for (int place = kept - 1; place >= 0; place--) {
        /* Which of the output's ONNX dimensions lies here? */
        int axis = 0;
        while (tare_layout_axis(layout, axis, kept) != place) axis++;
        int i = onnx_dim[axis];
        if (axes & 1u << i) continue;
        to[i] = stride;
        stride *= size[i];
    }
}

void tare_rows_init(tare_rows *rows, const tare_shape *shape, tare_layout layout, unsigned axes, bool keeps) {
    int rank = shape->rank, outer_count = 0, row_count = 0;
    int64_t strides[TARE_RANK_MAX], size[TARE_RANK_MAX], to[TARE_RANK_MAX];
    dim outer[TARE_RANK_MAX], row[TARE_RANK_MAX];
    tare_shape_strides(strides, shape);
    for (int i = 0; i < rank; i++) size[i] = shape->dim[tare_layout_axis(layout, i, rank)];
    output_strides(to, size, rank, layout, axes, keeps);
    for (int i = 0; i < rank; i++)
        if (axes & 1u << i)
            row_count = push(row, row_count, (dim){ size[i], strides[tare_layout_axis(layout, i, rank)], 0 });
    for (int place = 0; place < rank; place++) {
        int i = 0;
        while (tare_layout_axis(layout, i, rank) != place) i++;
        if (!(axes & 1u << i)) outer_count = push(outer, outer_count, (dim){ size[i], strides[place], to[i] });
    }
    *rows = (tare_rows){ .row_rank = row_count, .outer = 1, .length = 1, .inner = 1 };
    for (int i = 0; i < row_count; i++) {
        rows->row_dim[i] = row[i].size;
        rows->row_stride[i] = row[i].stride;
        rows->length *= row[i].size;
    }
    if (outer_count && outer[outer_count - 1].stride == 1 && outer[outer_count - 1].to == 1)
        rows->inner = outer[--outer_count].size;
    rows->outer_rank = outer_count;
    for (int i = 0; i < outer_count; i++) {
        rows->outer_dim[i] = outer[i].size;
        rows->outer_stride[i] = outer[i].stride;
        rows->outer_to[i] = outer[i].to;
        rows->outer *= outer[i].size;
    }
}

void tare_rows_start(const tare_rows *rows, int64_t group, int64_t *from, int64_t *to) {
    *from = *to = 0;
    for (int i = rows->outer_rank - 1; i >= 0; i--) {
        int64_t index = group % rows->outer_dim[i];
        group /= rows->outer_dim[i];
        *from += index * rows->outer_stride[i];
        *to += index * rows->outer_to[i];
    }
}

void tare_row_begin(tare_row_walk *walk, const tare_rows *rows) { *walk = (tare_row_walk){ .rows = rows }; }

void tare_row_next(tare_row_walk *walk) {
    const tare_rows *rows = walk->rows;
    for (int d = rows->row_rank - 1; d >= 0; d--) {
        walk->at += rows->row_stride[d];
        if (++walk->index[d] < rows->row_dim[d]) return;
        walk->at -= walk->index[d] * rows->row_stride[d];
        walk->index[d] = 0;
    }
}

#define GATHER(type)                                                                                                   \
    for (size_t i = 0; i < count; i++, tare_row_next(walk)) ((type *)to)[i] = ((const type *)row)[walk->at];

void tare_row_gather(tare_row_walk *walk, void *to, const void *row, size_t size, size_t count) {
    switch (size) {
    case 1: GATHER(uint8_t) break;
    case 2: GATHER(uint16_t) break;
    case 4: GATHER(uint32_t) break;
    default: GATHER(uint64_t)
    }
}

void tare_lanes_add(tare_lanes *lanes, const float *from, size_t count) {
    size_t i = 0;
    for (; i + TARE_LANES <= count; i += TARE_LANES)
        for (size_t j = 0; j < TARE_LANES; j++) lanes->at[j] += from[i + j];
    for (size_t j = 0; i + j < count; j++) lanes->at[j] += from[i + j];
}

float tare_lanes_sum(tare_lanes *lanes) {
    for (size_t half = TARE_LANES / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++) lanes->at[j] += lanes->at[j + half];
    return lanes->at[0];
}

void tare_lanes_tree(float *lanes, size_t stride, size_t count, tare_binary_f32_fn *add) {
    for (size_t half = TARE_LANES / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            add(lanes + j * stride, lanes + j * stride, 1, lanes + (j + half) * stride, 1, count);
}

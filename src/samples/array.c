/* Cutting arrays into samples: the rule of samples.h, views by strides, and the texts for shapes that do not fit. */
#include "samples/array.h"

#include <assert.h>
#include <string.h>

void tare_array_set_strides(tare_array *array, bool fortran) {
    int64_t stride = (int64_t)tare_dtype_size(array->dtype);
    int rank = array->shape.rank;
    for (int i = 0; i < rank; i++) {
        int at = fortran ? i : rank - 1 - i;
        array->stride[at] = stride;
        stride *= array->shape.dim[at] > 0 ? array->shape.dim[at] : 1;
    }
}

/* Do the array's dimensions from `a` on fit the input's from `s` on? */
static bool fits(const tare_shape *array, int a, const tare_shape *input, int s) {
    if (array->rank - a != input->rank - s) return false;
    for (; s < input->rank; a++, s++) {
        if (input->dim[s] >= 0 && input->dim[s] != array->dim[a]) return false;
    }
    return true;
}

bool tare_array_cut(tare_cut *cut, const tare_shape *array, const tare_shape *input, bool whole) {
    *cut = (tare_cut){ .count = 1 };
    if (input->rank == TARE_RANK_UNKNOWN) return true;
    int64_t batch = input->rank > 0 ? input->dim[0] : 1;
    if (fits(array, 0, input, 0) && (whole || batch >= 0)) return true;
    if (input->rank > 0 && batch <= 1 && batch != 0 && fits(array, 0, input, 1)) {
        cut->add = true;
        return true;
    }
    if (whole || array->rank == 0) return false;
    int64_t first = array->dim[0];
    if (fits(array, 1, input, 0)) {
        *cut = (tare_cut){ .count = (size_t)first, .take = 1, .drop = true };
        return true;
    }
    int64_t take = batch < 0 ? 1 : batch;
    if (input->rank == 0 || take == 0 || !fits(array, 1, input, 1) || first % take != 0) return false;
    *cut = (tare_cut){ .count = (size_t)(first / take), .take = take };
    return true;
}

void tare_array_slice(tare_array *out, const tare_array *array, const tare_cut *cut, size_t index) {
    assert(index < cut->count);
    *out = *array;
    if (cut->take > 0) {
        out->data += (int64_t)index * cut->take * array->stride[0];
        out->shape.dim[0] = cut->take;
    }
    if (cut->drop) {
        for (int i = 1; i < array->shape.rank; i++) {
            out->shape.dim[i - 1] = array->shape.dim[i];
            out->stride[i - 1] = array->stride[i];
        }
        out->shape.rank--;
    }
    if (cut->add) {
        for (int i = array->shape.rank; i > 0; i--) {
            out->shape.dim[i] = array->shape.dim[i - 1];
            out->stride[i] = array->stride[i - 1];
        }
        out->shape.dim[0] = 1;
        out->stride[0] = 0;
        out->shape.rank++;
    }
}

/* Dimension `from` goes to place `to`; those between move by one. */
static void move_dimension(tare_array *array, int from, int to) {
    int64_t dim = array->shape.dim[from], stride = array->stride[from];
    int step = from < to ? 1 : -1;
    for (int i = from; i != to; i += step) {
        array->shape.dim[i] = array->shape.dim[i + step];
        array->stride[i] = array->stride[i + step];
    }
    array->shape.dim[to] = dim;
    array->stride[to] = stride;
}

void tare_array_channels_first(tare_array *array) {
    assert(array->shape.rank >= 3);
    move_dimension(array, array->shape.rank - 1, array->shape.rank - 3);
}

void tare_array_channels_last(tare_array *array) {
    assert(array->shape.rank >= 3);
    move_dimension(array, array->shape.rank - 3, array->shape.rank - 1);
}

static bool fits_when(void (*transpose)(tare_array *), const tare_shape *shape, const tare_shape *input, bool whole) {
    if (shape->rank < 3) return false;
    tare_array moved = { .shape = *shape };
    tare_cut cut;
    transpose(&moved);
    return tare_array_cut(&cut, &moved.shape, input, whole);
}

tare_status tare_array_refuse(const tare_shape *array, const tare_value *input, bool whole, tare_error *err) {
    char want[256], got[256];
    tare_shape_print(want, sizeof want, &input->shape, input->graph->model->symbols.at);
    tare_shape_print(got, sizeof got, array, NULL);
    if (fits_when(tare_array_channels_first, array, &input->shape, whole)) {
        return tare_fail(err, TARE_E_USAGE, "it wants %s, the array has %s: its channels are last; pass --layout nhwc",
                         want, got);
    }
    if (fits_when(tare_array_channels_last, array, &input->shape, whole)) {
        return tare_fail(err, TARE_E_USAGE, "it wants %s, the array has %s: its channels are first; pass --layout nchw",
                         want, got);
    }
    tare_cut cut;
    if (whole && tare_array_cut(&cut, array, &input->shape, false)) {
        return tare_fail(
            err, TARE_E_USAGE,
            "it wants %s, the array has %s, which is %zu samples where one is wanted: pass the file itself, not "
            "a directory or list, and no --whole",
            want, got, cut.count);
    }
    int64_t wanted = 0, given = 0;
    if (tare_shape_is_static(&input->shape) && tare_shape_count(&input->shape, &wanted) &&
        tare_shape_count(array, &given) && wanted == given) {
        return tare_fail(
            err, TARE_E_USAGE,
            "it wants %s, the array has %s: as many numbers, but arrays are never reshaped by themselves; save "
            "it with the input's shape",
            want, got);
    }
    return tare_fail(err, TARE_E_USAGE, "it wants %s, the array has %s; save samples of the input's shape", want, got);
}

static void swap_elements(uint8_t *at, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++, at += size) {
        for (size_t a = 0, b = size - 1; a < b; a++, b--) {
            uint8_t byte = at[a];
            at[a] = at[b];
            at[b] = byte;
        }
    }
}

static void gather_row(uint8_t *to, const uint8_t *from, int64_t count, int64_t stride, size_t size) {
    if (stride == (int64_t)size) {
        memcpy(to, from, (size_t)count * size);
        return;
    }
    for (int64_t i = 0; i < count; i++) memcpy(to + (size_t)i * size, from + i * stride, size);
}

/* The dimensions from the result on are contiguous in memory: they are copied at once. */
static int contiguous_from(const tare_array *array, int64_t *count, size_t size) {
    int at = array->shape.rank;
    int64_t run = 1;
    while (at > 0 && (array->shape.dim[at - 1] == 1 || array->stride[at - 1] == run * (int64_t)size)) {
        run *= array->shape.dim[--at];
    }
    *count = run;
    return at;
}

void tare_array_gather(const tare_array *array, void *to) {
    size_t size = tare_dtype_size(array->dtype);
    int64_t total = tare_shape_elements(&array->shape), run, stride = (int64_t)size;
    if (total == 0) return;
    int outer = contiguous_from(array, &run, size);
    if (run == 1 && outer > 0) {
        outer--;
        run = array->shape.dim[outer];
        stride = array->stride[outer];
    }
    int64_t index[TARE_RANK_MAX] = { 0 };
    uint8_t *at = to;
    const uint8_t *from = array->data;
    for (;;) {
        gather_row(at, from, run, stride, size);
        at += (size_t)run * size;
        int d = outer - 1;
        while (d >= 0 && ++index[d] == array->shape.dim[d]) {
            from -= (array->shape.dim[d] - 1) * array->stride[d];
            index[d--] = 0;
        }
        if (d < 0) break;
        from += array->stride[d];
    }
    if (array->swap && size > 1) swap_elements(to, (size_t)total, size);
}

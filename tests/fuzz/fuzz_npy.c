/* .npy files: the header is read, the array is cut for inputs of several shapes, and each sample is converted. */
#include <stdlib.h>
#include <string.h>

#include "samples/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void convert(const tare_array *array, const tare_shape *input, bool whole) {
    tare_error err;
    tare_cut cut;
    if (!tare_array_cut(&cut, &array->shape, input, whole)) return;
    for (size_t i = 0; i < cut.count && i < 3; i++) {
        tare_array sample;
        tare_tensor *out;
        static const tare_normalize none;
        tare_array_slice(&sample, array, &cut, i);
        tare_arena *arena = tare_arena_new();
        tare_dtype to = tare_dtype_is_float(array->dtype) ? TARE_F32 : TARE_S32;
        bool rounds;
        if (arena != NULL && tare_convert_check(array->dtype, to, false, &rounds, &err) == TARE_OK) {
            tare_convert_array(&out, &sample, to, &none, -1, arena, &err);
        }
        tare_arena_free(arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL) return 0;
    memcpy(copy, data, size);
    tare_npy npy;
    tare_error err;
    size_t available = size < TARE_NPY_HEADER_MAX ? size : TARE_NPY_HEADER_MAX;
    if (tare_npy_parse(&npy, copy, available, size, &err) == TARE_OK) {
        tare_array array = tare_npy_array(&npy, copy + npy.offset);
        tare_shape same = npy.shape, open = npy.shape, tail = npy.shape;
        if (open.rank > 0) open.dim[0] = TARE_DIM_UNKNOWN;
        if (tail.rank > 0) memmove(tail.dim, tail.dim + 1, (size_t)--tail.rank * sizeof tail.dim[0]);
        convert(&array, &same, false);
        convert(&array, &open, false);
        convert(&array, &open, true);
        convert(&array, &tail, false);
        if (array.shape.rank >= 3) {
            tare_array_channels_first(&array);
            convert(&array, &array.shape, true);
        }
    }
    free(copy);
    return 0;
}

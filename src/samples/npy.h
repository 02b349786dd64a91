/* The .npy format (numpy's NEP 1): a header that says type, order and shape, then the numbers. */
#ifndef TARE_SAMPLES_NPY_H
#define TARE_SAMPLES_NPY_H

#include "samples/array.h"

/* The most that is read to find the header: 64 KiB and what stands before it. */
enum { TARE_NPY_HEADER_MAX = 65536 + 12 };

typedef struct tare_npy {
    tare_dtype dtype;
    bool swap, fortran;
    tare_shape shape;
    size_t offset; /* of the numbers */
    size_t size;   /* their bytes */
} tare_npy;

/* Reads a header from the first `available` bytes of a file of `total` bytes, and checks that the numbers are there.
 * `available` is TARE_NPY_HEADER_MAX or all of the file. Versions 1 to 3; element types of ONNX, either byte order. */
tare_status tare_npy_parse(tare_npy *out, const uint8_t *bytes, size_t available, size_t total, tare_error *err);

/* The array whose numbers begin at `numbers`. */
tare_array tare_npy_array(const tare_npy *npy, const uint8_t *numbers);

/* Prints the header for a tensor: at most TARE_NPY_WRITTEN_MAX bytes, a multiple of 64. Half-known types: bf16 has none
 * in numpy (0 is returned, as for strings). */
enum { TARE_NPY_WRITTEN_MAX = 384 };
size_t tare_npy_print_header(char to[TARE_NPY_WRITTEN_MAX], tare_dtype dtype, const tare_shape *shape);

#endif

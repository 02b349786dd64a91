/* Transposition of 4-byte elements. */
#include "kernels/variants.h"

void tare_transpose_32_scalar(uint32_t *to, size_t to_stride, const uint32_t *from, size_t from_stride, size_t rows,
                              size_t columns) {
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++) to[c * to_stride + r] = from[r * from_stride + c];
}

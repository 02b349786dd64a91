/* Transposition of 4-byte elements for AVX2, in squares of 8. */
#include "kernels/variants.h"

#include <immintrin.h>

static void square(uint32_t *to, size_t to_stride, const uint32_t *from, size_t from_stride) {
    __m256i row[8], pair[8], quad[8];
    for (size_t i = 0; i < 8; i++) row[i] = _mm256_loadu_si256((const void *)(from + i * from_stride));
    for (size_t i = 0; i < 8; i += 2) {
        pair[i] = _mm256_unpacklo_epi32(row[i], row[i + 1]);
        pair[i + 1] = _mm256_unpackhi_epi32(row[i], row[i + 1]);
    }
    for (size_t i = 0; i < 8; i += 4) {
        quad[i] = _mm256_unpacklo_epi64(pair[i], pair[i + 2]);
        quad[i + 1] = _mm256_unpackhi_epi64(pair[i], pair[i + 2]);
        quad[i + 2] = _mm256_unpacklo_epi64(pair[i + 1], pair[i + 3]);
        quad[i + 3] = _mm256_unpackhi_epi64(pair[i + 1], pair[i + 3]);
    }
    for (size_t i = 0; i < 4; i++) {
        _mm256_storeu_si256((void *)(to + i * to_stride), _mm256_permute2x128_si256(quad[i], quad[i + 4], 0x20));
        _mm256_storeu_si256((void *)(to + (i + 4) * to_stride), _mm256_permute2x128_si256(quad[i], quad[i + 4], 0x31));
    }
}

void tare_transpose_32_avx2(uint32_t *to, size_t to_stride, const uint32_t *from, size_t from_stride, size_t rows,
                            size_t columns) {
    size_t whole_rows = rows & ~(size_t)7, whole_columns = columns & ~(size_t)7;
    for (size_t r = 0; r < whole_rows; r += 8)
        for (size_t c = 0; c < whole_columns; c += 8)
            square(to + c * to_stride + r, to_stride, from + r * from_stride + c, from_stride);
    tare_transpose_32_scalar(to + whole_rows, to_stride, from + whole_rows * from_stride, from_stride,
                             rows - whole_rows, columns);
    tare_transpose_32_scalar(to + whole_columns * to_stride, to_stride, from + whole_columns, from_stride, whole_rows,
                             columns - whole_columns);
}

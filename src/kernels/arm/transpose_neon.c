/* Transposition of 4-byte elements for NEON, in squares of 4. */
#include "kernels/variants.h"

#include <arm_neon.h>

static void square(uint32_t *to, size_t to_stride, const uint32_t *from, size_t from_stride) {
    uint32x4x2_t upper = vtrnq_u32(vld1q_u32(from), vld1q_u32(from + from_stride));
    uint32x4x2_t lower = vtrnq_u32(vld1q_u32(from + 2 * from_stride), vld1q_u32(from + 3 * from_stride));
    for (size_t i = 0; i < 2; i++) {
        vst1q_u32(to + i * to_stride, vcombine_u32(vget_low_u32(upper.val[i]), vget_low_u32(lower.val[i])));
        vst1q_u32(to + (i + 2) * to_stride, vcombine_u32(vget_high_u32(upper.val[i]), vget_high_u32(lower.val[i])));
    }
}

void tare_transpose_32_neon(uint32_t *to, size_t to_stride, const uint32_t *from, size_t from_stride, size_t rows,
                            size_t columns) {
    size_t whole_rows = rows & ~(size_t)3, whole_columns = columns & ~(size_t)3;
    for (size_t r = 0; r < whole_rows; r += 4)
        for (size_t c = 0; c < whole_columns; c += 4)
            square(to + c * to_stride + r, to_stride, from + r * from_stride + c, from_stride);
    tare_transpose_32_scalar(to + whole_rows, to_stride, from + whole_rows * from_stride, from_stride,
                             rows - whole_rows, columns);
    tare_transpose_32_scalar(to + whole_columns * to_stride, to_stride, from + whole_columns, from_stride, whole_rows,
                             columns - whole_columns);
}

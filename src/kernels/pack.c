/* Packing of weights into the panels that the f32 GEMM kernels read; one layout for every instruction set. */
#include "kernels/kernels.h"

#include <string.h>

size_t tare_packed_f32_size(size_t depth, size_t columns) {
    return (columns + TARE_PANEL - 1) / TARE_PANEL * TARE_PANEL * depth;
}

/* One panel. The inner loop runs along the source's shorter stride, so that a transposed matrix is read in lines. */
static void pack_panel(float *to, const float *from, size_t depth, size_t columns, size_t k_stride, size_t n_stride) {
    if (columns < TARE_PANEL) memset(to, 0, depth * TARE_PANEL * sizeof *to);
    if (k_stride < n_stride) {
        for (size_t n = 0; n < columns; n++)
            for (size_t k = 0; k < depth; k++) to[k * TARE_PANEL + n] = from[k * k_stride + n * n_stride];
    } else {
        for (size_t k = 0; k < depth; k++)
            for (size_t n = 0; n < columns; n++) to[k * TARE_PANEL + n] = from[k * k_stride + n * n_stride];
    }
}

void tare_pack_f32(float *to, size_t panel_depth, const float *from, size_t depth, size_t columns, size_t k_stride,
                   size_t n_stride) {
    for (size_t n = 0; n < columns; n += TARE_PANEL) {
        size_t width = columns - n < TARE_PANEL ? columns - n : TARE_PANEL;
        pack_panel(to + n * panel_depth, from + n * n_stride, depth, width, k_stride, n_stride);
    }
}

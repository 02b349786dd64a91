/* f32 matrix product over indirect rows, as kernels.h states it. */
#include "kernels/variants.h"

#include <math.h>

static float dot(const tare_gemm_f32_args *g, size_t m, size_t n) {
    size_t total = g->taps * g->depth;
    const float *b = g->b + n / TARE_PANEL * total * TARE_PANEL + n % TARE_PANEL;
    float sum = 0, block = 0;
    for (size_t k = 0; k < total; k++) {
        float a = g->a[k / g->depth * g->rows + m][g->a_offset + k % g->depth];
        block = fmaf(a, b[k * TARE_PANEL], block);
        if ((k + 1) % TARE_K_BLOCK != 0 && k + 1 != total) continue;
        sum = k < TARE_K_BLOCK ? block : sum + block;
        block = 0;
    }
    return sum;
}

void tare_gemm_f32_scalar(const tare_gemm_f32_args *g) {
    for (size_t m = 0; m < g->rows; m++) {
        for (size_t n = 0; n < g->columns; n++) {
            float x = dot(g, m, n);
            if (g->bias) x += g->bias[n];
            x = x < g->lo ? g->lo : x;
            g->c[m * g->c_stride + n] = x > g->hi ? g->hi : x;
        }
    }
}

/* Product of 8-bit codes over indirect rows, as kernels.h states it. Sums wrap, so their order is free. */
#include "kernels/variants.h"

#include <string.h>

static void start(const tare_gemm_codes_args *g, int32_t *c) {
    if (g->bias)
        memcpy(c, g->bias, g->columns * sizeof *c);
    else
        memset(c, 0, g->columns * sizeof *c);
}

#define GEMM(name, type)                                                                                               \
    void tare_gemm_##name##_scalar(const tare_gemm_codes_args *g) {                                                    \
        for (size_t m = 0; m < g->rows && g->columns; m++) {                                                           \
            int32_t *c = g->c + m * g->c_stride;                                                                       \
            const int16_t *b = g->b;                                                                                   \
            start(g, c);                                                                                               \
            for (size_t t = 0; t < g->taps; t++) {                                                                     \
                const uint8_t *a = g->a[t * g->rows + m] + g->a_offset;                                                \
                for (size_t k = 0; k < g->depth; k++, b += g->columns) {                                               \
                    const int32_t x = (type)a[k] - g->zero_point;                                                      \
                    for (size_t n = 0; n < g->columns; n++) c[n] = (int32_t)((uint32_t)c[n] + (uint32_t)(x * b[n]));   \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

GEMM(u8, uint8_t)
GEMM(s8, int8_t)

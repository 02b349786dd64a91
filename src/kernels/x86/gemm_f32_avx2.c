/* f32 matrix product for AVX2 and FMA: 12 of 16 registers hold sums, 6 rows × 16 columns. */
#include "kernels/x86/vector_avx2.h"

#include "kernels/vector.inc.h"

enum { TILE_ROWS = 6 };
#define TILES(_) _(1, 1) _(1, 2) _(1, 4) _(2, 1) _(2, 2) _(3, 1) _(3, 2) _(4, 1) _(5, 1) _(6, 1)

#include "kernels/gemm_f32.inc.h"

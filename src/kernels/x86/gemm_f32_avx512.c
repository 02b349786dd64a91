/* f32 matrix product for AVX-512: 24 of 32 registers hold sums, 6 rows × 64 columns. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"

enum { TILE_ROWS = 6 };
#define ANY_WIDTH(_, rows) _(rows, 1) _(rows, 2) _(rows, 4)
#define TILES(_)           ANY_WIDTH(_, 1) ANY_WIDTH(_, 2) ANY_WIDTH(_, 3) ANY_WIDTH(_, 4) ANY_WIDTH(_, 5) ANY_WIDTH(_, 6)

#include "kernels/gemm_f32.inc.h"

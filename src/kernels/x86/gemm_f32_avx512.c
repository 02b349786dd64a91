/* f32 matrix product for AVX-512: 24 of 32 registers hold sums, 12 rows × 32 columns. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"

enum { TILE_ROWS = 12 };
#define FEW(_, rows)  _(rows, 1) _(rows, 2) _(rows, 4)
#define MANY(_, rows) _(rows, 1) _(rows, 2)
#define TILES_TO_6(_) FEW(_, 1) FEW(_, 2) FEW(_, 3) FEW(_, 4) FEW(_, 5) FEW(_, 6)
#define TILES(_)      TILES_TO_6(_) MANY(_, 7) MANY(_, 8) MANY(_, 9) MANY(_, 10) MANY(_, 11) MANY(_, 12)

#include "kernels/gemm_f32.inc.h"

/* Sums in f64 of what is made of f32 numbers for AVX2. */
#define ISA avx2
#include "kernels/sums_f32.inc.h"

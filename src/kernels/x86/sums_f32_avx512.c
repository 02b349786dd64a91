/* Sums in f64 of what is made of f32 numbers for AVX-512. */
#define ISA avx512
#include "kernels/sums_f32.inc.h"

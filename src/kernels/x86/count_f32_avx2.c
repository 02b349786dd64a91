/* Counts of numbers by their upper 16 bits for AVX2 and FMA. */
#include "kernels/x86/vector_avx2.h"

#include "kernels/vector.inc.h"

#include "kernels/count_f32.inc.h"

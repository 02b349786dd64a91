/* Counts of numbers by their upper 16 bits for AVX-512. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"

#include "kernels/count_f32.inc.h"

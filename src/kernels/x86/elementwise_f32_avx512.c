/* f32 arithmetic, clamp, row sums and maxima for AVX-512. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"

#include "kernels/elementwise_f32.inc.h"

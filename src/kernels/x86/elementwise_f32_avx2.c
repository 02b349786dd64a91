/* f32 arithmetic, clamp, row sums and maxima for AVX2 and FMA. */
#include "kernels/x86/vector_avx2.h"

#include "kernels/vector.inc.h"

#include "kernels/elementwise_f32.inc.h"

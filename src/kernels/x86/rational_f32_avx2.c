/* Sigmoid and Tanh for AVX2 and FMA. */
#include "kernels/x86/vector_avx2.h"

#include "kernels/vector.inc.h"

#include "kernels/rational_f32.inc.h"

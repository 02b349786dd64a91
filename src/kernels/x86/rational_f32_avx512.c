/* Sigmoid and Tanh for AVX-512. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"

#include "kernels/rational_f32.inc.h"

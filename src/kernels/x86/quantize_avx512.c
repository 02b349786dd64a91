/* QuantizeLinear, DequantizeLinear and both in one for AVX-512. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"

#include "kernels/quantize.inc.h"

/* QuantizeLinear, DequantizeLinear and both in one for AVX2 and FMA. */
#include "kernels/x86/vector_avx2.h"

#include "kernels/vector.inc.h"

#include "kernels/quantize.inc.h"

/* QuantizeLinear, DequantizeLinear and both in one for NEON. */
#include "kernels/arm/vector_neon.h"

#include "kernels/vector.inc.h"

#include "kernels/quantize.inc.h"

/* f32 arithmetic, clamp, row sums and maxima for NEON. */
#include "kernels/arm/vector_neon.h"

#include "kernels/vector.inc.h"

#include "kernels/elementwise_f32.inc.h"

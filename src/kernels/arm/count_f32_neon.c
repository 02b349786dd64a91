/* Counts of numbers by their upper 16 bits for NEON. */
#include "kernels/arm/vector_neon.h"

#include "kernels/vector.inc.h"

#include "kernels/count_f32.inc.h"

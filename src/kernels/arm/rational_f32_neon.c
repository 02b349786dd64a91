/* Sigmoid and Tanh for NEON. */
#include "kernels/arm/vector_neon.h"

#include "kernels/vector.inc.h"

#include "kernels/rational_f32.inc.h"

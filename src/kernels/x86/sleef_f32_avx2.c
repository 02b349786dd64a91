/* Elementary functions for AVX2. SLEEF's consistent set has them for AVX, the names without FMA. */
#include "kernels/x86/vector_avx2.h"

#include "kernels/vector.inc.h"
#include <sleef.h>

#define SLEEF(name) Sleef_cinz_##name##8_u10avx

#include "kernels/sleef_f32.inc.h"

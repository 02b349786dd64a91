/* Elementary functions for AVX-512. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"
#include <sleef.h>

#define SLEEF(name) Sleef_cinz_##name##16_u10avx512fnofma

#include "kernels/sleef_f32.inc.h"

/* f32 depthwise convolution for AVX-512: up to 4 pixels × 64 channels at a time. */
#include "kernels/x86/vector_avx512.h"

#include "kernels/vector.inc.h"

#define ANY_WIDTH(_, pixels) _(pixels, 0) _(pixels, 1) _(pixels, 2) _(pixels, 3) _(pixels, 4)
#define STRIPS(_)            ANY_WIDTH(_, 1) ANY_WIDTH(_, 2) ANY_WIDTH(_, 3) ANY_WIDTH(_, 4)

#include "kernels/depthwise_f32.inc.h"

/* f32 depthwise convolution for NEON: up to 4 pixels × 16 channels at a time. */
#include "kernels/arm/vector_neon.h"

#include "kernels/vector.inc.h"

#define ANY_WIDTH(_, pixels) _(pixels, 0) _(pixels, 1) _(pixels, 2) _(pixels, 3) _(pixels, 4)
#define STRIPS(_)            ANY_WIDTH(_, 1) ANY_WIDTH(_, 2) ANY_WIDTH(_, 3) ANY_WIDTH(_, 4)

#include "kernels/depthwise_f32.inc.h"

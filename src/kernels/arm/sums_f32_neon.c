/* Sums in f64 of what is made of f32 numbers for NEON. */
#define ISA neon
#include "kernels/sums_f32.inc.h"

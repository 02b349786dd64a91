/* What the rows of target tidl share. */
#ifndef TARE_TARGETS_TIDL_H
#define TARE_TARGETS_TIDL_H

#include "targets/codes.h"

/* Can a shift of s32 multiply by it? Powers of two, 2^-31 to 2^31. */
bool tare_tidl_is_shift(double ratio);
/* Data have no zero points. */
const char *tare_tidl_refuses(const tare_int_node *n);
/* Eltwise and Concat bring their inputs to s_acc = (largest scale of an input) / 2^bits: what a code of this input is multiplied by
 * then, a whole number unless the scales are further apart. */
double tare_tidl_factor(const tare_int_node *n, int input, int bits);
/* s_acc / s_y */
double tare_tidl_output_ratio(const tare_int_node *n, int bits);
const char *tare_tidl_common_refuses(const tare_int_node *n, int bits);

#endif

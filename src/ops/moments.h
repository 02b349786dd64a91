/* Mean and variance of rows, as the normalizations need them: sums in the 16-lane order of kernels.h, the variance from
 * the centred numbers. */
#ifndef TARE_OPS_MOMENTS_H
#define TARE_OPS_MOMENTS_H

#include "ops/rows.h"

enum { TARE_MOMENTS_BLOCK = 64 /* rows side by side that are done at once */ };

/* to = from - mean, of a row whose `count` > 0 numbers lie together; gives the mean of the squares of `to`, the variance.
 * Without `center` the mean counts as 0. *mean may be NULL. */
float tare_moments_row(const tare_kernels *kernels, float *to, const float *from, size_t count, bool center,
                       float *mean);

/* The same for `count` <= TARE_MOMENTS_BLOCK rows side by side; mean and variance have `count` places. */
void tare_moments_block(const tare_kernels *kernels, const tare_rows *rows, float *to, const float *from, size_t count,
                        float *mean, float *variance);

#endif

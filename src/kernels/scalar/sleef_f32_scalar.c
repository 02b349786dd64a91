/* Elementary functions of SLEEF's consistent set, whose plain C gives the same bits as its vectors. */
#include "kernels/variants.h"

#include <sleef.h>

#define UNARY(slot, function)                                                                                          \
    void tare_##slot##_scalar(float *to, const float *from, size_t count) {                                            \
        for (size_t i = 0; i < count; i++) to[i] = function(from[i]);                                                  \
    }

UNARY(exp_f32, Sleef_cinz_expf1_u10purec)
UNARY(log_f32, Sleef_cinz_logf1_u10purec)
UNARY(erf_f32, Sleef_cinz_erff1_u10purec)

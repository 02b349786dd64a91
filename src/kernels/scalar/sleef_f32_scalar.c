/* Elementary functions of SLEEF's consistent set, whose plain C gives the same bits as its vectors. */
#include "kernels/variants.h"

#include <sleef.h>

#define UNARY(slot, function)                                                                                          \
    void tare_##slot##_scalar(float *to, const float *from, size_t count) {                                            \
        for (size_t i = 0; i < count; i++) to[i] = function(from[i]);                                                  \
    }

UNARY(exp_f32, Sleef_cinz_expf1_u10purec)
UNARY(expm1_f32, Sleef_cinz_expm1f1_u10purec)
UNARY(log_f32, Sleef_cinz_logf1_u10purec)
UNARY(log1p_f32, Sleef_cinz_log1pf1_u10purec)
UNARY(sin_f32, Sleef_cinz_sinf1_u10purec)
UNARY(cos_f32, Sleef_cinz_cosf1_u10purec)
UNARY(tan_f32, Sleef_cinz_tanf1_u10purec)
UNARY(sinh_f32, Sleef_cinz_sinhf1_u10purec)
UNARY(cosh_f32, Sleef_cinz_coshf1_u10purec)
UNARY(asin_f32, Sleef_cinz_asinf1_u10purec)
UNARY(acos_f32, Sleef_cinz_acosf1_u10purec)
UNARY(atan_f32, Sleef_cinz_atanf1_u10purec)
UNARY(asinh_f32, Sleef_cinz_asinhf1_u10purec)
UNARY(acosh_f32, Sleef_cinz_acoshf1_u10purec)
UNARY(atanh_f32, Sleef_cinz_atanhf1_u10purec)
UNARY(erf_f32, Sleef_cinz_erff1_u10purec)

void tare_pow_f32_scalar(float *to, const float *a, size_t a_stride, const float *b, size_t b_stride, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = Sleef_cinz_powf1_u10purec(a[i * a_stride], b[i * b_stride]);
}

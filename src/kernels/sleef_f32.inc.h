/* Template: elementary functions of SLEEF's consistent set, in the words of vector.inc.h; before it SLEEF(name) is
 * defined to say which of its functions has these lanes. */
#define UNARY(slot, function)                                                                                          \
    void VARIANT(slot)(float *to, const float *from, size_t count) {                                                   \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= count; i += LANES) v_store(to + i, SLEEF(function)(v_load(from + i)));                     \
        if (i < count) v_store_tail(to + i, SLEEF(function)(v_load_tail(from + i, count - i, 1)), count - i);          \
    }

UNARY(exp_f32, expf)
UNARY(expm1_f32, expm1f)
UNARY(log_f32, logf)
UNARY(log1p_f32, log1pf)
UNARY(sin_f32, sinf)
UNARY(cos_f32, cosf)
UNARY(tan_f32, tanf)
UNARY(sinh_f32, sinhf)
UNARY(cosh_f32, coshf)
UNARY(asin_f32, asinf)
UNARY(acos_f32, acosf)
UNARY(atan_f32, atanf)
UNARY(asinh_f32, asinhf)
UNARY(acosh_f32, acoshf)
UNARY(atanh_f32, atanhf)
UNARY(erf_f32, erff)

void VARIANT(pow_f32)(float *to, const float *a, size_t a_stride, const float *b, size_t b_stride, size_t count) {
    size_t i = 0;
    if (count == 0) return;
    v x = v_set(*a), y = v_set(*b);
    for (; i + LANES <= count; i += LANES) {
        if (a_stride) x = v_load(a + i);
        if (b_stride) y = v_load(b + i);
        v_store(to + i, SLEEF(powf)(x, y));
    }
    if (i == count) return;
    if (a_stride) x = v_load_tail(a + i, count - i, 1);
    if (b_stride) y = v_load_tail(b + i, count - i, 1);
    v_store_tail(to + i, SLEEF(powf)(x, y), count - i);
}

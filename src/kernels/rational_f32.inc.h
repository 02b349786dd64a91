/* Template: Sigmoid, Swish and Tanh as the rational functions of rational.h, in the words of vector.inc.h. */
#include "kernels/rational.h"

INLINE v polynomial(const float *c, size_t count, v s) {
    v p = v_set(c[count - 1]);
    unroll (i, count - 1) p = v_fma(p, s, v_set(c[count - 2 - i]));
    return p;
}

INLINE v sigmoid(v x) {
    x = v_clamp(x, v_set(-TARE_SIGMOID_RANGE), v_set(TARE_SIGMOID_RANGE));
    v s = v_mul(x, x);
    v p = v_mul(polynomial(tare_sigmoid_p, TARE_SIGMOID_P, s), x), q = polynomial(tare_sigmoid_q, TARE_SIGMOID_Q, s);
    return v_clamp(v_add(v_div(p, q), v_set(0.5f)), v_set(0), v_set(1));
}

/* x sigmoid(x), as two operators would compute it. */
INLINE v swish(v x) { return v_mul(sigmoid(x), x); }

INLINE v tangent(v x) {
    x = v_clamp(x, v_set(-TARE_TANH_RANGE), v_set(TARE_TANH_RANGE));
    v s = v_mul(x, x);
    return v_div(v_mul(polynomial(tare_tanh_p, TARE_TANH_P, s), x), polynomial(tare_tanh_q, TARE_TANH_Q, s));
}

#define UNARY(slot, function)                                                                                          \
    void VARIANT(slot)(float *to, const float *from, size_t count) {                                                   \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= count; i += LANES) v_store(to + i, function(v_load(from + i)));                            \
        if (i < count) v_store_tail(to + i, function(v_load_tail(from + i, count - i, 0)), count - i);                 \
    }

UNARY(sigmoid_f32, sigmoid)
UNARY(swish_f32, swish)
UNARY(tanh_f32, tangent)

/* Template: elementary functions of SLEEF's consistent set, in the words of vector.inc.h; before it SLEEF(name) is
 * defined to say which of its functions has these lanes. */
#define UNARY(slot, function)                                                                                          \
    void VARIANT(slot)(float *to, const float *from, size_t count) {                                                   \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= count; i += LANES) v_store(to + i, SLEEF(function)(v_load(from + i)));                     \
        if (i < count) v_store_tail(to + i, SLEEF(function)(v_load_tail(from + i, count - i, 1)), count - i);          \
    }

UNARY(exp_f32, expf)
UNARY(log_f32, logf)
UNARY(erf_f32, erff)

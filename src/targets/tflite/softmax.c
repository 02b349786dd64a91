/* Softmax on TensorFlow Lite's codes, all in fixed point. Qi.(31-i) is a s32 with i bits before the point.
 *   d = code - largest code of the row, D = d · s_x as Q5.26, e = exp(D) as Q0.31; 0 where D is past -31
 *   S = Σ RDBPOT(e, 12) as Q12.19, 1 / S = r · 2^-b with r as Q0.31
 *   y = RDBPOT(r · e, b + 23) - 128, clamped; · is a doubling high product that rounds, RDBPOT divides by a power of two,
 *   ties away from zero. The input's zero point cancels; the output is 1/256, -128.
 * exp on Q0.31 is a polynomial around -1/8 and a factor for each bit; 1 / (1 + x) three Newton steps.
 * Source: reference/softmax.h and gemmlowp's fixedpoint.h; checked against tflite-micro of 2026-10-23 and LiteRT 2.3.0's
 * reference kernels. They stop the process when S reaches 512; here all is -128 then, which is what less than half a code is. */
#include <math.h>

#include "targets/codes.h"

enum {
    DIFF_INTEGER = 5,  /* bits before the point of D */
    SUM_SHIFT = 12,    /* bits before the point of S */
    SUM_END = 1 << 28, /* 512 as Q12.19 */
    ONE = INT32_MAX,   /* as Q0.31 */
    CODES = 256
};

typedef struct state {
    int32_t exponential[CODES]; /* by -d */
    tare_dtype code;
} state;

/* x · 2^n, saturating; n < 0 rounds. */
static int32_t scale(int32_t x, int n) {
    if (n < 0) return tare_divide_by_power(x, -n);
    const int64_t wide = (int64_t)x * ((int64_t)1 << n);
    return wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : (int32_t)wide;
}

/* exp(x) of x in [-1/4, 0), both Q0.31: e^-1/8 (1 + t + t²/2 + t³/6 + t⁴/24), t = x + 1/8. */
static int32_t exp_near(int32_t x) {
    const int32_t e_eighth = 1895147668, third = 715827883;
    const int32_t t = x + (1 << 28), t2 = tare_q31_mul(t, t), t3 = tare_q31_mul(t2, t), t4 = tare_q31_mul(t2, t2);
    const int32_t tail = tare_q31_mul(tare_divide_by_power(t4, 2) + t3, third) + t2;
    return e_eighth + tare_q31_mul(e_eighth, t + tare_divide_by_power(tail, 1));
}

/* exp(x) as Q0.31 of x <= 0 as Q5.26. */
static int32_t exp_of(int32_t x) {
    static const int32_t factors[] = {
        1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242
    }; /* e^-2^k */
    const int32_t quarter = 1 << (29 - DIFF_INTEGER);
    const int32_t near = (x & (quarter - 1)) - quarter, rest = near - x;
    int32_t e = exp_near(scale(near, DIFF_INTEGER));
    for (int k = -2; k < DIFF_INTEGER; k++)
        if (rest >> (31 - DIFF_INTEGER + k) & 1) e = tare_q31_mul(e, factors[k + 2]);
    return x ? e : ONE;
}

/* 1 / (1 + x) as Q0.31 of x in [0, 1) as Q0.31. */
static int32_t reciprocal_near(int32_t x) {
    const int32_t a = 1515870810, b = -1010580540; /* 48/17 and -32/17 as Q2.29 */
    const int32_t half = (int32_t)(((int64_t)x + ONE + 1) / 2);
    int32_t r = a + tare_q31_mul(half, b);
    for (int i = 0; i < 3; i++) r += scale(tare_q31_mul(r, (1 << 29) - tare_q31_mul(half, r)), 2);
    return scale(r, 1);
}

static const char *refuses(const tare_int_node *n) {
    const tare_quant *y = n->output;
    if (!(fabsf(y->scale[0] - 1.0f / CODES) <= 0.001f / CODES) || y->zero_point[0] != -128)
        return "its output is not 1/256 * (code + 128)";
    return ldexp((double)n->inputs[0]->scale[0], 31 - DIFF_INTEGER) > 1 ? NULL : "the scale of its input is too small";
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    int32_t multiplier, exponent;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    tare_q31_from_real(fmin(ldexp((double)n->inputs[0]->scale[0], 31 - DIFF_INTEGER), INT32_MAX), &multiplier,
                       &exponent);
    const int64_t most = (((int64_t)1 << DIFF_INTEGER) - 1) << (31 - DIFF_INTEGER) >> exponent;
    for (int d = 0; d < CODES && d <= most; d++)
        s->exponential[d] = exp_of(tare_q31_mul((int32_t)(-d * ((int64_t)1 << exponent)), multiplier));
    s->code = n->inputs[0]->code;
    p->state = s;
    return TARE_OK;
}

static int leading_zeros(uint32_t x) {
    int count = 0;
    while (count < 32 && !(x >> (31 - count))) count++;
    return count;
}

static void row(const void *state_, uint8_t *to, const uint8_t *from, int64_t count, int64_t stride) {
    const state *s = state_;
    int32_t largest = INT32_MIN;
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t x = tare_code_of(s->code, from[i * stride]);
        largest = x > largest ? x : largest;
    }
    for (int64_t i = 0; i < count; i++)
        sum += tare_divide_by_power(s->exponential[largest - tare_code_of(s->code, from[i * stride])], SUM_SHIFT);
    const bool is_flat = sum >= SUM_END;
    const int zeros = is_flat ? 0 : leading_zeros((uint32_t)sum);
    const int32_t r = is_flat ? 0 : reciprocal_near((int32_t)(((uint32_t)sum << zeros) - (1u << 31)));
    for (int64_t i = 0; i < count; i++) {
        const int32_t e = s->exponential[largest - tare_code_of(s->code, from[i * stride])];
        const int32_t y = is_flat ? -128 : tare_divide_by_power(tare_q31_mul(r, e), SUM_SHIFT - zeros + 23) - 128;
        to[i * stride] = (uint8_t)(y > 127 ? 127 : y);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_code_rows_run(call, row);
    return TARE_OK;
}

const tare_int_row tare_tflite_softmax = {
    .profiles = 3, .codes = 1u << TARE_S8, .refuses = refuses, .prepare = prepare, .run = run
};

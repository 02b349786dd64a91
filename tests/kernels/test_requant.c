/* Requantization against numbers worked out by hand and against exact arithmetic in f80 or wider. */
#include "support/support.h"

#include <math.h>

#include "kernels/requant.h"

static uint8_t one(tare_requant r, int32_t x) {
    uint8_t code = 0;
    tare_requantize(&r, &code, &x, 0, 1);
    return code;
}

/* A code from -128 to 127, of multiplier · 2^(exponent - 31). */
static int fixed(tare_requant_kind kind, int32_t multiplier, int32_t exponent, int32_t x) {
    const tare_requant r = { .kind = kind, .lo = -128, .hi = 127, .multiplier = &multiplier, .exponent = &exponent };
    return (int8_t)one(r, x);
}

static void test_float_ties_go_to_even_before_the_zero_point(void **state) {
    (void)state;
    float half = 0.5f;
    const tare_requant r = { .zero_point = 3, .hi = 255, .scale = &half };
    assert_int_equal(one(r, 1), 3); /* .5 -> 0 */
    assert_int_equal(one(r, 3), 5); /* 1.5 -> 2 */
    assert_int_equal(one(r, -1), 3);
    assert_int_equal(one(r, -3), 1);
    assert_int_equal(one(r, -7), 0); /* clamped: -4 + 3 */
    assert_int_equal(one(r, INT32_MAX), 255);
    assert_int_equal(one(r, INT32_MIN), 0);
}

/* 2^24 + 1 is no f32: the sum is rounded before it is multiplied. */
static void test_float_rounds_the_sum(void **state) {
    (void)state;
    float scale = 0x1.8p-23f; /* 2^24 · this = 3; 2^24 + 1 would give 3.0000002 */
    const tare_requant r = { .lo = -128, .hi = 127, .scale = &scale };
    assert_int_equal(one(r, (1 << 24) + 1), 3);
    assert_int_equal(one(r, -(1 << 24) - 1), 256 - 3);
}

static void test_shift_ties_go_up(void **state) {
    (void)state;
    assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, 1, 5), 3);
    assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, 1, -5), -2);
    assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, 0, -5), -5);
    assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, -3, 5), 40);
    assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, -31, -1), -128);
    assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, 31, INT32_MAX), 1); /* no overflow of the rounding bit */
    assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, 31, INT32_MIN), -1);
}

/* A quarter of ±6 and ±2 are ties: away from zero in two roundings, up in one. */
static void test_fixed_point_ties(void **state) {
    (void)state;
    const int32_t q = 1 << 30;
    assert_int_equal(fixed(TARE_REQUANT_DOUBLY_ROUNDED, q, -1, -2), -1);
    assert_int_equal(fixed(TARE_REQUANT_DOUBLY_ROUNDED, q, -1, -6), -2);
    assert_int_equal(fixed(TARE_REQUANT_DOUBLY_ROUNDED, q, -1, 6), 2);
    assert_int_equal(fixed(TARE_REQUANT_HALF_UP, q, -1, -2), 0);
    assert_int_equal(fixed(TARE_REQUANT_HALF_UP, q, -1, -6), -1);
    assert_int_equal(fixed(TARE_REQUANT_HALF_UP, q, -1, 6), 2);
    /* 5/8 · 3/4 = 15/32, once; 5 · 3/4 = 3.75 -> 4, and 4/8 = .5 -> 1, twice */
    assert_int_equal(fixed(TARE_REQUANT_HALF_UP, 3 << 29, -3, 5), 0);
    assert_int_equal(fixed(TARE_REQUANT_DOUBLY_ROUNDED, 3 << 29, -3, 5), 1);
}

static void test_fixed_point_extremes(void **state) {
    (void)state;
    assert_int_equal(tare_q31_mul(INT32_MIN, INT32_MIN), INT32_MAX);
    assert_int_equal(tare_q31_mul(INT32_MIN, INT32_MAX), -INT32_MAX);
    assert_int_equal(tare_divide_by_power(-3, 1), -2);
    assert_int_equal(tare_divide_by_power(3, 1), 2);
    assert_int_equal(tare_divide_by_power(-1, 1), -1);
    assert_int_equal(tare_divide_by_power(INT32_MIN, 31), -1);
    assert_int_equal(tare_divide_by_power(INT32_MAX, 31), 1);
    assert_int_equal(tare_divide_by_power(INT32_MAX, 0), INT32_MAX);
    for (int32_t e = -31; e <= 30; e++) {
        const int sum = fixed(TARE_REQUANT_HALF_UP, INT32_MAX, e, INT32_MIN);
        assert_int_equal(sum, e > -24 ? -128 : -(1 << (e + 31)));
    }
}

static void test_multipliers(void **state) {
    (void)state;
    static const struct {
        double real;
        int32_t multiplier, exponent;
    } cases[] = {
        { 0, 0, 0 },
        { 0.5, 1 << 30, 0 },
        { 1, 1 << 30, 1 },
        { 1e-12, 0, 0 },
        { 0x1p-32, 1 << 30, -31 },
        { 0x1p-33, 0, 0 },
        { 3, 3 << 29, 2 },
        { 1 - 0x1p-40, 1 << 30, 1 }, /* rounds up to the next power */
        { 0x1p30, 1 << 30, 31 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t multiplier, exponent;
        tare_q31_from_real(cases[i].real, &multiplier, &exponent);
        assert_int_equal(multiplier, cases[i].multiplier);
        assert_int_equal(exponent, cases[i].exponent);
    }
}

static int clamped(long double v) { return (int)(v < -128 ? -128 : v > 127 ? 127 : v); }

static int32_t random_sum(test_random *random) {
    const uint64_t bits = test_random_next(random);
    return (int32_t)(uint32_t)bits >> (bits >> 32) % 32;
}

/* Each kind is its formula in reals: 64 bits of mantissa hold sum · multiplier and the half that is added. */
static void test_against_reals(void **state) {
    (void)state;
    test_random random = { 1 };
    for (int i = 0; i < 200000; i++) {
        const int32_t x = random_sum(&random), e = (int32_t)(test_random_next(&random) % 36) - 31;
        const int32_t q = (int32_t)((uint32_t)1 << 30 | ((uint32_t)test_random_next(&random) & 0x3fffffff));
        const long double up = floorl(ldexpl((long double)x * q, e - 31) + 0.5L);
        assert_int_equal(fixed(TARE_REQUANT_HALF_UP, q, e, x), clamped(up));
        assert_int_equal(fixed(TARE_REQUANT_SHIFT, 0, -e, x), clamped(floorl(ldexpl((long double)x, e) + 0.5L)));
        if (e > 0) continue; /* shifts at the top */
        const long double first = roundl(ldexpl((long double)x * q, -31));
        assert_int_equal(fixed(TARE_REQUANT_DOUBLY_ROUNDED, q, e, x), clamped(roundl(ldexpl(first, e))));
    }
}

/* Numbers of a channel go to that channel, whatever row of the sums they are in. */
static void test_channels(void **state) {
    (void)state;
    float scale[4] = { 1, 2, 4, 8 };
    const tare_requant r = { .zero_point = 1, .lo = 0, .hi = 20, .step = 1, .scale = scale };
    const int32_t from[3] = { 1, 1, -1 };
    uint8_t to[4] = { 9, 9, 9, 9 };
    tare_requantize(&r, to, from, 1, 3);
    assert_int_equal(to[0], 3);
    assert_int_equal(to[1], 5);
    assert_int_equal(to[2], 0);
    assert_int_equal(to[3], 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float_ties_go_to_even_before_the_zero_point),
        cmocka_unit_test(test_float_rounds_the_sum),
        cmocka_unit_test(test_shift_ties_go_up),
        cmocka_unit_test(test_fixed_point_ties),
        cmocka_unit_test(test_fixed_point_extremes),
        cmocka_unit_test(test_multipliers),
        cmocka_unit_test(test_against_reals),
        cmocka_unit_test(test_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

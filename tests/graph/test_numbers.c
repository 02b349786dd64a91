/* Element types, shapes and scales: values that can be worked out by hand or by the machine's own arithmetic. */
#include <math.h>
#include <string.h>

#include "graph/graph.h"
#include "support/support.h"

static uint16_t half_by_search(float real) {
    /* The nearest half by trying all: independent of the conversion's bit tricks. Ties go to the even code. */
    uint16_t best = 0;
    double least = INFINITY;
    for (unsigned code = 0; code < 0x7c00; code++) {
        double distance = fabs((double)tare_f16_to_f32((uint16_t)code) - (double)real);
        if (distance < least || (distance == least && !(code & 1))) least = distance, best = (uint16_t)code;
    }
    return best;
}

static void test_halves_round_to_nearest_even(void **state) {
    (void)state;
    test_random random = { 1 };
    for (int i = 0; i < 300; i++) {
        float real = (float)ldexp(test_random_unit(&random) + 0.5, (int)(test_random_next(&random) % 30) - 25);
        if (real > 65000) continue;
        assert_int_equal(tare_f32_to_f16(real), half_by_search(real));
        assert_int_equal(tare_f32_to_f16(-real), half_by_search(real) | 0x8000);
    }
    assert_int_equal(tare_f32_to_f16(65519.0f), 0x7bff);
    assert_int_equal(tare_f32_to_f16(65520.0f), 0x7c00);
    assert_int_equal(tare_f32_to_f16(INFINITY), 0x7c00);
    assert_true(isnan(tare_f16_to_f32(tare_f32_to_f16(NAN))));
    assert_true(tare_f16_to_f32(1) == 0x1p-24f);
    for (unsigned code = 0; code < 0x7c00; code++)
        assert_int_equal(tare_f32_to_f16(tare_f16_to_f32((uint16_t)code)), code);
    assert_int_equal(tare_f32_to_bf16(1.00390625f), 0x3f80); /* halfway: to even */
    assert_int_equal(tare_f32_to_bf16(1.01171875f), 0x3f82);
}

static void test_broadcasts(void **state) {
    (void)state;
    const int64_t a4[] = { 2, 3, 1, 5 }, b3[] = { 3, 4, 1 }, sym[] = { -2, 1, TARE_DIM_UNKNOWN, 5 }, bad[] = { 2, 5 };
    tare_shape a = tare_shape_of(4, a4), b = tare_shape_of(3, b3), s = tare_shape_of(4, sym), out;
    assert_true(tare_shape_broadcast(&out, &a, &b));
    assert_int_equal(out.rank, 4);
    assert_true(out.dim[0] == 2 && out.dim[1] == 3 && out.dim[2] == 4 && out.dim[3] == 5);
    assert_true(tare_shape_broadcast(&out, &s, &s));
    assert_true(out.dim[0] == -2 && out.dim[1] == 1);
    assert_true(tare_shape_broadcast(&out, &s, &b));
    assert_true(out.dim[0] == -2 && out.dim[1] == 3 && out.dim[2] == 4 && out.dim[3] == 5);
    tare_shape clash = tare_shape_of(2, bad);
    assert_false(tare_shape_broadcast(&out, &b, &clash) && tare_shape_broadcast(&out, &a, &(tare_shape){ 1, { 4 } }));
    int64_t count;
    const int64_t huge[] = { (int64_t)1 << 31, (int64_t)1 << 31, 3, 3 }, none[] = { (int64_t)1 << 40, 0, 9 };
    tare_shape large = tare_shape_of(4, huge), empty = tare_shape_of(3, none);
    assert_false(tare_shape_count(&large, &count));
    assert_true(tare_shape_count(&empty, &count) && count == 0);
}

static void check_scale(float lo, float hi, tare_dtype code, bool symmetric, bool power, double want, int zero_point) {
    float scale;
    int32_t z;
    tare_scale_from_range(lo, hi, code, symmetric, power, &scale, &z);
    assert_true(fabs((double)scale - want) <= 1e-7 * want);
    assert_int_equal(z, zero_point);
}

/* cases.md §0, K1, K2, Q1, Q11 */
static void test_scales_of_public_cases(void **state) {
    (void)state;
    check_scale(-6, -2, TARE_S8, false, false, 6.0 / 255, 127);
    check_scale(2, 6, TARE_S8, false, false, 6.0 / 255, -128);
    check_scale(2, 6, TARE_U8, false, false, 6.0 / 255, 0);
    check_scale(0, 0, TARE_S8, false, false, 1, 0);
    check_scale(0, 0, TARE_U8, false, false, 1, 0);
    check_scale(3, 3, TARE_S8, false, false, 3.0 / 255, -128);
    check_scale(-64, 64, TARE_S8, true, true, 1.0, 0); /* 64/127 is above one half */
    check_scale(-63.5f, 63.5f, TARE_S8, true, true, 0.5, 0);
    check_scale(-1, 1, TARE_U8, true, false, 2.0 / 255, 128);
    check_scale(-54800, 54800, TARE_S8, true, false, 54800.0 / 127, 0);
    check_scale(0, 1e-45f, TARE_U8, false, false, 1, 0); /* smaller than any scale */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_halves_round_to_nearest_even),
        cmocka_unit_test(test_broadcasts),
        cmocka_unit_test(test_scales_of_public_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

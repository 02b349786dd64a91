/* The checked arithmetic of base/size.h at its edges. */
#include "base/size.h"

#include "support/support.h"

static void test_adds_and_multiplies_up_to_the_edge(void **state) {
    (void)state;
    size_t got;
    assert_true(tare_size_add(SIZE_MAX - 1, 1, &got));
    assert_true(got == SIZE_MAX);
    assert_false(tare_size_add(SIZE_MAX, 1, &got));
    assert_true(tare_size_mul(SIZE_MAX / 2, 2, &got));
    assert_true(got == SIZE_MAX - 1);
    assert_false(tare_size_mul(SIZE_MAX / 2 + 1, 2, &got));
    int64_t signed_got;
    assert_true(tare_i64_add(INT64_MAX - 1, 1, &signed_got));
    assert_false(tare_i64_add(INT64_MAX, 1, &signed_got));
    assert_true(tare_i64_sub(INT64_MIN + 1, 1, &signed_got));
    assert_false(tare_i64_sub(INT64_MIN, 1, &signed_got));
    assert_false(tare_i64_mul(INT64_MIN, -1, &signed_got));
    assert_true(tare_i64_mul(INT64_C(1) << 31, INT64_C(1) << 31, &signed_got));
    assert_false(tare_i64_mul(INT64_C(1) << 32, INT64_C(1) << 31, &signed_got));
}

static void test_aligns(void **state) {
    (void)state;
    size_t got;
    assert_true(tare_size_align(0, 64, &got));
    assert_int_equal(got, 0);
    assert_true(tare_size_align(1, 64, &got));
    assert_int_equal(got, 64);
    assert_true(tare_size_align(64, 64, &got));
    assert_int_equal(got, 64);
    assert_true(tare_size_align(SIZE_MAX - 63, 64, &got));
    assert_true(got == SIZE_MAX - 63);
    assert_false(tare_size_align(SIZE_MAX - 62, 64, &got)); /* the rounding itself would wrap */
}

static void test_slices(void **state) {
    (void)state;
    assert_true(tare_slice_fits(10, 0, 10));
    assert_true(tare_slice_fits(10, 10, 0));
    assert_false(tare_slice_fits(10, 10, 1));
    assert_false(tare_slice_fits(10, 11, 0));
    assert_false(tare_slice_fits(10, SIZE_MAX - 2, 4)); /* offset + length wraps to 1 */
    assert_false(tare_slice_fits(10, 4, SIZE_MAX - 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adds_and_multiplies_up_to_the_edge),
        cmocka_unit_test(test_aligns),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Statistics and range methods: sums that do not depend on order, counts that add up, expected errors against trying. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/range.h"
#include "support/support.h"

static void test_sums_do_not_depend_on_order(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    double numbers[COUNT];
    test_random random = { 7 };
    tare_sum forward = { 0 }, backward = { 0 }, left = { 0 }, right = { 0 };
    for (int i = 0; i < COUNT; i++)
        numbers[i] = ldexp(test_random_unit(&random) - 0.5, (int)(test_random_next(&random) % 120) - 60);
    for (int i = 0; i < COUNT; i++) {
        tare_sum_add(&forward, numbers[i]);
        tare_sum_add(&backward, numbers[COUNT - 1 - i]);
        tare_sum_add(i % 3 ? &left : &right, numbers[i]);
    }
    tare_sum_merge(&left, &right);
    assert_memory_equal(&forward, &backward, sizeof forward);
    assert_memory_equal(&forward, &left, sizeof forward);
    tare_sum exact = { 0 };
    const double parts[] = { 1e20, 3.5, -1e20, -0.25, 0x1p-149 };
    for (int i = 0; i < 5; i++) tare_sum_add(&exact, parts[i]);
    assert_true(tare_sum_value(&exact) == 3.25 + 0x1p-149);
    tare_sum_add(&exact, -4);
    assert_true(tare_sum_value(&exact) == -0.75 + 0x1p-149);
}

typedef struct fixture {
    tare_ranges *ranges;
    tare_range *range;
    tare_counter *counter;
} fixture;

static fixture open_range(void) {
    fixture f;
    assert_ok(tare_ranges_new(&f.ranges, &err));
    assert_ok(tare_ranges_add(f.ranges, "x", &f.range, &err));
    f.counter = tare_counter_new(f.ranges->arena, tare_kernels_for(TARE_CPU_SCALAR));
    assert_non_null(f.counter);
    return f;
}

static void count(fixture *f, const float *numbers, size_t n, const char *sample) {
    const int64_t dim = (int64_t)n;
    float *copy = (float *)(void *)tare_arena_copy(f->ranges->arena, numbers, n * sizeof *numbers);
    const tare_tensor tensor = {
        .dtype = TARE_F32, .shape = tare_shape_of(1, &dim), .data = copy, .size = n * sizeof *copy
    };
    assert_ok(tare_range_count(f->range, f->counter, f->ranges->arena, &tensor, TARE_LAYOUT_FIRST, sample, &err));
}

static uint64_t total(const tare_range *range) {
    uint64_t sum = 0;
    for (int b = 0; b < TARE_RANGE_BINADES; b++)
        for (int i = 0; range->page[b] && i < TARE_RANGE_BINS; i++) sum += range->page[b][i];
    return sum;
}

static void test_counts_and_merges(void **state) {
    (void)state;
    const float first[] = { 1, -2, 0, 0.5f, 3 }, second[] = { -7, 3, 0.25f }, odd[] = { NAN, INFINITY, 1, -INFINITY };
    fixture one = open_range(), two = open_range();
    count(&one, first, 5, "a");
    count(&one, second, 3, "b");
    count(&one, odd, 4, "c");
    count(&two, odd, 4, "c");
    fixture rest = open_range();
    count(&rest, second, 3, "b");
    count(&rest, first, 5, "a");
    assert_ok(tare_range_merge(two.range, rest.range, two.ranges->arena, &err));
    for (int side = 0; side < 2; side++) {
        const tare_range *r = side ? two.range : one.range;
        assert_int_equal(r->count, 12);
        assert_int_equal(total(r), 9);
        assert_int_equal(r->zeros, 1);
        assert_int_equal(r->nans, 1);
        assert_int_equal(r->positive_infinities, 1);
        assert_int_equal(r->negative_infinities, 1);
        assert_string_equal(r->nonfinite_sample, "c");
        assert_true(r->min == -7 && r->max == 3);
        assert_int_equal(r->extreme_count, 3);
        assert_string_equal(r->lowest[0].sample, "b");
        assert_string_equal(r->highest[0].sample, "a"); /* 3 is in both: the first id */
        assert_string_equal(r->highest[1].sample, "b");
        assert_true(tare_sum_value(&r->sample_min) == -2.0 - 7.0 + 1.0);
    }
    tare_ranges_free(one.ranges), tare_ranges_free(two.ranges), tare_ranges_free(rest.ranges);
}

/* By id, not by who was counted first: threads take samples in any order, and ids need not be in that of the samples. */
static void test_names_the_first_sample_that_is_not_finite(void **state) {
    (void)state;
    const float odd[] = { NAN, 1 };
    fixture up = open_range(), down = open_range(), other = open_range();
    count(&up, odd, 2, "b"), count(&up, odd, 2, "c");
    count(&down, odd, 2, "c"), count(&down, odd, 2, "b");
    count(&other, odd, 2, "\\xff"), count(&other, odd, 2, "a");
    assert_string_equal(up.range->nonfinite_sample, "b");
    assert_string_equal(down.range->nonfinite_sample, "b");
    assert_ok(tare_range_merge(down.range, other.range, down.ranges->arena, &err));
    assert_string_equal(down.range->nonfinite_sample, "\\xff");
    tare_ranges_free(up.ranges), tare_ranges_free(down.ranges), tare_ranges_free(other.ranges);
}

/* The error that many numbers really have. */
static double tried_error(const float *x, size_t n, tare_dtype code, float lo, float hi) {
    float scale;
    int32_t z;
    tare_scale_from_range(lo, hi, code, false, false, &scale, &z);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double q = rint((double)x[i] / (double)scale) + z;
        q = fmin(fmax(q, tare_dtype_lowest(code)), tare_dtype_highest(code));
        double e = (q - z) * (double)scale - (double)x[i];
        sum += e * e;
    }
    return sum / (double)n;
}

static void test_expected_error_is_the_error(void **state) {
    (void)state;
    enum { COUNT = 200000 };
    static float x[COUNT];
    test_random random = { 3 };
    for (size_t i = 0; i < COUNT; i++) {
        double u = 0;
        for (int k = 0; k < 12; k++) u += test_random_unit(&random);
        x[i] = (float)(u - 6) * (i % 100 ? 1 : 4);
    }
    fixture f = open_range();
    count(&f, x, COUNT, "a");
    const float ends[][2] = { { f.range->min, f.range->max }, { -4, 4 }, { -2, 6 }, { 0, 3 } };
    for (int i = 0; i < 4; i++) {
        const tare_range_request request = { .code = TARE_U8 };
        double want = tried_error(x, COUNT, TARE_U8, ends[i][0], ends[i][1]);
        double got = tare_range_error(f.range, &request, ends[i][0], ends[i][1], 1);
        assert_true(fabs(got - want) <= 0.03 * want);
    }
    const tare_range_request request = { .code = TARE_U8, .percentile = 99.9 };
    float lo, hi, mm_lo, mm_hi;
    tare_method_find("mse")->choose(f.range, &request, &lo, &hi);
    tare_method_find("minmax")->choose(f.range, &request, &mm_lo, &mm_hi);
    assert_true(tried_error(x, COUNT, TARE_U8, lo, hi) < 0.9 * tried_error(x, COUNT, TARE_U8, mm_lo, mm_hi));
    tare_method_find("percentile")->choose(f.range, &request, &lo, &hi);
    size_t outside = 0;
    for (size_t i = 0; i < COUNT; i++) outside += x[i] > hi;
    assert_in_range(outside, COUNT / 1000 * 8 / 10 + 1, COUNT / 1000 * 12 / 10 - 1);
    tare_ranges_free(f.ranges);
}

static void test_every_method_holds_zero_and_stays_inside(void **state) {
    (void)state;
    static const float sets[][4] = {
        { 2, 3, 5, 6 }, { -6, -5, -3, -2 }, { 0, 0, 0, 0 }, { 1e-30f, -1e-30f, 0, 0 }, { 3e38f, -3e38f, 1, 0 }
    };
    for (size_t s = 0; s < sizeof sets / sizeof sets[0]; s++) {
        fixture f = open_range();
        count(&f, sets[s], 4, "a");
        for (size_t m = 0; m < tare_method_count(); m++) {
            const tare_range_request request = { .code = TARE_U8, .percentile = 99.99 };
            float lo = NAN, hi = NAN;
            tare_method_at(m)->choose(f.range, &request, &lo, &hi);
            assert_true(lo <= 0 && hi >= 0 && lo >= fminf(f.range->min, 0) && hi <= fmaxf(f.range->max, 0));
        }
        tare_ranges_free(f.ranges);
    }
}

/* Both layouts, with and without numbers that are not finite; and one sample with other channels. */
static void check_channels(int64_t channels, int64_t pixels, test_random *random) {
    enum { NUMBERS = 3200, CHANNELS_MAX = 600 };
    static const float odd[] = { NAN, INFINITY, -0.0f, 0 };
    static float rows[NUMBERS], lies[NUMBERS], min[CHANNELS_MAX], max[CHANNELS_MAX];
    static double sum[CHANNELS_MAX];
    const size_t count = (size_t)channels;
    fixture first = open_range(), last = open_range();
    assert_true(channels * pixels <= NUMBERS && channels <= CHANNELS_MAX);
    assert_ok(tare_range_want_channels(first.range, count, first.ranges->arena, &err));
    assert_ok(tare_range_want_channels(last.range, count, last.ranges->arena, &err));
    assert_ok(tare_range_want_sums(first.range, count, first.ranges->arena, &err));
    assert_ok(tare_range_want_sums(last.range, count, last.ranges->arena, &err));
    for (int64_t c = 0; c < channels; c++) {
        min[c] = INFINITY, max[c] = -INFINITY, sum[c] = 0;
        for (int64_t p = 0; p < pixels; p++) {
            float x = (float)test_random_unit(random) - 0.3f;
            if (pixels % 2 && p % 5 == 1) x = odd[test_random_next(random) % 4];
            rows[c * pixels + p] = lies[p * channels + c] = x;
            if (isfinite(x)) sum[c] += (double)x;
            if (isfinite(x) && x < min[c]) min[c] = x;
            if (isfinite(x) && x > max[c]) max[c] = x;
        }
    }
    const tare_shape by_rows = tare_shape_of(4, (const int64_t[]){ 1, channels, 1, pixels }),
                     by_pixels = tare_shape_of(4, (const int64_t[]){ 1, 1, pixels, channels });
    const size_t size = (size_t)(channels * pixels) * sizeof(float);
    const tare_tensor a = { .dtype = TARE_F32, .shape = by_rows, .data = rows, .size = size },
                      b = { .dtype = TARE_F32, .shape = by_pixels, .data = lies, .size = size };
    assert_ok(tare_range_count(first.range, first.counter, first.ranges->arena, &a, TARE_LAYOUT_FIRST, "a", &err));
    assert_ok(tare_range_count(last.range, last.counter, last.ranges->arena, &b, TARE_LAYOUT_LAST, "a", &err));
    for (size_t c = 0; c < count; c++) {
        assert_true(first.range->channel_min[c] == min[c] && first.range->channel_max[c] == max[c]);
        assert_true(!signbit(first.range->channel_min[c]) || min[c] < 0);
        assert_true(fabs(tare_range_channel_mean(first.range, c) * (double)pixels - sum[c]) < 1e-12);
    }
    assert_memory_equal(first.range->channel_min, last.range->channel_min, count * sizeof *min);
    assert_memory_equal(first.range->channel_max, last.range->channel_max, count * sizeof *max);
    assert_memory_equal(first.range->channel_sum, last.range->channel_sum, count * sizeof(tare_sum));
    assert_ok(tare_range_count(last.range, last.counter, last.ranges->arena, &b, TARE_LAYOUT_FIRST, "b", &err));
    assert_int_equal(last.range->channels + last.range->summed, 0); /* here channels are taken for rows: one */
    tare_ranges_free(first.ranges), tare_ranges_free(last.ranges);
}

static void test_channels_in_both_layouts(void **state) {
    (void)state;
    test_random random = { 5 };
    for (int64_t pixels = 1; pixels <= 620; pixels += 7) check_channels(5, pixels, &random);
    for (int64_t pixels = 2; pixels <= 160; pixels += 13) check_channels(20, pixels, &random);
    for (int64_t pixels = 2; pixels <= 5; pixels++) check_channels(600, pixels, &random);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_do_not_depend_on_order),
        cmocka_unit_test(test_counts_and_merges),
        cmocka_unit_test(test_names_the_first_sample_that_is_not_finite),
        cmocka_unit_test(test_expected_error_is_the_error),
        cmocka_unit_test(test_channels_in_both_layouts),
        cmocka_unit_test(test_every_method_holds_zero_and_stays_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

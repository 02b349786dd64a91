/* Metrics against numbers worked out by hand, and the rules for what cannot be told (reference cases M1, M2). */
#include <math.h>
#include <string.h>

#include "compare/metrics.h"
#include "support/support.h"

static tare_tensor tensor_of(float *data, int rank, const int64_t *dim) {
    tare_tensor tensor = { .dtype = TARE_F32, .shape = tare_shape_of(rank, dim), .data = data };
    tensor.size = (size_t)tare_shape_elements(&tensor.shape) * sizeof(float);
    return tensor;
}

/* The metrics of samples that lie one after the other in a and b. */
static tare_metrics measure(float *a, float *b, size_t samples, int rank, const int64_t *dim, bool is_output) {
    static const char *const ids[] = { "s0", "s1", "s2", "s3" };
    tare_arena *arena = tare_arena_new();
    tare_total total = { 0 };
    tare_tally tally = { 0 };
    tare_codes_met met = { 0 };
    tare_metrics metrics;
    for (size_t i = 0; i < samples; i++) {
        tare_tensor x = tensor_of(a, rank, dim), y = tensor_of(b, rank, dim);
        tare_tally_clear(&tally);
        assert_ok(tare_tally_set(&tally, &x, &y, is_output, arena, &err));
        assert_ok(tare_total_add(&total, &tally, ids[i], arena, &err));
        a += x.size / sizeof *a;
        b += y.size / sizeof *b;
    }
    tare_total_finish(&total, &met, &metrics);
    tare_arena_free(arena);
    return metrics;
}

static void check_near(double got, double want) {
    if (!(fabs(got - want) <= 1e-12 * fmax(1, fabs(want)))) fail_msg("got %.17g, want %.17g", got, want);
}

/* d = 1, -2, 2, 0: Σ|d| 5, Σd² 9, max 2; Σa² 4 + 1 + 16 + 9 = 30 */
static void plain_numbers(void **state) {
    (void)state;
    float a[] = { 2, 1, -4, 3 }, b[] = { 3, -1, -2, 3 };
    const tare_metrics m = measure(a, b, 1, 1, (int64_t[]){ 4 }, false);
    check_near(m.sqnr_db, 10 * log10(30.0 / 9));
    check_near(m.cosine, (6 - 1 + 8 + 9) / sqrt(30.0 * 23));
    check_near(m.relative_l2, sqrt(9.0 / 30));
    check_near(m.l2_norm, 3);
    check_near(m.rmse, 1.5);
    check_near(m.l1, 5.0 / 4);
    check_near(m.l2, 3.0 / 4); /* not the RMSE: the vendors divide the norm by n */
    check_near(m.chebyshev, 2);
    assert_int_equal(m.count, 4);
    assert_true(isnan(m.top1));
    assert_int_equal(m.worst_channel, -1);
    assert_false(m.is_exact);
}

static void means_over_samples(void **state) {
    (void)state;
    float a[] = { 1, 0, 0, 2 }, b[] = { 1, 1, 0, 1 };
    const tare_metrics m = measure(a, b, 2, 1, (int64_t[]){ 2 }, false);
    check_near(m.cosine, (1 / sqrt(2.0) + 1) / 2);
    check_near(m.cosine_worst, 1 / sqrt(2.0));
    check_near(m.l1, 0.5);
    check_near(m.l2_norm, 1);
    check_near(m.sqnr_db, 10 * log10(5.0 / 2));
    check_near(m.sqnr_worst_db, 0);
    assert_string_equal(m.worst_sample, "s0");
    assert_int_equal(m.samples, 2);
}

static void zeros(void **state) {
    (void)state;
    float none[] = { 0, 0, 0 }, some[] = { 1, 2, 3 };
    tare_metrics m = measure(none, none, 1, 1, (int64_t[]){ 3 }, false);
    assert_true(m.is_zero && m.is_exact);
    check_near(m.cosine, 1);
    assert_true(isinf(m.sqnr_db) && m.sqnr_db > 0);
    check_near(m.relative_l2, 0);
    m = measure(none, some, 1, 1, (int64_t[]){ 3 }, false);
    check_near(m.cosine, 0);
    assert_true(isinf(m.sqnr_db) && m.sqnr_db < 0);
    assert_true(isinf(m.relative_l2));
    m = measure(some, none, 1, 1, (int64_t[]){ 3 }, false);
    check_near(m.cosine, 0);
    check_near(m.sqnr_db, 0);
    m = measure(some, some, 1, 1, (int64_t[]){ 3 }, false);
    assert_true(m.is_exact && !m.is_zero);
    check_near(m.cosine, 1);
}

static void nonfinite_numbers(void **state) {
    (void)state;
    float a[] = { 1, INFINITY, 3, NAN }, b[] = { 1, INFINITY, NAN, 2 };
    const tare_metrics m = measure(a, b, 1, 1, (int64_t[]){ 4 }, true);
    assert_int_equal(m.nonfinite, 3);
    assert_true(isnan(m.sqnr_db) && isnan(m.cosine) && isnan(m.chebyshev));
}

static void no_numbers(void **state) {
    (void)state;
    float none[1] = { 0 };
    const tare_metrics m = measure(none, none, 1, 2, (int64_t[]){ 0, 4 }, true);
    assert_int_equal(m.count, 0);
    assert_true(isnan(m.sqnr_db) && isnan(m.cosine));
}

/* Squares of the largest floats do not overflow. */
static void large_numbers(void **state) {
    (void)state;
    float a[] = { -3.4e38f, 3e38f }, b[] = { -3.4e38f, 1e38f };
    const tare_metrics m = measure(a, b, 1, 1, (int64_t[]){ 2 }, false);
    assert_int_equal(m.nonfinite, 0);
    assert_true(isfinite(m.sqnr_db) && m.cosine > 0.9 && m.cosine < 1);
}

/* M2: a channel that is wrong hides in the whole. Channel 1 of 3 is off by a half, the others are exact. */
static void worst_channel(void **state) {
    (void)state;
    enum { INNER = 37 };
    float a[3 * INNER], b[3 * INNER];
    for (int i = 0; i < 3 * INNER; i++) b[i] = a[i] = i / INNER == 1 ? 0.5f : (float)(i % 7) - 3;
    for (int i = INNER; i < 2 * INNER; i++) b[i] = 0.75f;
    const tare_metrics m = measure(a, b, 1, 3, (int64_t[]){ 1, 3, INNER }, false);
    assert_int_equal(m.worst_channel, 1);
    check_near(m.worst_channel_db, 10 * log10(4.0));
    assert_true(m.cosine > 0.99);
}

static void largest_places(void **state) {
    (void)state;
    float a[] = { 1, 3, 3, 0, 5, 2 }, b[] = { 1, 2, 3, 0, 5, 2 };
    tare_metrics m = measure(a, b, 1, 2, (int64_t[]){ 2, 3 }, true);
    check_near(m.top1, 0.5); /* of equals the first is the largest: place 1 against 2 */
    float c[] = { 1, 5, 2, 4 }, d[] = { 1, 2, 2, 4 };
    m = measure(c, d, 1, 4, (int64_t[]){ 1, 2, 1, 2 }, true);
    check_near(m.top1, 0.5); /* along dimension 1: pairs (1, 2) and (5, 4) against (1, 2) and (2, 4) */
}

static void codes(void **state) {
    (void)state;
    float scale[] = { 0.5f };
    int32_t zero[] = { -126 };
    const tare_quant quant = { .code = TARE_S8, .axis = -1, .count = 1, .scale = scale, .zero_point = zero };
    float before[] = { -1, -1.4f, -0.7f, 0.2f, 0.3f, 200 }, after[] = { -1, -1, -0.5f, 0, 0.5f, 126.5f };
    uint64_t bits[4];
    memset(bits, 0, sizeof bits);
    assert_int_equal(TARE_CODES_WORDS(&quant), 4);
    tare_codes_met met = { .quant = &quant, .bits = bits };
    tare_tally tally = { 0 };
    const tare_tensor x = tensor_of(after, 1, (int64_t[]){ 6 }), y = tensor_of(before, 1, (int64_t[]){ 6 });
    tare_tally_codes(&tally, &met, &x, &y);
    assert_int_equal(tally.rounded, 6);
    assert_int_equal(tally.low, 1);  /* -1.4 is three steps below zero, codes begin at two */
    assert_int_equal(tally.high, 1); /* 200 */
    tare_arena *arena = tare_arena_new();
    tare_total total = { 0 };
    tare_metrics m;
    assert_ok(tare_tally_set(&tally, &x, &x, false, arena, &err));
    assert_ok(tare_total_add(&total, &tally, "s", arena, &err));
    tare_total_finish(&total, &met, &m);
    assert_int_equal(m.codes, 256);
    assert_int_equal(m.codes_used, 5);
    check_near(m.saturated_low, 1.0 / 6);
    check_near(m.saturated_high, 1.0 / 6);
    tare_arena_free(arena);
}

/* Against plain sums, for shapes that cut pieces and lanes everywhere. */
static void all_sizes(void **state) {
    (void)state;
    static float a[4096], b[4096];
    test_random random = { 5 };
    for (int i = 0; i < 4096; i++) {
        a[i] = (float)(test_random_unit(&random) * 4 - 2);
        b[i] = a[i] + (float)(test_random_unit(&random) * 0.1);
    }
    for (int64_t inner = 1; inner < 200; inner += inner < 20 ? 1 : 13) {
        const int64_t dim[] = { 2, 9, inner };
        const tare_metrics m = measure(a, b, 1, 3, dim, false);
        double aa = 0, dd = 0;
        for (int64_t i = 0; i < 18 * inner; i++) {
            double d = (double)b[i] - (double)a[i];
            aa += (double)a[i] * (double)a[i];
            dd += d * d;
        }
        check_near(m.sqnr_db, 10 * log10(aa / dd));
        check_near(m.l2_norm, sqrt(dd));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_numbers),     cmocka_unit_test(means_over_samples), cmocka_unit_test(zeros),
        cmocka_unit_test(nonfinite_numbers), cmocka_unit_test(no_numbers),         cmocka_unit_test(large_numbers),
        cmocka_unit_test(worst_channel),     cmocka_unit_test(largest_places),     cmocka_unit_test(codes),
        cmocka_unit_test(all_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

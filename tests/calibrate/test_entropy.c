/* Range method entropy: its divergence against integrals, and its choices on distributions whose best
 * range is known, with what makes other tools' entropy calibration go wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/support/made.h"
#include "support/support.h"

static double even(double x) { return (x + 1) / 3; /* on -1…2 */ }

static void choose(const made *m, const tare_range_request *request, float *lo, float *hi) {
    tare_method_find("entropy")->choose(&m->range, request, lo, hi);
}

static const tare_range_request u8 = { .code = TARE_U8 };

/* The divergence of a Gauss distribution from its definition, ∫ p log(p / q), point by point: p has the share outside moved
 * to the outer codes, q is what quantizing those inside gives. */
typedef struct points {
    float scale;
    int32_t zero_point;
    double inside, total;
    double count[256], width[256], moved[256];
    double divergence;
} points;

static void try_point(points *p, double x, double n, double w, bool last) {
    const double code = rint(x / (double)p->scale) + p->zero_point;
    const int at = (int)fmin(fmax(code, 0), 255);
    const bool outside = code < 0 || code > 255;
    if (!last) {
        p->total += n;
        if (outside)
            p->moved[at] += n;
        else
            p->inside += n, p->count[at] += n, p->width[at] += w;
    } else if (!outside) {
        const double in_p = n / p->total * (1 + p->moved[at] / p->count[at]),
                     in_q = p->count[at] * w / p->width[at] / p->inside;
        p->divergence += in_p * log(in_p / in_q);
    }
}

static double tried_divergence(float lo, float hi) {
    enum { POINTS = 1000000 };
    const double w = 10.0 / POINTS, least = sqrt(2 / acos(-1)) / 64; /* what is nearer to zero does not count */
    static points p;
    p = (points){ 0 };
    tare_scale_from_range(lo, hi, TARE_U8, false, false, &p.scale, &p.zero_point);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < POINTS; i++) {
            const double x = -5 + (i + 0.5) * w;
            if (fabs(x) > least) try_point(&p, x, exp(-x * x / 2) * w, w, pass);
        }
    return p.divergence;
}

static void test_divergence_is_that_of_the_distribution(void **state) {
    (void)state;
    static const float ends[][2] = { { -5, 5 }, { -3, 4 }, { -4.5f, 4 }, { -1, 0.5f }, { -0.02f, 0.03f } };
    made *m = made_of(made_gauss, -5, 5);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const double want = tried_divergence(ends[i][0], ends[i][1]);
        const double got = tare_range_divergence(&m->range, &u8, ends[i][0], ends[i][1]);
        if (!(fabs(got - want) <= 0.1 * want)) fail_msg("case %zu: %.9g, not %.9g", i, got, want);
    }
    free(m);
}

static void assert_between(double low, float got, double high) {
    if (!((double)got >= low && (double)got <= high)) fail_msg("%.9g is not in %.9g … %.9g", (double)got, low, high);
}

static void test_clips_what_is_known_to_be_best(void **state) {
    (void)state;
    float lo, hi;
    made *m = made_of(made_gauss, -8, 8);
    choose(m, &u8, &lo, &hi);
    assert_between(-5, lo, -3.6);
    assert_between(3.6, hi, 5);
    free(m);
    m = made_of(made_laplace, -30, 30);
    choose(m, &u8, &lo, &hi);
    assert_between(-13, lo, -8);
    assert_between(8, hi, 13);
    free(m);
    m = made_of(even, -1, 2); /* nothing is rare: nothing to clip */
    choose(m, &u8, &lo, &hi);
    assert_true(lo == -1 && hi == 2);
    free(m);
}

static void test_sixteen_bits_need_no_clipping(void **state) {
    (void)state;
    const tare_range_request request = { .code = TARE_U16 };
    float lo, hi;
    made *m = made_of(made_gauss, -6, 6);
    choose(m, &request, &lo, &hi);
    assert_between(-6, lo, -5);
    assert_between(5, hi, 6);
    free(m);
}

/* Behind a Relu most numbers are 0: they say nothing of the range. */
static void test_zeros_say_nothing(void **state) {
    (void)state;
    float lo, hi, with_lo, with_hi;
    made *m = made_of(made_gauss, 0, 8);
    choose(m, &u8, &lo, &hi);
    made_put(m, 0, (uint64_t)made_numbers * 100);
    made_put(m, -0.0f, (uint64_t)made_numbers);
    made_put(m, 1e-12f, (uint64_t)made_numbers * 100);
    choose(m, &u8, &with_lo, &with_hi);
    assert_true(lo == 0 && with_lo == 0);
    assert_between(0.93 * (double)hi, with_hi, 1.07 * (double)hi);
    free(m);
}

/* However far away one number lies, there are candidates where all others are. */
static void test_outliers_do_not_hide_candidates(void **state) {
    (void)state;
    static const float outliers[] = { 100, 1e4f, 1e6f };
    for (size_t i = 0; i < 3; i++) {
        float lo, hi;
        made *m = made_of(made_gauss, -8, 8);
        made_put(m, outliers[i], 10000);
        choose(m, &u8, &lo, &hi);
        assert_between(-5.5, lo, -3.6);
        assert_between(3.6, hi, 5.5);
        made_put(m, -outliers[i], 10000);
        choose(m, &u8, &lo, &hi);
        assert_between(-5.5, lo, -3.6);
        assert_between(3.6, hi, 5.5);
        free(m);
    }
}

/* Pixels: 256 places that numbers can have and nothing between. The empty bins are no reason to clip. */
static void test_combs_keep_their_teeth(void **state) {
    (void)state;
    float lo, hi;
    made *m = made_new();
    for (int i = 0; i < 256; i++) made_put(m, (float)i / 255, 1000000 + 3000 * (uint64_t)i);
    choose(m, &u8, &lo, &hi);
    assert_true(lo == 0);
    assert_between(0.97, hi, 1);
    free(m);
}

/* An eighth of all numbers stand where a Clip holds them. */
static void test_clipped_activations_keep_their_bound(void **state) {
    (void)state;
    float lo, hi;
    made *m = made_of(made_gauss, 0, 6);
    made_put(m, 6, (uint64_t)(made_numbers / 8));
    choose(m, &u8, &lo, &hi);
    assert_true(lo == 0);
    assert_between(5.8, hi, 6);
    free(m);
}

/* Few numbers: a histogram's holes are chance, and no reason to clip half of what was seen. */
static void test_few_numbers_are_not_overread(void **state) {
    (void)state;
    static const int counts[] = { 1, 2, 5, 20, 100, 1000, 10000, 100000 };
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        test_random random = { 11 + k };
        made *m = made_new();
        for (int i = 0; i < counts[k]; i++) {
            double u = -6;
            for (int j = 0; j < 12; j++) u += test_random_unit(&random);
            made_put(m, (float)u, 1);
        }
        float lo, hi;
        choose(m, &u8, &lo, &hi);
        const double least = fmin(3.3, 0.6 * (double)(m->range.max - m->range.min) / 2);
        if (m->range.max > 0) assert_between(fmin(least, (double)m->range.max), hi, (double)m->range.max);
        if (m->range.min < 0) assert_between((double)m->range.min, lo, fmax(-least, (double)m->range.min));
        free(m);
    }
}

static void test_keeps_to_the_codes(void **state) {
    (void)state;
    made *m = made_of(made_gauss, -2, 8);
    const tare_range_request symmetric = { .code = TARE_S8, .symmetric = true },
                             power = { .code = TARE_S8, .symmetric = true, .power_of_two = true };
    float lo, hi, scale;
    int32_t zero_point;
    choose(m, &symmetric, &lo, &hi);
    assert_between(3.6, hi, 5);
    assert_true(lo == -2);
    choose(m, &power, &lo, &hi);
    tare_scale_from_range(lo, hi, TARE_S8, true, true, &scale, &zero_point);
    assert_true(scale == 0x1p-5f || scale == 0x1p-4f); /* 3.97 or 7.94 */
    const double other = scale == 0x1p-5f ? 7.9 : 3.9;
    assert_true(tare_range_divergence(&m->range, &power, lo, hi) <=
                tare_range_divergence(&m->range, &power, -2, (float)other));
    free(m);
}

/* Scaling all numbers by a power of two scales the range by as much, down to where codes have no f32 scale. */
static void test_scales_with_the_numbers(void **state) {
    (void)state;
    static const int exponents[] = { -120, -60, 1, 60, 120 };
    float lo, hi;
    made *m = made_of(made_gauss, -8, 8);
    choose(m, &u8, &lo, &hi);
    for (size_t i = 0; i < 5; i++) {
        made *scaled = made_new();
        for (int binade = 0; binade < TARE_RANGE_BINADES; binade++)
            for (int bin = 0; m->range.page[binade] && bin < TARE_RANGE_BINS; bin++) {
                const double edge = ldexp(tare_bin_edge(binade, bin), exponents[i]);
                /* Where the shifted bins would be denormal, bins are coarser: nothing that counts lies there. */
                if (m->pages[binade][bin] && edge >= 0x1p-126)
                    made_put(scaled, (float)(binade & 256 ? -edge : edge), m->pages[binade][bin]);
            }
        scaled->range.min = ldexpf(-8, exponents[i]), scaled->range.max = ldexpf(8, exponents[i]);
        float scaled_lo, scaled_hi;
        choose(scaled, &u8, &scaled_lo, &scaled_hi);
        assert_between(0.98 * (double)hi, ldexpf(scaled_hi, -exponents[i]), 1.02 * (double)hi);
        assert_between(1.02 * (double)lo, ldexpf(scaled_lo, -exponents[i]), 0.98 * (double)lo);
        free(scaled);
    }
    free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence_is_that_of_the_distribution),
        cmocka_unit_test(test_clips_what_is_known_to_be_best),
        cmocka_unit_test(test_sixteen_bits_need_no_clipping),
        cmocka_unit_test(test_zeros_say_nothing),
        cmocka_unit_test(test_outliers_do_not_hide_candidates),
        cmocka_unit_test(test_combs_keep_their_teeth),
        cmocka_unit_test(test_clipped_activations_keep_their_bound),
        cmocka_unit_test(test_few_numbers_are_not_overread),
        cmocka_unit_test(test_keeps_to_the_codes),
        cmocka_unit_test(test_scales_with_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

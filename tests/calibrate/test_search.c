/* The search of method mse: no (lo, hi) of a dense grid is clearly better than what it finds, whatever the numbers are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/support/made.h"
#include "support/support.h"

static double silu(const void *attrs, double x) {
    (void)attrs;
    return x / (1 + exp(-x));
}

/* ---- distributions ---- */

/* What SiLU makes of a Gauss distribution of this width, on both its branches. */
static made *behind_silu(double width) {
    made *m = made_new();
    for (int i = 0; i < 20000; i++) {
        const double z = (i - 9999.5) / 2000 * width;
        made_put(m, (float)silu(NULL, z), (uint64_t)(1e9 * exp(-z * z / (2 * width * width))));
    }
    return m;
}

static made *gaussian(void) { return made_of(made_gauss, -6, 6); }
static made *laplacian(void) { return made_of(made_laplace, -25, 25); }
static made *rectified(void) { return made_of(made_gauss, 0, 6); }
static made *negative(void) { return made_of(made_laplace, -25, 0); }
static made *lobe(void) { return behind_silu(1); }
static made *wide_lobe(void) { return behind_silu(6); }
static made *uneven(void) { return made_of(made_laplace, -0.2f, 25); }
static made *tiny(void) {
    made *m = made_new();
    for (int i = -5000; i <= 5000; i++) made_put(m, (float)ldexp(i, -130), (uint64_t)(1e9 * exp(-i * i * 5e-7)));
    return m;
}
static made *two_scales(void) {
    made *m = made_of(made_gauss, -6, 6);
    for (int i = -1000; i <= 1000; i++) made_put(m, (float)i / 5, 1000000);
    return m;
}
static made *pixels(void) {
    made *m = made_new();
    for (int i = 0; i < 256; i++) made_put(m, (float)i / 255, 1000000 + 3000 * (uint64_t)i);
    return m;
}
static made *few(void) {
    made *m = made_new();
    for (int i = 0; i < 9; i++) made_put(m, (float)(i * i) / 7 - 2, 1);
    return m;
}

static const struct {
    const char *name;
    made *(*make)(void);
} distributions[] = {
    { "gaussian", gaussian },
    { "laplacian", laplacian },
    { "rectified", rectified },
    { "negative", negative },
    { "lobe", lobe },
    { "wide lobe", wide_lobe },
    { "uneven", uneven },
    { "tiny", tiny },
    { "two scales", two_scales },
    { "pixels", pixels },
    { "few", few },
};

static float reach_of(const made *m) { return fmaxf(m->range.max, -m->range.min); }

/* ---- the best of a grid ---- */

static const float step_of_grid = 0.9f;

/* The next end inward; what is much nearer to zero than the other end, or than what was seen but for outliers, is zero. */
static float next(float end, float other, float seen) {
    return fabsf(end) < fmaxf(fabsf(other), fabsf(seen)) * 3e-3f ? 0 : end * step_of_grid;
}

/* With one high end, every low one. False: it clips too much with any. */
static bool try_lows(const tare_profile *p, const tare_range_request *request, float low, float hi, float seen,
                     double *best) {
    for (float lo = low;; lo = next(lo, hi, seen)) {
        const double error = tare_profile_error(p, request, lo, hi, tare_clip_weight, *best);
        if (error < *best) *best = error;
        if (isinf(error) || !(lo < 0)) return lo != low || !isinf(error);
    }
}

static double best_of_grid(const tare_range *range, const tare_range_request *request, float seen, double best) {
    static tare_profile p;
    tare_profile_make(&p, range, request, false);
    const float low = fminf(range->min, 0), high = fmaxf(range->max, 0);
    for (float hi = high;; hi = next(hi, 0, seen))
        if (!try_lows(&p, request, low, hi, seen, &best) || !(hi > 0)) return best;
}

/* `seen`: how far numbers reach but for outliers. */
static void check(const char *name, const made *m, float seen, const tare_range_request *request) {
    float lo, hi;
    tare_method_find("mse")->choose(&m->range, request, &lo, &hi);
    const double got = tare_range_error(&m->range, request, lo, hi, tare_clip_weight);
    const double best = best_of_grid(&m->range, request, seen, got);
    if (!(got <= 1.05 * best))
        fail_msg("%s: [%g, %g] has %g, %.3f times the best", name, (double)lo, (double)hi, got, got / best);
}

static const tare_range_request requests[] = {
    { .code = TARE_U8 },
    { .code = TARE_S8, .symmetric = true },
    { .code = TARE_S8, .power_of_two = true },
    { .code = TARE_U8, .curve = silu },
};
static const char *const request_names[] = { "u8", "symmetric s8", "power-of-two s8", "u8 before SiLU" };

static void test_no_range_of_a_grid_is_better(void **state) {
    (void)state;
    for (size_t d = 0; d < sizeof distributions / sizeof distributions[0]; d++)
        for (size_t r = 0; r < sizeof requests / sizeof requests[0]; r++) {
            char name[100];
            snprintf(name, sizeof name, "%s, %s", distributions[d].name, request_names[r]);
            made *m = distributions[d].make();
            check(name, m, reach_of(m), &requests[r]);
            free(m);
        }
}

/* One number in a billion, or some, this many times as far out as the rest; on one end, the other, both, unevenly. */
static void test_outliers_hide_nothing(void **state) {
    (void)state;
    static const double ends[][2] = { { 0, 1 }, { 1, 0 }, { 1, 1 }, { 0.01, 1 } };
    for (size_t d = 0; d < 6; d++)
        for (int power = 1; power <= 6; power++)
            for (size_t e = 0; e < 4; e++)
                for (uint64_t share = 1000; share <= 1000000000; share *= 1000) {
                    const size_t r = power == 2 ? 3 : (d + (size_t)power + e) % 3;
                    made *m = distributions[d].make();
                    const float seen = reach_of(m);
                    const double far = pow(10, power) * (double)seen;
                    const uint64_t count = m->range.count / share + 1;
                    char name[100];
                    snprintf(name, sizeof name, "%s, %s, 1/%d at 1e%d (%g, %g)", distributions[d].name,
                             request_names[r], (int)share, power, ends[e][0], ends[e][1]);
                    if (ends[e][0] > 0) made_put(m, (float)(-far * ends[e][0]), count);
                    if (ends[e][1] > 0) made_put(m, (float)(far * ends[e][1]), count);
                    check(name, m, seen, &requests[r]);
                    free(m);
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_range_of_a_grid_is_better),
        cmocka_unit_test(test_outliers_hide_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Range method mse: the range whose expected squared error, rounding and clipping together, is least. */
#include <math.h>

#include "calibrate/range.h"

enum { SHRINKS = 24, ROUNDS = 3 };

typedef struct search {
    const tare_profile *profile;
    const tare_range_request *request;
    float lo, hi;
    double error;
} search;

static void try_range(search *s, float lo, float hi) {
    double error = tare_profile_error(s->profile, s->request, lo, hi, tare_clip_weight, s->error);
    if (error < s->error) s->lo = lo, s->hi = hi, s->error = error;
}

/* Behind a curve that flattens, one end may go far in while the other stays. */
static void try_ends(search *s, float low, float high) {
    float shrink = 1;
    for (int i = 0; i < SHRINKS * 2; i++) {
        shrink *= 0.9f;
        try_range(s, low * shrink, high);
        try_range(s, low, high * shrink);
    }
}

/* First both ends together in steps of 1/16 of a binade, then each end by itself around the best, ever finer. */
static void choose(const tare_range *range, const tare_range_request *request, float *lo, float *hi) {
    tare_profile profile;
    tare_profile_make(&profile, range, request);
    const float low = range->min < 0 ? range->min : 0, high = range->max > 0 ? range->max : 0;
    search s = { .profile = &profile, .request = request, .lo = low, .hi = high };
    s.error = tare_profile_error(&profile, request, low, high, tare_clip_weight, INFINITY);
    float shrink = 1;
    for (int i = 0; i < SHRINKS; i++) {
        shrink *= 0.93f;
        try_range(&s, low * shrink, high * shrink);
    }
    if (request->curve) try_ends(&s, low, high);
    float step = 0.2f;
    for (int round = 0; round < ROUNDS; round++, step /= 3) {
        const float steps[] = { 1 - 2 * step, 1 - step, 1 + step, 1 + 2 * step };
        for (int end = 0; end < 2; end++) {
            const float at_lo = s.lo, at_hi = s.hi;
            for (int i = 0; i < 4; i++) {
                float new_lo = end ? at_lo : at_lo * steps[i], new_hi = end ? at_hi * steps[i] : at_hi;
                try_range(&s, new_lo < low ? low : new_lo, new_hi > high ? high : new_hi);
            }
        }
    }
    *lo = s.lo;
    *hi = s.hi;
}

const tare_method tare_method_mse = {
    .name = "mse",
    .origin = TARE_ORIGIN_MSE,
    .choose = choose,
};

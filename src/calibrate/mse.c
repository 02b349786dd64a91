/* Range method mse: the range whose expected squared error, rounding and clipping together, is least. */
#include <math.h>

#include "calibrate/range.h"
#include "calibrate/search.h"

typedef struct candidates {
    tare_profile profile;
    const tare_range_request *request;
} candidates;

static double cost(const void *context, float lo, float hi, double enough) {
    const candidates *c = context;
    return tare_profile_error(&c->profile, c->request, lo, hi, tare_clip_weight, enough);
}

enum { SHRINKS = 24, ROUNDS = 3 };

/* Behind a curve that flattens, one end may go far in while the other stays. */
static void try_ends(tare_search *s) {
    float shrink = 1;
    for (int i = 0; i < SHRINKS * 2; i++) {
        shrink *= 0.9f;
        tare_search_try(s, s->low * shrink, s->high);
        tare_search_try(s, s->low, s->high * shrink);
    }
}

/* Where no number lies far off: first both ends together in steps of a tenth of a binade, then each end by itself around the
 * best, ever finer. */
static void search_near(tare_search *s, bool has_curve) {
    float shrink = 1;
    for (int i = 0; i < SHRINKS; i++) {
        shrink *= 0.93f;
        tare_search_try(s, s->low * shrink, s->high * shrink);
    }
    if (has_curve) try_ends(s);
    float step = 0.2f;
    for (int round = 0; round < ROUNDS; round++, step /= 3) {
        const float steps[] = { 1 - 2 * step, 1 - step, 1 + step, 1 + 2 * step };
        for (int end = 0; end < 2; end++) {
            const float at_lo = s->lo, at_hi = s->hi;
            for (int i = 0; i < 4; i++)
                tare_search_try(s, end ? at_lo : at_lo * steps[i], end ? at_hi * steps[i] : at_hi);
        }
    }
}

/* The far look must find a range that is better by this factor. The number was set by trial on the models of docs/accuracy.md,
 * where taking all that costs a little less did harm: the cost is a stand-in for what a model loses, and not that exact. */
static const double clearly_better = 1.045;

static void search_far(tare_search *near, float lo, float hi) {
    tare_search far = *near;
    far.lo = lo, far.hi = hi;
    far.least = far.cost(far.context, lo, hi, INFINITY);
    if (far.least >= near->least) return;
    tare_search_refine(&far);
    if (far.least * clearly_better < near->least) *near = far;
}

static void choose(const tare_range *range, const tare_range_request *request, float *lo, float *hi) {
    candidates c = { .request = request };
    tare_search s = { .cost = cost,
                      .context = &c,
                      .low = range->min < 0 ? range->min : 0,
                      .high = range->max > 0 ? range->max : 0,
                      .is_symmetric = request->symmetric };
    tare_profile_make(&c.profile, range, request, true); /* costs little */
    tare_search_begin(&s);
    tare_search_sweep(&s);
    const float far_lo = s.lo, far_hi = s.hi;
    tare_profile_make(&c.profile, range, request, false);
    tare_search_begin(&s);
    search_near(&s, request->curve != NULL);
    search_far(&s, far_lo, far_hi);
    *lo = s.lo;
    *hi = s.hi;
}

const tare_method tare_method_mse = {
    .name = "mse",
    .origin = TARE_ORIGIN_MSE,
    .choose = choose,
};

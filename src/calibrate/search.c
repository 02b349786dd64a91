/* Searching the best range. Costs fall and rise slowly with the ends, since rounding grows with the square of a range's
 * width and clipping with that of what is left outside; but where steps become as wide as most numbers are far from zero,
 * they fall again. So the sweep leaves out no magnitude, however far away one number lies, in coarse steps; and numbers that
 * crowd at one place (a SiLU's lowest) make many small valleys, each where a code lies there, which the refining scans. */
#include "calibrate/search.h"

#include <math.h>

enum { STEPS_MAX = 160 }; /* of a sweep: 40 binades, further than any f32 that codes can still hold beside it */
static const double step_inward = 0.840896415253714543; /* 2^(-1/4) */
/* An end that is nearer to zero than this share of the other has no code of its own. */
static const double least_share = 0x1p-16;
enum { LEVELS = 4, MOVES_MAX = 8 }; /* the last of refining: steps by half of the level before, and how many on each */

bool tare_search_try(tare_search *s, float lo, float hi) {
    if (s->is_symmetric) hi = hi > -lo ? hi : -lo, lo = -hi;
    lo = lo < s->low ? s->low : lo, hi = hi > s->high ? s->high : hi;
    if (lo == s->lo && hi == s->hi) return true;
    const double cost = s->cost(s->context, lo, hi, s->least);
    if (cost < s->least) s->lo = lo, s->hi = hi, s->least = cost;
    return !isinf(cost);
}

void tare_search_begin(tare_search *s) {
    s->lo = s->low, s->hi = s->high;
    s->least = INFINITY;
    s->least = s->cost(s->context, s->lo, s->hi, s->least);
}

static bool is_two_ended(const tare_search *s) { return !s->is_symmetric && s->low < 0 && s->high > 0; }

enum { LOW_END = 1, HIGH_END = 2 };

/* Ends moved inward from what was seen: both, or one of them while the other stays at the best. */
static void sweep(tare_search *s, int ends) {
    const float at_lo = s->lo, at_hi = s->hi;
    const double low = -(double)s->low, high = (double)s->high;
    double reach = ends == LOW_END || (ends & LOW_END && low > high) ? low : high;
    const double other = ends == LOW_END ? (double)at_hi : ends == HIGH_END ? -(double)at_lo : 0;
    for (int i = 0; i < STEPS_MAX && reach > other * least_share; i++, reach *= step_inward) {
        const float lo = ends & LOW_END ? (float)-reach : at_lo, hi = ends & HIGH_END ? (float)reach : at_hi;
        if (!tare_search_try(s, lo, hi)) return;
    }
    if (other > 0) tare_search_try(s, ends & LOW_END ? 0 : at_lo, ends & HIGH_END ? 0 : at_hi);
}

void tare_search_sweep(tare_search *s) {
    sweep(s, LOW_END | HIGH_END);
    for (double before = INFINITY; is_two_ended(s) && s->least < before;) {
        before = s->least;
        sweep(s, HIGH_END);
        sweep(s, LOW_END);
    }
}

/* A step each way of one end or both; the ends lie closer or wider then, or elsewhere. */
static void move(tare_search *s, double low_by, double high_by) {
    const double lo = (double)s->lo, hi = (double)s->hi;
    for (int way = 1; way >= -1; way -= 2) {
        const double new_lo = lo + way * low_by, new_hi = hi + way * high_by;
        tare_search_try(s, new_lo < 0 ? (float)new_lo : 0, new_hi > 0 ? (float)new_hi : 0);
    }
}

/* Where scales are powers of two, a range of one width may lie better elsewhere though every wider one costs more. */
static void move_all(tare_search *s, double by) {
    move(s, by * (double)s->lo, by * (double)s->hi);
    if (!is_two_ended(s)) return;
    move(s, 0, by * (double)s->hi);
    move(s, by * (double)s->lo, 0);
    const double shift = by * ((double)s->hi - (double)s->lo);
    move(s, shift, shift);
}

/* One end or both times a factor, from the first to the last. */
static void scan(tare_search *s, int ends, double factor, double last, double step) {
    const double lo = (double)s->lo, hi = (double)s->hi;
    for (; factor < last; factor *= step)
        tare_search_try(s, (float)(ends & LOW_END ? lo * factor : lo), (float)(ends & HIGH_END ? hi * factor : hi));
}

void tare_search_refine(tare_search *s) {
    scan(s, LOW_END | HIGH_END, 0.5, 1.5, is_two_ended(s) ? 1.03 : 1.015);
    if (is_two_ended(s)) scan(s, -s->lo > s->hi ? LOW_END : HIGH_END, 0.7, 1.4, 1.015);
    double by = 0.04;
    for (int level = 0; level < LEVELS; level++, by /= 2) {
        double before = INFINITY;
        for (int i = 0; i < MOVES_MAX && s->least < before; i++) {
            before = s->least;
            move_all(s, by);
        }
    }
}

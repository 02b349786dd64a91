/* What a range costs: expected squared errors from the counts. Numbers are taken as spread evenly within a stretch of the
 * real line, and the error is integrated exactly. */
#include <math.h>

#include "calibrate/range.h"

/* Below the top binades, where stretches are much narrower than a step, eight bins are taken together. */
enum { FINE_BINADES = 7, MIDDLE_BINADES = 24, COARSE_BINS = 8 };

/* One stretch: the count and edges of a bin, or of some, cut to the numbers' own extremes. */
static void add_stretch(tare_profile *p, const tare_range *range, int sign, double low, double high, double count) {
    if (sign) {
        double swap = -low;
        low = -high, high = swap;
    }
    if (low < (double)range->min) low = (double)range->min;
    if (high > (double)range->max) high = (double)range->max;
    if (high < low) high = low;
    p->stretch[p->count++] =
        (tare_stretch){ .low = low, .high = high, .count = count, .density = high > low ? count / (high - low) : 0 };
    p->total += count;
}

/* The curve's slope over a stretch, from its ends, and its value in the middle. */
static void see_curve(tare_stretch *t, const tare_range_request *request) {
    const double middle = (t->low + t->high) / 2, step = fmax((t->high - t->low) / 2, fabs(middle) * 0x1p-20 + 0x1p-60);
    const double below = request->curve(request->curve_attrs, middle - step),
                 above = request->curve(request->curve_attrs, middle + step);
    t->slope = (above - below) / (2 * step);
    t->behind = request->curve(request->curve_attrs, middle);
}

/* From the far end inward, `step` bins together. */
static void add_page(tare_profile *p, const tare_range *range, int binade, int step) {
    const uint64_t *page = range->page[binade];
    for (int bin = TARE_RANGE_BINS - step; page && bin >= 0; bin -= step) {
        double count = 0;
        for (int i = 0; i < step; i++) count += (double)page[bin + i];
        if (count > 0)
            add_stretch(p, range, binade >> 8, tare_bin_edge(binade, bin), tare_bin_edge(binade, bin + step), count);
    }
}

void tare_profile_make(tare_profile *p, const tare_range *range, const tare_range_request *request, bool is_coarse) {
    p->count = 0, p->total = 0;
    const double reach = fmax(fabs((double)range->min), fabs((double)range->max));
    const int top = ilogb(reach > 0 ? reach : 1) + 127, fine = is_coarse ? top : top - FINE_BINADES;
    for (int sign = 0; sign < 2; sign++) {
        p->first[sign] = p->count;
        for (int exponent = 254; exponent >= 0; exponent--)
            add_page(p, range, sign * 256 + exponent,
                     exponent > fine                   ? 1
                     : exponent > top - MIDDLE_BINADES ? COARSE_BINS
                                                       : TARE_RANGE_BINS);
    }
    for (size_t i = 0; request && request->curve && i < p->count; i++) see_curve(&p->stretch[i], request);
}

/* Codes, and what a squared clipping error counts beside a squared rounding error. */
typedef struct grid {
    double step, per_step, whole; /* s, 1 / s, s^3 / 12 */
    double lo, hi, clip_weight;
} grid;

static inline double cube(double x) { return x * x * x; }

/* Not rint(), which looks at what is larger than any number of steps. */
static inline double nearest(double x) { return x + 0x1.8p52 - 0x1.8p52; }

/* ∫ from 0 to x of the squared distance to the nearest multiple of s: n whole steps give n s^3 / 12, the rest r^3 / 3. At a
 * tie both n are right. */
static inline double rounding(double x, const grid *g) {
    const double n = nearest(x * g->per_step), r = x - n * g->step;
    return n * g->whole + cube(r) * (1.0 / 3);
}

/* ∫ over [a, b] of the squared error. */
static double integral(double a, double b, const grid *g) {
    const double lo = g->lo, hi = g->hi;
    double sum = 0;
    if (a < lo) sum += g->clip_weight * (cube(lo - a) - cube(tare_most(lo - b, 0))) / 3;
    if (b > hi) sum += g->clip_weight * (cube(b - hi) - cube(tare_most(a - hi, 0))) / 3;
    const double inner_a = tare_least(tare_most(a, lo), hi), inner_b = tare_least(tare_most(b, lo), hi);
    if (inner_b > inner_a) sum += rounding(inner_b, g) - rounding(inner_a, g);
    return sum;
}

static double point_error(double x, const grid *g) {
    const double inside = tare_least(tare_most(x, g->lo), g->hi), rounded = rint(inside / g->step) * g->step;
    const double e = x - tare_least(tare_most(rounded, g->lo), g->hi);
    return (x < g->lo || x > g->hi ? g->clip_weight : 1) * e * e;
}

static double plain_error(const tare_stretch *t, const grid *g) {
    return t->high > t->low ? t->density * integral(t->low, t->high, g) : t->count * point_error(t->low, g);
}

/* What the errors of a candidate add up to. */
typedef struct tally {
    const tare_range_request *request;
    grid grid;
    double ends[2]; /* behind the curve */
    double most;    /* it need not be added up further */
    double errors;
} tally;

static bool is_outside(const tare_stretch *t, const grid *g) {
    const double middle = (t->low + t->high) / 2;
    return middle < g->lo || middle > g->hi;
}

/* Behind the curve: a rounding error times the slope, a clipping error as the curve makes it of the ends. */
static double error_of(const tare_stretch *t, const tally *s) {
    if (!s->request->curve) return plain_error(t, &s->grid);
    if (!is_outside(t, &s->grid)) return plain_error(t, &s->grid) * t->slope * t->slope;
    const double apart = t->behind - s->ends[t->low >= 0];
    return t->count * s->grid.clip_weight * apart * apart;
}

/* Of one sign, from the far end: what is outside, until it is too much. Returns where the rest begins. */
static size_t add_outside(tally *s, const tare_profile *p, size_t first, size_t end) {
    for (; first < end && is_outside(&p->stretch[first], &s->grid) && !(s->errors > s->most); first++)
        s->errors += error_of(&p->stretch[first], s);
    return first;
}

/* The rest. Most stretches begin where the one before ended. */
static void add_inside(tally *s, const tare_profile *p, size_t first, size_t end) {
    const grid g = s->grid;
    const bool has_curve = s->request->curve != NULL;
    double errors = s->errors, edge = INFINITY, at_edge = 0;
    for (; first < end && !(errors > s->most); first++) {
        const tare_stretch *t = &p->stretch[first];
        const bool is_point = !(t->high > t->low);
        if (is_point || t->high > g.hi || t->low < g.lo) {
            errors += error_of(t, s);
            continue;
        }
        const double far = first >= p->first[1] ? t->low : t->high, near = first >= p->first[1] ? t->high : t->low;
        const double at_far = far == edge ? at_edge : rounding(far, &g);
        edge = near, at_edge = rounding(near, &g);
        const double error = t->density * fabs(at_far - at_edge);
        errors += has_curve ? error * t->slope * t->slope : error;
    }
    s->errors = errors;
}

static tally begin_tally(const tare_range_request *request, float lo, float hi, double clip_weight, double most) {
    float scale;
    int32_t zero_point;
    tare_scale_from_range(lo, hi, request->code, request->symmetric, request->power_of_two, &scale, &zero_point);
    const double s = (double)scale;
    const grid g = { .step = s,
                     .per_step = 1 / s,
                     .whole = s * s * s / 12,
                     .lo = s * (tare_dtype_lowest(request->code) - zero_point),
                     .hi = s * (tare_dtype_highest(request->code) - zero_point),
                     .clip_weight = clip_weight };
    tally begun = { .request = request, .grid = g, .most = most };
    if (request->curve) {
        begun.ends[0] = request->curve(request->curve_attrs, g.lo);
        begun.ends[1] = request->curve(request->curve_attrs, g.hi);
    }
    return begun;
}

double tare_profile_error(const tare_profile *p, const tare_range_request *request, float lo, float hi,
                          double clip_weight, double enough) {
    if (!(p->total > 0)) return 0;
    tally s = begin_tally(request, lo, hi, clip_weight, enough * p->total);
    const size_t negative = p->first[1];
    const size_t inside[2] = { add_outside(&s, p, 0, negative), add_outside(&s, p, negative, p->count) };
    /* A narrower range clips more, if not a power of two makes it as wide elsewhere, or a curve less of it. */
    const bool is_monotone = !request->curve && (request->symmetric || !request->power_of_two);
    if (s.errors > s.most && is_monotone) return INFINITY;
    add_inside(&s, p, inside[0], negative);
    add_inside(&s, p, inside[1], p->count);
    return s.errors / p->total;
}

double tare_range_error(const tare_range *range, const tare_range_request *request, float lo, float hi,
                        double clip_weight) {
    tare_profile profile;
    tare_profile_make(&profile, range, request, false);
    return tare_profile_error(&profile, request, lo, hi, clip_weight, INFINITY);
}

double tare_range_power(const tare_range *range) {
    tare_profile p;
    tare_profile_make(&p, range, NULL, false);
    double sum = 0;
    for (size_t i = 0; i < p.count; i++) {
        const tare_stretch *t = &p.stretch[i];
        sum += t->count * (t->low * t->low + t->low * t->high + t->high * t->high) / 3;
    }
    return p.total > 0 ? sum / p.total : 0;
}

double tare_range_share_outside(const tare_range *range, float lo, float hi) {
    tare_profile p;
    tare_profile_make(&p, range, NULL, false);
    double outside = 0;
    for (size_t i = 0; i < p.count; i++) {
        const tare_stretch *t = &p.stretch[i];
        double length = t->high - t->low, below = fmin(t->high, (double)lo) - t->low,
               above = t->high - fmax(t->low, (double)hi);
        if (length > 0)
            outside += t->count * (fmax(below, 0) + fmax(above, 0)) / length;
        else
            outside += t->low < (double)lo || t->low > (double)hi ? t->count : 0;
    }
    return p.total > 0 ? outside / p.total : 0;
}

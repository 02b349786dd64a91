/* Range method entropy: the range with the least KL divergence of what was counted, numbers outside moved to the outer
 * codes, from what quantizing the numbers inside gives: each code's spread evenly over the places that get this code. */
#include <math.h>
#include <sleef.h>

#include "calibrate/range.h"
#include "calibrate/search.h"

/* Bins taken together, an eighth of a binade: what is finer is a net's own constants, and chance. */
enum { STRETCH_BINS = 16 };
/* From the top: what lies further below is as good as zero beside any candidate. */
enum { BINADES = 32 };
/* Candidates do not leave more numbers outside than this. */
static const double outside_most = 1.0 / 16;
/* Numbers nearer to zero than this share of the mean magnitude, about half a step, are as good as zero, which has a code of
 * its own in every candidate: neither says anything about the range. Counted, they would drown all else behind a Relu. */
static const double near_zero = 1.0 / 64;

/* A part of the line where numbers were met, taken as spread evenly; what lies between two is empty. */
typedef struct stretch {
    double low, high, count;
    double width;       /* of the bins, where the extremes end them sooner: a number that all stop at is no peak */
    double log_density; /* of count / width */
    double slope;       /* of the log density, from its neighbours */
} stretch;

typedef struct counted {
    double reach[2]; /* the largest positive number, and minus the lowest negative one */
    double total;
    size_t count;
    stretch at[2 * BINADES * TARE_RANGE_BINS / STRETCH_BINS];
} counted;

static double mean_magnitude(const tare_range *range) {
    double sum = 0, total = 0;
    for (int binade = 0; binade < TARE_RANGE_BINADES; binade++)
        for (int bin = binade & 255 ? 0 : 1; range->page[binade] && bin < TARE_RANGE_BINS; bin++) {
            const double count = (double)range->page[binade][bin];
            sum += count * (tare_bin_edge(binade, bin) + tare_bin_edge(binade, bin + 1)) / 2;
            total += count;
        }
    return total > 0 ? sum / total : 0;
}

static void add_stretch(counted *c, int sign, double low, double high, double count) {
    const double width = high - low, last = tare_most(tare_least(high, c->reach[sign]), low);
    c->at[c->count++] = (stretch){ .low = sign ? -last : low,
                                   .high = sign ? -low : last,
                                   .count = count,
                                   .width = width,
                                   .log_density = Sleef_cinz_logd1_u10purec(count / width) };
    c->total += count;
}

static void add_page(counted *c, const uint64_t *page, int binade, double least) {
    for (int bin = 0; bin < TARE_RANGE_BINS; bin += STRETCH_BINS) {
        const double low = tare_bin_edge(binade, bin), high = tare_bin_edge(binade, bin + STRETCH_BINS);
        double count = 0;
        for (int i = 0; i < STRETCH_BINS; i++) count += (double)page[bin + i];
        if (count > 0 && low >= least) add_stretch(c, binade >> 8, low, high, count);
    }
}

static void reverse(stretch *at, size_t count) {
    for (size_t i = 0; i + 1 < count; i++) {
        const stretch swap = at[i];
        at[i] = at[--count];
        at[count] = swap;
    }
}

static void see_slopes(counted *c) {
    for (size_t i = 0; i < c->count; i++) {
        const stretch *below = &c->at[i > 0 ? i - 1 : i], *above = &c->at[i + 1 < c->count ? i + 1 : i];
        const double apart = (above->low + above->high - below->low - below->high) / 2;
        if (apart > 0) c->at[i].slope = (above->log_density - below->log_density) / apart;
    }
}

/* From the lowest stretch to the highest. */
static void make_counted(counted *c, const tare_range *range) {
    c->reach[0] = tare_most((double)range->max, 0), c->reach[1] = tare_most(-(double)range->min, 0);
    const double reach = tare_most(c->reach[0], c->reach[1]);
    const int top = ilogb(reach > 0 ? reach : 1) + 127, bottom = top - BINADES + 1;
    const double least = tare_most(mean_magnitude(range) * near_zero, tare_bin_edge(0, 1));
    c->count = 0, c->total = 0;
    for (int sign = 1; sign >= 0; sign--) {
        for (int exponent = bottom > 0 ? bottom : 0; exponent <= top && exponent < 255; exponent++) {
            const int binade = sign * 256 + exponent;
            if (range->page[binade]) add_page(c, range->page[binade], binade, least);
        }
        if (sign) reverse(c->at, c->count);
    }
    see_slopes(c);
}

/* The codes of a candidate: in steps from zero, and in real numbers. */
typedef struct codes {
    double step, lowest, highest;
    double low, high; /* what is outside gets an outer code from further away than half a step */
} codes;

/* What came together under one code so far. */
typedef struct cell {
    double code;
    double count, width, information; /* Σ count, Σ width, Σ count * log density */
    double shares, weighed;           /* Σ share of its stretch, Σ share * count */
    double bent;                      /* Σ count * slope² */
    bool has_whole;                   /* stretch in it */
} cell;

static void add_part(cell *to, const stretch *s, double share) {
    const double count = s->count * share;
    to->count += count;
    to->width += s->width * share;
    to->information += count * s->log_density;
    to->shares += share;
    to->weighed += share * count;
    to->bent += count * s->slope * s->slope;
    to->has_whole |= share == 1;
}

/* What the code loses, Σ n log(n / w) - N log(N / W) over its parts, less what chance alone would make of it: densities from
 * n numbers vary by 1 / n, and half their variance within the cell is lost. Where stretches are wider than steps s, by
 * the slope b of the log density: N b² s² / 24. */
static double close_cell(const cell *c, double step) {
    if (!(c->count > 0)) return 0;
    if (!c->has_whole) return c->bent * step * step / 24;
    const double lost = c->information - c->count * Sleef_cinz_logd1_u10purec(c->count / c->width);
    return lost - (c->shares - c->weighed / c->count) / 2;
}

static double share_of(const stretch *s, double from, double to) {
    const double low = tare_most(s->low, from), high = tare_least(s->high, to);
    if (s->high > s->low) return high > low ? (high - low) / (s->high - s->low) : 0;
    return low <= high ? 1 : 0;
}

static double code_of(double real, const codes *k) {
    return tare_least(tare_most(floor(real / k->step + 0.5), k->lowest), k->highest);
}

/* The part of a stretch that is inside, cell by cell. */
static double walk_stretch(cell *open, const stretch *s, const codes *k) {
    const double first = code_of(s->low, k), last = code_of(s->high, k);
    double lost = 0;
    if (first > open->code) {
        lost += close_cell(open, k->step);
        *open = (cell){ .code = first };
    }
    add_part(open, s, share_of(s, k->low, tare_least((first + 0.5) * k->step, k->high)));
    if (last == first) return lost;
    lost += close_cell(open, k->step);
    const double between = (last - first - 1) * k->step / (s->high - s->low);
    if (between > 0) lost += s->count * between * s->slope * s->slope * k->step * k->step / 24;
    *open = (cell){ .code = last };
    add_part(open, s, share_of(s, (last - 0.5) * k->step, k->high));
    return lost;
}

/* Numbers outside (o) stand with the n of the outer code, but quantizing what is inside tells only of these:
 * Σ (n + o) log((n + o) / n) + N log(1 - Σ o / N). Half a number is added to n: an empty cell is not an impossible one. */
static double clipping(const counted *c, const codes *k) {
    double outside[2] = { 0 }, outer[2] = { 0 }, lost = 0;
    for (size_t i = 0; i < c->count && c->at[i].low < k->low + k->step; i++) {
        outside[0] += c->at[i].count * share_of(&c->at[i], -INFINITY, k->low);
        outer[0] += c->at[i].count * share_of(&c->at[i], k->low, k->low + k->step);
    }
    for (size_t i = c->count; i > 0 && c->at[i - 1].high > k->high - k->step; i--) {
        outside[1] += c->at[i - 1].count * share_of(&c->at[i - 1], k->high, INFINITY);
        outer[1] += c->at[i - 1].count * share_of(&c->at[i - 1], k->high - k->step, k->high);
    }
    for (int side = 0; side < 2; side++) {
        const double n = outer[side] + 0.5, o = outside[side];
        if (o > 0) lost += (n + o) * Sleef_cinz_logd1_u10purec((n + o) / n);
    }
    const double share = tare_most(1 - (outside[0] + outside[1]) / c->total, 0x1p-60);
    return share < 1 ? lost + c->total * Sleef_cinz_logd1_u10purec(share) : lost;
}

/* In nats a number. */
static double divergence(const counted *c, const tare_range_request *request, float lo, float hi) {
    float scale;
    int32_t zero_point;
    if (!(c->total > 0)) return 0;
    tare_scale_from_range(lo, hi, request->code, request->symmetric, request->power_of_two, &scale, &zero_point);
    codes k = { .step = (double)scale,
                .lowest = tare_dtype_lowest(request->code) - zero_point,
                .highest = tare_dtype_highest(request->code) - zero_point };
    k.low = (k.lowest - 0.5) * k.step, k.high = (k.highest + 0.5) * k.step;
    cell open = { .code = k.lowest };
    double lost = clipping(c, &k);
    for (size_t i = 0; i < c->count; i++)
        if (c->at[i].high >= k.low && c->at[i].low <= k.high) lost += walk_stretch(&open, &c->at[i], &k);
    lost += close_cell(&open, k.step);
    return lost / c->total;
}

double tare_range_divergence(const tare_range *range, const tare_range_request *request, float lo, float hi) {
    counted c;
    make_counted(&c, range);
    return divergence(&c, request, lo, hi);
}

/* Numbers below lo and above hi. */
static double outside(const counted *c, double lo, double hi) {
    double sum = 0;
    for (size_t i = 0; i < c->count && c->at[i].low < lo; i++)
        sum += c->at[i].count * share_of(&c->at[i], -INFINITY, lo);
    for (size_t i = c->count; i > 0 && c->at[i - 1].high > hi; i--)
        sum += c->at[i - 1].count * share_of(&c->at[i - 1], hi, INFINITY);
    return sum;
}

typedef struct candidates {
    counted counted;
    const tare_range_request *request;
} candidates;

static double cost(const void *context, float lo, float hi, double enough) {
    const candidates *c = context;
    (void)enough;
    if (outside(&c->counted, (double)lo, (double)hi) > outside_most * c->counted.total) return INFINITY;
    return divergence(&c->counted, c->request, lo, hi);
}

static void choose(const tare_range *range, const tare_range_request *request, float *lo, float *hi) {
    candidates c = { .request = request };
    tare_search s = { .cost = cost,
                      .context = &c,
                      .low = range->min < 0 ? range->min : 0,
                      .high = range->max > 0 ? range->max : 0,
                      .is_symmetric = request->symmetric };
    make_counted(&c.counted, range);
    tare_search_begin(&s);
    tare_search_sweep(&s);
    tare_search_refine(&s);
    *lo = s.lo;
    *hi = s.hi;
}

const tare_method tare_method_entropy = {
    .name = "entropy",
    .origin = TARE_ORIGIN_ENTROPY,
    .choose = choose,
};

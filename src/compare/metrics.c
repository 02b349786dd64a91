/* The metrics' sums. All in f64; the order in which a tensor's numbers are added depends on its shape only. */
#include "compare/metrics.h"

#include <math.h>
#include <sleef.h>
#include <string.h>

enum {
    LANES = 8,
    PIECE = 1024 /* numbers read as f64 at a time */
};

double tare_sqnr_db(double signal, double noise) {
    if (noise == 0) return INFINITY;
    if (signal == 0) return -INFINITY;
    return 10 * Sleef_cinz_log10d1_u10purec(signal / noise);
}

/* ---- one tensor ---- */

static void read_f64(double *to, const tare_tensor *from, size_t start, size_t count) {
    if (from->dtype == TARE_F32) {
        const float *numbers = (const float *)from->data + start;
        for (size_t i = 0; i < count; i++) to[i] = (double)numbers[i];
        return;
    }
    for (size_t i = 0; i < count; i++) to[i] = tare_dtype_f64_at(from->dtype, from->data, start + i);
}

static void add_one(tare_sums *sums, double a, double b) {
    double d = b - a, size = fabs(d);
    sums->aa += a * a;
    sums->bb += b * b;
    sums->ab += a * b;
    sums->dd += d * d;
    sums->ad += size;
    sums->max = size > sums->max ? size : sums->max;
}

static void add_sums(tare_sums *to, const tare_sums *from) {
    to->aa += from->aa;
    to->bb += from->bb;
    to->ab += from->ab;
    to->dd += from->dd;
    to->ad += from->ad;
    to->max = from->max > to->max ? from->max : to->max;
}

/* A run of numbers: lane j takes j, j + 8, … of whole rows of lanes, the rest goes one by one. */
static void add_run(tare_sums *sums, const double *a, const double *b, size_t count) {
    double aa[LANES] = { 0 }, bb[LANES] = { 0 }, ab[LANES] = { 0 }, dd[LANES] = { 0 }, ad[LANES] = { 0 };
    double max[LANES] = { 0 };
    size_t whole = count / LANES * LANES;
    for (size_t i = 0; i < whole; i += LANES) {
        for (size_t j = 0; j < LANES; j++) {
            double x = a[i + j], y = b[i + j], d = y - x, size = fabs(d);
            aa[j] += x * x;
            bb[j] += y * y;
            ab[j] += x * y;
            dd[j] += d * d;
            ad[j] += size;
            max[j] = size > max[j] ? size : max[j];
        }
    }
    for (size_t j = 0; whole && j < LANES; j++) {
        const tare_sums lane = { aa[j], bb[j], ab[j], dd[j], ad[j], max[j] };
        add_sums(sums, &lane);
    }
    for (size_t i = whole; i < count; i++) add_one(sums, a[i], b[i]);
}

/* Numbers lie channel after channel, `inner` of each in a row, again and again. */
static void add_tensor(tare_tally *tally, const tare_tensor *a, const tare_tensor *b, size_t inner) {
    double x[PIECE], y[PIECE];
    size_t channel = 0, left = inner;
    for (size_t start = 0, piece; start < tally->count; start += piece) {
        piece = tally->count - start < PIECE ? tally->count - start : PIECE;
        read_f64(x, a, start, piece);
        read_f64(y, b, start, piece);
        for (size_t i = 0, run; i < piece; i += run) {
            run = piece - i < left ? piece - i : left;
            if (run == 1)
                add_one(&tally->channel[channel], x[i], y[i]);
            else
                add_run(&tally->channel[channel], x + i, y + i, run);
            left -= run;
            if (left) continue;
            left = inner;
            channel = channel + 1 == tally->channels ? 0 : channel + 1;
        }
    }
    for (size_t c = 0; c < tally->channels; c++) add_sums(&tally->all, &tally->channel[c]);
}

static uint64_t count_nonfinite(const tare_tensor *a, const tare_tensor *b, uint64_t count) {
    uint64_t bad = 0;
    for (size_t i = 0; i < count; i++)
        bad += !isfinite(tare_dtype_f64_at(a->dtype, a->data, i)) || !isfinite(tare_dtype_f64_at(b->dtype, b->data, i));
    return bad;
}

/* ---- the largest ---- */

enum { LANE_PLACES = 64 };

/* Which of `length` numbers is the largest, at `places` neighbouring places; the first of equals. */
static void find_largest(size_t best[LANE_PLACES], const tare_tensor *tensor, size_t start, size_t places, size_t step,
                         size_t length) {
    double most[LANE_PLACES], row[LANE_PLACES];
    read_f64(most, tensor, start, places);
    memset(best, 0, places * sizeof *best);
    for (size_t i = 1; i < length; i++) {
        read_f64(row, tensor, start + i * step, places);
        for (size_t p = 0; p < places; p++) {
            if (!(row[p] > most[p])) continue;
            best[p] = i;
            most[p] = row[p];
        }
    }
}

static void count_top1(tare_tally *tally, const tare_tensor *a, const tare_tensor *b) {
    const tare_shape *shape = &a->shape;
    if (!shape->rank || !tally->count) return;
    int axis = shape->rank >= 4 ? 1 : shape->rank - 1;
    size_t length = (size_t)shape->dim[axis], inner = (size_t)tare_shape_product(shape, axis + 1, shape->rank);
    if (length < 2) return;
    tally->places = tally->count / length;
    for (size_t p = 0, some; p < tally->places; p += some) {
        size_t best[2][LANE_PLACES], left = inner - p % inner, start = p / inner * length * inner + p % inner;
        some = left < LANE_PLACES ? left : LANE_PLACES;
        find_largest(best[0], a, start, some, inner, length);
        find_largest(best[1], b, start, some, inner, length);
        for (size_t i = 0; i < some; i++) tally->same += best[0][i] == best[1][i];
    }
}

void tare_tally_clear(tare_tally *tally) {
    *tally = (tare_tally){ .capacity = tally->capacity, .channel = tally->channel };
}

tare_status tare_tally_set(tare_tally *tally, const tare_tensor *a, const tare_tensor *b, bool wants_top1,
                           tare_arena *arena, tare_error *err) {
    const tare_shape *shape = &a->shape;
    bool has_channels = shape->rank > 1 && shape->dim[1] > 1;
    size_t channels = has_channels ? (size_t)shape->dim[1] : 1, capacity = tally->capacity;
    tare_sums *room = tally->channel;
    if (channels > capacity) {
        room = tare_arena_alloc_raw(arena, channels, sizeof *room);
        if (!room) return tare_fail_memory(err, channels * sizeof *room);
        capacity = channels;
    }
    tally->is_set = true;
    tally->is_class = tare_output_is_class(TARE_CLASS_BY_SHAPE, shape);
    tally->count = (uint64_t)tare_shape_elements(shape);
    tally->channels = channels;
    tally->capacity = capacity;
    tally->channel = room;
    memset(room, 0, channels * sizeof *room);
    size_t inner = has_channels ? (size_t)tare_shape_product(shape, 2, shape->rank) : tally->count;
    if (tally->count) add_tensor(tally, a, b, inner);
    if (!isfinite(tally->all.aa) || !isfinite(tally->all.bb)) tally->nonfinite = count_nonfinite(a, b, tally->count);
    if (wants_top1) count_top1(tally, a, b);
    return TARE_OK;
}

/* ---- codes ---- */

uint64_t tare_codes_count(const tare_quant *quant) {
    return (uint64_t)((int64_t)tare_dtype_highest(quant->code) - tare_dtype_lowest(quant->code) + 1 -
                      (quant->narrow ? 1 : 0));
}

typedef struct grid {
    float scale;
    int32_t zero_point;
    float lo, hi; /* in steps from zero */
} grid;

static grid grid_of(const tare_quant *quant, size_t index) {
    float zero = (float)quant->zero_point[index];
    return (grid){ .scale = quant->scale[index],
                   .zero_point = quant->zero_point[index],
                   .lo = (float)(tare_dtype_lowest(quant->code) + (quant->narrow ? 1 : 0)) - zero,
                   .hi = (float)tare_dtype_highest(quant->code) - zero };
}

static void meet_run(tare_tally *tally, tare_codes_met *met, const grid *g, const float *b, const float *before,
                     size_t count) {
    int32_t lowest = tare_dtype_lowest(met->quant->code);
    for (size_t i = 0; i < count; i++) {
        float steps = rintf(b[i] / g->scale);
        steps = !(steps > g->lo) ? g->lo : steps > g->hi ? g->hi : steps;
        uint32_t code = (uint32_t)((int32_t)steps + g->zero_point - lowest);
        met->bits[code / 64] |= (uint64_t)1 << code % 64;
    }
    for (size_t i = 0; before && i < count; i++) {
        float steps = rintf(before[i] / g->scale);
        tally->low += steps < g->lo;
        tally->high += steps > g->hi;
    }
    if (before && !tally->rounded) tally->seen_min = INFINITY, tally->seen_max = -INFINITY;
    for (size_t i = 0; before && i < count; i++) {
        if (before[i] < tally->seen_min) tally->seen_min = before[i];
        if (before[i] > tally->seen_max) tally->seen_max = before[i];
    }
    if (before) tally->rounded += count;
}

void tare_tally_codes(tare_tally *tally, tare_codes_met *met, const tare_tensor *b, const tare_tensor *before) {
    const tare_quant *quant = met->quant;
    if (!quant || !met->bits || b->dtype != TARE_F32) return;
    const float *numbers = b->data, *raw = before ? before->data : NULL;
    bool is_whole = quant->axis < 0 || quant->count == 1 || quant->axis >= b->shape.rank;
    size_t channels = is_whole ? 1 : (size_t)b->shape.dim[quant->axis];
    if (!is_whole && channels != quant->count) return;
    size_t total = (size_t)tare_shape_elements(&b->shape);
    size_t inner = is_whole ? total : (size_t)tare_shape_product(&b->shape, quant->axis + 1, b->shape.rank);
    size_t runs = inner ? total / inner : 0;
    for (size_t r = 0; r < runs; r++) {
        const grid g = grid_of(quant, r % channels);
        meet_run(tally, met, &g, numbers + r * inner, raw ? raw + r * inner : NULL, inner);
    }
}

/* ---- many samples ---- */

/* cos of two vectors by their sums: both 0: 1; one of them 0: 0. */
static double cosine_of(double aa, double bb, double ab) {
    if (aa == 0 && bb == 0) return 1;
    if (aa == 0 || bb == 0) return 0;
    return ab / (sqrt(aa) * sqrt(bb));
}

static tare_status add_channels(tare_total *total, const tare_tally *tally, tare_arena *arena, tare_error *err) {
    if (!total->samples) {
        total->channels = tally->channels;
        total->channel = tare_arena_alloc(arena, total->channels, sizeof *total->channel);
        if (!total->channel) return tare_fail_memory(err, total->channels * sizeof *total->channel);
    }
    if (total->channels != tally->channels) total->channels = 1;
    for (size_t c = 0; total->channels > 1 && c < total->channels; c++) {
        total->channel[c].aa += tally->channel[c].aa;
        total->channel[c].dd += tally->channel[c].dd;
    }
    return TARE_OK;
}

tare_status tare_total_add(tare_total *total, const tare_tally *tally, const char *sample, tare_arena *arena,
                           tare_error *err) {
    const tare_sums *s = &tally->all;
    TARE_TRY(add_channels(total, tally, arena, err));
    double sqnr = tare_sqnr_db(s->aa, s->dd), cosine = cosine_of(s->aa, s->bb, s->ab), norm = sqrt(s->dd);
    if (!total->samples || sqnr < total->sqnr_worst) {
        total->sqnr_worst = sqnr;
        total->worst_sample = sample;
    }
    if (!total->samples || cosine < total->cosine_worst) total->cosine_worst = cosine;
    total->samples++;
    total->count += tally->count;
    total->nonfinite += tally->nonfinite;
    total->places += tally->places;
    total->same += tally->same;
    for (int side = 0; side < 2; side++) tare_hits_add(&total->hits[side], &tally->hits[side]);
    total->classes += tally->is_class;
    if (tally->rounded && (!total->rounded || tally->seen_min < total->seen_min)) total->seen_min = tally->seen_min;
    if (tally->rounded && (!total->rounded || tally->seen_max > total->seen_max)) total->seen_max = tally->seen_max;
    total->rounded += tally->rounded;
    total->low += tally->low;
    total->high += tally->high;
    total->aa += s->aa;
    total->bb += s->bb;
    total->dd += s->dd;
    total->max = s->max > total->max ? s->max : total->max;
    total->cosines += cosine;
    total->norms += norm;
    double n = tally->count ? (double)tally->count : 1;
    total->l1s += s->ad / n;
    total->l2s += norm / n;
    return TARE_OK;
}

static void find_worst_channel(const tare_total *total, tare_metrics *metrics) {
    metrics->worst_channel = -1;
    metrics->worst_channel_db = NAN;
    for (size_t c = 0; total->channels > 1 && c < total->channels; c++) {
        const tare_channel_total *channel = &total->channel[c];
        if (channel->aa == 0) continue; /* nothing to be wrong about */
        double db = tare_sqnr_db(channel->aa, channel->dd);
        if (metrics->worst_channel >= 0 && !(db < metrics->worst_channel_db)) continue;
        metrics->worst_channel = (int64_t)c;
        metrics->worst_channel_db = db;
    }
}

static void finish_codes(const tare_total *total, const tare_codes_met *met, tare_metrics *metrics) {
    metrics->saturated_low = metrics->saturated_high = metrics->seen_min = metrics->seen_max = NAN;
    if (!met->quant || !met->bits) return;
    metrics->codes = tare_codes_count(met->quant);
    for (size_t i = 0; i < TARE_CODES_WORDS(met->quant); i++)
        metrics->codes_used += (uint64_t)__builtin_popcountll(met->bits[i]);
    if (!total->rounded) return;
    metrics->saturated_low = (double)total->low / (double)total->rounded;
    metrics->saturated_high = (double)total->high / (double)total->rounded;
    metrics->seen_min = (double)total->seen_min;
    metrics->seen_max = (double)total->seen_max;
}

void tare_total_finish(const tare_total *total, const tare_codes_met *met, tare_metrics *metrics) {
    *metrics = (tare_metrics){ .samples = total->samples, .count = total->count, .nonfinite = total->nonfinite };
    finish_codes(total, met, metrics);
    metrics->top1 = total->places ? (double)total->same / (double)total->places : NAN;
    metrics->worst_sample = total->worst_sample;
    if (!total->count || total->nonfinite) {
        metrics->sqnr_db = metrics->cosine = metrics->cosine_worst = metrics->relative_l2 = metrics->l2_norm = NAN;
        metrics->rmse = metrics->l1 = metrics->l2 = metrics->chebyshev = metrics->sqnr_worst_db = NAN;
        metrics->worst_channel = -1;
        metrics->worst_channel_db = NAN;
        return;
    }
    double samples = (double)total->samples;
    metrics->is_exact = total->dd == 0;
    metrics->is_zero = total->aa == 0 && total->bb == 0;
    metrics->sqnr_db = tare_sqnr_db(total->aa, total->dd);
    metrics->cosine = total->cosines / samples;
    metrics->cosine_worst = total->cosine_worst;
    metrics->relative_l2 = total->dd == 0 ? 0 : sqrt(total->dd / total->aa);
    metrics->l2_norm = total->norms / samples;
    metrics->rmse = sqrt(total->dd / (double)total->count);
    metrics->l1 = total->l1s / samples;
    metrics->l2 = total->l2s / samples;
    metrics->chebyshev = total->max;
    metrics->sqnr_worst_db = total->sqnr_worst;
    find_worst_channel(total, metrics);
}

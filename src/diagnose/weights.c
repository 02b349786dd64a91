/* Checks on weights: what 8 bits make of them by rounding alone, channel by channel, before any sample is seen.
 * Symmetric codes, s = max|w| / 127: the noise is Σ(w - s·rne(w / s))², SQNR = Σw² / noise. */
#include <math.h>
#include <sleef.h>

#include "diagnose/diagnose.h"

typedef struct channel {
    double power, noise; /* Σw², Σ(w - ŵ)² */
    float most;
    size_t nonfinite;
} channel;

typedef struct weight {
    const tare_node *node;
    const tare_value *value;
    const float *numbers;
    size_t outer, channels, inner; /* numbers lie as [outer][channels][inner] */
    channel *of;
    size_t nonfinite;
} weight;

static float number_at(const weight *w, size_t c, size_t i) {
    return w->numbers[(i / w->inner * w->channels + c) * w->inner + i % w->inner];
}

static void sum_channel(weight *w, size_t c) {
    channel *ch = &w->of[c];
    const size_t count = w->outer * w->inner;
    for (size_t i = 0; i < count; i++) {
        const float number = number_at(w, c, i);
        if (!isfinite(number))
            ch->nonfinite++;
        else if (fabsf(number) > ch->most)
            ch->most = fabsf(number);
    }
    const float scale = ch->most / 127;
    for (size_t i = 0; i < count; i++) {
        const float number = number_at(w, c, i);
        if (!isfinite(number) || !(scale > 0)) continue;
        const double error = (double)(number - scale * rintf(number / scale));
        ch->power += (double)number * (double)number;
        ch->noise += error * error;
    }
    w->nonfinite += ch->nonfinite;
}

/* The constant that a product multiplies by; false: there is none. */
static tare_status take(tare_findings *f, const tare_node *node, weight *w, bool *has, tare_error *err) {
    size_t count;
    *has = false;
    if (!node->op || !node->op->quant.has_weight) return TARE_OK;
    const tare_value *value = tare_node_input(node, 1);
    if (!tare_value_is_constant(value) || !tare_dtype_is_float(value->dtype)) return TARE_OK;
    const tare_shape *shape = &value->constant->shape;
    const int axis = node->op->quant.weight_axis ? node->op->quant.weight_axis(node) : -1;
    const bool has_axis = axis >= 0 && axis < shape->rank;
    *w = (weight){ .node = node, .value = value, .outer = 1, .channels = 1 };
    TARE_TRY(tare_value_read_f32(value, f->arena, &w->numbers, &count, err));
    if (!count) return TARE_OK;
    if (has_axis) {
        w->outer = (size_t)tare_shape_product(shape, 0, axis);
        w->channels = (size_t)shape->dim[axis];
    }
    w->inner = count / (w->outer * w->channels);
    w->of = tare_arena_alloc(f->arena, w->channels, sizeof *w->of);
    if (!w->of) return tare_fail_memory(err, w->channels * sizeof *w->of);
    for (size_t c = 0; c < w->channels; c++) sum_channel(w, c);
    *has = true;
    return TARE_OK;
}

static tare_status each_weight(tare_findings *f, void (*see)(tare_findings *f, const weight *w), tare_error *err) {
    tare_for_nodes (node, f->model->graph) {
        weight w;
        bool has;
        TARE_TRY(take(f, node, &w, &has, err));
        if (has) see(f, &w);
    }
    return TARE_OK;
}

/* ---- NaN and Inf ---- */

static void see_nonfinite(tare_findings *f, const weight *w) {
    if (w->nonfinite)
        tare_finding_add(f, w->node, w->value, (double)w->nonfinite, "%zu of the weight's numbers are NaN or infinite",
                         w->nonfinite);
}
static tare_status look_nonfinite(tare_findings *f, tare_error *err) { return each_weight(f, see_nonfinite, err); }

const tare_check tare_check_weight_nonfinite = {
    .name = "weight-nonfinite",
    .cause = "training or export broke it; no scale can hold such a weight, so its node stays float",
    .repair = "export again from a sound checkpoint",
    .severity = TARE_SEVERITY_DANGER,
    .look = look_nonfinite,
};

/* ---- rounding ---- */

/* Below this a layer's own weights are heard in the output of most networks. */
static const double least_db = 30;

static double db_of(const channel *c) {
    return c->noise > 0 && c->power > 0 ? 10 * Sleef_cinz_log10d1_u10purec(c->power / c->noise) : INFINITY;
}

static void see_rounding(tare_findings *f, const weight *w) {
    channel all = { 0 };
    size_t worst = 0;
    for (size_t c = 0; c < w->channels; c++) {
        all.power += w->of[c].power;
        all.noise += w->of[c].noise;
        if (db_of(&w->of[c]) < db_of(&w->of[worst])) worst = c;
    }
    const double whole = db_of(&all), least = db_of(&w->of[worst]);
    if (whole < least_db || least < least_db - 5)
        tare_finding_add(f, w->node, w->value, -least, "s8 per channel leaves %.1f dB, %.1f dB in channel %zu of %zu",
                         whole, least, worst, w->channels);
}
static tare_status look_rounding(tare_findings *f, tare_error *err) { return each_weight(f, see_rounding, err); }

const tare_check tare_check_weight_rounding = {
    .name = "weight-rounding",
    .cause = "a few large weights set a channel's scale, and the many small ones round to little",
    .repair = "keep the node float (--keep-float) if `tare debug` shows that it matters",
    .severity = TARE_SEVERITY_DANGER,
    .look = look_rounding,
};

/* ---- channels of zeros ---- */

static void see_zeros(tare_findings *f, const weight *w) {
    size_t zeros = 0;
    for (size_t c = 0; c < w->channels; c++) zeros += w->of[c].most == 0 && !w->of[c].nonfinite;
    if (zeros && w->channels > 1)
        tare_finding_add(f, w->node, w->value, (double)zeros, "%zu of %zu output channels have no weight but 0", zeros,
                         w->channels);
}
static tare_status look_zeros(tare_findings *f, tare_error *err) { return each_weight(f, see_zeros, err); }

const tare_check tare_check_weight_zero_channels = {
    .name = "weight-zero-channels",
    .cause = "channels that died in training or were pruned; other tools divide by their scale of 0",
    .repair = "harmless here (their scale is 1); pruning them for good makes the model smaller",
    .severity = TARE_SEVERITY_NOTE,
    .look = look_zeros,
};

/* ---- one scale for all channels ---- */

static void see_spread(tare_findings *f, const weight *w) {
    float most = 0, least = INFINITY;
    size_t weakest = 0;
    for (size_t c = 0; c < w->channels; c++) {
        if (w->of[c].most == 0 || w->of[c].nonfinite) continue;
        if (w->of[c].most > most) most = w->of[c].most;
        if (w->of[c].most < least) least = w->of[c].most, weakest = c;
    }
    if (!(least < most / 32)) return; /* 4 of 127 codes on a side */
    tare_finding_add(f, w->node, w->value, (double)(most / least),
                     "channel %zu reaches %.3g, the largest %.3g: one scale would leave it %.1f codes a side", weakest,
                     (double)least, (double)most, 127 * (double)(least / most));
}
static tare_status look_spread(tare_findings *f, tare_error *err) { return each_weight(f, see_spread, err); }

const tare_check tare_check_weight_spread = {
    .name = "weight-spread",
    .cause = "output channels of very different size, as folded normalizations leave them",
    .repair = "keep scales per channel, the default; never --per-tensor with this model",
    .severity = TARE_SEVERITY_NOTE,
    .look = look_spread,
};

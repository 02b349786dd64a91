/* Checks on what calibration saw: outliers that stretch a scale, branches and channels that starve under a common one,
 * values that never change, numbers that are none. */
#include <math.h>

#include "diagnose/diagnose.h"

/* 256 codes: what has less than a 64th of the range has less than 4. */
enum { STARVED = 64 };

static double span(const tare_range *range) { return fmax(0, (double)range->max) - fmin(0, (double)range->min); }

static const tare_value *value_of(const tare_findings *f, const tare_range *range) {
    return tare_graph_find_value(f->model->graph, range->name);
}

static void each_range(tare_findings *f,
                       void (*see)(tare_findings *f, const tare_range *range, const tare_value *value)) {
    for (size_t i = 0; i < tare_ranges_count(f->ranges); i++) {
        const tare_range *range = tare_ranges_at(f->ranges, i);
        const tare_value *value = value_of(f, range);
        if (value && range->min <= range->max) see(f, range, value);
    }
}

/* ---- outliers ---- */

static void see_outlier(tare_findings *f, const tare_range *range, const tare_value *value) {
    const tare_range_request request = { .code = TARE_U8, .percentile = 99.99 };
    float lo, hi;
    tare_method_find("percentile")->choose(range, &request, &lo, &hi);
    const double bulk = (double)hi - (double)lo, stretch = bulk > 0 ? span(range) / bulk : 1;
    if (stretch < 4) return; /* two of eight bits */
    const bool is_high = (double)range->max - (double)hi > (double)lo - (double)range->min;
    const tare_extreme *extreme = is_high ? &range->highest[0] : &range->lowest[0];
    tare_finding_add(f, value->producer, value, stretch,
                     "%.2g %% of its numbers stretch the range %.1f times; the farthest is %.4g, in sample '%s'",
                     100 * tare_range_share_outside(range, lo, hi), stretch, (double)extreme->value, extreme->sample);
}
static tare_status look_outlier(tare_findings *f, tare_error *err) {
    return (void)err, each_range(f, see_outlier), TARE_OK;
}

const tare_check tare_check_range_outlier = {
    .name = "range-outlier",
    .cause = "few numbers far out: minmax would spend most codes on them",
    .repair = "use --method mse (the default) or percentile; look at the sample",
    .severity = TARE_SEVERITY_DANGER,
    .needs_ranges = true,
    .look = look_outlier,
};

/* ---- branches ---- */

static tare_status look_starves(tare_findings *f, tare_error *err) {
    (void)err;
    tare_for_nodes (node, f->model->graph) {
        double whole = 0;
        if (!tare_node_is(node, "Concat") && !tare_node_is(node, "Add")) continue;
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0; i < node->input_count; i++) {
                const tare_range *range = node->inputs[i] ? tare_ranges_find(f->ranges, node->inputs[i]->name) : NULL;
                const double part = range ? span(range) : 0;
                if (!pass && part > whole) whole = part;
                if (pass && part > 0 && part * STARVED < whole)
                    tare_finding_add(f, node, node->inputs[i], whole / part,
                                     "'%s' spans %.3g of %.3g: %.1f of 256 codes", node->inputs[i]->name, part, whole,
                                     256 * part / whole);
            }
    }
    return TARE_OK;
}

const tare_check tare_check_range_starves = {
    .name = "range-starves",
    .cause = "branches of very different size meet under one scale",
    .repair = "tare keeps scales apart where the target allows; in a Concat at an output, cut before it",
    .severity = TARE_SEVERITY_DANGER,
    .needs_ranges = true,
    .look = look_starves,
};

/* ---- channels ---- */

static void see_channels(tare_findings *f, const tare_range *range, const tare_value *value) {
    const double whole = span(range);
    size_t starved = 0;
    if (range->channels < 2 || !(whole > 0)) return;
    for (size_t c = 0; c < range->channels; c++) {
        const double part = fmax(0, (double)range->channel_max[c]) - fmin(0, (double)range->channel_min[c]);
        starved += part > 0 && part * STARVED < whole;
    }
    if (starved * 4 > range->channels)
        tare_finding_add(f, value->producer, value, (double)starved / (double)range->channels,
                         "%zu of %zu channels have less than 4 of 256 codes", starved, range->channels);
}
static tare_status look_channels(tare_findings *f, tare_error *err) {
    return (void)err, each_range(f, see_channels), TARE_OK;
}

const tare_check tare_check_range_channels = {
    .name = "range-channels",
    .cause = "channels of very different size share the activation's one scale",
    .repair = "equalize the layers in training or export, or keep the node float if `tare debug` shows that it matters",
    .severity = TARE_SEVERITY_DANGER,
    .needs_ranges = true,
    .look = look_channels,
};

/* ---- constants and no numbers ---- */

static void see_constant(tare_findings *f, const tare_range *range, const tare_value *value) {
    if (range->min == range->max && range->count > 1)
        tare_finding_add(f, value->producer, value, 0, "is %.6g in all samples", (double)range->min);
}
static tare_status look_constant(tare_findings *f, tare_error *err) {
    return (void)err, each_range(f, see_constant), TARE_OK;
}

const tare_check tare_check_range_constant = {
    .name = "range-constant",
    .cause = "a dead branch, or samples that do not reach it",
    .repair = "check the samples and their preprocessing",
    .severity = TARE_SEVERITY_NOTE,
    .needs_ranges = true,
    .look = look_constant,
};

static void see_nonfinite(tare_findings *f, const tare_range *range, const tare_value *value) {
    const uint64_t infinities = range->positive_infinities + range->negative_infinities;
    if (range->nans || infinities)
        tare_finding_add(f, value->producer, value, (double)(range->nans + infinities),
                         "%llu NaN and %llu infinite numbers, first in sample '%s'", (unsigned long long)range->nans,
                         (unsigned long long)infinities, range->nonfinite_sample ? range->nonfinite_sample : "?");
}
static tare_status look_nonfinite(tare_findings *f, tare_error *err) {
    return (void)err, each_range(f, see_nonfinite), TARE_OK;
}

const tare_check tare_check_range_nonfinite = {
    .name = "range-nonfinite",
    .cause = "a division by 0, a logarithm of 0, an overflow; quantized, these become the ends of the range",
    .repair = "look at the sample; --skip-nonfinite leaves them out of ranges",
    .severity = TARE_SEVERITY_DANGER,
    .needs_ranges = true,
    .look = look_nonfinite,
};

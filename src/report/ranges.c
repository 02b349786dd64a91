/* What calibration saw: in the text the values that reach furthest, in JSON all. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/flows.h"

enum { SHOWN = 12 }; /* values in the text */

static uint64_t nonfinite(const tare_range *range) {
    return range->nans + range->positive_infinities + range->negative_infinities;
}

static float reach(const tare_range *range) { return fmaxf(-range->min, range->max); }

/* Furthest first, ties in the order of the graph, which is that of the pointers' array. */
static int by_reach(const void *a, const void *b) {
    const tare_range *const *x = a, *const *y = b;
    const float rx = reach(*x), ry = reach(*y);
    return rx != ry ? (rx < ry ? 1 : -1) : strcmp((*x)->name, (*y)->name);
}

static const char *owner(const tare_extreme *extremes) { return extremes[0].sample ? extremes[0].sample : ""; }

static json_t *range_json(tare_report *report, const tare_range *range) {
    json_t *o = json_object();
    tare_report_set(report, o, "count", tare_json_count(range->count));
    tare_report_set(report, o, "nonfinite", tare_json_count(nonfinite(range)));
    tare_report_set(report, o, "nonfinite_sample", tare_json_text(range->nonfinite_sample));
    tare_report_set(report, o, "min", tare_json_real((double)range->min));
    tare_report_set(report, o, "min_sample", tare_json_text(range->lowest[0].sample));
    tare_report_set(report, o, "max", tare_json_real((double)range->max));
    tare_report_set(report, o, "max_sample", tare_json_text(range->highest[0].sample));
    return o;
}

static void tell_furthest(tare_report *report, const tare_range **ranges, size_t count) {
    static const char *const headings[] = { "value", "min", "in sample", "max", "in sample" };
    qsort(ranges, count, sizeof *ranges, by_reach);
    tare_table *table = tare_report_table(report, 5, headings, "<><><", 0);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        char ends[2][TARE_CELL_SIZE];
        tare_cell_number(ends[0], "%.4g", (double)ranges[i]->min);
        tare_cell_number(ends[1], "%.4g", (double)ranges[i]->max);
        tare_table_row(table, (const char *const[]){ ranges[i]->name, ends[0], owner(ranges[i]->lowest), ends[1],
                                                     owner(ranges[i]->highest) });
    }
    if (count > SHOWN) tare_report_line(report, "those that reach furthest; --json has all %zu", count);
}

void tare_report_ranges(tare_report *report, const tare_ranges *ranges, const char *path, tare_arena *arena) {
    const size_t count = tare_ranges_count(ranges);
    const bool is_synthetic = tare_ranges_are_synthetic(ranges);
    const tare_range **seen = tare_arena_alloc(arena, count + 1, sizeof *seen);
    json_t *root = tare_report_root(report), *values = json_object();
    size_t seen_count = 0;
    uint64_t left_out = 0;
    for (size_t i = 0; i < count; i++) {
        const tare_range *range = tare_ranges_at(ranges, i);
        left_out += nonfinite(range);
        if (seen && range->min <= range->max) seen[seen_count++] = range;
        tare_report_set(report, values, range->name, range_json(report, range));
    }
    tare_report_line(report, "%s", path);
    tare_report_fact(report, "samples", "%" PRIu64 "%s", tare_ranges_samples(ranges),
                     is_synthetic ? ", synthetic: made-up numbers" : "");
    tare_report_fact(report, "values", "%zu", count);
    if (left_out) tare_report_fact(report, "left out", "%" PRIu64 " NaN and Inf", left_out);
    tare_report_set(report, root, "path", tare_json_text(path));
    tare_report_set(report, root, "samples", tare_json_count(tare_ranges_samples(ranges)));
    tare_report_set(report, root, "synthetic", json_boolean(is_synthetic));
    tare_report_set(report, root, "values", seen ? values : NULL);
    if (!seen) json_decref(values);
    if (seen_count) tell_furthest(report, seen, seen_count);
}

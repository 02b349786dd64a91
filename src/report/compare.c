/* What differs between two sides: outputs in the vendors' columns and tare's own, values below them. */
#include <stdio.h>
#include <string.h>

#include "report/flows.h"

static bool is_output(const tare_compared *c) { return c->is_output; }
static bool is_inner(const tare_compared *c) { return !c->is_output; }

static void value_rows(tare_report *report, const tare_comparison *comparison) {
    static const char *const headings[] = { "value", "op", "SQNR dB", "cosine", "rel. L2", "worst channel" };
    tare_table *table = tare_report_table(report, 6, headings, "<<>>>>", 0);
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        const tare_metrics *m = &c->metrics;
        char cell[3][TARE_CELL_SIZE], channel[2 * TARE_CELL_SIZE] = "";
        if (m->worst_channel >= 0)
            snprintf(channel, sizeof channel, "%lld: %s", (long long)m->worst_channel,
                     tare_cell_db(cell[0], m->worst_channel_db));
        tare_table_row(table, (const char *const[]){ c->name, c->op ? c->op : "", tare_cell_db(cell[0], m->sqnr_db),
                                                     tare_cell_number(cell[1], "%.6f", m->cosine),
                                                     tare_cell_number(cell[2], "%.2e", m->relative_l2), channel });
    }
}

/* Top-1 and top-5 of both sides, where there were labels. */
static void hit_rows(tare_report *report, const char *a, const char *b, const tare_comparison *comparison) {
    static const char *const headings[] = { "output", "of", "labelled samples", "top-1", "top-5" };
    tare_table *table = NULL;
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        for (int side = 0; side < 2 && c->hits[side].samples; side++) {
            char count[TARE_CELL_SIZE], top1[TARE_CELL_SIZE], top5[TARE_CELL_SIZE];
            if (!table) table = tare_report_table(report, 5, headings, "<<>>>", 1);
            tare_cells_hits(top1, top5, &c->hits[side]);
            snprintf(count, sizeof count, "%llu", (unsigned long long)c->hits[side].samples);
            tare_table_row(table, (const char *const[]){ side ? "" : c->name, side ? b : a, count, top1, top5 });
        }
    }
}

json_t *tare_report_both_hits(tare_report *report, const tare_compared *c) {
    json_t *o = json_object();
    tare_report_set(report, o, "samples", tare_json_count(c->hits[0].samples));
    tare_report_set(report, o, "reference", tare_report_hits(report, &c->hits[0]));
    tare_report_set(report, o, "other", tare_report_hits(report, &c->hits[1]));
    return o;
}

static json_t *values_json(tare_report *report, const tare_comparison *comparison) {
    json_t *values = json_object();
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        json_t *o = tare_report_metrics(report, &c->metrics);
        tare_report_set(report, o, "output", json_boolean(c->is_output));
        if (c->is_output) tare_report_set(report, o, "is_class", json_boolean(c->is_class));
        if (c->op) tare_report_set(report, o, "op", tare_json_text(c->op));
        if (c->node) tare_report_set(report, o, "node", tare_json_text(c->node));
        if (c->hits[0].samples) tare_report_set(report, o, "accuracy", tare_report_both_hits(report, c));
        tare_report_set(report, values, c->name, o);
    }
    return values;
}

static void tell_unmatched(tare_report *report, const char *a, const char *b, const tare_comparison *comparison) {
    const size_t count = tare_comparison_unmatched_count(comparison);
    if (!count) return;
    const tare_unmatched *first = tare_comparison_unmatched_at(comparison, 0);
    tare_report_line(report, "%zu value%s had no partner, the first '%s' of %s: %s%s", count,
                     tare_plural(count, "", "s"), first->name, first->is_reference ? a : b, first->reason,
                     count > 1 ? "; --json lists them" : "");
}

static json_t *unmatched_json(tare_report *report, const tare_comparison *comparison) {
    json_t *list = json_array();
    for (size_t i = 0; i < tare_comparison_unmatched_count(comparison); i++) {
        const tare_unmatched *unmatched = tare_comparison_unmatched_at(comparison, i);
        json_t *o = json_object();
        tare_report_set(report, o, "name", tare_json_text(unmatched->name));
        tare_report_set(report, o, "of", tare_json_text(unmatched->is_reference ? "reference" : "other"));
        tare_report_set(report, o, "reason", tare_json_text(unmatched->reason));
        tare_report_push(report, list, o);
    }
    return list;
}

json_t *tare_report_sides(tare_report *report, const tare_sides *sides) {
    json_t *o = json_object();
    tare_report_set(report, o, "reference", tare_report_figures_json(report, sides->figures[0]));
    tare_report_set(report, o, "other", tare_report_figures_json(report, sides->figures[1]));
    return o;
}

bool tare_report_have_figures(const tare_sides *sides) { return sides->figures[0]->count || sides->figures[1]->count; }

void tare_report_judged(tare_report *report, const tare_sides *sides, const tare_comparison *comparison) {
    hit_rows(report, sides->name[0], sides->name[1], comparison);
    tare_report_figures(report, sides->name, sides->figures, 2);
}

void tare_report_comparison(tare_report *report, const tare_sides *sides, const tare_comparison *comparison,
                            const tare_columns *columns) {
    const char *a = sides->name[0], *b = sides->name[1];
    bool only_outputs = true;
    for (size_t i = 0; i < tare_comparison_count(comparison); i++)
        only_outputs &= tare_comparison_at(comparison, i)->is_output;
    tare_report_line(report, "%s against %s", b, a);
    tare_report_columns(report, "output", columns, comparison, is_output);
    tare_report_judged(report, sides, comparison);
    if (!only_outputs && columns->count)
        tare_report_columns(report, "value", columns, comparison, is_inner);
    else if (!only_outputs)
        value_rows(report, comparison);
    tell_unmatched(report, a, b, comparison);
    json_t *root = tare_report_root(report), *list = json_object_get(root, "comparisons"), *o = json_object();
    if (!list) tare_report_set(report, root, "comparisons", list = json_array());
    tare_report_set(report, o, "reference", tare_json_text(a));
    tare_report_set(report, o, "other", tare_json_text(b));
    tare_report_set(report, o, "values", values_json(report, comparison));
    tare_report_set(report, o, "unmatched", tare_json_count(tare_comparison_unmatched_count(comparison)));
    tare_report_set(report, o, "without_partner", unmatched_json(report, comparison));
    if (tare_report_have_figures(sides)) tare_report_set(report, o, "metric", tare_report_sides(report, sides));
    tare_report_push(report, list, o);
}

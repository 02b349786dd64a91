/* What differs between two sides: outputs in the vendors' columns and tare's own, values below them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/flows.h"

enum { CELL = 32 };

/* dB in a cell: what is exact is said in a word, what cannot be told is n/a. */
static const char *db_cell(char cell[CELL], double db) {
    if (isnan(db))
        snprintf(cell, CELL, "n/a");
    else if (isinf(db))
        snprintf(cell, CELL, db > 0 ? "exact" : "-inf");
    else
        snprintf(cell, CELL, "%.2f", db);
    return cell;
}

static const char *number_cell(char cell[CELL], const char *format, double number) {
    if (isnan(number))
        snprintf(cell, CELL, "n/a");
    else
        snprintf(cell, CELL, format, number);
    return cell;
}

/* JSON has no infinities: they, and NaN, are null. */
static json_t *real(double number) { return isfinite(number) ? json_real(number) : json_null(); }

json_t *tare_report_metrics(const tare_metrics *m) {
    json_t *o = json_object();
    json_object_set_new(o, "samples", json_integer((json_int_t)m->samples));
    json_object_set_new(o, "count", json_integer((json_int_t)m->count));
    json_object_set_new(o, "nonfinite", json_integer((json_int_t)m->nonfinite));
    json_object_set_new(o, "exact", json_boolean(m->is_exact));
    json_object_set_new(o, "sqnr_db", real(m->sqnr_db));
    json_object_set_new(o, "cosine", real(m->cosine));
    json_object_set_new(o, "cosine_worst", real(m->cosine_worst));
    json_object_set_new(o, "relative_l2", real(m->relative_l2));
    json_object_set_new(o, "l2_norm", real(m->l2_norm));
    json_object_set_new(o, "rmse", real(m->rmse));
    json_object_set_new(o, "l1", real(m->l1));
    json_object_set_new(o, "l2", real(m->l2));
    json_object_set_new(o, "chebyshev", real(m->chebyshev));
    json_object_set_new(o, "top1", real(m->top1));
    json_object_set_new(o, "sqnr_worst_db", real(m->sqnr_worst_db));
    json_object_set_new(o, "worst_sample", m->worst_sample ? json_string(m->worst_sample) : json_null());
    json_object_set_new(o, "worst_channel", m->worst_channel < 0 ? json_null() : json_integer(m->worst_channel));
    json_object_set_new(o, "worst_channel_db", real(m->worst_channel_db));
    json_object_set_new(o, "codes", json_integer((json_int_t)m->codes));
    json_object_set_new(o, "codes_used", json_integer((json_int_t)m->codes_used));
    json_object_set_new(o, "saturated_low", real(m->saturated_low));
    json_object_set_new(o, "saturated_high", real(m->saturated_high));
    return o;
}

static void output_rows(tare_report *report, const tare_comparison *comparison) {
    static const char *const headings[] = { "output",  "cosine",  "L1",      "L2",   "Chebyshev",
                                            "SQNR dB", "rel. L2", "L2 norm", "top-1" };
    tare_table *table = tare_report_table(report, 9, headings, "<>>>>>>>>", 0);
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        const tare_metrics *m = &c->metrics;
        char cell[8][CELL];
        if (!c->is_output && c->value) continue;
        tare_table_row(table, (const char *const[]){
                                  c->name, number_cell(cell[0], "%.6f", m->cosine), number_cell(cell[1], "%.6f", m->l1),
                                  number_cell(cell[2], "%.6f", m->l2), number_cell(cell[3], "%.6f", m->chebyshev),
                                  db_cell(cell[4], m->sqnr_db), number_cell(cell[5], "%.2e", m->relative_l2),
                                  number_cell(cell[6], "%.4g", m->l2_norm), number_cell(cell[7], "%.4f", m->top1) });
    }
}

static void value_rows(tare_report *report, const tare_comparison *comparison) {
    static const char *const headings[] = { "value", "op", "SQNR dB", "cosine", "rel. L2", "worst channel" };
    tare_table *table = tare_report_table(report, 6, headings, "<<>>>>", 0);
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        const tare_metrics *m = &c->metrics;
        char cell[3][CELL], channel[2 * CELL] = "";
        if (m->worst_channel >= 0)
            snprintf(channel, sizeof channel, "%lld: %s", (long long)m->worst_channel,
                     db_cell(cell[0], m->worst_channel_db));
        tare_table_row(table, (const char *const[]){ c->name, c->op ? c->op : "", db_cell(cell[0], m->sqnr_db),
                                                     number_cell(cell[1], "%.6f", m->cosine),
                                                     number_cell(cell[2], "%.2e", m->relative_l2), channel });
    }
}

static json_t *values_json(const tare_comparison *comparison) {
    json_t *values = json_object();
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        json_t *o = tare_report_metrics(&c->metrics);
        json_object_set_new(o, "output", json_boolean(c->is_output));
        if (c->op) json_object_set_new(o, "op", json_string(c->op));
        if (c->node) json_object_set_new(o, "node", json_string(c->node));
        json_object_set_new(values, c->name, o);
    }
    return values;
}

void tare_report_comparison(tare_report *report, const char *a, const char *b, const tare_comparison *comparison) {
    bool only_outputs = true;
    for (size_t i = 0; i < tare_comparison_count(comparison); i++)
        only_outputs &= tare_comparison_at(comparison, i)->is_output;
    tare_report_line(report, "%s against %s", b, a);
    output_rows(report, comparison);
    if (!only_outputs) value_rows(report, comparison);
    const size_t unmatched = tare_comparison_unmatched_count(comparison);
    if (unmatched) {
        const tare_unmatched *first = tare_comparison_unmatched_at(comparison, 0);
        tare_report_line(report, "%zu values had no partner, the first '%s' of %s: %s", unmatched, first->name,
                         first->is_reference ? a : b, first->reason);
    }
    json_t *root = tare_report_root(report), *list = json_object_get(root, "comparisons"), *o = json_object();
    if (!list) json_object_set_new(root, "comparisons", list = json_array());
    json_object_set_new(o, "reference", json_string(a));
    json_object_set_new(o, "other", json_string(b));
    json_object_set_new(o, "values", values_json(comparison));
    json_object_set_new(o, "unmatched", json_integer((json_int_t)unmatched));
    json_array_append_new(list, o);
}

/* ---- debug ---- */

static void debug_row(tare_table *table, const tare_compared *local, const tare_compared *together) {
    const tare_metrics *m = &together->metrics;
    char cell[2][CELL], channel[2 * CELL] = "", codes[CELL] = "";
    if (m->worst_channel >= 0)
        snprintf(channel, sizeof channel, "%lld: %s", (long long)m->worst_channel,
                 db_cell(cell[0], m->worst_channel_db));
    if (m->codes)
        snprintf(codes, sizeof codes, "%llu/%llu", (unsigned long long)m->codes_used, (unsigned long long)m->codes);
    tare_table_row(table, (const char *const[]){ together->name, together->op ? together->op : "",
                                                 db_cell(cell[0], local ? local->metrics.sqnr_db : INFINITY),
                                                 db_cell(cell[1], m->sqnr_db), channel, codes });
}

void tare_report_debug(tare_report *report, const tare_comparison *local, const tare_comparison *together) {
    output_rows(report, together);
    tare_report_line(report, "%s", "");
    tare_report_line(report,
                     "each value: what its node loses by itself (local) and all that came together there, in dB");
    static const char *const headings[] = { "value", "op", "local", "accumulated", "worst channel", "codes" };
    tare_table *table = tare_report_table(report, 6, headings, "<<>>>>", 0);
    json_t *values = json_object();
    for (size_t i = 0; i < tare_comparison_count(together); i++) {
        const tare_compared *t = tare_comparison_at(together, i), *l = tare_comparison_find(local, t->other ? t->other : t->name);
        if (!t->metrics.is_exact) debug_row(table, l, t);
        json_t *o = json_object();
        json_object_set_new(o, "accumulated", tare_report_metrics(&t->metrics));
        json_object_set_new(o, "local", l ? tare_report_metrics(&l->metrics) : json_null());
        json_object_set_new(values, t->name, o);
    }
    json_object_set_new(tare_report_root(report), "values", values);
}

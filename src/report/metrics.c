/* Metrics as JSON and as columns, under one list of names. */
#include <string.h>

#include "report/flows.h"

/* In the order of tables: the vendors' columns first. format NULL: dB. */
static const struct metric {
    const char *name, *heading, *format;
    size_t offset;
} metrics[] = {
    { "cosine", "cosine", "%.6f", offsetof(tare_metrics, cosine) },
    { "l1", "L1", "%.6f", offsetof(tare_metrics, l1) },
    { "l2", "L2", "%.6f", offsetof(tare_metrics, l2) },
    { "chebyshev", "Chebyshev", "%.6f", offsetof(tare_metrics, chebyshev) },
    { "sqnr_db", "SQNR dB", NULL, offsetof(tare_metrics, sqnr_db) },
    { "relative_l2", "rel. L2", "%.2e", offsetof(tare_metrics, relative_l2) },
    { "l2_norm", "L2 norm", "%.4g", offsetof(tare_metrics, l2_norm) },
    { "rmse", "RMSE", "%.4g", offsetof(tare_metrics, rmse) },
    { "top1", "top-1", "%.4f", offsetof(tare_metrics, top1) },
    { "cosine_worst", "worst cos.", "%.6f", offsetof(tare_metrics, cosine_worst) },
    { "sqnr_worst_db", "worst dB", NULL, offsetof(tare_metrics, sqnr_worst_db) },
    { "worst_channel_db", "channel dB", NULL, offsetof(tare_metrics, worst_channel_db) },
    { "saturated_low", "below", "%.4f", offsetof(tare_metrics, saturated_low) },
    { "saturated_high", "above", "%.4f", offsetof(tare_metrics, saturated_high) },
};

enum {
    COUNT = sizeof metrics / sizeof metrics[0],
    USUAL = 9,   /* those that a table of outputs shows */
    PER_ROW = 5, /* that fit in 80 columns beside a name */
    VENDORS = 4  /* the first of them: a table of their own when all are shown */
};
_Static_assert(sizeof metrics / sizeof metrics[0] <= TARE_COLUMNS_MAX, "room for all");

static double metric_of(const tare_metrics *m, const struct metric *metric) {
    double number;
    memcpy(&number, (const char *)m + metric->offset, sizeof number);
    return number;
}

json_t *tare_report_metrics(tare_report *report, const tare_metrics *m) {
    json_t *o = json_object();
    tare_report_set(report, o, "samples", tare_json_count(m->samples));
    tare_report_set(report, o, "count", tare_json_count(m->count));
    tare_report_set(report, o, "nonfinite", tare_json_count(m->nonfinite));
    tare_report_set(report, o, "exact", json_boolean(m->is_exact));
    for (size_t i = 0; i < COUNT; i++)
        tare_report_set(report, o, metrics[i].name, tare_json_real(metric_of(m, &metrics[i])));
    tare_report_set(report, o, "worst_sample", tare_json_text(m->worst_sample));
    tare_report_set(report, o, "worst_channel", m->worst_channel < 0 ? json_null() : json_integer(m->worst_channel));
    tare_report_set(report, o, "codes", tare_json_count(m->codes));
    tare_report_set(report, o, "codes_used", tare_json_count(m->codes_used));
    tare_report_set(report, o, "seen_min", tare_json_real(m->seen_min));
    tare_report_set(report, o, "seen_max", tare_json_real(m->seen_max));
    return o;
}

/* ---- columns ---- */

static tare_status add_column(tare_columns *columns, const char *name, tare_error *err) {
    const char *names[COUNT + 2] = { "all" };
    for (size_t i = 0; i < COUNT; i++) {
        names[i + 1] = metrics[i].name;
        if (strcmp(metrics[i].name, name) != 0) continue;
        for (size_t k = 0; k < columns->count; k++)
            if (columns->at[k] == i) return TARE_OK;
        columns->at[columns->count++] = i;
        return TARE_OK;
    }
    tare_fail_choice(err, "column", name, NULL, names);
    return tare_within(err, "--columns");
}

tare_status tare_columns_parse(tare_columns *columns, const tare_strings *names, tare_error *err) {
    *columns = (tare_columns){ 0 };
    for (size_t i = 0; names && i < names->count; i++) {
        const bool all = !strcmp(names->at[i], "all");
        for (size_t k = 0; all && k < COUNT; k++) TARE_TRY(add_column(columns, metrics[k].name, err));
        if (!all) TARE_TRY(add_column(columns, names->at[i], err));
    }
    return TARE_OK;
}

/* Without scores of classes the largest number says nothing. */
static bool is_told(const struct metric *metric, const tare_compared *c, bool is_usual) {
    return !is_usual || metric->offset != offsetof(tare_metrics, top1) || c->is_class;
}

/* A table of some columns, with rows for what `is_shown` says. */
static void put_columns(tare_report *report, const char *heading, const size_t *at, size_t count, bool is_usual,
                        const tare_comparison *comparison, bool is_shown(const tare_compared *compared)) {
    const char *headings[1 + PER_ROW] = { heading };
    for (size_t i = 0; i < count; i++) headings[i + 1] = metrics[at[i]].heading;
    tare_table *table = tare_report_table(report, 1 + count, headings, "<>>>>>", 0);
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        char cell[PER_ROW][TARE_CELL_SIZE];
        const char *cells[1 + PER_ROW] = { c->name };
        if (!is_shown(c)) continue;
        for (size_t k = 0; k < count; k++) {
            const struct metric *metric = &metrics[at[k]];
            const double number = metric_of(&c->metrics, metric);
            if (!is_told(metric, c, is_usual)) {
                cells[k + 1] = "";
                continue;
            }
            cells[k + 1] =
                metric->format ? tare_cell_number(cell[k], metric->format, number) : tare_cell_db(cell[k], number);
        }
        tare_table_row(table, cells);
    }
}

void tare_report_columns(tare_report *report, const char *heading, const tare_columns *columns,
                         const tare_comparison *comparison, bool is_shown(const tare_compared *compared)) {
    static const size_t usual[USUAL] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    const bool is_usual = !columns->count;
    bool has_classes = false;
    for (size_t i = 0; i < tare_comparison_count(comparison); i++)
        has_classes |= is_shown(tare_comparison_at(comparison, i)) && tare_comparison_at(comparison, i)->is_class;
    const size_t *at = is_usual ? usual : columns->at;
    const size_t count = !is_usual ? columns->count : has_classes ? USUAL : USUAL - 1; /* top-1 is the last */
    for (size_t from = 0, some; from < count; from += some) {
        some = count - from < PER_ROW ? count - from : PER_ROW;
        if (is_usual && !from) some = VENDORS;
        put_columns(report, heading, at + from, some, is_usual, comparison, is_shown);
    }
}

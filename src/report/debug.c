/* Where the accuracy goes: who costs most and what would help, then what each node loses. */
#include "report/debug.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_SHOWN = 20 }; /* of the worst; JSON has all */

static const double worth = 3; /* dB: half of the error */

static bool is_output(const tare_compared *c) { return c->is_output; }

/* ---- who is to blame ---- */

/* "12.34 dB", or "exact" where nothing is lost. */
static const char *with_unit(char cell[TARE_CELL_SIZE], double db) {
    tare_cell_db(cell, db);
    if (isfinite(db)) snprintf(cell + strlen(cell), TARE_CELL_SIZE - strlen(cell), " dB");
    return cell;
}

static void tell_few(tare_report *report, const tare_blame *b) {
    char db[2][TARE_CELL_SIZE];
    tare_text names = { .arena = tare_arena_new() };
    for (size_t i = 0; i < b->nodes.count && names.arena; i++)
        tare_text_printf(&names, "%s'%s'", i ? ", " : "", b->nodes.at[i].node);
    if (b->nodes.count > 1 && names.at && !names.failed)
        tare_report_fact(report, "the worst", "%s if these %zu nodes rounded nothing: %s", with_unit(db[0], b->few_db),
                         b->nodes.count, names.at);
    tare_arena_free(names.arena);
}

static void tell_blame(tare_report *report, const tare_blame *b, const tare_comparison *together) {
    char db[2][TARE_CELL_SIZE];
    const tare_compared *output = b->output ? tare_comparison_find(together, b->output) : NULL;
    if (!b->output) {
        tare_report_line(report, "nothing is lost at any output");
        return;
    }
    if (b->nodes.count)
        tare_report_line(report, "most is lost at: node '%s' (%s)", b->nodes.at[0].node, b->nodes.at[0].op);
    else
        tare_report_line(report, "most is lost at: no single node; what is lost comes from many");
    if (output && output->metrics.samples > b->samples)
        tare_report_fact(report, "output",
                         "'%s' has %s on all %llu samples; %s on %zu, the worst and some others, on which what "
                         "follows was tried",
                         b->output, with_unit(db[0], output->metrics.sqnr_db),
                         (unsigned long long)output->metrics.samples, with_unit(db[1], b->db), b->samples);
    else
        tare_report_fact(report, "output", "'%s' has %s, measured on %zu sample%s", b->output, with_unit(db[0], b->db),
                         b->samples, tare_plural(b->samples, "", "s"));
    if (b->nodes.count)
        tare_report_fact(report, "without it", "%s if this node rounded nothing", with_unit(db[0], b->nodes.at[0].db));
    tell_few(report, b);
    tare_report_fact(
        report, "activations", "%s if none were rounded%s", with_unit(db[0], b->activations_db),
        b->activations_db >= b->db + worth
            ? ": 16 bits (--act u16) help, which ONNX Runtime computes in float, so not faster than the float model"
            : ": it is the weights");
}

static json_t *blame_json(tare_report *report, const tare_blame *b) {
    json_t *o = json_object(), *nodes = json_array();
    if (!b->output) {
        json_decref(nodes);
        json_decref(o);
        return json_null();
    }
    for (size_t i = 0; i < b->nodes.count; i++) {
        json_t *n = json_object();
        tare_report_set(report, n, "node", tare_json_text(b->nodes.at[i].node));
        tare_report_set(report, n, "op", tare_json_text(b->nodes.at[i].op));
        tare_report_set(report, n, "sqnr_db", tare_json_real(b->nodes.at[i].db));
        tare_report_push(report, nodes, n);
    }
    tare_report_set(report, o, "output", tare_json_text(b->output));
    tare_report_set(report, o, "samples", tare_json_count(b->samples));
    tare_report_set(report, o, "sqnr_db", tare_json_real(b->db));
    tare_report_set(report, o, "nodes", nodes);
    tare_report_set(report, o, "nodes_sqnr_db", b->nodes.count ? tare_json_real(b->few_db) : json_null());
    tare_report_set(report, o, "weights_sqnr_db", b->nodes.count ? tare_json_real(b->weights_db) : json_null());
    tare_report_set(report, o, "activations_sqnr_db", tare_json_real(b->activations_db));
    return o;
}

/* ---- nodes ---- */

typedef struct row {
    const tare_compared *local, *together; /* local NULL: nothing of it is quantized */
    size_t index;
} row;

static double key_of(double db) { return isnan(db) ? INFINITY : db; }

static int by_loss(const void *a, const void *b) {
    const row *x = a, *y = b;
    const double u = x->local ? key_of(x->local->metrics.sqnr_db) : INFINITY;
    const double v = y->local ? key_of(y->local->metrics.sqnr_db) : INFINITY;
    if (u != v) return u < v ? -1 : 1;
    const double s = key_of(x->together->metrics.sqnr_db), t = key_of(y->together->metrics.sqnr_db);
    return s != t ? (s < t ? -1 : 1) : (x->index > y->index) - (x->index < y->index);
}

static void tell_row(tare_table *table, const row *r) {
    const tare_compared *t = r->together;
    const tare_metrics *m = &t->metrics;
    char cell[2][TARE_CELL_SIZE], channel[2 * TARE_CELL_SIZE] = "", codes[TARE_CELL_SIZE] = "", op[128];
    if (m->worst_channel >= 0)
        snprintf(channel, sizeof channel, "%lld: %s", (long long)m->worst_channel,
                 tare_cell_db(cell[0], m->worst_channel_db));
    if (m->codes)
        snprintf(codes, sizeof codes, "%llu/%llu", (unsigned long long)m->codes_used, (unsigned long long)m->codes);
    snprintf(op, sizeof op, "%s%s%s", t->op ? t->op : "input", t->behind ? "+" : "", t->behind ? t->behind : "");
    tare_table_row(table, (const char *const[]){ tare_cell_db(cell[0], r->local ? r->local->metrics.sqnr_db : INFINITY),
                                                 tare_cell_db(cell[1], m->sqnr_db), channel, codes, op,
                                                 t->node ? t->node : t->name });
}

static json_t *value_json(tare_report *report, const row *r) {
    json_t *o = json_object();
    const tare_compared *t = r->together;
    tare_report_set(report, o, "node", tare_json_text(t->node));
    tare_report_set(report, o, "op", tare_json_text(t->op));
    tare_report_set(report, o, "behind", tare_json_text(t->behind));
    tare_report_set(report, o, "accumulated", tare_report_metrics(report, &t->metrics));
    tare_report_set(report, o, "local", r->local ? tare_report_metrics(report, &r->local->metrics) : json_null());
    if (t->hits[0].samples) tare_report_set(report, o, "accuracy", tare_report_both_hits(report, t));
    return o;
}

static void tell_rows(tare_report *report, const row *rows, size_t count, bool in_order) {
    static const char *const headings[] = { "local", "accumulated", "worst channel", "codes", "op", "node" };
    const size_t shown = in_order || count < ROWS_SHOWN ? count : ROWS_SHOWN;
    tare_report_line(report, "%s", "");
    tare_report_line(report,
                     "%s: what a node loses by itself (local), however little of it reaches an output, and all that "
                     "came together there, in dB; codes: how many its numbers use; a+b: node a, judged behind "
                     "activation b",
                     in_order ? "in the order of the graph" : "the worst first");
    tare_table *table = tare_report_table(report, 6, headings, ">>>><<", 5);
    for (size_t i = 0; i < shown; i++) tell_row(table, &rows[i]);
    if (shown < count)
        tare_report_line(report, "and %zu more that lose less; --sort order shows all, in the order of the graph",
                         count - shown);
}

static bool tell_values(tare_report *report, const tare_debugged *d, tare_arena *arena) {
    const size_t all = tare_comparison_count(d->together);
    row *rows = tare_arena_alloc(arena, all + 1, sizeof *rows);
    json_t *values = json_object();
    size_t count = 0;
    for (size_t i = 0; i < all && rows; i++) {
        const tare_compared *t = tare_comparison_at(d->together, i);
        const row r = { tare_comparison_find(d->local, t->other ? t->other : t->name), t, i };
        tare_report_set(report, values, t->name, value_json(report, &r));
        if (!t->metrics.is_exact) rows[count++] = r;
    }
    if (rows && !d->in_order) qsort(rows, count, sizeof *rows, by_loss);
    if (rows) tell_rows(report, rows, count, d->in_order);
    tare_report_set(report, tare_report_root(report), "values", values);
    return rows != NULL;
}

void tare_report_debug(tare_report *report, const tare_debugged *d) {
    json_t *root = tare_report_root(report), *warnings = json_array();
    for (size_t i = 0; i < d->warnings.count; i++) {
        tare_report_line(report, TARE_MARK_BAD "warning" TARE_MARK_END ": %s", d->warnings.at[i]);
        tare_report_push(report, warnings, tare_json_text(d->warnings.at[i]));
    }
    tare_report_set(report, root, "warnings", warnings);
    tell_blame(report, d->blame, d->together);
    tare_report_set(report, root, "blame", blame_json(report, d->blame));
    tare_report_line(report, "%s", "");
    tare_report_columns(report, "output", &(tare_columns){ 0 }, d->together, is_output);
    tare_report_judged(report, d->sides, d->together);
    tare_arena *arena = tare_arena_new();
    if (!arena || !tell_values(report, d, arena)) tare_report_set(report, root, "values", NULL); /* no memory */
    tare_arena_free(arena);
    if (tare_report_have_figures(d->sides))
        tare_report_set(report, root, "metric", tare_report_sides(report, d->sides));
}

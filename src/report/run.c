/* What a run wrote, and what labels say of its outputs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "report/flows.h"

static double share(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

/* Of five classes or fewer, the label is always among the five largest. */
static double top5_of(const tare_hits *hits) { return hits->classes > 5 ? share(hits->top5, hits->samples) : NAN; }

json_t *tare_report_hits(tare_report *report, const tare_hits *hits) {
    json_t *o = json_object();
    tare_report_set(report, o, "top1", tare_json_real(share(hits->top1, hits->samples)));
    tare_report_set(report, o, "top5", tare_json_real(top5_of(hits)));
    return o;
}

void tare_cells_hits(char top1[TARE_CELL_SIZE], char top5[TARE_CELL_SIZE], const tare_hits *hits) {
    tare_cell_number(top1, "%.2f %%", 100 * share(hits->top1, hits->samples));
    tare_cell_number(top5, "%.2f %%", 100 * top5_of(hits));
}

static void hit_rows(tare_report *report, const tare_ran *ran) {
    static const char *const headings[] = { "output", "labelled samples", "top-1", "top-5" };
    tare_table *table = NULL;
    for (size_t i = 0; i < ran->output_count; i++) {
        const tare_hits *hits = &ran->hits[i];
        char count[TARE_CELL_SIZE], top1[TARE_CELL_SIZE], top5[TARE_CELL_SIZE];
        if (!hits->samples) continue;
        if (!table) table = tare_report_table(report, 4, headings, "<>>>", 0);
        tare_cells_hits(top1, top5, hits);
        snprintf(count, sizeof count, "%" PRIu64, hits->samples);
        tare_table_row(table, (const char *const[]){ ran->outputs[i].value->name, count, top1, top5 });
    }
}

static void tell_integers(tare_report *report, const tare_ran_integers *integers) {
    const tare_target *target = integers->target;
    const char *profile = target->profiles[integers->profile], *validated = target->validated;
    json_t *o = json_object(), *left = json_array();
    tare_report_fact(report, "target", "%s, profile %s (%s%s)", target->name, profile,
                     validated ? "validated: " : "formulas only", validated ? validated : "");
    tare_report_fact(report, "nodes", "%zu on codes, %zu in float", integers->on_codes, integers->left_count);
    for (size_t i = 0; i < integers->left_count; i++) {
        const tare_int_left *node = &integers->left[i];
        json_t *entry = json_object();
        tare_report_set(report, entry, "node", tare_json_text(node->name));
        tare_report_set(report, entry, "op", tare_json_text(node->type));
        tare_report_set(report, entry, "why", tare_json_text(node->why));
        tare_report_push(report, left, entry);
    }
    tare_report_set(report, o, "target", tare_json_text(target->name));
    tare_report_set(report, o, "profile", tare_json_text(profile));
    tare_report_set(report, o, "validated", tare_json_text(validated));
    tare_report_set(report, o, "on_codes", tare_json_count(integers->on_codes));
    tare_report_set(report, o, "in_float", left);
    tare_report_set(report, tare_report_root(report), "integers", o);
}

/* "f32", "1x10": the shape is that of the first sample. */
static void figure_rows(tare_report *report, const tare_ran *ran) {
    static const char *const headings[] = { "output", "type", "shape", "min", "mean", "max" };
    tare_table *table = tare_report_table(report, 6, headings, "<<<>>>", 0);
    for (size_t i = 0; i < ran->output_count; i++) {
        const tare_ran_output *o = &ran->outputs[i];
        char shape[128], cell[3][TARE_CELL_SIZE];
        tare_shape_print(shape, sizeof shape, &o->shape, NULL);
        tare_table_row(table, (const char *const[]){
                                  o->value->name, tare_dtype_name(o->dtype), o->varies ? "varies" : shape,
                                  tare_cell_number(cell[0], "%.6g", o->min), tare_cell_number(cell[1], "%.6g", o->mean),
                                  tare_cell_number(cell[2], "%.6g", o->max) });
    }
}

/* The classes on top: their scores on one sample, or how often each is the first. */
static void tell_top(tare_report *report, const tare_ran *ran, const tare_ran_output *o) {
    char cells[TARE_RAN_TOP * 64];
    size_t at = 0;
    if (o->nonfinite)
        tare_report_fact(report, "not finite", "%" PRIu64 " of the %" PRIu64 " numbers of '%s'", o->nonfinite, o->count,
                         o->value->name);
    for (size_t i = 0; i < o->top_count; i++) {
        const tare_ran_class *c = &o->top[i];
        const int length = ran->samples > 1 ? snprintf(cells + at, sizeof cells - at, "%s%zu (%zu of %zu)",
                                                       i ? ", " : "", c->index, c->samples, ran->samples)
                                            : snprintf(cells + at, sizeof cells - at, "%s%zu (%.4g)", i ? ", " : "",
                                                       c->index, c->score);
        at += (size_t)length;
    }
    if (o->top_count) tare_report_fact(report, "classes", "on top at '%s': %s", o->value->name, cells);
}

static json_t *shape_json(tare_report *report, const tare_ran_output *o) {
    json_t *list = o->varies ? json_null() : json_array();
    for (int i = 0; !o->varies && i < o->shape.rank; i++)
        tare_report_push(report, list, tare_json_count((uint64_t)o->shape.dim[i]));
    return list;
}

static json_t *output_json(tare_report *report, const tare_ran *ran, const tare_ran_output *from) {
    json_t *o = json_object(), *top = json_array();
    tare_report_set(report, o, "type", tare_json_text(tare_dtype_name(from->dtype)));
    tare_report_set(report, o, "shape", shape_json(report, from));
    tare_report_set(report, o, "nonfinite", tare_json_count(from->nonfinite));
    tare_report_set(report, o, "min", tare_json_real(from->min));
    tare_report_set(report, o, "mean", tare_json_real(from->mean));
    tare_report_set(report, o, "max", tare_json_real(from->max));
    for (size_t i = 0; i < from->top_count; i++) {
        json_t *c = json_object();
        tare_report_set(report, c, "class", tare_json_count(from->top[i].index));
        if (ran->samples > 1)
            tare_report_set(report, c, "samples", tare_json_count(from->top[i].samples));
        else
            tare_report_set(report, c, "score", tare_json_real(from->top[i].score));
        tare_report_push(report, top, c);
    }
    tare_report_set(report, o, "largest", top);
    return o;
}

void tare_report_ran(tare_report *report, const tare_ran *ran) {
    json_t *root = tare_report_root(report), *outputs = json_object();
    tare_report_line(report, "%zu sample%s%s run with backend %s, outputs written to %s", ran->samples,
                     tare_plural(ran->samples, "", "s"), ran->is_synthetic ? " (synthetic: made-up numbers)" : "",
                     ran->backend, ran->to);
    figure_rows(report, ran);
    for (size_t i = 0; i < ran->output_count; i++) tell_top(report, ran, &ran->outputs[i]);
    hit_rows(report, ran);
    tare_report_figures(report, &ran->to, &ran->figures, 1);
    tare_report_set(report, root, "samples", tare_json_count(ran->samples));
    tare_report_set(report, root, "synthetic", json_boolean(ran->is_synthetic));
    tare_report_set(report, root, "backend", tare_json_text(ran->backend));
    if (ran->integers) tell_integers(report, ran->integers);
    tare_report_set(report, root, "output", tare_json_text(ran->to));
    for (size_t i = 0; i < ran->output_count; i++) {
        const tare_hits *hits = &ran->hits[i];
        json_t *o = output_json(report, ran, &ran->outputs[i]);
        if (hits->samples) {
            json_t *accuracy = tare_report_hits(report, hits);
            tare_report_set(report, accuracy, "samples", tare_json_count(hits->samples));
            tare_report_set(report, o, "accuracy", accuracy);
        }
        tare_report_set(report, outputs, ran->outputs[i].value->name, o);
    }
    tare_report_set(report, root, "outputs", outputs);
    if (ran->figures->count) tare_report_set(report, root, "metric", tare_report_figures_json(report, ran->figures));
}

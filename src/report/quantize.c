/* What quantizing did and what it costs, in about ten lines. */
#include "report/flows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"

/* In the text; JSON has all. */
enum { GROUPS_SHOWN = 3, NAMES_SHOWN = 2, INPUTS_SHOWN = 3, OPS_SHOWN = 4, OUTPUTS_SHOWN = 5 };
enum { COLUMNS = 5 }; /* of the loss */

typedef unsigned long long ull;

/* ---- samples ---- */

/* ORDER: measured on */
static const char *const measured_on[] = { NULL, "held_out", "calibration", "given", "samples" };

static void tell_samples(tare_report *report, const tare_quantized *q) {
    const char *made_up = q->is_synthetic ? "; SYNTHETIC: made-up numbers, so no figure here is a real one" : "";
    if (q->on == TARE_MEASURED_HELD_OUT)
        tare_report_fact(report, "samples", "%llu calibrate, %llu of them only after the loss was measured%s",
                         (ull)q->samples, (ull)q->held, made_up);
    else if (q->has_ranges)
        tare_report_fact(report, "samples", "none calibrates: the ranges given are those of %llu sample%s%s",
                         (ull)q->calibrated, tare_plural(q->calibrated, "", "s"), made_up);
    else if (q->calibrated)
        tare_report_fact(report, "samples", "%llu %s%s", (ull)q->samples,
                         tare_plural(q->samples, "calibrates", "calibrate"), made_up);
    else
        tare_report_fact(report, "samples", "none calibrates: the model has all scales%s", made_up);
    if (q->available > q->samples)
        tare_report_fact(report, "", "%llu of %llu by --samples, in the order of names or rows", (ull)q->samples,
                         (ull)q->available);
    json_t *root = tare_report_root(report), *o = json_object();
    tare_report_set(report, o, "available", tare_json_count(q->available));
    tare_report_set(report, o, "given", tare_json_count(q->samples));
    tare_report_set(report, o, "calibrated", tare_json_count(q->calibrated));
    tare_report_set(report, o, "held_out", tare_json_count(q->held));
    tare_report_set(report, o, "measured", tare_json_count(q->measured));
    tare_report_set(report, o, "measured_on", tare_json_text(measured_on[q->on]));
    tare_report_set(report, o, "synthetic", json_boolean(q->is_synthetic));
    tare_report_set(report, root, "samples", o);
}

/* ---- what goes in ---- */

static void tell_input(tare_report *report, const tare_quantize_input *in) {
    const tare_contract *c = &in->contract;
    char seen[96] = "";
    if (in->lo <= in->hi)
        snprintf(seen, sizeof seen, "; seen%s: %.4g to %.4g", in->is_first ? " in the first sample" : "", in->lo,
                 in->hi);
    tare_report_fact(report, "input", "'%s' %s %s%s%s%s%s%s", c->input, c->shape, c->type, c->layout ? " " : "",
                     c->layout ? c->layout : "", c->text ? ": " : "", c->text ? c->text : "", seen);
}

static json_t *floats_json(tare_report *report, const tare_floats *floats) {
    json_t *list = json_array();
    for (size_t i = 0; i < floats->count; i++) tare_report_push(report, list, tare_json_real((double)floats->at[i]));
    return list;
}

static json_t *steps_json(tare_report *report, const tare_contract *c) {
    json_t *o = json_object();
    tare_report_set(report, o, "color", tare_json_text(c->color));
    tare_report_set(report, o, "yuv_range", tare_json_text(c->yuv_range));
    tare_report_set(report, o, "resize", tare_json_text(c->resize));
    tare_report_set(report, o, "resize_by", tare_json_text(c->resize_by));
    tare_report_set(report, o, "fit", tare_json_text(c->fit));
    tare_report_set(report, o, "pad", floats_json(report, &c->pad));
    tare_report_set(report, o, "crop", tare_json_text(c->crop));
    tare_report_set(report, o, "divide_by_255", json_boolean(c->is_unit));
    tare_report_set(report, o, "mean", floats_json(report, &c->mean));
    tare_report_set(report, o, "std", floats_json(report, &c->std));
    tare_report_set(report, o, "scale", c->scale != 0 ? tare_json_real(c->scale) : json_null());
    return o;
}

static json_t *input_json(tare_report *report, const tare_quantize_input *in) {
    const tare_contract *c = &in->contract;
    const bool is_seen = in->lo <= in->hi;
    json_t *o = json_object(), *shape = json_array();
    for (int i = 0; i < c->dims.rank; i++)
        tare_report_push(report, shape, c->dims.dim[i] < 0 ? json_null() : json_integer(c->dims.dim[i]));
    tare_report_set(report, o, "type", tare_json_text(c->type));
    tare_report_set(report, o, "shape", shape);
    tare_report_set(report, o, "layout", tare_json_text(c->layout));
    tare_report_set(report, o, "data", tare_json_text(c->source));
    tare_report_set(report, o, "ignored", tare_json_text(c->ignored));
    tare_report_set(report, o, "preprocess", c->source ? steps_json(report, c) : json_null());
    tare_report_set(report, o, "min", is_seen ? tare_json_real(in->lo) : json_null());
    tare_report_set(report, o, "max", is_seen ? tare_json_real(in->hi) : json_null());
    tare_report_set(report, o, "seen_samples", tare_json_count(is_seen ? in->seen : 0));
    return o;
}

static void tell_inputs(tare_report *report, const tare_quantized *q) {
    json_t *inputs = json_object();
    for (size_t i = 0; i < q->inputs.count; i++) {
        const tare_quantize_input *in = &q->inputs.at[i];
        if (i < INPUTS_SHOWN) tell_input(report, in);
        tare_report_set(report, inputs, in->contract.input, input_json(report, in));
    }
    if (q->inputs.count > INPUTS_SHOWN)
        tare_report_fact(report, "", "and %zu more; --json has all", q->inputs.count - INPUTS_SHOWN);
    tare_report_set(report, tare_report_root(report), "inputs", inputs);
}

/* ---- nodes ---- */

typedef struct op_tally {
    const char *op;
    size_t count;
} op_tally;

/* "'a' (Conv), 'b' (Conv)" of few, "Sigmoid 20, Resize 2, …" of many. */
static void print_nodes(tare_text *text, const tare_float_group *group) {
    TARE_VEC(op_tally) ops = { 0 };
    for (size_t i = 0; i < group->nodes.count; i++) {
        const tare_node *node = group->nodes.at[i];
        if (group->nodes.count <= NAMES_SHOWN)
            tare_text_printf(text, "%s'%s' (%s)", i ? ", " : "", node->name, node->type);
        size_t o = 0;
        while (o < ops.count && strcmp(ops.at[o].op, node->type)) o++;
        const op_tally tally = { .op = node->type };
        if (o == ops.count && !tare_vec_push(text->arena, &ops, tally)) return;
        ops.at[o].count++;
    }
    if (group->nodes.count <= NAMES_SHOWN) return;
    for (size_t o = 0; o < ops.count && o < OPS_SHOWN; o++)
        tare_text_printf(text, "%s%s %zu", o ? ", " : "", ops.at[o].op, ops.at[o].count);
    if (ops.count > OPS_SHOWN) tare_text_puts(text, ", …");
}

static void tell_group(tare_report *report, const tare_float_group *group) {
    tare_arena *arena = tare_arena_new();
    tare_text text = { .arena = arena };
    if (arena) print_nodes(&text, group);
    tare_report_fact(report, "in float", "%s: %s", text.at && !text.failed ? text.at : "…", group->why);
    tare_arena_free(arena);
}

static json_t *group_json(tare_report *report, const tare_float_group *group) {
    json_t *o = json_object(), *nodes = json_array();
    for (size_t i = 0; i < group->nodes.count; i++) {
        json_t *n = json_object();
        tare_report_set(report, n, "name", tare_json_text(group->nodes.at[i]->name));
        tare_report_set(report, n, "op", tare_json_text(group->nodes.at[i]->type));
        tare_report_push(report, nodes, n);
    }
    tare_report_set(report, o, "why", tare_json_text(group->why));
    tare_report_set(report, o, "nodes", nodes);
    return o;
}

void tare_report_floats(tare_report *report, const tare_fates *fates) {
    json_t *list = json_array();
    size_t more = 0;
    for (size_t g = 0; g < fates->floats.count; g++) {
        const tare_float_group *group = &fates->floats.at[g];
        tare_report_push(report, list, group_json(report, group));
        if (g < GROUPS_SHOWN)
            tell_group(report, group);
        else
            more += group->nodes.count;
    }
    if (more) tare_report_fact(report, "", "%zu more for other reasons; --json has all", more);
    tare_report_set(report, tare_report_root(report), "float", list);
}

static void tell_nodes(tare_report *report, const tare_quantized *q) {
    json_t *root = tare_report_root(report);
    char share[TARE_CELL_SIZE], macs[TARE_CELL_SIZE];
    if (q->has_macs && q->macs)
        tare_report_fact(report, "on codes", "%s of %s multiply-accumulates%s; %zu of %zu node%s%s",
                         tare_cell_share(share, (double)q->codes_macs / (double)q->macs),
                         tare_cell_count(macs, q->macs), q->is_guess ? " (open dimensions as 1)" : "",
                         q->fates.on_codes, q->fates.nodes, tare_plural(q->fates.nodes, "", "s"),
                         q->wide ? "; products of such codes are computed in float" : "");
    else
        tare_report_fact(report, "on codes", "%zu of %zu node%s", q->fates.on_codes, q->fates.nodes,
                         tare_plural(q->fates.nodes, "", "s"));
    tare_report_set(report, root, "macs", q->has_macs ? tare_json_count(q->macs) : json_null());
    tare_report_set(report, root, "quantized_macs", q->has_macs ? tare_json_count(q->codes_macs) : json_null());
    tare_report_set(report, root, "nodes", tare_json_count(q->fates.nodes));
    tare_report_set(report, root, "quantized_nodes", tare_json_count(q->fates.on_codes));
    tare_report_floats(report, &q->fates);
}

/* ---- what it costs ---- */

bool tare_loss_has_bad_sqnr(const tare_output_loss *loss) {
    return !loss->metrics.is_exact && loss->metrics.sqnr_db < TARE_LOSS_BAD_DB;
}

bool tare_loss_has_bad_top1(const tare_output_loss *loss) {
    const double samples = (double)loss->metrics.samples, bad = 1 - TARE_LOSS_BAD_TOP1 / 100.0;
    const double flips = (1 - loss->metrics.top1) * samples, chance = 2 * sqrt(samples * bad * (1 - bad));
    return loss->is_class && flips > samples * bad + chance;
}

/* A cell that stands out where its number is bad. */
static const char *marked(char cell[TARE_CELL_SIZE + 2], const char *number, bool is_bad) {
    snprintf(cell, TARE_CELL_SIZE + 2, "%s%s%s", is_bad ? TARE_MARK_BAD : "", number, is_bad ? TARE_MARK_END : "");
    return cell;
}

static void loss_row(tare_table *table, const tare_output_loss *loss) {
    const tare_metrics *m = &loss->metrics;
    char cell[3][TARE_CELL_SIZE], top1[TARE_CELL_SIZE] = "", worst[160] = "", mark[2][TARE_CELL_SIZE + 2];
    if (loss->is_class && !isnan(m->top1)) tare_cell_share(top1, m->top1);
    if (m->worst_sample && !m->is_exact && !isnan(m->sqnr_worst_db))
        snprintf(worst, sizeof worst, "%.100s: %s", m->worst_sample, tare_cell_db(cell[2], m->sqnr_worst_db));
    tare_table_row(
        table, (const char *const[]){ loss->name,
                                      marked(mark[0], tare_cell_db(cell[0], m->sqnr_db), tare_loss_has_bad_sqnr(loss)),
                                      tare_cell_number(cell[1], "%.6f", m->cosine), worst,
                                      marked(mark[1], top1, tare_loss_has_bad_top1(loss)) });
}

/* The worst output that is not among the `count` picked; what cannot be told is worse than all. */
static size_t pick_worst(const tare_quantized *q, const size_t *picked, size_t count) {
    size_t worst = SIZE_MAX;
    for (size_t i = 0; i < q->outputs.count; i++) {
        bool is_free = true;
        for (size_t k = 0; k < count; k++) is_free &= picked[k] != i;
        const double db = q->outputs.at[i].metrics.sqnr_db;
        const double least = worst == SIZE_MAX ? 0 : q->outputs.at[worst].metrics.sqnr_db;
        if (is_free && (worst == SIZE_MAX || (!isnan(least) && !(db >= least)))) worst = i;
    }
    return worst;
}

static void tell_table(tare_report *report, const tare_quantized *q) {
    static const char *const on[][2] = { { "", "" },
                                         { " held out", "s held out" },
                                         { ", the one that calibrates", "s, those that calibrate" },
                                         { " of --holdout", "s of --holdout" },
                                         { "", "s" } };
    static const char *const headings[COLUMNS] = { "output", "SQNR dB", "cosine", "worst sample, dB", "same top-1" };
    const bool some = q->on == TARE_MEASURED_HELD_OUT && q->measured < q->held;
    if (some)
        tare_report_fact(report, "loss", "of int8 against float, on %llu of the %llu samples held out, evenly spread",
                         (ull)q->measured, (ull)q->held);
    else
        tare_report_fact(report, "loss", "of int8 against float, on %llu sample%s", (ull)q->measured,
                         tare_plural(q->measured, on[q->on][0], on[q->on][1]));
    size_t columns = COLUMNS - 1; /* top-1 only where there are classes */
    for (size_t i = 0; i < q->outputs.count; i++)
        if (q->outputs.at[i].is_class) columns = COLUMNS;
    tare_table *table = tare_report_table(report, columns, headings, "<>><>", 0);
    const size_t count = q->outputs.count, shown = count > OUTPUTS_SHOWN ? OUTPUTS_SHOWN : count;
    size_t picked[OUTPUTS_SHOWN];
    for (size_t i = 0; i < shown; i++) {
        picked[i] = count > shown ? pick_worst(q, picked, i) : i;
        loss_row(table, &q->outputs.at[picked[i]]);
    }
    if (count > shown)
        tare_report_fact(report, "", "and %zu output%s less", count - shown,
                         tare_plural(count - shown, " that loses", "s that lose"));
}

static void tell_loss(tare_report *report, const tare_quantized *q) {
    json_t *outputs = json_object();
    if (q->why_not)
        tare_report_fact(report, "loss", "not measured: %s", q->why_not);
    else if (q->on != TARE_MEASURED_NOT)
        tell_table(report, q);
    else
        tare_report_fact(report, "loss", "not measured: no samples were given");
    for (size_t i = 0; i < q->outputs.count; i++) {
        const tare_output_loss *loss = &q->outputs.at[i];
        json_t *o = tare_report_metrics(report, &loss->metrics);
        tare_report_set(report, o, "is_class", json_boolean(loss->is_class));
        tare_report_set(report, outputs, loss->name, o);
    }
    tare_report_set(report, tare_report_root(report), "outputs", outputs);
    tare_report_set(report, tare_report_root(report), "not_measured", tare_json_text(q->why_not));
}

/* What the codes mean that the model gives. */
static void tell_codes(tare_report *report, const tare_graph *graph) {
    json_t *all = json_object();
    for (size_t i = 0; i < graph->outputs.count; i++) {
        const tare_value *value = graph->outputs.at[i];
        char meaning[TARE_MEANING_SIZE];
        json_t *o = json_object();
        tare_report_set(report, o, "type", tare_json_text(tare_dtype_name(value->dtype)));
        if (!tare_report_meaning(report, o, value, meaning)) {
            json_decref(o); /* no codes: it is as it was */
            continue;
        }
        tare_report_fact(report, "gives", "%s  %s  %s", value->name, tare_dtype_name(value->dtype), meaning);
        tare_report_set(report, all, value->name, o);
    }
    tare_report_set(report, tare_report_root(report), "int_outputs", all);
}

/* Those that the user has not seen yet. */
static void tell_warnings(tare_report *report, const tare_quantized *q) {
    json_t *list = json_array();
    for (size_t i = 0; i < q->warnings.count; i++) {
        const tare_quantize_warning *warning = &q->warnings.at[i];
        tare_report_push(report, list, tare_json_text(warning->text));
        if (!warning->is_told) tare_report_fact(report, "warning", TARE_MARK_BAD "%s" TARE_MARK_END, warning->text);
    }
    tare_report_set(report, tare_report_root(report), "warnings", list);
}

void tare_report_quantized(tare_report *report, const tare_quantized *q) {
    json_t *root = tare_report_root(report);
    const char *path = q->model->path ? q->model->path : "(a model in memory)";
    tare_report_line(report, "%s to int8%s%s%s, target %s, method %s", path, q->wide ? " weights and " : "",
                     q->wide ? q->wide : "", q->wide ? " activations" : "", q->target, q->method);
    tare_report_set(report, root, "model", tare_json_text(q->model->path));
    tare_report_set(report, root, "target", tare_json_text(q->target));
    tare_report_set(report, root, "method", tare_json_text(q->method));
    tare_report_set(report, root, "had_scales", tare_json_count(q->had_scales));
    if (q->had_scales)
        tare_report_fact(report, "is already", "quantized: %zu of %zu computed value%s scales, which stay",
                         q->had_scales, q->computed, tare_plural(q->computed, " has", "s have"));
    tell_inputs(report, q);
    tell_samples(report, q);
    tell_nodes(report, q);
    tell_loss(report, q);
    if (q->codes) tell_codes(report, q->codes);
    tell_warnings(report, q);
}

void tare_report_written(tare_report *report, const char *path, uint64_t bytes, uint64_t float_bytes) {
    json_t *root = tare_report_root(report);
    char size[2][TARE_CELL_SIZE];
    if (path)
        tare_report_fact(report, "wrote", "%s, %s; it was %s", path, tare_cell_bytes(size[0], bytes),
                         tare_cell_bytes(size[1], float_bytes));
    else
        tare_report_fact(report, "wrote", TARE_MARK_BAD "nothing" TARE_MARK_END ", as --fail-below is not met");
    tare_report_set(report, root, "output", tare_json_text(path));
    tare_report_set(report, root, "bytes", path ? tare_json_count(bytes) : json_null());
    tare_report_set(report, root, "float_bytes", tare_json_count(float_bytes));
}

void tare_report_stages(tare_report *report, const char *directory, const char *const *paths, size_t count) {
    json_t *list = json_array();
    tare_report_fact(report, "stages", "%s: %zu model%s, one a stage", directory, count, tare_plural(count, "", "s"));
    for (size_t i = 0; i < count; i++) tare_report_push(report, list, tare_json_text(paths[i]));
    tare_report_set(report, tare_report_root(report), "stages", list);
}

/* Where the accuracy goes: local and accumulated error of each node, and who is to blame. */
#include <math.h>
#include <string.h>
#include <tare/compare.h>

#include "api/blame.h"
#include "api/floats.h"
#include "api/judge.h"
#include "api/stage.h"
#include "api/work.h"
#include "report/report.h"

static const char *const sorts[] = { "loss", "order", NULL };

const tare_field tare_debugging_fields[] = {
    { "sort", TARE_FIELD_ENUM, offsetof(tare_debugging, sort), .names = sorts,
      .help = "rows: those of the largest loss, or all in the order of the graph" },
    { .type = TARE_FIELD_END },
};

/* ---- do the two belong together? ---- */

static bool has_codes(const tare_model *model) {
    const tare_map *values = &model->graph->values;
    for (size_t i = 0; i < values->entries.count; i++) {
        const tare_value *value = values->entries.at[i].value;
        if (value && value->quant) return true;
    }
    return false;
}

static const char *path_of(const tare_model *model) { return model->path ? model->path : "(a model in memory)"; }

static tare_status check_pair(const tare_model *model, const tare_model *quantized, tare_error *err) {
    if (has_codes(quantized) || tare_model_get_stage(quantized) == TARE_STAGE_QUANTIZED) return TARE_OK;
    if (has_codes(model))
        return tare_fail(err, TARE_E_USAGE, "'%s' is quantized and '%s' is float: give the float model first",
                         path_of(model), path_of(quantized));
    return tare_fail(
        err, TARE_E_USAGE,
        "nothing is quantized in '%s': give what `tare quantize` wrote, or the float model alone, to quantize "
        "it here",
        path_of(quantized));
}

static tare_status check_common(const tare_comparison *together, const tare_model *model, const tare_model *quantized,
                                tare_error *err) {
    for (size_t i = 0; i < tare_comparison_count(together); i++)
        if (tare_comparison_at(together, i)->node) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE,
                     "'%s' and '%s' have nothing but inputs in common: is one made of the other? Name the model that "
                     "the second was made of",
                     path_of(model), path_of(quantized));
}

/* ---- inputs ---- */

typedef struct job {
    tare_arena *arena;
    const tare_model *model, *quantized;
    tare_model *unrounded;
    const tare_samples *samples;
    tare_compare_options options;
    tare_debugged said;
    tare_blame blame;
    tare_log *log;
} job;

/* Samples that go far beyond an input's codes, or use few of them, were likely made in another way than those that it was
 * quantized with. */
static tare_status look_at_input(job *j, const tare_compared *c, tare_error *err) {
    static const double beyond = 0.25, least = 1.0 / 16; /* of the codes' range */
    const tare_quant *quant = c->value ? c->value->quant : NULL;
    const tare_metrics *m = &c->metrics;
    if (c->node || !quant || quant->count != 1 || isnan(m->seen_min)) return TARE_OK;
    const double scale = (double)quant->scale[0], zero = quant->zero_point[0];
    const double lo = scale * ((double)tare_dtype_lowest(quant->code) - zero);
    const double hi = scale * ((double)tare_dtype_highest(quant->code) - zero);
    const double out = fmax(lo - m->seen_min, m->seen_max - hi), seen = m->seen_max - m->seen_min;
    if (out <= beyond * (hi - lo) && (seen == 0 || seen >= least * (hi - lo))) return TARE_OK;
    const char *text = tare_arena_printf(j->arena,
                                         "input '%s' saw %.4g to %.4g, its codes hold %.4g to %.4g: were the samples "
                                         "preprocessed as those it was quantized with?",
                                         c->name, m->seen_min, m->seen_max, lo, hi);
    if (!text || !tare_vec_push(j->arena, &j->said.warnings, text)) return tare_fail_memory(err, 0);
    return TARE_OK;
}

/* ---- the flow ---- */

static tare_status accumulated(job *j, tare_comparison **out, const char *labels, tare_error *err) {
    tare_side *a = NULL, *b = NULL;
    tare_compare_options options = j->options;
    options.labels = labels;
    options.activations = j->model;
    tare_status status = tare_side_open_model(&a, "float", j->model, TARE_BACKEND_FLOAT, err);
    if (status == TARE_OK) status = tare_side_open_model(&b, "quantized", j->quantized, TARE_BACKEND_QDQ, err);
    if (status == TARE_OK) status = tare_compare(out, a, b, j->samples, &options, j->log, err);
    tare_side_close(a);
    tare_side_close(b);
    return status == TARE_OK ? check_common(*out, j->model, j->quantized, err) : status;
}

/* The quantized model with weights of float numbers that are still to be rounded: else what rounding them costs is not seen. */
static tare_status restore_weights(const job *j, tare_model *copy, const tare_comparison *together, tare_error *err) {
    for (size_t i = 0; i < tare_comparison_count(together); i++) {
        const tare_compared *c = tare_comparison_at(together, i);
        const tare_value *value = tare_map_get(&copy->graph->values, c->other ? c->other : c->name);
        const tare_value *real = tare_map_get(&j->model->graph->values, c->name);
        if (value && value->producer && real && real->producer)
            TARE_TRY(tare_floats_restore(value->producer, real->producer, true, err));
    }
    return TARE_OK;
}

static tare_status alone(job *j, tare_comparison **out, const tare_comparison *together, tare_error *err) {
    tare_compare_options options = j->options;
    options.like = together;
    TARE_TRY(tare_model_copy(&j->unrounded, j->quantized, err));
    TARE_TRY(restore_weights(j, j->unrounded, together, err));
    return tare_compare_local(out, j->unrounded, NULL, NULL, j->samples, &options, j->log, err);
}

static tare_status measure(job *j, const char *labels, tare_comparison **local, tare_comparison **together,
                           tare_error *err) {
    TARE_TRY(accumulated(j, together, labels, err));
    TARE_TRY(alone(j, local, *together, err));
    for (size_t i = 0; i < tare_comparison_count(*together); i++)
        TARE_TRY(look_at_input(j, tare_comparison_at(*together, i), err));
    const tare_blame_request request = { .model = j->model,
                                         .quantized = j->quantized,
                                         .local = *local,
                                         .together = *together,
                                         .samples = j->samples,
                                         .options = &j->options,
                                         .arena = j->arena,
                                         .log = j->log };
    return tare_blame_find(&j->blame, &request, err);
}

static tare_status judge(job *j, tare_figures figures[2], const tare_judging *judging, const tare_work_options *work,
                         tare_error *err) {
    const tare_backend_options floats = { .backend = TARE_BACKEND_FLOAT }, codes = { .backend = TARE_BACKEND_QDQ };
    TARE_TRY(tare_judge_model(&figures[0], judging, j->model, &floats, j->samples, work, j->arena, j->log, err));
    return tare_judge_model(&figures[1], judging, j->quantized, &codes, j->samples, work, j->arena, j->log, err);
}

/* The code type of activations where it has 16 bits; NULL: it has 8. */
static const char *wide_codes(const tare_model *model) {
    const tare_map *values = &model->graph->values;
    size_t count = 0, wide = 0;
    tare_dtype code = TARE_DTYPE_NONE;
    for (size_t i = 0; i < values->entries.count; i++) {
        const tare_value *value = values->entries.at[i].value;
        if (!value || !value->quant || tare_value_is_constant(value)) continue;
        count++;
        if (value->quant->code != TARE_U16 && value->quant->code != TARE_S16) continue;
        wide++;
        code = value->quant->code;
    }
    return 2 * wide > count ? tare_dtype_name(code) : NULL;
}

/* Nodes in float when it is their weights that cost most of it, else wider activations, when either gains something. */
static void advise(tare_report *report, tare_advice *advice, const tare_blame *blame, const tare_model *quantized) {
    static const double least = 3; /* dB: half of the error; less is not worth the time */
    const char *wide = wide_codes(quantized);
    if (!blame->output) return;
    const double by_weights = blame->nodes.count ? blame->weights_db - blame->db : 0;
    const double by_activations = blame->activations_db - blame->db;
    if (!wide && by_activations >= least && by_activations > by_weights) {
        advice->options[advice->count++] = "--act";
        advice->options[advice->count++] = "u16";
        return;
    }
    for (size_t i = 0; by_weights >= least && i < blame->nodes.count; i++) {
        const char *name = tare_report_keep(report, blame->nodes.at[i].node);
        if (!name || strchr(name, ',')) continue; /* a list of names parts there */
        advice->options[advice->count++] = "--keep-float";
        advice->options[advice->count++] = name;
    }
    if (!wide || !advice->count) return;
    advice->options[advice->count++] = "--act";
    advice->options[advice->count++] = wide;
}

static tare_status tell(const job *j, tare_report **out, tare_advice *advice, tare_error *err) {
    tare_report *report = tare_report_new("tare-debug/2");
    if (!report) return tare_fail_memory(err, 0);
    tare_report_debug(report, &j->said);
    if (advice) *advice = (tare_advice){ .count = 0 };
    if (advice) advise(report, advice, &j->blame, j->quantized);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return TARE_OK;
}

tare_status tare_debug_model(const tare_model *model, const tare_model *quantized, const tare_samples *samples,
                             const tare_debugging *options, const tare_judging *judging, const tare_work_options *work,
                             tare_report **report, tare_advice *advice, tare_log *log, tare_error *err) {
    tare_comparison *local = NULL, *together = NULL;
    tare_figures figures[2];
    const tare_sides sides = { { "float", "quantized" }, { &figures[0], &figures[1] } };
    job j = { .arena = tare_arena_new(), .model = model, .quantized = quantized, .samples = samples, .log = log };
    j.options.threads = work ? (size_t)work->threads : 0;
    tare_status status = j.arena ? tare_work_cpu(work, &j.options.cpu, err) : tare_fail_memory(err, 0);
    if (status == TARE_OK) status = check_pair(model, quantized, err);
    if (status == TARE_OK) status = measure(&j, judging ? judging->labels : NULL, &local, &together, err);
    if (status == TARE_OK) status = judge(&j, figures, judging, work, err);
    j.said.sides = &sides;
    j.said.local = local, j.said.together = together, j.said.blame = &j.blame;
    j.said.in_order = options && options->sort;
    if (status == TARE_OK) status = tell(&j, report, advice, err);
    tare_comparison_free(local);
    tare_comparison_free(together);
    tare_model_free(j.unrounded);
    tare_arena_free(j.arena);
    return status;
}

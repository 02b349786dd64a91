/* Comparing what paths name: models and dumps. */
#include <string.h>
#include <tare/compare.h>

#include "api/gate.h"
#include "api/judge.h"
#include "api/stage.h"
#include "api/work.h"
#include "compare/compare.h"
#include "report/flows.h"
#include "samples/dump.h"

const tare_field tare_comparing_fields[] = {
    { "nodes", TARE_FIELD_BOOL, offsetof(tare_comparing, nodes),
      .help = "every value that both have, not only outputs" },
    { "columns", TARE_FIELD_STRINGS, offsetof(tare_comparing, columns), .metavar = "NAMES",
      .help = "metrics to show: cosine, l1, l2, chebyshev, sqnr_db, relative_l2, l2_norm, rmse, top1, … or all" },
    { "fail-below", TARE_FIELD_DOUBLE, offsetof(tare_comparing, fail_below), .lo = 0, .hi = 1000, .metavar = "DB",
      .help = "exit with 1 when the SQNR of an output is below this many dB" },
    { .type = TARE_FIELD_END },
};

/* One of the things compared; the model of a dump is NULL. */
typedef struct subject {
    const char *path;
    tare_model *model;
    tare_side *side;
    tare_figures figures; /* of --metric-cmd */
} subject;

typedef struct job {
    subject *subjects;
    size_t count;
    const tare_open_options *open;
    const tare_model *first_model; /* whose inputs the samples are for */
    tare_samples *samples;
    tare_session_options session; /* how models are run: backend, target, profile */
    tare_compare_options options;
    tare_columns columns;
    const tare_backend_options *backend;
    const tare_judging *judging;
    const tare_work_options *work;
    tare_arena *arena;
} job;

static tare_status open_subject(job *j, subject *s, tare_log *log, tare_error *err) {
    const bool is_dump = tare_path_is_directory(s->path) || tare_dump_is_archive(s->path); /* no model is called so */
    if (is_dump) return tare_side_open_dump(&s->side, s->path, s->path, err);
    tare_file_id unused;
    if (!strchr(s->path, '.') && !tare_path_identify(s->path, &unused))
        return tare_fail(err, TARE_E_IO,
                         "%s: there is no such model, nor a directory of dumped tensors: `tare run -o DIR` makes one",
                         s->path);
    TARE_TRY(tare_model_open(&s->model, s->path, j->open, log, err));
    if (!j->first_model) j->first_model = s->model;
    TARE_TRY(tare_side_open_model(&s->side, s->path, s->model, j->session.backend, err));
    tare_side_set_target(s->side, j->session.target, j->session.profile);
    return TARE_OK;
}

static tare_status open_all(job *j, const tare_data_options *data, const tare_preprocess *preprocess, tare_log *log,
                            tare_error *err) {
    for (size_t i = 0; i < j->count; i++) TARE_TRY(open_subject(j, &j->subjects[i], log, err));
    if (!j->first_model) return TARE_OK;
    if (!data->data.count)
        return tare_fail(err, TARE_E_USAGE, "--data is needed: '%s' is a model, which must be run on samples",
                         j->first_model->path ? j->first_model->path : "");
    return tare_samples_from_options(&j->samples, j->first_model, data, preprocess, log, err);
}

static tare_status gate(const tare_comparison *comparison, double fail_below, tare_error *err) {
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        if (c->is_output) TARE_TRY(tare_gate_output(c->name, &c->metrics, fail_below, err));
    }
    return TARE_OK;
}

static bool is_quantized(const subject *s) {
    return s->model && tare_model_get_stage(s->model) == TARE_STAGE_QUANTIZED;
}

/* Figures are relative to the first: a float model behind the one that was made of it is likely in the wrong place. */
static void warn_order(const job *j, tare_log *log) {
    const subject *first = &j->subjects[0], *second = &j->subjects[1];
    if (is_quantized(first) && second->model && !is_quantized(second))
        tare_log_warn(
            log,
            "'%s' is quantized and '%s' is float: what is compared with comes first, so give the float model first",
            first->path, second->path);
}

/* A dump is judged as it lies there, a model by what it gives on the samples. */
static tare_status judge(const job *j, subject *s, tare_log *log, tare_error *err) {
    if (!s->model) return tare_judge_directory(&s->figures, j->judging, s->path, j->arena, log, err);
    return tare_judge_model(&s->figures, j->judging, s->model, j->backend, j->samples, j->work, j->arena, log, err);
}

static tare_status compare_all(job *j, const tare_comparing *options, tare_report *report, tare_log *log,
                               tare_error *err) {
    tare_status verdict = TARE_OK;
    subject *first = &j->subjects[0];
    for (size_t i = 1; i < j->count; i++) {
        tare_comparison *comparison;
        subject *other = &j->subjects[i];
        TARE_TRY(tare_compare(&comparison, first->side, other->side, j->samples, &j->options, log, err));
        tare_status status = i == 1 ? judge(j, first, log, err) : TARE_OK;
        if (status == TARE_OK) status = judge(j, other, log, err);
        if (status != TARE_OK) {
            tare_comparison_free(comparison);
            return status;
        }
        const tare_sides sides = { { first->path, other->path }, { &first->figures, &other->figures } };
        tare_report_comparison(report, &sides, comparison, &j->columns);
        if (verdict == TARE_OK) verdict = gate(comparison, options->fail_below, err);
        tare_comparison_free(comparison);
    }
    return verdict;
}

static tare_status run(job *j, const tare_data_options *data, const tare_preprocess *preprocess,
                       const tare_comparing *options, const tare_judging *judging, const tare_work_options *work,
                       tare_report **out, tare_log *log, tare_error *err) {
    TARE_TRY(tare_work_cpu(work, &j->options.cpu, err));
    j->options.threads = work ? (size_t)work->threads : 0;
    j->judging = judging;
    j->work = work;
    j->options.outputs_only = !options->nodes;
    j->options.labels = judging ? judging->labels : NULL;
    TARE_TRY(tare_columns_parse(&j->columns, &options->columns, err));
    TARE_TRY(open_all(j, data, preprocess, log, err));
    warn_order(j, log);
    tare_report *report = tare_report_new("tare-compare/1");
    if (!report) return tare_fail_memory(err, 0);
    tare_status status = compare_all(j, options, report, log, err);
    if (status != TARE_OK && status != TARE_E_GATE) {
        tare_report_free(report);
        return status;
    }
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return status;
}

tare_status tare_compare_paths(const char *const *paths, size_t count, const tare_open_options *open,
                               const tare_data_options *data, const tare_preprocess *preprocess,
                               const tare_backend_options *backend, const tare_comparing *options,
                               const tare_judging *judging, const tare_work_options *work, tare_report **report,
                               tare_log *log, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    job j = { .count = count, .open = open, .backend = backend, .arena = arena };
    j.subjects = arena ? tare_arena_alloc(arena, count + 1, sizeof *j.subjects) : NULL;
    tare_status status = j.subjects ? TARE_OK : tare_fail_memory(err, 0);
    for (size_t i = 0; status == TARE_OK && i < count; i++) j.subjects[i].path = paths[i];
    if (status == TARE_OK) status = tare_work_backend(backend, &j.session, err);
    if (status == TARE_OK) status = run(&j, data, preprocess, options, judging, work, report, log, err);
    for (size_t i = 0; j.subjects && i < count; i++) tare_side_close(j.subjects[i].side);
    tare_samples_close(j.samples);
    for (size_t i = 0; j.subjects && i < count; i++) tare_model_free(j.subjects[i].model);
    tare_arena_free(arena);
    return status;
}

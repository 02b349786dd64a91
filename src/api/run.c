/* Running samples and writing what comes out: one .npz a sample. */
#include <tare/run.h>

#include <string.h>

#include "api/inputs.h"
#include "api/judge.h"
#include "api/seen.h"
#include "api/work.h"
#include "run/each.h"
#include "samples/dump.h"
#include "samples/labels.h"
#include "samples/samples.h"

const tare_field tare_run_fields[] = {
    { "tap", TARE_FIELD_STRINGS, offsetof(tare_run_options, tap), .metavar = "NAMES",
      .help = "values to write besides the outputs, or all" },
    { .type = TARE_FIELD_END },
};

const tare_field tare_judging_fields[] = {
    { "labels", TARE_FIELD_STRING, offsetof(tare_judging, labels), TARE_FIELD_PATH, .metavar = "FILE",
      .help = "the samples' classes, CSV with label and file, id or row, or a number a line: gives top-1 and top-5" },
    { "metric-cmd", TARE_FIELD_STRING, offsetof(tare_judging, metric_cmd), .metavar = "CMD",
      .help = "run as `CMD DIR` on a directory of outputs, DIR/<id>.npz; ends by printing a number, lines of `name "
              "value` or one JSON object" },
    { .type = TARE_FIELD_END },
};

typedef struct job {
    const tare_model *model;
    const tare_samples *samples;
    tare_feeding feeding; /* they may be for another model */
    const char *to;       /* a directory or one file */
    bool is_file;
    tare_dump_writer *dump; /* of a directory */
    bool tap_all;
    TARE_VEC(const tare_value *) taps;
    tare_labels *labels; /* NULL: none */
    tare_hits *hits;     /* by output, of all workers */
    tare_seen *seen;     /* by sample, then by output: a sample's own, so workers need not wait for each other */
    tare_ran_integers integers;
    tare_figures figures;
} job;

typedef struct runner {
    const job *job;
    tare_session *session;
    tare_arena *arena;             /* of what was looked at in the sample in hand */
    TARE_VEC(tare_npz_array) seen; /* on that arena */
    tare_hits *hits;               /* by output */
} runner;

static tare_status keep(runner *r, const char *name, const tare_tensor *tensor, tare_error *err) {
    for (size_t i = 0; i < r->seen.count; i++)
        if (!strcmp(r->seen.at[i].name, name)) return TARE_OK;
    tare_tensor *copy = tare_arena_alloc(r->arena, 1, sizeof *copy);
    if (!copy) return tare_fail_memory(err, sizeof *copy);
    *copy = *tensor;
    copy->data = tare_arena_copy(r->arena, tensor->data, tensor->size);
    const tare_npz_array array = { .name = name, .tensor = copy };
    if (!copy->data || !tare_vec_push(r->arena, &r->seen, array)) return tare_fail_memory(err, tensor->size);
    return TARE_OK;
}

static tare_status look(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                        tare_error *err) {
    (void)before;
    return keep(context, value->name, real, err);
}

static tare_status write_seen(runner *r, const char *id, tare_error *err) {
    const job *j = r->job;
    return j->is_file ? tare_npz_write(j->to, r->seen.at, r->seen.count, err)
                      : tare_dump_add(j->dump, id, r->seen.at, r->seen.count, err);
}

static tare_status run_sample(void *context, const tare_sample *sample, tare_error *err) {
    runner *r = context;
    const tare_arena_mark mark = tare_arena_get_mark(r->arena);
    const tare_graph *graph = r->job->model->graph;
    tare_tensor *const *feeds;
    memset(&r->seen, 0, sizeof r->seen);
    tare_status status = tare_feeding_get(&r->job->feeding, sample, r->arena, &feeds, err);
    if (status == TARE_OK) status = tare_session_run(r->session, feeds, err);
    for (size_t i = 0; status == TARE_OK && i < graph->outputs.count; i++) {
        const tare_tensor *output = tare_session_output(r->session, i);
        status = keep(r, graph->outputs.at[i]->name, output, err);
        tare_seen_look(&r->job->seen[sample->index * graph->outputs.count + i], graph->outputs.at[i], output);
        if (r->job->labels && tare_labels_fit(r->job->labels, output))
            tare_labels_judge(r->job->labels, sample->index, output, &r->hits[i]);
    }
    if (status == TARE_OK) status = write_seen(r, sample->id, err);
    tare_arena_release(r->arena, mark);
    return status;
}

static tare_status list_taps(job *j, const tare_strings *names, tare_arena *arena, tare_error *err) {
    for (size_t i = 0; i < names->count; i++) {
        if (!strcmp(names->at[i], "all")) {
            j->tap_all = true;
            continue;
        }
        tare_alias alias;
        if (!tare_model_resolve(j->model, names->at[i], &alias))
            return tare_fail(err, TARE_E_USAGE, "--tap: no value '%s': %s; `tare info MODEL --values` lists them",
                             names->at[i], alias.reason);
        const tare_value *value = tare_graph_find_value(j->model->graph, alias.target);
        if (!tare_vec_push(arena, &j->taps, value)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static tare_status open_runner(const job *j, runner *r, const tare_session_options *options, tare_error *err) {
    r->job = j;
    r->arena = tare_arena_new();
    r->hits = r->arena ? tare_arena_alloc(r->arena, j->model->graph->outputs.count + 1, sizeof *r->hits) : NULL;
    if (!r->hits) return tare_fail_memory(err, 0);
    TARE_TRY(tare_session_new(&r->session, j->model, options, err));
    if (!j->tap_all && !j->taps.count) return TARE_OK;
    return tare_session_set_tap(r->session, j->taps.at, j->taps.count, j->tap_all, look, r, err);
}

/* What the target's integers computed and what not, as the first session that ran planned it; copied, since sessions go. */
static tare_status keep_integers(job *j, const tare_session_options *options, const runner *states, size_t count,
                                 tare_arena *arena, tare_log *log, tare_error *err) {
    tare_ran_integers *to = &j->integers;
    const tare_int_left *left = NULL;
    *to = (tare_ran_integers){ .target = options->target, .profile = options->profile };
    for (size_t i = 0; i < count && !to->on_codes && !to->left_count; i++)
        to->left_count = tare_session_get_left(states[i].session, &left, &to->on_codes);
    tare_int_left *copy = tare_arena_alloc(arena, to->left_count + 1, sizeof *copy);
    if (!copy) return tare_fail_memory(err, to->left_count * sizeof *copy);
    to->left = copy;
    for (size_t i = 0; i < to->left_count; i++, copy++) {
        *copy = (tare_int_left){ tare_arena_strdup(arena, left[i].name), tare_arena_strdup(arena, left[i].type),
                                 left[i].why };
        if (!copy->name || !copy->type) return tare_fail_memory(err, 0);
        tare_log_note(log, "node '%s' (%s) in float: %s", copy->name, copy->type, copy->why);
    }
    return TARE_OK;
}

static tare_status run_all(job *j, const tare_session_options *options, tare_pool *pool, tare_arena *arena,
                           tare_log *log, tare_error *err) {
    const size_t count = tare_pool_size(pool);
    runner *states = tare_arena_alloc(arena, count, sizeof *states);
    void **workers = tare_arena_alloc(arena, count, sizeof *workers);
    if (!states || !workers) return tare_fail_memory(err, count * sizeof *states);
    tare_status status = TARE_OK;
    for (size_t i = 0; status == TARE_OK && i < count; i++) status = open_runner(j, &states[i], options, err);
    for (size_t i = 0; i < count; i++) workers[i] = &states[i];
    const tare_each each = { .samples = j->samples,
                             .count = tare_samples_count(j->samples),
                             .pool = pool,
                             .workers = workers,
                             .fn = run_sample,
                             .job = "run",
                             .log = log };
    if (status == TARE_OK) status = tare_each_sample(&each, err);
    if (status == TARE_OK && options->backend == TARE_BACKEND_INT)
        status = keep_integers(j, options, states, count, arena, log, err);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; states[i].hits && k < j->model->graph->outputs.count; k++)
            tare_hits_add(&j->hits[k], &states[i].hits[k]);
        tare_session_free(states[i].session);
        tare_arena_free(states[i].arena);
    }
    return status;
}

/* Before anything is run: no output may be the file of a sample. */
static tare_status check_outputs(const job *j, tare_arena *arena, tare_error *err) {
    tare_inputs read;
    TARE_TRY(tare_inputs_list(&read, j->samples, arena, err));
    if (j->is_file) return tare_inputs_check(&read, j->to, err);
    for (size_t i = 0; i < tare_samples_count(j->samples); i++) {
        const tare_arena_mark mark = tare_arena_get_mark(arena);
        const char *path = tare_dump_path(j->to, tare_samples_id(j->samples, i), arena);
        if (!path) return tare_fail_memory(err, 0);
        TARE_TRY(tare_inputs_check(&read, path, err));
        tare_arena_release(arena, mark);
    }
    const char *list = tare_dump_path(j->to, NULL, arena);
    return list ? tare_inputs_check(&read, list, err) : tare_fail_memory(err, 0);
}

static tare_status open_seen(job *j, tare_arena *arena, tare_error *err) {
    const size_t samples = tare_samples_count(j->samples), outputs = j->model->graph->outputs.count;
    j->seen = samples && outputs > SIZE_MAX / samples ? NULL
                                                      : tare_arena_alloc(arena, samples * outputs + 1, sizeof *j->seen);
    return j->seen ? TARE_OK : tare_fail_memory(err, samples);
}

static tare_status open_labels(job *j, const tare_judging *judging, tare_arena *arena, tare_error *err) {
    const size_t count = j->model->graph->outputs.count;
    j->hits = tare_arena_alloc(arena, count + 1, sizeof *j->hits);
    if (!j->hits) return tare_fail_memory(err, 0);
    if (!judging || !judging->labels) return TARE_OK;
    return tare_labels_open(&j->labels, judging->labels, j->samples, err);
}

static tare_status check_hits(const job *j, tare_log *log, tare_error *err) {
    bool is_judged = false;
    for (size_t i = 0; i < j->model->graph->outputs.count; i++) {
        is_judged = is_judged || j->hits[i].samples;
        tare_hits_doubt(&j->hits[i], j->model->graph->outputs.at[i]->name, log);
    }
    return j->labels && !is_judged ? tare_labels_fail_fit(j->labels, err) : TARE_OK;
}

static tare_status tell(const job *j, const tare_backend_options *backend, tare_arena *arena, tare_report **out,
                        tare_error *err) {
    const size_t samples = tare_samples_count(j->samples), count = j->model->graph->outputs.count;
    tare_ran_output *outputs = tare_arena_alloc(arena, count + 1, sizeof *outputs);
    if (!outputs) return tare_fail_memory(err, count * sizeof *outputs);
    for (size_t i = 0; i < count; i++)
        TARE_TRY(tare_seen_total(&outputs[i], j->model->graph->outputs.at[i], j->seen + i, samples, count, err));
    const tare_ran ran = { .to = j->to,
                           .backend = tare_backend_names[backend ? backend->backend : TARE_BACKEND_QDQ],
                           .samples = samples,
                           .is_synthetic = tare_samples_are_synthetic(j->samples),
                           .outputs = outputs,
                           .output_count = count,
                           .hits = j->hits,
                           .integers = j->integers.target ? &j->integers : NULL,
                           .figures = &j->figures };
    tare_report *report = tare_report_new("tare-run/1");
    if (!report) return tare_fail_memory(err, 0);
    tare_report_ran(report, &ran);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return TARE_OK;
}

/* A name that ends like a file's is hardly meant for a directory that is to be made. */
static tare_status check_name(const char *to, tare_error *err) {
    static const char *const files[] = { ".npy", ".txt", ".csv", ".json", ".bin", ".raw", ".onnx", ".zip", NULL };
    const char *dot = strrchr(to, '.');
    if (!dot || tare_path_is_directory(to)) return TARE_OK;
    for (size_t i = 0; files[i]; i++)
        if (!strcmp(dot, files[i]))
            return tare_fail(err, TARE_E_USAGE,
                             "-o %s: outputs are written as .npz: give %.*s.npz for one sample, or a directory for any "
                             "number",
                             to, (int)(dot - to < 512 ? dot - to : 512), to);
    return TARE_OK;
}

static tare_status run_job(job *j, const tare_backend_options *backend, const tare_run_options *run,
                           const tare_judging *judging, const tare_work_options *work, tare_arena *arena, tare_log *log,
                           tare_error *err) {
    tare_session_options options = { 0 };
    TARE_TRY(tare_work_cpu(work, &options.cpu, err));
    TARE_TRY(tare_work_backend(backend, &options, err));
    TARE_TRY(list_taps(j, &run->tap, arena, err));
    TARE_TRY(tare_feeding_make(&j->feeding, j->samples, j->model->graph, arena, err));
    j->is_file = tare_dump_is_archive(j->to);
    TARE_TRY(check_name(j->to, err));
    if (!tare_path_is_directory(j->to)) TARE_TRY(tare_output_check_folder(j->to, err));
    if (j->is_file && tare_samples_count(j->samples) != 1)
        return tare_fail(err, TARE_E_USAGE, "-o %s: %zu samples do not go into one .npz; give a directory", j->to,
                         tare_samples_count(j->samples));
    if (j->is_file && judging && judging->metric_cmd)
        return tare_fail(err, TARE_E_USAGE, "-o %s: --metric-cmd is given a directory of outputs; write one", j->to);
    TARE_TRY(check_outputs(j, arena, err));
    TARE_TRY(open_seen(j, arena, err));
    TARE_TRY(open_labels(j, judging, arena, err));
    tare_pool *pool = tare_pool_new(work ? (size_t)work->threads : 0);
    options.constants = tare_constants_new();
    tare_status status = pool && options.constants ? TARE_OK : tare_fail_memory(err, 0);
    if (status == TARE_OK && !j->is_file) status = tare_dump_begin(&j->dump, j->to, err);
    if (status == TARE_OK) status = run_all(j, &options, pool, arena, log, err);
    if (j->dump) status = tare_dump_end(j->dump, status, err);
    if (status == TARE_OK) status = check_hits(j, log, err);
    if (status == TARE_OK) status = tare_judge_directory(&j->figures, judging, j->to, arena, log, err);
    tare_constants_free(options.constants);
    tare_pool_free(pool);
    return status;
}

tare_status tare_model_run(const tare_model *model, const tare_samples *samples, const tare_backend_options *backend,
                           const tare_run_options *run, const tare_judging *judging, const tare_work_options *work,
                           const char *to, tare_report **report, tare_log *log, tare_error *err) {
    job j = { .model = model, .samples = samples, .to = to };
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = run_job(&j, backend, run, judging, work, arena, log, err);
    if (status == TARE_OK && report) status = tell(&j, backend, arena, report, err);
    tare_labels_close(j.labels);
    tare_arena_free(arena);
    return status;
}

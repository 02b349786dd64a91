/* Timing a model: it is opened, planned and run on one made-up sample, first as it is, then with a clock between steps. */
#include <tare/bench.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "api/work.h"
#include "report/flows.h"
#include "samples/samples.h"

const tare_field tare_bench_fields[] = {
    { "seconds", TARE_FIELD_DOUBLE, offsetof(tare_bench_options, seconds), .fallback.f = 2, .lo = 0, .hi = 3600,
      .help = "how long to time runs" },
    { "runs", TARE_FIELD_INT, offsetof(tare_bench_options, runs), .lo = 0, .hi = 1000000, .metavar = "N",
      .help = "how many runs to time, instead of --seconds" },
    { "nodes", TARE_FIELD_BOOL, offsetof(tare_bench_options, nodes),
      .help = "time each node too, in runs of their own: the slowest 20, all with --json" },
    { "as-is", TARE_FIELD_BOOL, offsetof(tare_bench_options, as_is),
      .help = "the graph as the file has it; it is optimized otherwise" },
    { .type = TARE_FIELD_END },
};

enum { RUNS_LEAST = 3, RUNS_MOST = 1000000, STEP_TIMES_MOST = 1 << 20 };

/* Half of the runs this far off the median: the machine has other work. */
static const double noise = 0.05;

typedef TARE_VEC(double) times;

/* What one step took in the runs; steps come in the same order in each. */
typedef struct step_times {
    const char *name, *op; /* NULL: put in by the plan */
    uint64_t macs;
    times of;
} step_times;

typedef struct bench {
    const tare_bench_options *options;
    tare_arena *arena;
    tare_log *log;
    tare_model *model;
    tare_session *session;
    tare_tensor *const *inputs;
    tare_bench_figures figures;
    TARE_VEC(step_times) steps;
    size_t step; /* the next one of the run that is going on */
    double last;
    bool failed; /* no memory */
} bench;

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double wall(void) { return now(CLOCK_MONOTONIC); }

/* ---- numbers ---- */

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least of the sorted numbers that a share of them does not exceed. */
static double quantile(const times *sorted, double share) {
    const size_t rank = (size_t)ceil(share * (double)sorted->count);
    return sorted->at[rank ? rank - 1 : 0];
}

static double median(times *of) {
    qsort(of->at, of->count, sizeof *of->at, by_size);
    return quantile(of, 0.5);
}

static void summarize(tare_bench_figures *f, times *of) {
    f->runs = of->count;
    f->median = median(of);
    f->least = of->at[0];
    f->most = of->at[of->count - 1];
    f->p90 = quantile(of, 0.9);
    f->mean = f->all / (double)of->count;
    for (size_t i = 0; i < of->count; i++) of->at[i] = fabs(of->at[i] - f->median);
    f->deviation = median(of);
    f->is_noisy = f->deviation > noise * f->median;
    f->flops = f->median > 0 ? 2 * (double)f->macs / f->median : 0;
}

/* ---- runs ---- */

/* Has it been enough? `spent`: seconds. */
static bool is_enough(const bench *b, size_t count, double spent, double seconds) {
    if (b->options->runs) return count >= (size_t)b->options->runs;
    return (count >= RUNS_LEAST && spent >= seconds) || count >= RUNS_MOST;
}

static tare_status tell_progress(const bench *b, size_t count, double spent, tare_error *err) {
    const bool is_counted = b->options->runs != 0;
    const uint64_t total = is_counted ? (uint64_t)b->options->runs : (uint64_t)(1e3 * b->options->seconds) + 1;
    uint64_t done = is_counted ? count : (uint64_t)(1e3 * spent);
    if (done > total) done = total;
    if (tare_log_progress(b->log, "bench", done, total)) return TARE_OK;
    return tare_fail(err, TARE_E_INTERRUPTED, "stopped after %zu runs", count);
}

static tare_status run_once(const bench *b, double *took, tare_error *err) {
    const double start = wall();
    TARE_TRY(tare_session_run(b->session, b->inputs, err));
    *took = wall() - start;
    return TARE_OK;
}

static tare_status warm_up(bench *b, tare_error *err) {
    const double start = wall();
    TARE_TRY(run_once(b, &b->figures.first, err));
    double took;
    while (wall() - start < b->options->seconds / 10) TARE_TRY(run_once(b, &took, err));
    return TARE_OK;
}

static tare_status time_runs(bench *b, tare_error *err) {
    times of = { 0 };
    const double start = wall(), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    double took = 0, spent = 0;
    do {
        TARE_TRY(run_once(b, &took, err));
        if (!tare_vec_push(b->arena, &of, took)) return tare_fail_memory(err, 0);
        spent = wall() - start;
        TARE_TRY(tell_progress(b, of.count, spent, err));
    } while (!is_enough(b, of.count, spent, b->options->seconds));
    b->figures.cpu_time = (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / (double)of.count;
    for (size_t i = 0; i < of.count; i++) b->figures.all += of.at[i];
    summarize(&b->figures, &of);
    return TARE_OK;
}

/* ---- nodes ---- */

static step_times new_step(const tare_node *node) {
    if (!node) return (step_times){ 0 };
    return (step_times){ .name = node->name,
                         .op = node->type,
                         .macs = node->op && node->op->macs ? node->op->macs(node) : 0 };
}

static void note_step(void *context, const tare_node *node) {
    bench *b = context;
    const double time = wall();
    if (b->step == b->steps.count && !tare_vec_push(b->arena, &b->steps, new_step(node))) b->failed = true;
    if (b->failed) return;
    b->failed = !tare_vec_push(b->arena, &b->steps.at[b->step].of, time - b->last);
    b->step++;
    b->last = wall();
}

/* Steps that the plan put in are one row together. */
static tare_status add_rows(bench *b, tare_error *err) {
    tare_bench_figures *f = &b->figures;
    tare_bench_node layout = { 0 };
    double all = 0;
    for (size_t i = 0; i < b->steps.count; i++) {
        step_times *step = &b->steps.at[i];
        const double took = median(&step->of);
        const tare_bench_node row = { .name = step->name, .op = step->op, .macs = step->macs, .seconds = took };
        all += took;
        if (!row.name)
            layout.seconds += took;
        else if (!tare_vec_push(b->arena, &f->nodes, row))
            return tare_fail_memory(err, 0);
    }
    if (layout.seconds > 0 && !tare_vec_push(b->arena, &f->nodes, layout)) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < f->nodes.count; i++) f->nodes.at[i].share = all > 0 ? f->nodes.at[i].seconds / all : 0;
    return TARE_OK;
}

/* What takes the same time keeps its order. */
static int by_time(const void *a, const void *b) {
    const tare_bench_node *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds < y->seconds ? 1 : -1;
    return x->name && y->name ? strcmp(x->name, y->name) : (x->name != NULL) - (y->name != NULL);
}

static tare_status run_watched(bench *b, tare_error *err) {
    const double start = wall();
    size_t count = 0;
    do {
        b->step = 0;
        b->last = wall();
        TARE_TRY(tare_session_run(b->session, b->inputs, err));
        if (b->failed) return tare_fail_memory(err, 0);
        TARE_TRY(tell_progress(b, ++count, wall() - start, err));
    } while (!is_enough(b, count, wall() - start, b->options->seconds) && count * b->steps.count < STEP_TIMES_MOST);
    return add_rows(b, err);
}

static tare_status time_nodes(bench *b, tare_error *err) {
    tare_session_set_watch(b->session, note_step, b);
    const tare_status status = run_watched(b, err);
    tare_session_set_watch(b->session, NULL, NULL);
    if (b->figures.nodes.count) qsort(b->figures.nodes.at, b->figures.nodes.count, sizeof(tare_bench_node), by_time);
    return status;
}

/* ---- around it ---- */

static uint64_t weight_bytes(const tare_graph *graph) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (value && value->constant && (value->uses.count || value->is_output)) bytes += value->constant->size;
    }
    return bytes;
}

/* The most that the process ever had resident; Linux counts kilobytes. */
static uint64_t peak_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (uint64_t)usage.ru_maxrss * 1024;
}

static tare_status open_model(bench *b, const char *path, const tare_open_options *open, tare_error *err) {
    const double start = wall();
    TARE_TRY(tare_model_open(&b->model, path, open, b->log, err));
    b->figures.load = wall() - start;
    b->figures.stage = tare_model_stage(b->model);
    b->figures.is_optimized = !b->options->as_is;
    if (!b->options->as_is) TARE_TRY(tare_model_optimize(b->model, NULL, NULL, b->log, err));
    b->figures.optimize = wall() - start - b->figures.load;
    return TARE_OK;
}

static tare_status plan(bench *b, const tare_session_options *options, tare_error *err) {
    tare_bench_figures *f = &b->figures;
    const double start = wall();
    TARE_TRY(tare_session_new(&b->session, b->model, options, err));
    TARE_TRY(tare_session_plan(b->session, b->inputs, err));
    f->plan = wall() - start;
    return TARE_OK;
}

static tare_status measure(bench *b, const tare_session_options *options, tare_error *err) {
    tare_bench_figures *f = &b->figures;
    TARE_TRY(plan(b, options, err));
    TARE_TRY(warm_up(b, err));
    tare_session_get_macs(b->session, &f->macs, &f->quantized_macs);
    f->memory = tare_session_get_memory(b->session);
    TARE_TRY(time_runs(b, err));
    f->peak_bytes = peak_bytes();
    f->weight_bytes = weight_bytes(b->model->graph);
    return b->options->nodes ? time_nodes(b, err) : TARE_OK;
}

static tare_status with_sample(bench *b, const tare_session_options *options, tare_error *err) {
    const tare_source source = { .path = "random:1" };
    tare_samples *samples;
    tare_sample sample;
    TARE_TRY(tare_samples_open(&samples, b->model, &source, 1, NULL, NULL, err));
    tare_status status = tare_samples_get(samples, 0, b->arena, &sample, err);
    if (status == TARE_OK) {
        b->inputs = b->figures.inputs = sample.inputs;
        b->figures.model = b->model;
        status = measure(b, options, err);
    }
    tare_samples_close(samples);
    return status;
}

static tare_status tell(const bench *b, tare_report **report, tare_error *err) {
    tare_report *made = tare_report_new("tare-bench/1");
    if (!made) return tare_fail_memory(err, 0);
    tare_report_bench(made, &b->figures);
    TARE_TRY(tare_report_check(made, err));
    *report = made;
    return TARE_OK;
}

static tare_status bench_path(bench *b, const char *path, const tare_open_options *open,
                              const tare_backend_options *backend, const tare_work_options *work, tare_report **report,
                              tare_error *err) {
    tare_session_options options = { 0 };
    TARE_TRY(tare_work_backend(backend, &options, err));
    TARE_TRY(tare_work_cpu(work, &options.cpu, err));
    TARE_TRY(open_model(b, path, open, err));
    options.pool = tare_pool_new(work ? (size_t)work->threads : 0);
    if (!options.pool) return tare_fail_memory(err, 0);
    b->figures.path = path;
    b->figures.backend = tare_backend_names[options.backend];
    b->figures.cpu = tare_cpu_name(options.cpu);
    b->figures.threads = tare_pool_size(options.pool);
    tare_status status = with_sample(b, &options, err);
    if (status == TARE_OK) status = tell(b, report, err);
    tare_session_free(b->session);
    tare_pool_free(options.pool);
    return status;
}

tare_status tare_bench_path(const char *path, const tare_open_options *open, const tare_backend_options *backend,
                            const tare_bench_options *options, const tare_work_options *work, tare_report **report,
                            tare_log *log, tare_error *err) {
    bench b = { .options = options, .arena = tare_arena_new(), .log = log };
    if (!b.arena) return tare_fail_memory(err, 0);
    const tare_status status = bench_path(&b, path, open, backend, work, report, err);
    tare_model_free(b.model);
    tare_arena_free(b.arena);
    return status;
}

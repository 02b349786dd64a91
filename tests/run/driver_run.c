/* What the Python tests of run/ run: one sample through a model, every value into an archive.
 *   driver_run MODEL IN.npz OUT.npz [OPTION...]
 *   --backend float|qdq|int|local   --target NAME   --profile NAME   --threads N   --cpu NAME   --optimize
 * The local backend writes NAME and NAME.before; the int backend says what it left in float. Errors and, at the end, bytes and MACs of the plan go to stderr; the
 * exit status is the tare_status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/threads.h"
#include "formats/format.h"
#include "passes/pass.h"
#include "run/run.h"
#include "samples/npz.h"

typedef struct driver {
    const char *model_path, *in, *out, *target, *profile;
    tare_session_options options;
    size_t threads, repeats;
    bool optimizes;
    tare_arena *arena;
    tare_model *model;
    tare_tensor **inputs;
    TARE_VEC(tare_npz_array) seen;
} driver;

static void say(void *context, tare_log_level level, const char *text) {
    (void)context;
    fprintf(stderr, "%s: %s\n", level == TARE_LOG_NOTE ? "note" : "warning", text);
}

static tare_log to_stderr = { .line = say };

static tare_status keep(driver *d, const char *name, const tare_tensor *tensor, tare_error *err) {
    tare_tensor *copy;
    if (tensor->dtype == TARE_STRING) return TARE_OK;
    TARE_TRY(tare_tensor_new(d->arena, tensor->dtype, &tensor->shape, &copy, err));
    if (tensor->size) memcpy(copy->data, tensor->data, tensor->size);
    const tare_npz_array array = { .name = name, .tensor = copy };
    return tare_vec_push(d->arena, &d->seen, array) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status look(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                        tare_error *err) {
    driver *d = context;
    if (value->graph != d->model->graph) return TARE_OK;
    TARE_TRY(keep(d, value->name, real, err));
    if (d->options.backend != TARE_BACKEND_LOCAL) return TARE_OK;
    const char *name = tare_arena_printf(d->arena, "%s.before", value->name);
    return name ? keep(d, name, before, err) : tare_fail_memory(err, 0);
}

static tare_status read_model(driver *d, tare_error *err) {
    const tare_format *format = tare_format_to_read(d->model_path);
    const tare_read_options options = { .log = &to_stderr };
    const tare_pass_options passes = { 0 };
    if (!format) return tare_fail(err, TARE_E_USAGE, "%s: no format has this form or ending", d->model_path);
    TARE_TRY(format->read(&d->model, d->model_path, &options, err));
    TARE_TRY(tare_passes_normalize(d->model, NULL, &to_stderr, err));
    TARE_TRY(tare_graph_infer(d->model->graph, err));
    return d->optimizes ? tare_passes_run(d->model, &passes, &to_stderr, NULL, err) : TARE_OK;
}

static tare_status read_inputs(driver *d, tare_error *err) {
    const tare_graph *graph = d->model->graph;
    tare_npz *npz;
    d->inputs = tare_arena_alloc(d->arena, graph->inputs.count + 1, sizeof(tare_tensor *));
    if (!d->inputs) return tare_fail_memory(err, 0);
    TARE_TRY(tare_npz_open(&npz, d->in, err));
    tare_status status = TARE_OK;
    for (size_t i = 0; status == TARE_OK && i < graph->inputs.count; i++) {
        const tare_value *value = graph->inputs.at[i];
        size_t index = tare_npz_find(npz, value->name);
        if (index != SIZE_MAX)
            status = tare_npz_read(npz, index, d->arena, &d->inputs[i], err);
        else if (!value->constant)
            status = tare_fail(err, TARE_E_USAGE, "%s has no array '%s'", d->in, value->name);
    }
    tare_npz_close(npz);
    return status;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void report(const tare_session *session) {
    uint64_t macs, quantized;
    const tare_session_memory memory = tare_session_get_memory(session);
    tare_session_get_macs(session, &macs, &quantized);
    fprintf(stderr, "slab %zu scratch %zu packed %zu macs %llu quantized %llu\n", memory.slab, memory.scratch,
            memory.packed, (unsigned long long)macs, (unsigned long long)quantized);
    const tare_int_left *left;
    size_t on_codes, rest = tare_session_get_left(session, &left, &on_codes);
    fprintf(stderr, "on codes %zu left %zu\n", on_codes, rest);
    for (size_t i = 0; i < rest; i++) fprintf(stderr, "left %s: %s\n", left[i].type, left[i].why);
}

static tare_status run(driver *d, tare_session *session, tare_error *err) {
    if (d->repeats) {
        TARE_TRY(tare_session_run(session, d->inputs, err));
        double start = seconds();
        for (size_t i = 0; i < d->repeats; i++) TARE_TRY(tare_session_run(session, d->inputs, err));
        fprintf(stderr, "%.3f ms a run\n", (seconds() - start) * 1e3 / (double)d->repeats);
        report(session);
        return TARE_OK;
    }
    TARE_TRY(tare_session_set_tap(session, NULL, 0, true, look, d, err));
    TARE_TRY(tare_session_run(session, d->inputs, err));
    const tare_graph *graph = d->model->graph;
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (!tare_dtype_is_float(graph->outputs.at[i]->dtype) || graph->outputs.at[i]->constant)
            TARE_TRY(keep(d, graph->outputs.at[i]->name, tare_session_output(session, i), err));
    report(session);
    return tare_npz_write(d->out, d->seen.at, d->seen.count, err);
}

static tare_status drive(driver *d, tare_error *err) {
    tare_session *session;
    TARE_TRY(tare_target_get(&d->options.target, d->target ? d->target : "onnx", false, err));
    TARE_TRY(tare_target_get_profile(&d->options.profile, d->options.target, d->profile, err));
    TARE_TRY(read_model(d, err));
    TARE_TRY(read_inputs(d, err));
    d->options.pool = d->threads > 1 ? tare_pool_new(d->threads) : NULL;
    TARE_TRY(tare_session_new(&session, d->model, &d->options, err));
    tare_status status = run(d, session, err);
    tare_session_free(session);
    tare_pool_free(d->options.pool);
    return status;
}

static bool read_option(driver *d, const char *name, const char *argument) {
    static const char *const backends[] = { "float", "qdq", "int", "local" }; /* ORDER: backend */
    if (!strcmp(name, "--threads")) d->threads = (size_t)strtoul(argument, NULL, 10);
    if (!strcmp(name, "--repeats")) d->repeats = (size_t)strtoul(argument, NULL, 10);
    if (!strcmp(name, "--target")) d->target = argument;
    if (!strcmp(name, "--profile")) d->profile = argument;
    if (!strcmp(name, "--cpu")) return tare_cpu_find(argument, &d->options.cpu);
    for (int b = 0; b < 4 && !strcmp(name, "--backend"); b++)
        if (!strcmp(argument, backends[b])) d->options.backend = (tare_backend)b;
    return true;
}

int main(int argc, char **argv) {
    tare_error err = { 0 };
    driver d = { .arena = tare_arena_new(), .options = { .cpu = tare_cpu_detect() } };
    if (argc < 4) return TARE_E_USAGE;
    d.model_path = argv[1];
    d.in = argv[2];
    d.out = argv[3];
    for (int i = 4; i < argc; i++) {
        if (!strcmp(argv[i], "--optimize"))
            d.optimizes = true;
        else if (i + 1 == argc || !read_option(&d, argv[i], argv[i + 1]))
            return TARE_E_USAGE;
        else
            i++;
    }
    tare_status status = drive(&d, &err);
    if (status != TARE_OK) fprintf(stderr, "error: %s\n", err.text);
    tare_model_free(d.model);
    tare_arena_free(d.arena);
    return (int)status;
}

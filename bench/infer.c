/* Runs a model when told to: bench_infer MODEL [THREADS] reads counts of runs, one a line, and answers each with the CPU
 * seconds and wall seconds that they took. The scripts that compare with peers drive it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/threads.h"
#include "formats/format.h"
#include "passes/pass.h"
#include "run/run.h"

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Inputs of about the size that normalized images have; the same in every run. */
static tare_status make_inputs(const tare_graph *graph, tare_tensor **inputs, tare_arena *arena, tare_error *err) {
    uint32_t state = 1;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const tare_value *value = graph->inputs.at[i];
        if (value->constant) continue;
        tare_shape shape = value->shape;
        for (int d = 0; d < shape.rank; d++)
            if (shape.dim[d] < 0) shape.dim[d] = 1;
        TARE_TRY(tare_tensor_new(arena, value->dtype, &shape, &inputs[i], err));
        if (value->dtype != TARE_F32) return tare_fail(err, TARE_E_UNSUPPORTED, "input '%s' is not f32", value->name);
        float *x = inputs[i]->data;
        for (int64_t k = 0; k < tare_shape_elements(&shape); k++) {
            state = state * 1664525u + 1013904223u;
            x[k] = (float)(state >> 8) / (float)(1 << 23) - 1;
        }
    }
    return TARE_OK;
}

static tare_status serve(tare_model *model, tare_session *session, tare_arena *arena, tare_error *err) {
    tare_tensor **inputs = tare_arena_alloc(arena, model->graph->inputs.count + 1, sizeof(*inputs));
    int count;
    TARE_TRY(make_inputs(model->graph, inputs, arena, err));
    TARE_TRY(tare_session_run(session, inputs, err));
    puts("ready");
    fflush(stdout);
    while (scanf("%d", &count) == 1) {
        double cpu = now(CLOCK_PROCESS_CPUTIME_ID), wall = now(CLOCK_MONOTONIC);
        for (int i = 0; i < count; i++) TARE_TRY(tare_session_run(session, inputs, err));
        printf("%.9f %.9f\n", now(CLOCK_PROCESS_CPUTIME_ID) - cpu, now(CLOCK_MONOTONIC) - wall);
        fflush(stdout);
    }
    return TARE_OK;
}

static tare_status open_session(tare_model **model, tare_session **session, const char *path, tare_pool *pool,
                                tare_error *err) {
    const tare_format *format = tare_format_to_read(path);
    const tare_read_options reading = { 0 };
    const tare_normalize_options normalizing = { 0 };
    const tare_pass_options passes = { 0 };
    const tare_session_options options = { .cpu = tare_cpu_detect(), .pool = pool };
    if (!format) return tare_fail(err, TARE_E_USAGE, "%s: no format has this form or ending", path);
    TARE_TRY(format->read(model, path, &reading, err));
    TARE_TRY(tare_passes_normalize(*model, &normalizing, NULL, err));
    TARE_TRY(tare_graph_infer((*model)->graph, err));
    TARE_TRY(tare_passes_run(*model, &passes, NULL, NULL, err));
    return tare_session_new(session, *model, &options, err);
}

int main(int count, char **arguments) {
    tare_error err = { 0 };
    tare_model *model = NULL;
    tare_session *session = NULL;
    if (count < 2) {
        puts("bench_infer is driven by bench/float.py");
        return 0;
    }
    tare_pool *pool = tare_pool_new(count > 2 ? strtoul(arguments[2], NULL, 10) : 1);
    tare_arena *arena = tare_arena_new();
    if (open_session(&model, &session, arguments[1], pool, &err) != TARE_OK ||
        serve(model, session, arena, &err) != TARE_OK)
        fprintf(stderr, "%s\n", err.text);
    tare_session_free(session);
    tare_model_free(model);
    tare_arena_free(arena);
    tare_pool_free(pool);
    return (int)err.status;
}

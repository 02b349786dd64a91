/* What the conformance test runs: one model on given inputs, as it is run everywhere.
 *   driver_conformance MODEL INPUTS OUTPUTS [THREADS [CPU]]
 * INPUTS and OUTPUTS hold one tensor after the other, in the order of the graph: a line "DTYPE RANK DIM…", then its bytes.
 * Errors go to stderr; the exit status is the tare_status. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "formats/format.h"
#include "passes/pass.h"
#include "run/run.h"

static int finish(const tare_error *err) {
    if (err->status != TARE_OK) fprintf(stderr, "%s\n", err->text);
    return (int)err->status;
}

static tare_tensor *read_tensor(FILE *file, tare_arena *arena) {
    char name[16];
    tare_shape shape;
    tare_tensor *tensor;
    tare_error err = { 0 };
    if (fscanf(file, "%15s %d", name, &shape.rank) != 2) return NULL;
    for (int i = 0; i < shape.rank; i++)
        if (fscanf(file, "%" SCNd64, &shape.dim[i]) != 1) return NULL;
    if (fgetc(file) != '\n') return NULL;
    if (tare_tensor_new(arena, tare_dtype_find(name), &shape, &tensor, &err) != TARE_OK) exit(finish(&err));
    return fread(tensor->data, 1, tensor->size, file) == tensor->size ? tensor : NULL;
}

static void write_tensor(FILE *file, const tare_tensor *tensor) {
    fprintf(file, "%s %d", tare_dtype_name(tensor->dtype), tensor->shape.rank);
    for (int i = 0; i < tensor->shape.rank; i++) fprintf(file, " %" PRId64, tensor->shape.dim[i]);
    fputc('\n', file);
    fwrite(tensor->data, 1, tensor->size, file);
}

static tare_status run_model(tare_model *model, const tare_session_options *options, FILE *in, FILE *out,
                             tare_arena *arena, tare_error *err) {
    const tare_graph *graph = model->graph;
    tare_tensor **inputs = tare_arena_alloc(arena, graph->inputs.count + 1, sizeof(*inputs));
    tare_session *session;
    TARE_TRY(tare_passes_normalize(model, NULL, NULL, err));
    for (size_t i = 0; i < graph->inputs.count; i++) {
        inputs[i] = read_tensor(in, arena);
        if (!inputs[i]) return tare_fail(err, TARE_E_USAGE, "no tensor for input '%s'", graph->inputs.at[i]->name);
    }
    TARE_TRY(tare_session_new(&session, model, options, err));
    tare_status status = tare_session_run(session, inputs, err);
    for (size_t i = 0; i < graph->outputs.count && status == TARE_OK; i++)
        write_tensor(out, tare_session_output(session, i));
    tare_session_free(session);
    return status;
}

int main(int count, char **arguments) {
    tare_error err = { 0 };
    tare_model *model = NULL;
    if (count < 4 || count > 6) return TARE_E_USAGE;
    tare_session_options run = { .backend = TARE_BACKEND_QDQ, .cpu = tare_cpu_detect() };
    if (count > 5 && (!tare_cpu_find(arguments[5], &run.cpu) || !tare_cpu_has(run.cpu))) return TARE_E_USAGE;
    if (count > 4) run.pool = tare_pool_new(strtoul(arguments[4], NULL, 10));
    const tare_read_options options = { 0 };
    FILE *in = fopen(arguments[2], "rb"), *out = fopen(arguments[3], "wb");
    if (!in || !out) return TARE_E_IO;
    tare_arena *arena = tare_arena_new();
    if (tare_format_to_read(arguments[1])->read(&model, arguments[1], &options, &err) == TARE_OK)
        run_model(model, &run, in, out, arena, &err);
    fclose(in);
    if (fclose(out)) return TARE_E_IO;
    tare_model_free(model);
    tare_arena_free(arena);
    tare_pool_free(run.pool);
    return finish(&err);
}

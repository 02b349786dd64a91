/* Whole models: what was read is brought to canonical form, optimized, quantized and run, in float and through its codes,
 * or refused. Neither optimizing nor quantizing changes an output's type or shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tare/quantize.h>

#include "api/sized.h"
#include "formats/onnx/reader.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "run/run.h"
#include "samples/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUTPUTS_MOST = 8, MACS_MOST = 1 << 20, BYTES_MOST = 1 << 20, MEMORY_MOST = 16 << 20 };

/* What a run gave; count 0: it was refused, or nothing was to be compared. */
typedef struct outcome {
    size_t count;
    tare_dtype dtype[OUTPUTS_MOST];
    tare_shape shape[OUTPUTS_MOST];
} outcome;

static void expect_no_bug(tare_status status, const tare_error *err) {
    if (status != TARE_E_BUG) return;
    fprintf(stderr, "%s: %s\n", tare_status_name(status), err->text);
    abort();
}

/* Loops may go on for a million rounds, which is right and long. */
static bool has_loop(const tare_graph *graph) {
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        if (tare_node_is(node, "Loop") || tare_node_is(node, "Scan")) return true;
        for (int i = 0; (body = tare_node_body(node, i)); i++)
            if (has_loop(body)) return true;
    }
    return false;
}

static void keep(outcome *out, const tare_session *session, const tare_graph *graph) {
    if (graph->outputs.count > OUTPUTS_MOST) return;
    out->count = graph->outputs.count;
    for (size_t i = 0; i < out->count; i++) {
        out->dtype[i] = tare_session_output(session, i)->dtype;
        out->shape[i] = tare_session_output(session, i)->shape;
    }
}

static void run_session(const tare_model *model, const tare_sized *sized, tare_backend backend,
                        const tare_target *target, outcome *out) {
    const tare_session_options options = {
        .backend = backend, .cpu = TARE_CPU_SCALAR, .memory_limit = BYTES_MOST, .target = target
    };
    tare_session *session;
    tare_error err = { 0 };
    uint64_t macs = 0, unused;
    tare_status status = tare_session_new(&session, model, &options, &err);
    if (status != TARE_OK) return;
    status = tare_session_plan(session, sized->inputs, &err);
    if (status == TARE_OK) tare_session_get_macs(session, &macs, &unused);
    if (status == TARE_OK && macs < MACS_MOST) {
        status = tare_session_run(session, sized->inputs, &err);
        if (status == TARE_OK) keep(out, session, model->graph);
    }
    expect_no_bug(status, &err);
    tare_session_free(session);
}

/* Open dimensions are 1. */
static void run(const tare_model *model, outcome *out) {
    tare_sized sized;
    tare_error err = { 0 };
    const tare_status status = tare_sized_open(&sized, model, NULL, &err);
    expect_no_bug(status, &err);
    if (status != TARE_OK) return;
    outcome rounded = { 0 };
    if (sized.model) run_session(sized.model, &sized, TARE_BACKEND_FLOAT, NULL, out);
    if (sized.model) run_session(sized.model, &sized, TARE_BACKEND_QDQ, NULL, &rounded);
    for (size_t i = 0; sized.model && i < tare_target_count(); i++)
        run_session(sized.model, &sized, TARE_BACKEND_INT, tare_target_at(i), &rounded);
    tare_sized_close(&sized);
}

/* From made-up samples, by the default method. */
static tare_status quantize(tare_model **out, const tare_model *model, tare_error *err) {
    const tare_source source = { .path = "random:1" };
    const tare_quantization options = { .target = "onnx", .percentile = 99.99 };
    const tare_calibration_options calibration = { .skip_nonfinite = true };
    const tare_work_options work = { .threads = 1, .cpu = "scalar" };
    tare_samples *samples;
    TARE_TRY(tare_samples_open(&samples, model, &source, 1, NULL, NULL, err));
    const tare_status status =
        tare_model_quantize(out, NULL, model, samples, NULL, &options, &calibration, NULL, &work, NULL, NULL, err);
    tare_samples_close(samples);
    return status;
}

static void quantize_and_run(const tare_model *model, outcome *after) {
    tare_model *quantized = NULL;
    tare_error err = { 0 };
    const tare_status status = quantize(&quantized, model, &err);
    expect_no_bug(status, &err);
    if (status == TARE_OK) run(quantized, after);
    tare_model_free(quantized);
}

static void compare(const outcome *before, const outcome *after) {
    for (size_t i = 0; before->count == after->count && i < before->count; i++) {
        if (before->dtype[i] == after->dtype[i] && tare_shape_equal(&before->shape[i], &after->shape[i])) continue;
        fprintf(stderr, "output %zu is another than before\n", i);
        abort();
    }
}

static tare_status prepare(tare_model *model, tare_error *err) {
    const tare_normalize_options options = { .repair_scales = false };
    TARE_TRY(tare_passes_normalize(model, &options, NULL, err));
    TARE_TRY(tare_graph_infer(model->graph, err));
    return tare_graph_verify(model->graph, err);
}

static void flow(tare_model *model) {
    outcome before = { 0 }, after = { 0 };
    tare_error err = { 0 };
    tare_status status = prepare(model, &err);
    expect_no_bug(status, &err);
    if (status != TARE_OK || has_loop(model->graph)) return;
    run(model, &before);
    status = tare_passes_run(model, NULL, NULL, NULL, &err);
    expect_no_bug(status, &err);
    if (status != TARE_OK) return;
    run(model, &after);
    compare(&before, &after);
    memset(&after, 0, sizeof after);
    if (before.count) quantize_and_run(model, &after); /* small enough to be computed */
    compare(&before, &after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const tare_read_options reading = { .log = NULL };
    tare_error err = { 0 };
    tare_model *model;
    tare_memory_set_cap(tare_memory_live() + MEMORY_MOST); /* what fits is soon computed */
    if (tare_onnx_read_bytes(&model, data, size, NULL, &reading, NULL, &err) != TARE_OK) return 0;
    flow(model);
    tare_model_free(model);
    return 0;
}

/* Verb quantize: the main job. */

#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct record {
    cli_recipe_options recipe;
    tare_open_options open;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_calibration_options calibration;
    tare_quantization quantization;
    tare_work_options work;
    const char *ranges, *output, *stages;
    tare_strings holdout;
    double fail_below;
} record;

static const tare_field own_fields[] = {
    { "ranges", TARE_FIELD_STRING, offsetof(record, ranges), TARE_FIELD_PATH, .metavar = "RANGES",
      .help = "what `tare calibrate` or `tare merge` wrote, instead of ranges from --data" },
    { "holdout", TARE_FIELD_STRINGS, offsetof(record, holdout), TARE_FIELD_ONE, .metavar = "[NAME=]SRC",
      .help = "measure the loss on these samples; without it on every fifth of --data, kept out until then" },
    { "fail-below", TARE_FIELD_DOUBLE, offsetof(record, fail_below), .lo = 0, .hi = 1000, .metavar = "DB",
      .help = "write nothing and exit with 1 when the SQNR of an output is below this many dB" },
    { "stages", TARE_FIELD_STRING, offsetof(record, stages), TARE_FIELD_PATH, .metavar = "DIR",
      .help = "also write the model of each stage: original_float.onnx, optimized_float.onnx, calibrated.onnx (scales "
              "chosen, weights still float), quantized.onnx" },
    { "output", TARE_FIELD_STRING, offsetof(record, output), TARE_FIELD_REQUIRED, .metavar = "OUT.onnx",
      .help = "the model to write; its extension says the format", .letter = 'o' },
    { .type = TARE_FIELD_END },
};

/* What a call opens. */
typedef struct job {
    tare_model *original; /* before the passes; only --stages asks for it */
    tare_model *model, *calibrated, *quantized;
    tare_samples *samples, *holdout;
    tare_ranges *ranges;
    tare_report *report;
    tare_advice advice;
} job;

static tare_status open_samples(tare_samples **out, const cli_call *call, const tare_model *model,
                                const tare_data_options *data, tare_error *err) {
    const record *r = call->record;
    tare_status status = tare_samples_from_options(out, model, data, &r->preprocess, call->log, err);
    return status == TARE_OK ? tare_samples_check_path(*out, r->output, err) : status;
}

/* What measures the loss should be other samples than those that calibrate. */
static void warn_same(const cli_call *call) {
    const record *r = call->record;
    static const char text[] =
        "--holdout is --data: the loss is measured on what calibrates, and looks too good; without "
        "--holdout every fifth is kept out until then";
    for (size_t i = 0; i < r->holdout.count; i++)
        for (size_t k = 0; k < r->data.data.count; k++)
            if (!strcmp(r->holdout.at[i], r->data.data.at[k]) && call->log->line)
                call->log->line(call->log->context, TARE_LOG_WARNING, text);
}

/* Its errors speak of --data, as those of all samples do. */
static tare_status open_holdout(job *j, const cli_call *call, tare_error *err) {
    const record *r = call->record;
    const tare_data_options holdout = { .data = r->holdout, .whole = r->data.whole, .inputs = r->data.inputs };
    if (!r->holdout.count) return TARE_OK;
    warn_same(call);
    const tare_status status = open_samples(&j->holdout, call, j->model, &holdout, err);
    if (status == TARE_OK) return TARE_OK;
    const tare_error why = *err;
    cli_usage(err, "--holdout: %.1000s", why.text);
    return err->status = status;
}

static tare_status open_all(job *j, const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_status status = tare_model_open(&j->model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_check_path(j->model, r->output, err);
    if (status == TARE_OK && r->stages) status = tare_model_copy(&j->original, j->model, err);
    if (status == TARE_OK) status = tare_model_optimize(j->model, NULL, NULL, call->log, err);
    if (status == TARE_OK && r->ranges) status = tare_ranges_read(&j->ranges, r->ranges, err);
    if (status == TARE_OK && (r->data.data.count || r->data.inputs.count))
        status = open_samples(&j->samples, call, j->model, &r->data, err);
    if (status == TARE_OK) status = open_holdout(j, call, err);
    if (status == TARE_OK && r->stages) status = tare_stages_prepare(r->stages, j->model, j->samples, j->holdout, err);
    return status;
}

/* The stages first: the model that was asked for comes last. */
static tare_status save(const job *j, const cli_call *call, tare_error *err) {
    const record *r = call->record;
    const tare_stages stages = { j->original, j->model, j->calibrated, j->quantized };
    const tare_status status = r->stages ? tare_stages_save(&stages, r->stages, call->log, err) : TARE_OK;
    return status == TARE_OK ? tare_model_save(j->quantized, r->output, call->log, err) : status;
}

/* Where to look further: debug, which quantizes again what was not written; and what may lose less, if much was lost. */
static tare_status add_next(const job *j, const cli_call *call, bool is_written, tare_error *err) {
    const record *r = call->record;
    const tare_field *const tables[] = { cli_recipe_fields,       tare_data_fields,         tare_preprocess_fields,
                                         tare_calibration_fields, tare_quantization_fields, NULL };
    const tare_field *const of_data[] = { cli_recipe_fields, tare_data_fields, tare_preprocess_fields, NULL };
    const char *const debug[] = { "debug", call->operands[0], is_written ? r->output : NULL, NULL };
    char name[CLI_NAME_SIZE];
    const char *quantize[16] = { "quantize", call->operands[0] };
    size_t count = 2;
    for (size_t i = 0; i < j->advice.count; i++) quantize[count++] = j->advice.options[i];
    quantize[count++] = "-o", quantize[count] = cli_free_name(name);
    char *commands[] = { cli_next_command(call, debug, is_written ? of_data : tables),
                         cli_next_command(call, quantize, tables) };
    const bool is_whole = commands[0] && commands[1];
    tare_status status = is_whole ? TARE_OK : cli_fail(err, TARE_E_LIMIT, "out of memory");
    if (is_whole)
        status = tare_report_add_next(j->report, (const char *const[]){ commands[0], commands[1] },
                                      j->advice.count ? 2 : 1, err);
    free(commands[0]);
    free(commands[1]);
    return status;
}

/* What the report says at its end: the file, and what to do next. */
static tare_status tell_written(const job *j, const cli_call *call, bool is_written, tare_error *err) {
    const record *r = call->record;
    tare_status status = r->stages && is_written ? tare_report_add_stages(j->report, r->stages, err) : TARE_OK;
    if (status == TARE_OK) status = tare_report_add_written(j->report, j->model, is_written ? r->output : NULL, err);
    if (status != TARE_OK) return status;
    return j->samples ? add_next(j, call, is_written, err) /* debug needs data */
                      : tare_report_add_next(j->report, NULL, 0, err);
}

/* The gate's error stays, with what it means for the file. */
static tare_status tell_refused(const job *j, const cli_call *call, tare_error *err) {
    const record *r = call->record;
    const tare_error gate = *err;
    const tare_status status = tell_written(j, call, false, err);
    if (status != TARE_OK) return status;
    cli_usage(err, "%.1000s; %.500s was not written", gate.text, r->output);
    return err->status = gate.status;
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    job j = { .model = NULL };
    tare_status status = open_all(&j, call, err);
    const tare_measuring measuring = { .holdout = j.holdout, .fail_below = r->fail_below, .advice = &j.advice };
    if (status == TARE_OK)
        status =
            tare_model_quantize(&j.quantized, r->stages ? &j.calibrated : NULL, j.model, j.samples, j.ranges,
                                &r->quantization, &r->calibration, &measuring, &r->work, &j.report, call->log, err);
    if (status == TARE_OK) status = save(&j, call, err);
    if (status == TARE_OK) status = tell_written(&j, call, true, err);
    if (status == TARE_E_GATE) status = tell_refused(&j, call, err);
    tare_model_free(j.calibrated);
    tare_model_free(j.quantized);
    tare_samples_close(j.samples);
    tare_samples_close(j.holdout);
    tare_ranges_free(j.ranges);
    tare_model_free(j.original);
    tare_model_free(j.model);
    if (status != TARE_OK && status != TARE_E_GATE) {
        tare_report_free(j.report);
        return status;
    }
    return cli_print_verdict(call, j.report, status, err);
}

static const char *const more[] = {
    "tare quantize net.onnx --data photos/ --resize 224x224 -o net_int8.onnx",
    "tare quantize net.onnx --ranges net.ranges -o net_int8.onnx",
    "tare quantize net.onnx --data samples/ --stages stages/ -o net_int8.onnx",
    "tare quantize --recipe net.yaml",
    NULL,
};

const cli_verb cli_verb_quantize = {
    .name = "quantize",
    .usage = "MODEL --data SRC | --ranges RANGES -o OUT.onnx",
    .summary = "take a float model and samples to int8",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { cli_recipe_fields, offsetof(record, recipe) },
                { tare_data_fields, offsetof(record, data) },
                { tare_preprocess_fields, offsetof(record, preprocess) },
                { tare_calibration_fields, offsetof(record, calibration) },
                { tare_quantization_fields, offsetof(record, quantization) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) },
                { own_fields, 0 } },
    .record_size = sizeof(record),
    .run = run,
};

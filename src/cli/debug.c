/* Verb debug: where the accuracy goes, node by node. */
#include <string.h>

#include "cli.h"

typedef struct record {
    cli_recipe_options recipe;
    tare_open_options open;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_calibration_options calibration;
    tare_quantization quantization;
    tare_debugging debugging;
    tare_judging judging;
    tare_work_options work;
} record;

static bool is_quantized(const tare_model *model) { return !strcmp(tare_model_stage(model), "quantized"); }

static void warn(const cli_call *call, const char *text) {
    if (call->log->line) call->log->line(call->log->context, TARE_LOG_WARNING, text);
}

/* What quantizes here has no say over a model that is quantized already. */
static void warn_options(const cli_call *call) {
    const tare_field *const tables[] = { tare_calibration_fields, tare_quantization_fields, NULL };
    const tare_field *field = call->operand_count > 1 ? cli_given(call, tables) : NULL;
    char text[512];
    if (!field) return;
    snprintf(
        text, sizeof text,
        "'%.200s' is quantized already, so that --%s only goes into the command at the end; leave that model out to "
        "quantize with it here",
        call->operands[1], field->name);
    warn(call, text);
}

typedef struct job {
    tare_model *model, *quantized; /* float, and what was made of it */
    const char *path;              /* of the float model */
    bool is_again;                 /* it is quantized itself, and nothing that it was made of is given */
} job;

/* The float model and, if it is given, the quantized one, in whatever order. */
static tare_status open_models(const cli_call *call, job *j, tare_error *err) {
    const record *r = call->record;
    warn_options(call);
    j->path = call->operands[0];
    tare_status status = tare_model_open(&j->model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK && call->operand_count > 1)
        status = tare_model_open(&j->quantized, call->operands[1], &r->open, call->log, err);
    if (status != TARE_OK) return status;
    j->is_again = !j->quantized && is_quantized(j->model);
    if (j->is_again) {
        warn(
            call,
            "the model is quantized already: what that cost is not seen here; give the float model that it was made of "
            "first, and this one second");
    } else if (j->quantized && is_quantized(j->model) && !is_quantized(j->quantized)) {
        tare_model *quantized = j->model;
        j->model = j->quantized, j->quantized = quantized;
        j->path = call->operands[1];
        warn(call, "the first model is the quantized one: the two are taken in the other order");
    }
    return tare_model_optimize(j->model, NULL, NULL, call->log, err);
}

/* The model quantized here and now, if none was given. */
static tare_status get_quantized(const cli_call *call, const tare_model *model, const tare_samples *samples,
                                 tare_model **out, tare_error *err) {
    const record *r = call->record;
    if (*out) return TARE_OK;
    return tare_model_quantize(out, NULL, model, samples, NULL, &r->quantization, &r->calibration, NULL, &r->work, NULL,
                               call->log, err);
}

/* How to quantize better, when that is known: the options of this call, and what would help. */
static tare_status add_next(const cli_call *call, const char *model, const tare_advice *advice, tare_report *report,
                            tare_error *err) {
    const tare_field *const tables[] = { cli_recipe_fields,       tare_data_fields,         tare_preprocess_fields,
                                         tare_calibration_fields, tare_quantization_fields, NULL };
    char name[CLI_NAME_SIZE];
    const char *words[16] = { "quantize", model };
    size_t count = 2;
    if (!advice->count) return TARE_OK;
    for (size_t i = 0; i < advice->count; i++) words[count++] = advice->options[i];
    words[count++] = "-o";
    words[count] = cli_free_name(name);
    return cli_add_next(call, words, tables, report, err);
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    job j = { .model = NULL };
    tare_samples *samples = NULL;
    tare_report *report = NULL;
    tare_advice advice = { .count = 0 };
    tare_status status = open_models(call, &j, err);
    if (status == TARE_OK)
        status = tare_samples_from_options(&samples, j.model, &r->data, &r->preprocess, call->log, err);
    if (status == TARE_OK) status = get_quantized(call, j.model, samples, &j.quantized, err);
    if (status == TARE_OK)
        status = tare_debug_model(j.model, j.quantized, samples, &r->debugging, &r->judging, &r->work, &report, &advice,
                                  call->log, err);
    if (status == TARE_OK && !j.is_again) status = add_next(call, j.path, &advice, report, err);
    tare_model_free(j.quantized);
    tare_samples_close(samples);
    tare_model_free(j.model);
    return cli_print_verdict(call, report, status, err);
}

static const char *const more[] = {
    "tare debug net.onnx net_int8.onnx --data samples/",
    "tare debug net.onnx --data samples/",
    NULL,
};

const cli_verb cli_verb_debug = {
    .name = "debug",
    .usage = "MODEL [QUANTIZED] --data SRC",
    .summary = "show where the accuracy goes, node by node",
    .more = more,
    .operands = { 1, 2 },
    .groups = { { cli_recipe_fields, offsetof(record, recipe) },
                { tare_data_fields, offsetof(record, data) },
                { tare_preprocess_fields, offsetof(record, preprocess) },
                { tare_calibration_fields, offsetof(record, calibration) },
                { tare_quantization_fields, offsetof(record, quantization) },
                { tare_debugging_fields, offsetof(record, debugging) },
                { tare_judging_fields, offsetof(record, judging) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

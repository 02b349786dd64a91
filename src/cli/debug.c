/* Verb debug: where the accuracy goes, node by node. */
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

/* The second operand, or the model quantized here and now. */
static tare_status get_quantized(const cli_call *call, const tare_model *model, const tare_samples *samples,
                                 tare_model **out, tare_error *err) {
    const record *r = call->record;
    if (call->operand_count > 1) return tare_model_open(out, call->operands[1], &r->open, call->log, err);
    return tare_model_quantize(out, NULL, model, samples, NULL, &r->quantization, &r->calibration, NULL, &r->work, NULL,
                               call->log, err);
}

/* How to quantize better, when that is known: the options of this call, and what would help. */
static tare_status add_next(const cli_call *call, const tare_advice *advice, tare_report *report, tare_error *err) {
    const tare_field *const tables[] = { cli_recipe_fields,       tare_data_fields,         tare_preprocess_fields,
                                         tare_calibration_fields, tare_quantization_fields, NULL };
    const char *words[16] = { "quantize", call->operands[0] };
    size_t count = 2;
    if (!advice->count) return TARE_OK;
    for (size_t i = 0; i < advice->count; i++) words[count++] = advice->options[i];
    words[count++] = "-o";
    words[count] = "better.onnx";
    return cli_add_next(call, words, tables, report, err);
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL, *quantized = NULL;
    tare_samples *samples = NULL;
    tare_report *report = NULL;
    tare_advice advice = { .count = 0 };
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_optimize(model, NULL, NULL, call->log, err);
    if (status == TARE_OK)
        status = tare_samples_from_options(&samples, model, &r->data, &r->preprocess, call->log, err);
    if (status == TARE_OK) status = get_quantized(call, model, samples, &quantized, err);
    if (status == TARE_OK)
        status = tare_debug_model(model, quantized, samples, &r->debugging, &r->judging, &r->work, &report, &advice,
                                  call->log, err);
    if (status == TARE_OK) status = add_next(call, &advice, report, err);
    tare_model_free(quantized);
    tare_samples_close(samples);
    tare_model_free(model);
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

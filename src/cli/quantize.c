/* Verb quantize: the main job. */
#include "cli.h"

typedef struct record {
    cli_recipe_options recipe;
    tare_open_options open;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_calibration_options calibration;
    tare_quantization quantization;
    tare_work_options work;
    const char *ranges, *output;
} record;

static const tare_field own_fields[] = {
    { "ranges", TARE_FIELD_STRING, offsetof(record, ranges), TARE_FIELD_PATH, .metavar = "RANGES",
      .help = "what `tare calibrate` or `tare merge` wrote, instead of --data; method auto needs both" },
    { "output", TARE_FIELD_STRING, offsetof(record, output), TARE_FIELD_REQUIRED, .metavar = "OUT.onnx",
      .help = "the model to write; its extension says the format", .letter = 'o' },
    { .type = TARE_FIELD_END },
};

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL, *quantized = NULL;
    tare_samples *samples = NULL;
    tare_ranges *ranges = NULL;
    const bool has_data = r->data.data.count || r->data.inputs.count;
    if (!r->ranges && !has_data)
        return cli_usage(err,
                         "--data or --ranges is needed: what to see the model's values on, or what was seen of them");
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_check_path(model, r->output, err);
    if (status == TARE_OK) status = tare_model_optimize(model, NULL, NULL, call->log, err);
    if (status == TARE_OK && r->ranges) status = tare_ranges_read(&ranges, r->ranges, err);
    if (status == TARE_OK && has_data)
        status = tare_samples_from_options(&samples, model, &r->data, &r->preprocess, call->log, err);
    if (status == TARE_OK)
        status = tare_model_quantize(&quantized, model, samples, ranges, &r->quantization, &r->calibration, &r->work,
                                     call->log, err);
    if (status == TARE_OK) status = tare_model_save(quantized, r->output, call->log, err);
    tare_model_free(quantized);
    tare_samples_close(samples);
    tare_ranges_free(ranges);
    tare_model_free(model);
    return status;
}

const cli_verb cli_verb_quantize = {
    .name = "quantize",
    .usage = "MODEL --data SRC | --ranges RANGES -o OUT",
    .summary = "take a float model and samples to int8",
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

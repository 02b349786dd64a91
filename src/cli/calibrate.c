/* Verb calibrate: what a model's values are on samples. */
#include "cli.h"

typedef struct record {
    cli_recipe_options recipe;
    tare_open_options open;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_calibration_options calibration;
    tare_work_options work;
    const char *shard, *output;
} record;

static const tare_field own_fields[] = {
    { "shard", TARE_FIELD_STRING, offsetof(record, shard), .metavar = "I/N",
      .help = "only every N-th sample from the I-th (from 0); `tare merge` adds shards up" },
    { "output", TARE_FIELD_STRING, offsetof(record, output), TARE_FIELD_REQUIRED, .metavar = "RANGES",
      .help = "the ranges file to write", .letter = 'o' },
    { .type = TARE_FIELD_END },
};

/* All that was asked for is in the file; of a shard others are to come. */
static tare_status add_next(const cli_call *call, tare_report *report, tare_error *err) {
    const record *r = call->record;
    const tare_field *const tables[] = { tare_open_fields, NULL };
    const char *const words[] = { "quantize", call->operands[0], "--ranges", r->output, "-o", "quantized.onnx", NULL };
    return r->shard ? tare_report_add_next(report, NULL, 0, err) : cli_add_next(call, words, tables, report, err);
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL;
    tare_samples *samples = NULL;
    tare_ranges *ranges = NULL;
    tare_report *report = NULL;
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_check_inputs(model, r->output, err);
    if (status == TARE_OK) status = tare_model_optimize(model, NULL, NULL, call->log, err);
    if (status == TARE_OK)
        status = tare_samples_from_options(&samples, model, &r->data, &r->preprocess, call->log, err);
    if (status == TARE_OK) status = tare_samples_check_path(samples, r->output, err);
    if (status == TARE_OK)
        status = tare_model_calibrate(&ranges, model, samples, r->shard, &r->calibration, &r->work, call->log, err);
    if (status == TARE_OK) status = tare_ranges_write(ranges, r->output, err);
    if (status == TARE_OK) status = tare_ranges_tell(ranges, r->output, &report, err);
    if (status == TARE_OK) status = add_next(call, report, err);
    tare_ranges_free(ranges);
    tare_samples_close(samples);
    tare_model_free(model);
    return cli_print_verdict(call, report, status, err);
}

static const char *const more[] = {
    "tare calibrate net.onnx --data samples/ -o net.ranges",
    "tare calibrate net.onnx --data samples/ --shard 0/4 -o part0.ranges",
    "tare calibrate --recipe net.yaml -o net.ranges",
    NULL,
};

const cli_verb cli_verb_calibrate = {
    .name = "calibrate",
    .usage = "MODEL --data SRC -o RANGES [--shard I/N]",
    .summary = "write what a model's values are on samples",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { cli_recipe_fields, offsetof(record, recipe) },
                { tare_data_fields, offsetof(record, data) },
                { tare_preprocess_fields, offsetof(record, preprocess) },
                { tare_calibration_fields, offsetof(record, calibration) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) },
                { own_fields, 0 } },
    .record_size = sizeof(record),
    .run = run,
};

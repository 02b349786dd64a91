/* Verb optimize: the float graph made small, its results kept. */
#include "cli.h"

typedef struct record {
    tare_open_options open;
    tare_optimize_options optimize;
    const char *output;
} record;

static const tare_field own_fields[] = {
    { "output", TARE_FIELD_STRING, offsetof(record, output), TARE_FIELD_REQUIRED, .metavar = "OUT.onnx",
      .help = "the model to write", .letter = 'o' },
    { .type = TARE_FIELD_END },
};

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL;
    tare_report *report = NULL;
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_optimize(model, &r->optimize, &report, call->log, err);
    if (status == TARE_OK) status = tare_model_save(model, r->output, call->log, err);
    tare_model_free(model);
    if (status == TARE_OK) return cli_print_report(call, report, err);
    tare_report_free(report);
    return status;
}

static const char *const more[] = {
    "tare optimize net.onnx --explain -o net_small.onnx",
    NULL,
};

const cli_verb cli_verb_optimize = {
    .name = "optimize",
    .usage = "MODEL -o OUT",
    .summary = "simplify the graph without changing what it computes",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { own_fields, 0 },
                { tare_optimize_fields, offsetof(record, optimize) },
                { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

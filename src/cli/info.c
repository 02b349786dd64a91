/* Verb info: what a model is made of. */
#include "cli.h"

typedef struct record {
    tare_open_options open;
    tare_info_options info;
} record;

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL;
    tare_report *report = NULL;
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_info(model, &r->info, &report, call->log, err);
    tare_model_free(model);
    return status == TARE_OK ? cli_print_report(call, report, err) : status;
}

static const char *const more[] = {
    "tare info net.onnx",
    "tare info net_int8.onnx --values",
    NULL,
};

const cli_verb cli_verb_info = {
    .name = "info",
    .usage = "MODEL [--nodes] [--values] [--memory]",
    .summary = "say what a model is made of",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { tare_info_fields, offsetof(record, info) }, { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

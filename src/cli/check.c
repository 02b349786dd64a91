/* Verb check: will it work, and what will hurt? */
#include <string.h>

#include "cli.h"

typedef struct record {
    tare_check_options check;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_work_options work;
    tare_open_options open;
} record;

/* With samples, and a model that is still float: to quantize it with them. */
static tare_status add_next(const cli_call *call, const tare_model *model, tare_report *report, tare_error *err) {
    const record *r = call->record;
    const tare_field *const tables[] = { tare_data_fields, tare_preprocess_fields, tare_open_fields, NULL };
    const char *const words[] = { "quantize", call->operands[0], "-o", "quantized.onnx", NULL };
    if (!r->data.data.count || !strcmp(tare_model_stage(model), "quantized")) return TARE_OK;
    return cli_add_next(call, words, tables, report, err);
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL;
    tare_samples *samples = NULL;
    tare_report *report = NULL;
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK && r->data.data.count)
        status = tare_samples_from_options(&samples, model, &r->data, &r->preprocess, call->log, err);
    if (status == TARE_OK) status = tare_model_check(model, &r->check, samples, &r->work, &report, call->log, err);
    if (status == TARE_OK) status = add_next(call, model, report, err);
    tare_samples_close(samples);
    tare_model_free(model);
    return cli_print_verdict(call, report, status, err);
}

static const char *const more[] = {
    "tare check net.onnx",
    "tare check net.onnx --data samples.npy",
    NULL,
};

const cli_verb cli_verb_check = {
    .name = "check",
    .usage = "MODEL [--target T] [--data SRC]",
    .summary = "say what the target supports and what looks dangerous for int8",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { tare_check_fields, offsetof(record, check) },
                { tare_data_fields, offsetof(record, data) },
                { tare_preprocess_fields, offsetof(record, preprocess) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

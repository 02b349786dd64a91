/* Verb compare: models, stages and dumps beside each other. */
#include "cli.h"

typedef struct record {
    tare_open_options open;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_backend_options backend;
    tare_comparing comparing;
    tare_judging judging;
    tare_work_options work;
} record;

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_report *report = NULL;
    tare_status status =
        tare_compare_paths(call->operands, (size_t)call->operand_count, &r->open, &r->data, &r->preprocess, &r->backend,
                           &r->comparing, &r->judging, &r->work, &report, call->log, err);
    return cli_print_verdict(call, report, status, err);
}

static const char *const more[] = {
    "tare compare net.onnx net_int8.onnx --data samples/",
    "tare compare net.onnx dump/ --data samples/ --nodes",
    "tare compare net.onnx net_int8.onnx --data samples/ --fail-below 30",
    NULL,
};

const cli_verb cli_verb_compare = {
    .name = "compare",
    .usage = "A B [C …] [--data SRC]",
    .summary = "compare models or directories of dumped tensors on the same samples",
    .more = more,
    .operands = { 2, -1 },
    .groups = { { tare_data_fields, offsetof(record, data) },
                { tare_preprocess_fields, offsetof(record, preprocess) },
                { tare_backend_fields, offsetof(record, backend) },
                { tare_comparing_fields, offsetof(record, comparing) },
                { tare_judging_fields, offsetof(record, judging) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

/* Verb bench: how fast a model runs. */
#include "cli.h"

typedef struct record {
    tare_open_options open;
    tare_backend_options backend;
    tare_bench_options bench;
    tare_work_options work;
} record;

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_report *report = NULL;
    const tare_status status =
        tare_bench_path(call->operands[0], &r->open, &r->backend, &r->bench, &r->work, &report, call->log, err);
    return status == TARE_OK ? cli_print_report(call, report, err) : status;
}

static const char *const more[] = {
    "tare bench net.onnx --threads 1",
    "tare bench net_int8.onnx --nodes",
    NULL,
};

const cli_verb cli_verb_bench = {
    .name = "bench",
    .usage = "MODEL [--nodes]",
    .summary = "time runs of a model, and its nodes",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { tare_backend_fields, offsetof(record, backend) },
                { tare_bench_fields, offsetof(record, bench) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

/* Verb compare: models, stages and dumps beside each other. */
#include <string.h>
#include <sys/stat.h>

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

static bool is_dump(const char *path) {
    struct stat there;
    const size_t length = strlen(path);
    return (length > 4 && !strcmp(path + length - 4, ".npz")) || (!stat(path, &there) && S_ISDIR(there.st_mode));
}

/* Of two models debug names the nodes; else the values between are shown, if they were not. */
static tare_status add_next(const cli_call *call, tare_report *report, tare_error *err) {
    const record *r = call->record;
    const char *a = call->operands[0], *b = call->operands[1];
    const tare_field *const for_debug[] = { tare_data_fields, tare_preprocess_fields, tare_judging_fields,
                                            tare_open_fields, NULL };
    const tare_field *const same[] = { tare_data_fields,    tare_preprocess_fields, tare_backend_fields,
                                       tare_judging_fields, tare_open_fields,       NULL };
    if (!report) return TARE_OK;
    if (r->data.data.count && !is_dump(a) && !is_dump(b))
        return cli_add_next(call, (const char *const[]){ "debug", a, b, NULL }, for_debug, report, err);
    if (r->comparing.nodes) return tare_report_add_next(report, NULL, 0, err);
    return cli_add_next(call, (const char *const[]){ "compare", a, b, "--nodes", NULL }, same, report, err);
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_report *report = NULL;
    tare_status status =
        tare_compare_paths(call->operands, (size_t)call->operand_count, &r->open, &r->data, &r->preprocess, &r->backend,
                           &r->comparing, &r->judging, &r->work, &report, call->log, err);
    tare_error lost = { 0 };
    const tare_status added = add_next(call, report, &lost);
    if (status == TARE_OK && added != TARE_OK) *err = lost, status = added;
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

/* Verb ops: the operators that tare knows. */
#include "cli.h"

static tare_status run(const cli_call *call, tare_error *err) {
    tare_report *report = NULL;
    const tare_status status = tare_list_ops(call->record, &report, err);
    return status == TARE_OK ? cli_print_report(call, report, err) : status;
}

static const char *const more[] = {
    "tare ops",
    "tare ops --markdown",
    NULL,
};

const cli_verb cli_verb_ops = {
    .name = "ops",
    .usage = "[--markdown]",
    .summary = "list the operators, and what the target makes of each",
    .more = more,
    .operands = { 0, 0 },
    .groups = { { tare_ops_fields, 0 } },
    .record_size = sizeof(tare_ops_options),
    .run = run,
};

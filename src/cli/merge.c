/* Verb merge: ranges of one model added up. */
#include "cli.h"

typedef struct record {
    const char *output;
} record;

static const tare_field own_fields[] = {
    { "output", TARE_FIELD_STRING, offsetof(record, output), TARE_FIELD_REQUIRED, .metavar = "RANGES",
      .help = "the ranges file to write", .letter = 'o' },
    { .type = TARE_FIELD_END },
};

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_ranges *ranges = NULL;
    tare_report *report = NULL;
    tare_status status = tare_ranges_merge_files(&ranges, call->operands, (size_t)call->operand_count, r->output, err);
    if (status == TARE_OK) status = tare_ranges_write(ranges, r->output, err);
    if (status == TARE_OK) status = tare_ranges_tell(ranges, r->output, &report, err);
    tare_ranges_free(ranges);
    return status == TARE_OK ? cli_print_report(call, report, err) : status;
}

static const char *const more[] = {
    "tare merge part0.ranges part1.ranges part2.ranges part3.ranges -o net.ranges",
    NULL,
};

const cli_verb cli_verb_merge = {
    .name = "merge",
    .usage = "RANGES... -o RANGES",
    .summary = "add up the ranges of shards",
    .more = more,
    .operands = { 1, -1 },
    .groups = { { own_fields, 0 } },
    .record_size = sizeof(record),
    .run = run,
};

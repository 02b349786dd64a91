/* Verb cut: a piece of a model. */
#include "cli.h"

typedef struct record {
    tare_open_options open;
    tare_cut_options cut;
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
    if (!r->cut.to.count && !r->cut.from.count) return cli_usage(err, "--to or --from is needed: where to cut");
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_cut(model, &r->cut, err);
    if (status == TARE_OK) status = tare_model_save(model, r->output, call->log, err);
    tare_model_free(model);
    return status;
}

static const char *const more[] = {
    "tare cut net.onnx --to conv5 -o head.onnx",
    "tare cut net.onnx --from conv5 --to logits -o tail.onnx",
    NULL,
};

const cli_verb cli_verb_cut = {
    .name = "cut",
    .usage = "MODEL --to NAMES [--from NAMES] -o OUT",
    .summary = "keep the part of a model between some values",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { tare_cut_fields, offsetof(record, cut) },
                { own_fields, 0 },
                { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

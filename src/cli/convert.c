/* Verb convert: the same model in another file, in canonical form. */
#include "cli.h"

typedef struct record {
    tare_open_options open;
} record;

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL;
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = tare_model_save(model, call->operands[1], call->log, err);
    tare_model_free(model);
    return status;
}

static const char *const more[] = {
    "tare convert net.onnx copy.onnx",
    NULL,
};

const cli_verb cli_verb_convert = {
    .name = "convert",
    .usage = "IN OUT",
    .summary = "write a model in the format of the new file's extension",
    .more = more,
    .operands = { 2, 2 },
    .groups = { { tare_open_fields, offsetof(record, open) } },
    .record_size = sizeof(record),
    .run = run,
};

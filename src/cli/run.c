/* Verb run: outputs, and any value, of a model on samples. */
#include "cli.h"

typedef struct record {
    tare_open_options open;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_run_options run;
    tare_work_options work;
    const char *output;
} record;

static const tare_field own_fields[] = {
    { "output", TARE_FIELD_STRING, offsetof(record, output), TARE_FIELD_REQUIRED, .metavar = "DIR|OUT.npz",
      .help = "a directory for one .npz a sample and list.txt, or one file for one sample", .letter = 'o' },
    { .type = TARE_FIELD_END },
};

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL;
    tare_samples *samples = NULL;
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK)
        status = tare_samples_from_options(&samples, model, &r->data, &r->preprocess, call->log, err);
    if (status == TARE_OK) status = tare_model_run(model, samples, &r->run, &r->work, r->output, call->log, err);
    tare_samples_close(samples);
    tare_model_free(model);
    return status;
}

const cli_verb cli_verb_run = {
    .name = "run",
    .usage = "MODEL --data SRC -o DIR|OUT.npz",
    .summary = "run a model on samples and write outputs and any other values",
    .operands = { 1, 1 },
    .groups = { { tare_data_fields, offsetof(record, data) },
                { tare_preprocess_fields, offsetof(record, preprocess) },
                { tare_run_fields, offsetof(record, run) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) },
                { own_fields, 0 } },
    .record_size = sizeof(record),
    .run = run,
};

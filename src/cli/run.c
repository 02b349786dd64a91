/* Verb run: outputs, and any value, of a model on samples. */
#include <string.h>

#include "cli.h"

typedef struct record {
    tare_open_options open;
    tare_data_options data;
    tare_preprocess preprocess;
    tare_backend_options backend;
    tare_run_options run;
    tare_judging judging;
    tare_work_options work;
    tare_strings input;
    const char *output;
} record;

static const tare_field own_fields[] = {
    { "input", TARE_FIELD_STRINGS, offsetof(record, input), TARE_FIELD_ONE, .metavar = "[NAME=]SRC",
      .help = "one sample instead of --data: an .npz with the inputs' names, or a file per input" },
    { "output", TARE_FIELD_STRING, offsetof(record, output), TARE_FIELD_REQUIRED, .metavar = "DIR|OUT.npz",
      .help = "a directory for one .npz a sample and list.txt, or one file for one sample", .letter = 'o' },
    { .type = TARE_FIELD_END },
};

/* Of --data as many as there are, of --input one: its arrays are taken whole. */
static tare_status open_samples(const cli_call *call, const tare_model *model, tare_samples **samples,
                                tare_error *err) {
    const record *r = call->record;
    tare_data_options data = r->data;
    if (!r->input.count && !data.data.count)
        return cli_usage(err, "--input or --data is needed: what to run it on; `tare help run` says what they can be");
    if (r->input.count) {
        if (data.data.count) return cli_usage(err, "--input is one sample, --data many; give one of them");
        data.data = r->input;
        data.whole = true;
    }
    tare_status status = tare_samples_from_options(samples, model, &data, &r->preprocess, call->log, err);
    if (status != TARE_OK || !r->input.count || tare_samples_count(*samples) == 1) return status;
    return cli_usage(err, "--input is one sample, but %s has %zu of them; --data takes many", r->input.at[0],
                     tare_samples_count(*samples));
}

/* A float model that ran on many samples can be quantized with them; what a quantized one gave stands beside the float
 * model, whose name is not known. */
static tare_status add_next(const cli_call *call, const tare_model *model, tare_report *report, tare_error *err) {
    const record *r = call->record;
    const tare_field *const tables[] = { tare_data_fields, tare_preprocess_fields, tare_open_fields, NULL };
    const bool is_quantized = !strcmp(tare_model_stage(model), "quantized");
    if (!report || !r->data.data.count) return report ? tare_report_add_next(report, NULL, 0, err) : TARE_OK;
    if (is_quantized)
        return cli_add_next(call, (const char *const[]){ "compare", "FLOAT.onnx", r->output, NULL }, tables, report,
                            err);
    return cli_add_next(call, (const char *const[]){ "quantize", call->operands[0], "-o", "quantized.onnx", NULL },
                        tables, report, err);
}

static tare_status run(const cli_call *call, tare_error *err) {
    const record *r = call->record;
    tare_model *model = NULL;
    tare_samples *samples = NULL;
    tare_report *report = NULL;
    tare_status status = tare_model_open(&model, call->operands[0], &r->open, call->log, err);
    if (status == TARE_OK) status = open_samples(call, model, &samples, err);
    if (status == TARE_OK)
        status = tare_model_run(model, samples, &r->backend, &r->run, &r->judging, &r->work, r->output, &report,
                                call->log, err);
    if (status == TARE_OK) status = add_next(call, model, report, err);
    tare_samples_close(samples);
    tare_model_free(model);
    return cli_print_verdict(call, report, status, err);
}

static const char *const more[] = {
    "tare run net.onnx --input sample.npz -o out.npz",
    "tare run net_int8.onnx --data samples/ --tap all -o dump/",
    NULL,
};

const cli_verb cli_verb_run = {
    .name = "run",
    .usage = "MODEL --input IN.npz|NAME=SRC | --data SRC -o OUT.npz|DIR",
    .summary = "run a model on samples and write outputs and any other values",
    .more = more,
    .operands = { 1, 1 },
    .groups = { { tare_data_fields, offsetof(record, data) },
                { tare_preprocess_fields, offsetof(record, preprocess) },
                { tare_backend_fields, offsetof(record, backend) },
                { tare_run_fields, offsetof(record, run) },
                { tare_judging_fields, offsetof(record, judging) },
                { tare_work_fields, offsetof(record, work) },
                { tare_open_fields, offsetof(record, open) },
                { own_fields, 0 } },
    .record_size = sizeof(record),
    .run = run,
};

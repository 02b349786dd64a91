/* From float to int8: calibrate, choose scales, round, and tell what that costs. */
#include <tare/quantize.h>

#include <string.h>

#include "api/gate.h"
#include "api/holdout.h"
#include "api/quantize_options.h"
#include "api/sized.h"
#include "api/stage.h"
#include "api/verdict.h"
#include "report/flows.h"

/* Says which file it was. */
static tare_status told(const tare_model *model, tare_status status, tare_error *err) {
    const bool is_files = status != TARE_OK && status != TARE_E_USAGE && model->path;
    return is_files ? tare_within(err, "%s", model->path) : status;
}

static tare_status calibrate_finite(tare_ranges **out, const tare_model *model, const tare_samples *samples,
                                    const tare_calibrate_options *options, tare_log *log, tare_error *err) {
    tare_ranges *ranges = NULL;
    TARE_TRY(tare_calibrate(&ranges, model, samples, options, log, err));
    const tare_status status = told(model, tare_ranges_check_finite(ranges, log, err), err);
    if (status == TARE_OK)
        *out = ranges;
    else
        tare_ranges_free(ranges);
    return status;
}

tare_status tare_model_calibrate(tare_ranges **out, const tare_model *model, const tare_samples *samples,
                                 const char *shard, const tare_calibration_options *options,
                                 const tare_work_options *work, tare_log *log, tare_error *err) {
    tare_calibrate_options calibrate;
    TARE_TRY(tare_calibrate_options_from(&calibrate, options, work, err));
    TARE_TRY(tare_calibrate_options_shard(shard, &calibrate, err));
    const tare_quantize_options any = { .target = tare_target_at(0), .skip_nonfinite = calibrate.skip_nonfinite };
    TARE_TRY(told(model, tare_quantize_check_finite(model, &any, log, err), err)); /* else a sample gets the blame */
    return calibrate_finite(out, model, samples, &calibrate, log, err);
}

/* ---- steps ---- */

static tare_status keep_calibrated(tare_model **out, const tare_model *chosen, const char *target, tare_error *err) {
    TARE_TRY(tare_model_copy(out, chosen, err));
    TARE_TRY(tare_model_set_quantized(*out, target, err));
    TARE_TRY(tare_model_set_stage(*out, TARE_STAGE_CALIBRATED, err));
    return tare_graph_verify((*out)->graph, err);
}

tare_status tare_quantizing_copy(const tare_quantizing *q, const tare_ranges *ranges, tare_fates *fates, tare_log *log,
                                 tare_model **out, tare_model **calibrated, tare_error *err) {
    tare_model *copy = NULL;
    tare_map spared;
    tare_quantize_options options = q->options;
    tare_map_init(&spared, q->arena);
    options.spared = &spared;
    TARE_TRY(tare_model_copy(&copy, q->model, err));
    tare_status status = tare_quantize_choose(copy, ranges, &options, log, err);
    if (status == TARE_OK && fates) status = tare_quantize_list_fates(fates, copy, &options, q->arena, err);
    if (status == TARE_OK && calibrated) status = keep_calibrated(calibrated, copy, options.target->name, err);
    if (status == TARE_OK) status = tare_quantize_round(copy, ranges, &options, err);
    if (status == TARE_OK) status = tare_model_set_quantized(copy, options.target->name, err);
    if (status == TARE_OK) status = tare_graph_verify(copy->graph, err);
    if (status == TARE_OK)
        *out = copy;
    else
        tare_model_free(copy);
    return status;
}

tare_status tare_quantizing_try(tare_quantizing *q, const tare_ranges *ranges, const tare_ranges *held_out,
                                const size_t *indexes, size_t count, tare_error *err) {
    const tare_try_options how = { .indexes = indexes,
                                   .count = count,
                                   .held_out = held_out,
                                   .cpu = q->calibrate.cpu,
                                   .threads = q->calibrate.threads };
    tare_map *winners = tare_arena_alloc(q->arena, 1, sizeof *winners);
    if (!winners) return tare_fail_memory(err, sizeof *winners);
    tare_map_init(winners, q->arena);
    TARE_TRY(tare_quantize_try(winners, q->marked, ranges, &q->options, q->samples, &how, q->log, err));
    q->options.winners = winners;
    return TARE_OK;
}

/* Nothing is held out: there are too few, or nothing is tried or measured. */
static tare_status calibrate_all(tare_quantizing *q, const tare_parts *parts, tare_ranges **out, tare_error *err) {
    TARE_TRY(tare_calibrate(out, q->model, q->samples, &q->calibrate, q->log, err));
    if (!tare_quantize_tries(&q->options)) return TARE_OK;
    tare_log_note(q->log, "method auto tries ranges on samples that calibration saw: %zu %s too few to hold some out",
                  parts->rest.count, tare_plural(parts->rest.count, "is", "are"));
    return tare_quantizing_try(q, *out, NULL, parts->rest.at, parts->rest.count, err);
}

/* Counts only what choosing scales will ask for; *out stays NULL when that is nothing. */
static tare_status calibrate_needs(tare_quantizing *q, const tare_parts *parts, tare_ranges **out, tare_error *err) {
    tare_map names;
    tare_map_init(&names, q->arena);
    TARE_TRY(tare_quantize_list_needs(q->marked, &q->options, &names, err));
    if (!names.entries.count) return TARE_OK;
    if (!q->samples)
        return tare_fail(err, TARE_E_USAGE,
                         "--data or --ranges is needed: the model has no scales for %zu value%s, the first is '%s'",
                         names.entries.count, tare_plural(names.entries.count, "", "s"), names.entries.at[0].key);
    const bool holds = parts->measured.count && (parts->tried.count || (q->said && !q->holdout));
    q->calibrate.wanted = &names;
    const tare_status status = holds ? tare_holdout_calibrate(q, parts, out, err) : calibrate_all(q, parts, out, err);
    q->calibrate.wanted = NULL;
    TARE_TRY(status);
    return told(q->model, tare_ranges_check_finite(*out, q->log, err), err);
}

/* Samples beside ranges are for method auto to try them on, and to measure on. */
static tare_status take_ranges(tare_quantizing *q, const tare_parts *parts, tare_error *err) {
    const tare_indexes *some = parts->tried.count ? &parts->tried : &parts->rest;
    TARE_TRY(told(q->model, tare_ranges_check(q->ranges, q->model, err), err));
    TARE_TRY(told(q->model, tare_ranges_check_finite(q->ranges, q->log, err), err));
    if (!q->samples || !tare_quantize_tries(&q->options)) return TARE_OK;
    return tare_quantizing_try(q, q->ranges, NULL, some->at, some->count, err);
}

/* ---- what it came to ---- */

/* Multiply-accumulates, for the first sample; without one, or where its shapes do not tell, with open dimensions as 1. */
static tare_status count_macs(tare_quantizing *q, const tare_model *quantized, tare_error *err) {
    const tare_session_options options = { .backend = TARE_BACKEND_QDQ, .cpu = q->calibrate.cpu };
    tare_sample sample = { 0 };
    tare_sized sized = { 0 };
    tare_session *session = NULL;
    tare_status status = tare_session_new(&session, quantized, &options, err);
    if (status == TARE_OK && q->samples) status = tare_samples_get(q->samples, 0, q->arena, &sample, err);
    if (status == TARE_OK && !q->samples) status = tare_sized_open(&sized, quantized, NULL, err);
    if (status == TARE_OK) status = tare_session_plan(session, q->samples ? sample.inputs : sized.inputs, err);
    if (status == TARE_OK) {
        q->said->has_macs = true;
        q->said->is_guess = sized.is_guess;
        tare_session_get_macs(session, &q->said->macs, &q->said->codes_macs);
    }
    tare_session_free(session);
    tare_sized_close(&sized);
    return status == TARE_E_LIMIT ? status : TARE_OK; /* else shapes depend on numbers */
}

static tare_status measure(tare_quantizing *q, const tare_model *quantized, const tare_parts *parts, tare_error *err) {
    TARE_TRY(count_macs(q, quantized, err));
    if (q->holdout) return tare_measure(q, quantized, q->holdout, NULL, TARE_MEASURED_GIVEN, err);
    if (q->said->on != TARE_MEASURED_NOT || q->said->why_not || !q->samples) return TARE_OK;
    const bool is_seen = q->said->calibrated && !q->ranges;
    return tare_measure(q, quantized, q->samples, parts->tried.count ? &parts->measured : NULL,
                        is_seen ? TARE_MEASURED_CALIBRATION : TARE_MEASURED_SAMPLES, err);
}

static bool is_synthetic(const tare_quantizing *q, const tare_ranges *used) {
    return (used && tare_ranges_are_synthetic(used)) || (q->samples && tare_samples_are_synthetic(q->samples)) ||
           (q->holdout && tare_samples_are_synthetic(q->holdout));
}

/* Names, types and shapes of a model without samples. */
static tare_status list_declared(tare_quantizing *q, tare_error *err) {
    const tare_graph *graph = q->model->graph;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const tare_value *value = graph->inputs.at[i];
        char shape[128];
        if (value->constant) continue;
        tare_shape_print(shape, sizeof shape, &value->shape, q->model->symbols.at);
        const tare_quantize_input in = { .contract = { .input = value->name,
                                                       .type = tare_dtype_name(value->dtype),
                                                       .shape = tare_arena_strdup(q->arena, shape),
                                                       .dims = value->shape },
                                         .lo = 0,
                                         .hi = -1 };
        if (!in.contract.shape || !tare_vec_push(q->arena, &q->said->inputs, in)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

/* The first sample's numbers are known where ranges have none of the input. */
static tare_status list_inputs(tare_quantizing *q, const tare_ranges *used, tare_error *err) {
    const tare_samples *samples = q->samples ? q->samples : q->holdout;
    const tare_contract *contracts;
    size_t count = 0;
    if (samples) TARE_TRY(tare_samples_contracts(samples, q->arena, &contracts, &count, err));
    if (!samples) TARE_TRY(list_declared(q, err));
    for (size_t i = 0; i < count; i++) {
        const tare_quantize_input in = { .contract = contracts[i],
                                         .lo = contracts[i].lo,
                                         .hi = contracts[i].hi,
                                         .seen = 1,
                                         .is_first = tare_samples_count(samples) > 1 };
        if (!tare_vec_push(q->arena, &q->said->inputs, in)) return tare_fail_memory(err, 0);
    }
    for (size_t i = 0; i < q->said->inputs.count; i++) {
        tare_quantize_input *in = &q->said->inputs.at[i];
        const tare_range *range = used ? tare_ranges_find(used, in->contract.input) : NULL;
        if (range && range->min <= range->max)
            in->lo = range->min, in->hi = range->max, in->seen = tare_ranges_samples(used), in->is_first = false;
    }
    return TARE_OK;
}

/* What is quantized already. */
static void count_scales(tare_quantizing *q) {
    tare_for_nodes (node, q->model->graph) {
        for (int i = 0; i < node->output_count; i++) {
            if (!node->outputs[i]) continue;
            q->said->computed++;
            q->said->had_scales += node->outputs[i]->quant != NULL;
        }
    }
}

static tare_status find_out(tare_quantizing *q, const tare_model *quantized, const tare_parts *parts,
                            const tare_ranges *used, tare_error *err) {
    q->said->samples = q->samples ? tare_samples_count(q->samples) : 0;
    q->said->available = q->samples ? tare_samples_available(q->samples) : 0;
    q->said->has_ranges = q->ranges != NULL;
    q->said->calibrated = used ? tare_ranges_samples(used) : 0;
    q->said->is_synthetic = is_synthetic(q, used);
    count_scales(q);
    TARE_TRY(list_inputs(q, used, err));
    return measure(q, quantized, parts, err);
}

/* The last of all: until then the outputs are compared as numbers. */
static tare_status give_codes(tare_quantizing *q, tare_model *quantized, tare_error *err) {
    if (q->said) q->said->codes = quantized->graph;
    return tare_quantize_give_codes(quantized, err);
}

/* ---- the flow ---- */

static tare_status quantize(tare_quantizing *q, tare_model **out, tare_model **calibrated, tare_error *err) {
    tare_ranges *own = NULL;
    tare_parts parts;
    TARE_TRY(tare_model_copy(&q->marked, q->model, err));
    TARE_TRY(told(q->model, tare_quantize_check_finite(q->marked, &q->options, q->log, err), err));
    TARE_TRY(tare_parts_divide(&parts, q, err));
    tare_status status = q->ranges ? take_ranges(q, &parts, err) : calibrate_needs(q, &parts, &own, err);
    const tare_ranges *used = q->ranges ? q->ranges : own;
    tare_fates *fates = q->said ? &q->said->fates : NULL;
    if (status == TARE_OK)
        status = told(q->model, tare_quantizing_copy(q, used, fates, q->log, out, calibrated, err), err);
    if (status == TARE_OK && q->said) status = find_out(q, *out, &parts, used, err);
    if (status == TARE_OK && q->options.int_outputs) status = told(q->model, give_codes(q, *out, err), err);
    tare_ranges_free(own);
    return status;
}

/* Keeps warnings for the report and hands everything on. */
typedef struct listener {
    tare_log log;
    tare_log *outer; /* may be NULL */
    tare_arena *arena;
    tare_quantized *said;
    bool failed;
} listener;

static void hear_line(void *context, tare_log_level level, const char *text) {
    listener *l = context;
    if (l->outer && l->outer->line) l->outer->line(l->outer->context, level, text);
    if (level != TARE_LOG_WARNING) return;
    const tare_quantize_warning warning = { .text = tare_arena_strdup(l->arena, text),
                                            .is_told = l->outer && l->outer->line };
    if (!warning.text || !tare_vec_push(l->arena, &l->said->warnings, warning)) l->failed = true;
}

/* What looked wrong about samples was told when they were opened, to those who listen. */
static void hear_doubts(listener *l) {
    for (size_t i = 0; i < l->said->inputs.count; i++) {
        const tare_quantize_warning warning = { .text = l->said->inputs.at[i].contract.doubt,
                                                .is_told = l->outer && l->outer->line };
        if (warning.text && !tare_vec_push(l->arena, &l->said->warnings, warning)) l->failed = true;
    }
}

static int hear_progress(void *context, const char *job, uint64_t done, uint64_t total) {
    const listener *l = context;
    return l->outer && l->outer->progress ? l->outer->progress(l->outer->context, job, done, total) : 0;
}

static tare_status gate(const tare_quantized *said, double fail_below, tare_error *err) {
    if (fail_below > 0 && said->on == TARE_MEASURED_NOT)
        return tare_fail(err, TARE_E_GATE, "no output was measured: %s",
                         said->why_not ? said->why_not : "there are no samples");
    for (size_t i = 0; i < said->outputs.count; i++)
        TARE_TRY(tare_gate_output(said->outputs.at[i].name, &said->outputs.at[i].metrics, fail_below, err));
    return TARE_OK;
}

static tare_status tell(const tare_quantized *said, tare_report **out, tare_error *err) {
    tare_report *report = tare_report_new("tare-quantize/1");
    if (!report) return tare_fail_memory(err, 0);
    tare_report_quantized(report, said);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return TARE_OK;
}

static tare_status quantize_and_tell(tare_quantizing *q, const tare_measuring *measuring, tare_model **out,
                                     tare_model **calibrated, tare_report **report, tare_error *err) {
    tare_quantized said = { .model = q->model,
                            .target = q->options.target->name,
                            .method = q->options.method ? q->options.method : tare_method_at(0)->name };
    const tare_dtype code = q->options.activation;
    if (code && !tare_target_multiplies(q->options.target, code)) said.wide = tare_dtype_name(code);
    listener l = { .log = { .line = hear_line, .progress = hear_progress, .context = &l },
                   .outer = q->log,
                   .arena = q->arena,
                   .said = &said };
    q->said = &said;
    q->log = &l.log;
    TARE_TRY(quantize(q, out, calibrated, err));
    hear_doubts(&l);
    TARE_TRY(tare_verdict_add(q, measuring ? measuring->advice : NULL, err));
    if (l.failed) return tare_fail_memory(err, 0);
    TARE_TRY(tell(&said, report, err));
    return gate(&said, measuring ? measuring->fail_below : 0, err);
}

tare_status tare_model_quantize(tare_model **out, tare_model **calibrated, const tare_model *model,
                                const tare_samples *samples, const tare_ranges *ranges,
                                const tare_quantization *options, const tare_calibration_options *calibration,
                                const tare_measuring *measuring, const tare_work_options *work, tare_report **report,
                                tare_log *log, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_quantizing q = { .arena = arena,
                          .model = model,
                          .samples = samples,
                          .holdout = measuring ? measuring->holdout : NULL,
                          .ranges = ranges,
                          .log = log };
    tare_model *made = NULL, *before = NULL, **wanted = calibrated ? &before : NULL;
    tare_status status = tare_quantize_options_from(&q.options, options, arena, err);
    q.options.skip_nonfinite = calibration && calibration->skip_nonfinite;
    if (status == TARE_OK) status = tare_calibrate_options_from(&q.calibrate, calibration, work, err);
    if (status == TARE_OK)
        status =
            report ? quantize_and_tell(&q, measuring, &made, wanted, report, err) : quantize(&q, &made, wanted, err);
    if (status == TARE_OK || status == TARE_E_GATE) {
        *out = made;
        if (calibrated) *calibrated = before;
    } else {
        tare_model_free(before);
        tare_model_free(made);
    }
    tare_model_free(q.marked);
    tare_arena_free(arena);
    return status;
}

tare_status tare_report_add_written(tare_report *report, const tare_model *model, const char *path, tare_error *err) {
    uint64_t bytes = 0, float_bytes = 0;
    for (size_t i = 0; i < model->files.count; i++) float_bytes += model->files.at[i].size;
    if (path) tare_path_is_file(path, &bytes);
    tare_report_written(report, path, bytes, float_bytes);
    return tare_report_is_whole(report, err);
}

/* From float to int8: calibrate, choose scales, round. */
#include <tare/quantize.h>

#include <stdlib.h>
#include <string.h>

#include "api/stage.h"
#include "api/work.h"
#include "calibrate/calibrate.h"
#include "passes/pass.h"
#include "quantize/quantize.h"
#include "samples/samples.h"

static const char *const activations[] = { "target", "u8", "s8", "u16", "s16", NULL };

const tare_field tare_calibration_fields[] = {
    { "skip-nonfinite", TARE_FIELD_BOOL, offsetof(tare_calibration_options, skip_nonfinite),
      .help = "go on where NaN or Inf is met, instead of stopping: in activations they are counted, nodes with such "
              "weights stay float" },
    { .type = TARE_FIELD_END },
};

const tare_field tare_quantization_fields[] = {
    { "target", TARE_FIELD_STRING, offsetof(tare_quantization, target), .fallback.s = "onnx", .metavar = "NAME",
      .help = "whose arithmetic and constraints: onnx" },
    { "method", TARE_FIELD_STRING, offsetof(tare_quantization, method), .metavar = "NAME", .help = tare_method_help },
    { "percentile", TARE_FIELD_DOUBLE, offsetof(tare_quantization, percentile), .lo = 50, .hi = 100,
      .fallback.f = 99.99, .metavar = "P", .help = "for --method percentile: the share kept on each side" },
    { "act", TARE_FIELD_ENUM, offsetof(tare_quantization, activation), .names = activations,
      .help = "code type of activations" },
    { "per-tensor", TARE_FIELD_BOOL, offsetof(tare_quantization, per_tensor),
      .help = "one scale for a whole weight instead of one per output channel" },
    { "symmetric", TARE_FIELD_BOOL, offsetof(tare_quantization, symmetric),
      .help = "activations with zero point 0 (s8) or in the middle (u8)" },
    { "power-of-two", TARE_FIELD_BOOL, offsetof(tare_quantization, power_of_two), .help = "scales are powers of two" },
    { "keep-float", TARE_FIELD_STRINGS, offsetof(tare_quantization, keep_float), .metavar = "NAMES",
      .help = "nodes, by name or op type, that are computed in float; * at the end fits any ending" },
    { .type = TARE_FIELD_END },
};

const tare_field tare_rule_fields[] = {
    { "op", TARE_FIELD_STRING, offsetof(tare_rule_options, op), .help = "an op's name: Softmax" },
    { "node", TARE_FIELD_STRING, offsetof(tare_rule_options, node),
      .help = "a node's name; * at the end fits any ending" },
    { "value", TARE_FIELD_STRING, offsetof(tare_rule_options, value),
      .help = "a value's name; * at the end fits any ending" },
    { "keep-float", TARE_FIELD_BOOL, offsetof(tare_rule_options, keep_float),
      .help = "nodes are computed in float, values are not quantized" },
    { "act", TARE_FIELD_ENUM, offsetof(tare_rule_options, activation), .names = activations,
      .help = "code type of activations" },
    { "method", TARE_FIELD_STRING, offsetof(tare_rule_options, method), .help = "how the range is chosen" },
    { "percentile", TARE_FIELD_DOUBLE, offsetof(tare_rule_options, percentile), .lo = 50, .hi = 100,
      .help = "for the method percentile" },
    { "range", TARE_FIELD_FLOATS, offsetof(tare_rule_options, range), .help = "the range itself: [lowest, highest]" },
    { .type = TARE_FIELD_END },
};

/* "I/N" */
static tare_status parse_shard(const char *text, tare_calibrate_options *options, tare_error *err) {
    char *end = NULL;
    if (!text) return TARE_OK;
    long shard = strtol(text, &end, 10), shards = end && *end == '/' ? strtol(end + 1, &end, 10) : 0;
    if (*text < '0' || *text > '9' || *end || shards < 1 || shard >= shards || shards > 1 << 20)
        return tare_fail(err, TARE_E_USAGE, "--shard: '%.64s' is not I/N with 0 <= I < N", text);
    options->shard = (size_t)shard, options->shards = (size_t)shards;
    return TARE_OK;
}

static tare_status calibrate_options(tare_calibrate_options *to, const tare_calibration_options *options,
                                     const tare_work_options *work, tare_error *err) {
    *to = (tare_calibrate_options){ .threads = work ? (size_t)work->threads : 0,
                                    .skip_nonfinite = options && options->skip_nonfinite };
    return tare_work_cpu(work, &to->cpu, err);
}

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
    TARE_TRY(calibrate_options(&calibrate, options, work, err));
    TARE_TRY(parse_shard(shard, &calibrate, err));
    return calibrate_finite(out, model, samples, &calibrate, log, err);
}

static tare_rule rule_of(const tare_rule_options *from) {
    tare_rule rule = { .op = from->op,
                       .node = from->node,
                       .value = from->value,
                       .keep_float = from->keep_float,
                       .type = from->activation ? activations[from->activation] : NULL,
                       .method = from->method,
                       .percentile = from->percentile,
                       .has_range = from->range.count == 2 };
    if (rule.has_range) rule.lo = (double)from->range.at[0], rule.hi = (double)from->range.at[1];
    return rule;
}

static tare_status quantize_options(tare_quantize_options *to, const tare_quantization *from, tare_rule *rules,
                                    tare_error *err) {
    static const tare_dtype types[] = { TARE_DTYPE_NONE, TARE_U8, TARE_S8, TARE_U16, TARE_S16 };
    *to = (tare_quantize_options){ .target = tare_target_find(from->target),
                                   .method = from->method,
                                   .percentile = from->percentile,
                                   .activation = types[from->activation],
                                   .symmetric = from->symmetric,
                                   .power_of_two = from->power_of_two,
                                   .per_tensor = from->per_tensor,
                                   .rules = rules };
    const tare_rule_options *given = from->rules.at;
    for (size_t i = 0; i < from->rules.count; i++) rules[to->rule_count++] = rule_of(&given[i]);
    if (!to->target) return tare_fail(err, TARE_E_USAGE, "--target: no '%.64s'; there is: onnx", from->target);
    for (size_t i = 0; i < from->keep_float.count; i++) {
        rules[to->rule_count++] = (tare_rule){ .op = from->keep_float.at[i], .keep_float = true };
        rules[to->rule_count++] = (tare_rule){ .node = from->keep_float.at[i], .keep_float = true };
    }
    return TARE_OK;
}

/* One call of tare_model_quantize. */
typedef struct flow {
    tare_arena *arena;
    tare_model *model; /* the copy that is quantized */
    const tare_samples *samples;
    tare_log *log;
    tare_quantize_options quantize;
    tare_calibrate_options calibrate;
    tare_map winners;
} flow;

enum { HOLD = 5, HOLD_LEAST = 10 }; /* every fifth sample is held out, of at least ten */

/* Tries ranges on the samples that are held out, or on all. */
static tare_status try_ranges(flow *f, const tare_ranges *ranges, const tare_ranges *held_out, size_t hold,
                              tare_error *err) {
    const size_t total = tare_samples_count(f->samples);
    size_t *indexes = tare_arena_alloc(f->arena, total + 1, sizeof *indexes);
    tare_try_options how = {
        .indexes = indexes, .held_out = held_out, .cpu = f->calibrate.cpu, .threads = f->calibrate.threads
    };
    if (!indexes) return tare_fail_memory(err, total * sizeof *indexes);
    for (size_t i = 0; i < total; i++)
        if (!hold || i % hold == hold - 1) indexes[how.count++] = i;
    tare_map_init(&f->winners, f->arena);
    TARE_TRY(tare_quantize_try(&f->winners, f->model, ranges, &f->quantize, f->samples, &how, f->log, err));
    f->quantize.winners = &f->winners;
    if (!hold)
        tare_log_note(f->log,
                      "method auto tried ranges on samples that calibration saw: %zu are too few to hold some out",
                      total);
    return TARE_OK;
}

/* Ranges of the samples that are not held out are tried on those that are; then both together are the ranges. */
static tare_status calibrate_and_try(flow *f, tare_ranges **out, tare_error *err) {
    const bool holds = tare_samples_count(f->samples) >= HOLD_LEAST;
    tare_calibrate_options some = f->calibrate;
    some.hold = holds ? HOLD : 0;
    some.hold_side = 1;
    TARE_TRY(tare_calibrate(out, f->model, f->samples, &some, f->log, err));
    if (!holds) return try_ranges(f, *out, NULL, 0, err);
    tare_ranges *held = NULL;
    some.hold_side = 2;
    TARE_TRY(tare_calibrate(&held, f->model, f->samples, &some, f->log, err));
    tare_status status = try_ranges(f, *out, held, HOLD, err);
    if (status == TARE_OK) status = tare_ranges_merge(*out, held, err);
    tare_ranges_free(held);
    return status;
}

/* Counts only what choosing scales will ask for. */
static tare_status calibrate_needs(flow *f, tare_ranges **out, tare_error *err) {
    tare_map names;
    tare_map_init(&names, f->arena);
    TARE_TRY(tare_quantize_list_needs(f->model, &f->quantize, &names, err));
    f->calibrate.wanted = &names;
    if (tare_quantize_tries(&f->quantize))
        TARE_TRY(calibrate_and_try(f, out, err));
    else
        TARE_TRY(tare_calibrate(out, f->model, f->samples, &f->calibrate, f->log, err));
    return told(f->model, tare_ranges_check_finite(*out, f->log, err), err);
}

static tare_status quantize_copy(flow *f, const tare_ranges *ranges, tare_error *err) {
    TARE_TRY(tare_quantize_choose(f->model, ranges, &f->quantize, f->log, err));
    TARE_TRY(tare_quantize_round(f->model, &f->quantize, err));
    TARE_TRY(tare_model_set_quantized(f->model, f->quantize.target->name, err));
    return tare_graph_verify(f->model->graph, err);
}

static tare_status take_ranges(flow *f, const tare_ranges *given, tare_error *err) {
    TARE_TRY(told(f->model, tare_ranges_check(given, f->model, err), err));
    TARE_TRY(told(f->model, tare_ranges_check_finite(given, f->log, err), err));
    if (!f->samples) return TARE_OK;
    if (!tare_quantize_tries(&f->quantize))
        return tare_fail(err, TARE_E_USAGE,
                         "ranges are given, so samples are for method auto alone: leave --data or --ranges out");
    return try_ranges(f, given, NULL, tare_samples_count(f->samples) >= HOLD_LEAST ? HOLD : 0, err);
}

/* `given` ranges, or *own ones, which the caller frees. */
static tare_status quantize(flow *f, const tare_ranges *given, tare_ranges **own, tare_error *err) {
    TARE_TRY(told(f->model, tare_quantize_check_finite(f->model, &f->quantize, f->log, err), err));
    TARE_TRY(given ? take_ranges(f, given, err) : calibrate_needs(f, own, err));
    return told(f->model, quantize_copy(f, given ? given : *own, err), err);
}

tare_status tare_model_quantize(tare_model **out, const tare_model *model, const tare_samples *samples,
                                const tare_ranges *ranges, const tare_quantization *options,
                                const tare_calibration_options *calibration, const tare_work_options *work,
                                tare_log *log, tare_error *err) {
    flow f = { .arena = tare_arena_new(), .samples = samples, .log = log };
    const size_t rule_count = 2 * options->keep_float.count + options->rules.count;
    tare_rule *rules = f.arena ? tare_arena_alloc(f.arena, rule_count + 1, sizeof *rules) : NULL;
    tare_ranges *own = NULL;
    tare_status status = rules ? quantize_options(&f.quantize, options, rules, err) : tare_fail_memory(err, 0);
    f.quantize.skip_nonfinite = calibration && calibration->skip_nonfinite;
    if (status == TARE_OK) status = calibrate_options(&f.calibrate, calibration, work, err);
    if (status == TARE_OK) status = tare_model_copy(&f.model, model, err);
    if (status == TARE_OK) status = quantize(&f, ranges, &own, err);
    if (status == TARE_OK)
        *out = f.model;
    else
        tare_model_free(f.model);
    tare_ranges_free(own);
    tare_arena_free(f.arena);
    return status;
}

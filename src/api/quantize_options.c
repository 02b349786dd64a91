/* What a user asks of calibration and quantization: the tables, and the rooms' own options made of them. */
#include "api/quantize_options.h"

#include <stdlib.h>
#include <string.h>

#include "api/work.h"

static const char *const activations[] = { "target", "u8", "s8", "u16", "s16", NULL };

const char *const tare_quantizing_names[] = { "onnx", NULL };

const tare_field tare_calibration_fields[] = {
    { "skip-nonfinite", TARE_FIELD_BOOL, offsetof(tare_calibration_options, skip_nonfinite),
      .help = "go on where NaN or Inf is met, instead of stopping: in activations they are counted, nodes with such "
              "weights stay float" },
    { .type = TARE_FIELD_END },
};

const tare_field tare_quantization_fields[] = {
    { "target", TARE_FIELD_STRING, offsetof(tare_quantization, target), .fallback.s = "onnx",
      .names = tare_quantizing_names, .metavar = "NAME", .help = "whose arithmetic and constraints" },
    { "method", TARE_FIELD_STRING, offsetof(tare_quantization, method), .names = tare_method_names, .metavar = "NAME",
      .help = tare_method_help },
    { "percentile", TARE_FIELD_DOUBLE, offsetof(tare_quantization, percentile), .lo = 50, .hi = 100, .metavar = "P",
      .help =
          "the share kept on each side by method percentile, which is then the one; 99.99 where only that is asked" },
    { "act", TARE_FIELD_ENUM, offsetof(tare_quantization, activation), .names = activations,
      .help = "code type of activations" },
    { "per-tensor", TARE_FIELD_BOOL, offsetof(tare_quantization, per_tensor),
      .help = "one scale for a whole weight instead of one per output channel" },
    { "symmetric", TARE_FIELD_BOOL, offsetof(tare_quantization, symmetric),
      .help = "activations with zero point 0 (s8) or in the middle (u8)" },
    { "power-of-two", TARE_FIELD_BOOL, offsetof(tare_quantization, power_of_two), .help = "scales are powers of two" },
    { "int-outputs", TARE_FIELD_BOOL, offsetof(tare_quantization, int_outputs),
      .help =
          "the model gives codes: its outputs are integers, real = scale * (code - zero point), as `tare info` tells" },
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
      .help = "nodes are computed in float, values have no codes, nor has what needs theirs" },
    { "act", TARE_FIELD_ENUM, offsetof(tare_rule_options, activation), .names = activations,
      .help = "code type of activations" },
    { "method", TARE_FIELD_STRING, offsetof(tare_rule_options, method), .help = "how the range is chosen" },
    { "percentile", TARE_FIELD_DOUBLE, offsetof(tare_rule_options, percentile), .lo = 50, .hi = 100,
      .help = "for the method percentile" },
    { "range", TARE_FIELD_FLOATS, offsetof(tare_rule_options, range), .help = "the range itself: [lowest, highest]" },
    { .type = TARE_FIELD_END },
};

tare_status tare_calibrate_options_shard(const char *text, tare_calibrate_options *options, tare_error *err) {
    char *end = NULL;
    if (!text) return TARE_OK;
    long shard = strtol(text, &end, 10), shards = end && *end == '/' ? strtol(end + 1, &end, 10) : 0;
    if (*text < '0' || *text > '9' || *end || shards < 1 || shard >= shards || shards > 1 << 20)
        return tare_fail(err, TARE_E_USAGE, "--shard: '%.64s' is not I/N with 0 <= I < N", text);
    options->shard = (size_t)shard, options->shards = (size_t)shards;
    return TARE_OK;
}

tare_status tare_calibrate_options_from(tare_calibrate_options *to, const tare_calibration_options *options,
                                        const tare_work_options *work, tare_error *err) {
    *to = (tare_calibrate_options){ .threads = work ? (size_t)work->threads : 0,
                                    .skip_nonfinite = options && options->skip_nonfinite };
    return tare_work_cpu(work, &to->cpu, err);
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

static bool is_percentile(const char *method) { return method && !strcmp(method, "percentile"); }

/* A percentile without a method asks for that method; with another it would do nothing. */
static tare_status choose_method(const tare_quantization *from, const char **method, tare_error *err) {
    const tare_rule_options *rules = from->rules.at;
    *method = from->method;
    if (from->percentile <= 0) return TARE_OK;
    if (!from->method) *method = "percentile";
    const tare_method *found = tare_method_find(*method);
    bool is_used = !found || found->tries || is_percentile(*method);
    for (size_t i = 0; i < from->rules.count && !is_used; i++) is_used = is_percentile(rules[i].method);
    if (is_used) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE,
                     "percentile %.9g is for method percentile, but the method is %s; leave out the one or the other",
                     from->percentile, from->method);
}

tare_status tare_quantize_options_from(tare_quantize_options *to, const tare_quantization *from, tare_arena *arena,
                                       tare_error *err) {
    static const tare_dtype types[] = { TARE_DTYPE_NONE, TARE_U8, TARE_S8, TARE_U16, TARE_S16 };
    const tare_rule_options *given = from->rules.at;
    tare_rule *rules = tare_arena_alloc(arena, from->keep_float.count + from->rules.count + 1, sizeof *rules);
    if (!rules) return tare_fail_memory(err, 0);
    const char *method;
    TARE_TRY(choose_method(from, &method, err));
    *to = (tare_quantize_options){ .method = method,
                                   .percentile = from->percentile,
                                   .activation = types[from->activation],
                                   .symmetric = from->symmetric,
                                   .power_of_two = from->power_of_two,
                                   .per_tensor = from->per_tensor,
                                   .int_outputs = from->int_outputs,
                                   .rules = rules };
    TARE_TRY(tare_target_get(&to->target, from->target, true, err));
    for (size_t i = 0; i < from->rules.count; i++) rules[to->rule_count++] = rule_of(&given[i]);
    for (size_t i = 0; i < from->keep_float.count; i++)
        rules[to->rule_count++] =
            (tare_rule){ .op = from->keep_float.at[i], .node = from->keep_float.at[i], .keep_float = true };
    return TARE_OK;
}

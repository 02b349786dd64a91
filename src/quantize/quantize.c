/* Choosing scales, from the scheme to the last weight. */
#include "quantize/quantize.h"

#include <strings.h>

#include "base/words.h"
#include "quantize/scheme.h"

static tare_status fail_method(const char *name, tare_error *err) {
    static const char *const elsewhere[][2] = {
        /* what other tools call them */
        { "kl", "entropy" },   { "kld", "entropy" },    { "kl_divergence", "entropy" }, { "histogram", "entropy" },
        { "max", "minmax" },   { "min_max", "minmax" }, { "absmax", "minmax" },         { "moving_average", "average" },
        { "mean", "average" }, { "l2", "mse" },
    };
    const char *meant = NULL;
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (!strcasecmp(elsewhere[i][0], name)) meant = elsewhere[i][1];
    return tare_fail_choice(err, "range method", name, meant, tare_method_names);
}

tare_status tare_quantize_check_options(const tare_quantize_options *options, tare_error *err) {
    if (options->method && !tare_method_find(options->method)) return fail_method(options->method, err);
    for (size_t i = 0; i < options->rule_count; i++) {
        const tare_rule *rule = &options->rules[i];
        if (rule->method && !tare_method_find(rule->method)) {
            fail_method(rule->method, err);
            return tare_within(err, "rule %zu", i + 1);
        }
        tare_dtype type = rule->type ? tare_dtype_find(rule->type) : TARE_U8;
        if (type != TARE_U8 && type != TARE_S8 && type != TARE_U16 && type != TARE_S16)
            return tare_fail(err, TARE_E_USAGE, "rule %zu: type '%s' is none of u8, s8, u16, s16", i + 1, rule->type);
        const char *fault = rule->has_range ? tare_rule_range_fault(rule->lo, rule->hi) : NULL;
        if (fault) return tare_fail(err, TARE_E_USAGE, "rule %zu: [%.9g, %.9g]: %s", i + 1, rule->lo, rule->hi, fault);
    }
    return TARE_OK;
}

typedef struct needs {
    tare_map *names;
    bool failed;
} needs;

static void add_need(void *context, const tare_value *value, const tare_range *range) {
    needs *n = context;
    (void)range;
    n->failed |= !tare_map_put(n->names, value->name, n);
}

/* Is every scale of an activation in the model already? */
static bool is_complete(const tare_scheme *scheme) {
    for (size_t i = 0; i < scheme->values.count; i++) {
        const tare_scheme_value *entry = &scheme->values.at[i];
        if (entry->quantized && !entry->value->quant && !tare_value_is_constant(entry->value)) return false;
    }
    return true;
}

/* Without ranges no product is taken out and every join is made: what is quantized then is all that can be. */
static tare_status list_needs(tare_scheme *scheme, tare_map *names, tare_error *err) {
    needs n = { .names = names };
    TARE_TRY(tare_scheme_make(scheme, NULL, err));
    if (is_complete(scheme)) return TARE_OK;
    for (size_t i = 0; i < scheme->values.count; i++)
        if (scheme->values.at[i].quantized) tare_sources_list(scheme->values.at[i].value, add_need, &n);
    tare_for_nodes (node, scheme->model->graph)
        if (tare_log_input(node)) tare_sources_list(tare_log_input(node), add_need, &n);
    return n.failed ? tare_fail_memory(err, 0) : TARE_OK;
}

tare_status tare_quantize_list_needs(tare_model *model, const tare_quantize_options *options, tare_map *names,
                                     tare_error *err) {
    TARE_TRY(tare_quantize_check_options(options, err));
    tare_scheme scheme = { .arena = tare_arena_new(), .model = model, .options = options };
    if (!scheme.arena) return tare_fail_memory(err, 0);
    tare_status status = list_needs(&scheme, names, err);
    tare_arena_free(scheme.arena);
    return status;
}

/* A file of wider codes shows what they gain; it is not faster than float. */
static void warn_width(const tare_quantize_options *options, tare_log *log) {
    const tare_dtype code = options->activation;
    if (!code || tare_target_multiplies(options->target, code)) return;
    tare_log_warn(
        log, "%s has no integers for products of %s codes and computes them in float, no faster than the float model",
        options->target->validated ? options->target->validated : options->target->name, tare_dtype_name(code));
}

tare_status tare_quantize_choose(tare_model *model, const tare_ranges *ranges, const tare_quantize_options *options,
                                 tare_log *log, tare_error *err) {
    TARE_TRY(tare_quantize_check_options(options, err));
    if (ranges && tare_quantize_tries(options) && !options->winners)
        return tare_fail(err, TARE_E_USAGE,
                         "method auto tries ranges on samples: give them as well (--data SRC), or choose by one of the "
                         "other methods, such as %s",
                         tare_method_names[0]);
    tare_scheme scheme = { .arena = tare_arena_new(), .model = model, .options = options, .log = log };
    if (!scheme.arena) return tare_fail_memory(err, 0);
    tare_status status = tare_scheme_make(&scheme, ranges, err);
    if (status == TARE_OK) status = tare_quantize_activations(&scheme, ranges, err);
    if (status == TARE_OK) status = tare_quantize_sums(&scheme, err);
    if (status == TARE_OK) status = tare_quantize_weights(&scheme, err);
    if (status == TARE_OK && log) status = tare_rules_tell_unused(&scheme, err);
    if (status == TARE_OK && log) warn_width(options, log);
    tare_arena_free(scheme.arena);
    return status;
}

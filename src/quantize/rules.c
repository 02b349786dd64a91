/* Which of the user's rules hold for a node or a value, key by key, and which hold for nothing. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "quantize/scheme.h"

static bool fits(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (length && pattern[length - 1] == '*') return !strncmp(pattern, name, length - 1);
    return !strcmp(pattern, name);
}

static bool fits_node(const tare_rule *rule, const tare_node *node) {
    return (rule->op && fits(rule->op, node->type)) || (rule->node && fits(rule->node, node->name));
}

static bool fits_value(const tare_rule *rule, const tare_value *value) {
    return rule->value && fits(rule->value, value->name);
}

static bool has_others(const tare_rule *rule) {
    return rule->type || rule->method || rule->percentile > 0 || rule->has_range;
}

/* `keep-float: false` cannot be told from no such key where there are others. */
static bool has_keep_float(const tare_rule *rule) { return rule->keep_float || !has_others(rule); }

/* ---- what holds ---- */

bool tare_keeps_node_float(const tare_quantize_options *options, const tare_node *node) {
    for (size_t i = options->rule_count; i-- > 0;)
        if (has_keep_float(&options->rules[i]) && fits_node(&options->rules[i], node))
            return options->rules[i].keep_float;
    return false;
}

bool tare_keeps_value_float(const tare_quantize_options *options, const tare_value *value) {
    for (size_t i = options->rule_count; i-- > 0;)
        if (has_keep_float(&options->rules[i]) && fits_value(&options->rules[i], value))
            return options->rules[i].keep_float;
    return false;
}

/* Rules lie in one array: what comes later is said later. */
static void take_later(const tare_rule **into, const tare_rule *rule) {
    if (rule && (!*into || rule > *into)) *into = rule;
}

void tare_said_merge(tare_said *into, const tare_said *other) {
    take_later(&into->type, other->type);
    take_later(&into->method, other->method);
    take_later(&into->percentile, other->percentile);
    take_later(&into->range, other->range);
}

static void add_rule(tare_said *said, const tare_rule *rule) {
    const tare_said all = { .type = rule->type ? rule : NULL,
                            .method = rule->method ? rule : NULL,
                            .percentile = rule->percentile > 0 ? rule : NULL,
                            .range = rule->has_range ? rule : NULL };
    tare_said_merge(said, &all);
}

void tare_said_add_node(tare_said *said, const tare_quantize_options *options, const tare_node *node) {
    for (size_t i = 0; i < options->rule_count; i++)
        if (fits_node(&options->rules[i], node)) add_rule(said, &options->rules[i]);
}

void tare_said_add_value(tare_said *said, const tare_quantize_options *options, const tare_value *value) {
    for (size_t i = 0; i < options->rule_count; i++)
        if (fits_value(&options->rules[i], value)) add_rule(said, &options->rules[i]);
    if (value->producer) tare_said_add_node(said, options, value->producer);
}

const char *tare_rule_range_fault(double lo, double hi) {
    const double low = lo < 0 ? lo : 0, high = hi > 0 ? hi : 0;
    if (!(fabs(lo) <= (double)FLT_MAX && fabs(hi) <= (double)FLT_MAX)) return "range wants numbers that float32 holds";
    if (!(lo < hi)) return "range wants two numbers, the lower first";
    /* 16 bits are the widest codes, and steps below the smallest normal float32 have few bits themselves. */
    return high - low < 65535 * (double)FLT_MIN ? "range is too narrow: its steps would be below what float32 holds"
                                                : NULL;
}

/* ---- what holds for nothing ---- */

static void use(const tare_scheme *s, const tare_rule *rule, unsigned key) {
    if (rule) s->used[rule - s->options->rules] |= key;
}

void tare_said_use(const tare_scheme *s, const tare_said *said, unsigned keys) {
    if (keys & TARE_KEY_TYPE) use(s, said->type, TARE_KEY_TYPE);
    if (keys & TARE_KEY_METHOD) use(s, said->method, TARE_KEY_METHOD);
    if (keys & TARE_KEY_PERCENTILE) use(s, said->percentile, TARE_KEY_PERCENTILE);
    if (keys & TARE_KEY_RANGE) use(s, said->range, TARE_KEY_RANGE);
}

/* Is there something of that name? */
static bool has_fit(const tare_scheme *s, const tare_rule *rule) {
    tare_for_nodes (node, s->model->graph)
        if (fits_node(rule, node)) return true;
    for (size_t i = 0; rule->value && i < s->model->graph->values.entries.count; i++) {
        const tare_value *value = s->model->graph->values.entries.at[i].value;
        if (value && fits_value(rule, value)) return true;
    }
    return false;
}

typedef TARE_VEC(const char *) name_list;

static tare_status list_names(name_list *names, const tare_scheme *s, const tare_rule *rule, tare_error *err) {
    bool is_kept = true;
    tare_for_nodes (node, s->model->graph) {
        if (rule->op) is_kept &= tare_vec_push(s->arena, names, node->type);
        if (rule->node) is_kept &= tare_vec_push(s->arena, names, node->name);
    }
    for (size_t i = 0; rule->value && i < s->model->graph->values.entries.count; i++) {
        const tare_value *value = s->model->graph->values.entries.at[i].value;
        if (value) is_kept &= tare_vec_push(s->arena, names, value->name);
    }
    is_kept &= tare_vec_push(s->arena, names, NULL);
    return is_kept ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status tell_misfit(const tare_scheme *s, const tare_rule *rule, tare_error *err) {
    const bool is_either = rule->op && rule->node;
    const char *what = is_either ? "node or op" : rule->op ? "op" : rule->node ? "node" : "value";
    const char *name = rule->op ? rule->op : rule->node ? rule->node : rule->value;
    name_list names = { 0 };
    TARE_TRY(list_names(&names, s, rule, err));
    const char *near = tare_text_nearest(name, names.at);
    tare_log_warn(s->log, "there is no %s '%s', which a rule is for; %s%s%s", what, name,
                  near ? "did you mean '" : "`tare info MODEL --nodes --values` lists what there is", near ? near : "",
                  near ? "'?" : "");
    return TARE_OK;
}

static void tell_unused(const tare_scheme *s, const tare_rule *rule, const char *key) {
    const char *name = rule->op ? rule->op : rule->node ? rule->node : rule->value;
    const bool is_percentile = !strcmp(key, "percentile");
    tare_log_warn(s->log, "%s of the rule for '%s' has no effect: %s", key, name,
                  is_percentile
                      ? "no such range is chosen by method percentile"
                      : "what it fits gets no codes, has a scale that the file or the target sets, or another "
                        "rule holds");
}

tare_status tare_rules_tell_unused(const tare_scheme *s, tare_error *err) {
    for (size_t i = 0; i < s->options->rule_count; i++) {
        const tare_rule *rule = &s->options->rules[i];
        const unsigned used = s->used[i];
        if (!has_fit(s, rule)) {
            TARE_TRY(tell_misfit(s, rule, err));
            continue;
        }
        if (rule->type && !(used & TARE_KEY_TYPE)) tell_unused(s, rule, "act");
        if (rule->method && !(used & TARE_KEY_METHOD)) tell_unused(s, rule, "method");
        if (rule->percentile > 0 && !(used & TARE_KEY_PERCENTILE)) tell_unused(s, rule, "percentile");
        if (rule->has_range && !(used & TARE_KEY_RANGE)) tell_unused(s, rule, "range");
    }
    return TARE_OK;
}

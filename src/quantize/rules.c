/* Which of the user's rules holds for a node or a value. */
#include <string.h>

#include "quantize/scheme.h"

static bool fits(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (length && pattern[length - 1] == '*') return !strncmp(pattern, name, length - 1);
    return !strcmp(pattern, name);
}

const tare_rule *tare_rule_for_node(const tare_quantize_options *options, const tare_node *node) {
    for (size_t i = options->rule_count; i-- > 0;) {
        const tare_rule *rule = &options->rules[i];
        if ((rule->op && fits(rule->op, node->type)) || (rule->node && fits(rule->node, node->name))) return rule;
    }
    return NULL;
}

const tare_rule *tare_rule_for_value(const tare_quantize_options *options, const tare_value *value) {
    for (size_t i = options->rule_count; i-- > 0;) {
        const tare_rule *rule = &options->rules[i];
        if (rule->value && fits(rule->value, value->name)) return rule;
    }
    return NULL;
}

/* The list of checks, and letting them look. */
#include "diagnose/diagnose.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x) extern const tare_check tare_check_##x;
#include "diagnose/checks.def"
#undef CHECK

static const tare_check *const checks[] = {
#define CHECK(x) &tare_check_##x,
#include "diagnose/checks.def"
#undef CHECK
};

enum { CHECK_COUNT = sizeof checks / sizeof checks[0] };

const char *tare_severity_name(tare_severity severity) {
    static const char *const names[] = { "note", "danger", "blocker" }; /* ORDER: severity */
    return names[severity];
}

void tare_finding_add(tare_findings *findings, const tare_node *node, const tare_value *value, double gravity,
                      const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const tare_finding finding = { .check = findings->check,
                                   .node = node ? node->name : NULL,
                                   .op = node ? node->type : NULL,
                                   .value = value ? value->name : NULL,
                                   .evidence = tare_arena_strdup(findings->arena, text),
                                   .gravity = gravity };
    if (!finding.evidence || !tare_vec_push(findings->arena, &findings->list, finding)) findings->failed = true;
}

/* The gravest first; of equals, the one found first. */
static void sort_from(tare_findings *findings, size_t first) {
    for (size_t i = first + 1; i < findings->list.count; i++) {
        const tare_finding finding = findings->list.at[i];
        size_t at = i;
        for (; at > first && findings->list.at[at - 1].gravity < finding.gravity; at--)
            findings->list.at[at] = findings->list.at[at - 1];
        findings->list.at[at] = finding;
    }
}

tare_status tare_diagnose(tare_findings *findings, tare_error *err) {
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        const size_t first = findings->list.count;
        if (checks[i]->needs_ranges && !findings->ranges) continue;
        findings->check = checks[i];
        TARE_TRY(checks[i]->look(findings, err));
        if (findings->failed) return tare_fail_memory(err, 0);
        sort_from(findings, first);
    }
    return TARE_OK;
}

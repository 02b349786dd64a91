/* What the passes did. */
#include <stdio.h>

#include "report/flows.h"

void tare_report_rewrite(tare_report *report, const char *text) {
    json_t *root = tare_report_root(report), *list = json_object_get(root, "rewrites");
    tare_report_line(report, "%s", text);
    if (!list) tare_report_set(report, root, "rewrites", list = json_array());
    tare_report_push(report, list, tare_json_text(text));
}

void tare_report_optimize(tare_report *report, size_t nodes_before, size_t nodes_after, const tare_pass_total *totals,
                          size_t count) {
    json_t *root = tare_report_root(report), *passes = json_object();
    tare_report_line(report, "%zu node%s, now %zu", nodes_before, tare_plural(nodes_before, "", "s"), nodes_after);
    static const char *const headings[] = { "pass", "times" };
    tare_table *table = tare_report_table(report, 2, headings, "<>", 0);
    for (size_t i = 0; i < count; i++) {
        char times[24];
        if (!totals[i].changes) continue;
        snprintf(times, sizeof times, "%zu", totals[i].changes);
        tare_table_row(table, (const char *const[]){ totals[i].name, times });
        tare_report_set(report, passes, totals[i].name, tare_json_count(totals[i].changes));
    }
    tare_report_set(report, root, "nodes_before", tare_json_count(nodes_before));
    tare_report_set(report, root, "nodes", tare_json_count(nodes_after));
    tare_report_set(report, root, "passes", passes);
}

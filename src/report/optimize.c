/* What the passes did. */
#include "report/flows.h"

#include <stdio.h>

void tare_report_optimize(tare_report *report, size_t nodes_before, size_t nodes_after, const tare_pass_total *totals,
                          size_t count) {
    json_t *root = tare_report_root(report), *passes = json_object();
    tare_report_line(report, "%zu nodes, now %zu", nodes_before, nodes_after);
    static const char *const headings[] = { "pass", "times" };
    tare_table *table = tare_report_table(report, 2, headings, "<>", 0);
    for (size_t i = 0; i < count; i++) {
        char times[24];
        if (!totals[i].changes) continue;
        snprintf(times, sizeof times, "%zu", totals[i].changes);
        tare_table_row(table, (const char *const[]){ totals[i].name, times });
        json_object_set_new(passes, totals[i].name, json_integer((json_int_t)totals[i].changes));
    }
    json_object_set_new(root, "nodes_before", json_integer((json_int_t)nodes_before));
    json_object_set_new(root, "nodes", json_integer((json_int_t)nodes_after));
    json_object_set_new(root, "passes", passes);
}

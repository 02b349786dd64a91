/* Which operators the target has integers for, then the findings, check by check. */
#include "report/check.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 4 }; /* findings of one check in the text; JSON has all */

static void tell_ops(tare_report *report, const tare_checked *checked) {
    static const char *const headings[] = { "op", "nodes", "on codes", "MACs", "how" };
    json_t *ops = json_object();
    const tare_fates *fates = &checked->fates;
    uint64_t macs = 0, codes_macs = 0;
    for (size_t i = 0; i < checked->ops.count; i++) {
        macs += checked->ops.at[i].macs, codes_macs += checked->ops.at[i].codes_macs;
    }
    char share[TARE_CELL_SIZE];
    tare_report_fact(report, "on codes", "%s of the multiply-accumulates; %zu of %zu node%s%s",
                     macs ? tare_cell_share(share, (double)codes_macs / (double)macs) : "n/a", fates->on_codes,
                     fates->nodes, tare_plural(fates->nodes, "", "s"), checked->is_quantized ? "" : ", once quantized");
    tare_report_floats(report, fates);
    tare_table *table = tare_report_table(report, 5, headings, "<>>><", 4);
    for (size_t i = 0; i < checked->ops.count; i++) {
        const tare_op_fate *op = &checked->ops.at[i];
        char count[2][TARE_CELL_SIZE], cell[TARE_CELL_SIZE] = "";
        snprintf(count[0], sizeof count[0], "%zu", op->count);
        snprintf(count[1], sizeof count[1], "%zu", op->on_codes);
        if (op->macs) tare_cell_count(cell, op->macs);
        tare_table_row(table, (const char *const[]){ op->op, count[0], count[1], cell, op->how });
        json_t *o = json_object();
        tare_report_set(report, o, "nodes", tare_json_count(op->count));
        tare_report_set(report, o, "on_codes", tare_json_count(op->on_codes));
        tare_report_set(report, o, "macs", tare_json_count(op->macs));
        tare_report_set(report, o, "how", tare_json_text(op->how));
        tare_report_set(report, ops, op->op, o);
    }
    tare_report_set(report, tare_report_root(report), "nodes", tare_json_count(fates->nodes));
    tare_report_set(report, tare_report_root(report), "quantized_nodes", tare_json_count(fates->on_codes));
    tare_report_set(report, tare_report_root(report), "ops", ops);
}

static json_t *finding_json(tare_report *report, const tare_finding *finding) {
    json_t *o = json_object();
    tare_report_set(report, o, "check", tare_json_text(finding->check->name));
    tare_report_set(report, o, "severity", tare_json_text(tare_severity_name(finding->check->severity)));
    tare_report_set(report, o, "node", tare_json_text(finding->node));
    tare_report_set(report, o, "op", tare_json_text(finding->op));
    tare_report_set(report, o, "value", tare_json_text(finding->value));
    tare_report_set(report, o, "evidence", tare_json_text(finding->evidence));
    tare_report_set(report, o, "cause", tare_json_text(finding->check->cause));
    tare_report_set(report, o, "repair", tare_json_text(finding->check->repair));
    return o;
}

static void tell_where(tare_report *report, const tare_finding *finding) {
    if (finding->node)
        tare_report_fact(report, finding->op, "'%s': %s", finding->node, finding->evidence);
    else
        tare_report_fact(report, "input", "'%s': %s", finding->value ? finding->value : "", finding->evidence);
}

static void tell_findings(tare_report *report, const tare_findings *findings) {
    json_t *list = json_array();
    for (size_t i = 0, end; i < findings->list.count; i = end) {
        const tare_check *check = findings->list.at[i].check;
        for (end = i; end < findings->list.count && findings->list.at[end].check == check; end++)
            tare_report_push(report, list, finding_json(report, &findings->list.at[end]));
        const bool is_grave = check->severity != TARE_SEVERITY_NOTE;
        tare_report_line(report, "%s%s%s: %s, %zu", is_grave ? TARE_MARK_BAD : TARE_MARK_DIM,
                         tare_severity_name(check->severity), TARE_MARK_END, check->name, end - i);
        for (size_t f = i; f < end && f < i + SHOWN; f++) tell_where(report, &findings->list.at[f]);
        if (end - i > SHOWN) tare_report_fact(report, "", "and %zu more", end - i - SHOWN);
        tare_report_fact(report, "why", "%s", check->cause);
        tare_report_fact(report, "do", "%s", check->repair);
    }
    if (!findings->list.count) tare_report_line(report, "nothing looks dangerous");
    tare_report_set(report, tare_report_root(report), "findings", list);
}

void tare_report_checked(tare_report *report, const tare_checked *checked) {
    const tare_findings *findings = checked->findings;
    const tare_target *target = findings->target;
    json_t *root = tare_report_root(report);
    const char *path = findings->model->path ? findings->model->path : "(a model in memory)";
    tare_report_line(report, "%s", path);
    tare_report_fact(report, "target", "%s: %s (%s)", target->name, target->help,
                     target->validated ? target->validated : "formulas only");
    if (checked->is_quantized)
        tare_report_fact(report, "stage", "quantized already%s%s%s%s", checked->for_target ? ", for target " : "",
                         checked->for_target ? checked->for_target : "", checked->by ? ", by " : "",
                         checked->by ? checked->by : "");
    if (checked->samples)
        tare_report_fact(report, "samples", "%llu%s", (unsigned long long)checked->samples,
                         checked->is_synthetic ? ", synthetic: made-up numbers" : "");
    tare_report_set(report, root, "path", tare_json_text(path));
    tare_report_set(report, root, "target", tare_json_text(target->name));
    tare_report_set(report, root, "validated", tare_json_text(target->validated));
    tare_report_set(report, root, "quantized", json_boolean(checked->is_quantized));
    tare_report_set(report, root, "samples", tare_json_count(checked->samples));
    tare_report_set(report, root, "synthetic", json_boolean(checked->is_synthetic));
    tell_ops(report, checked);
    tell_findings(report, findings);
}

/* The operators, from their descriptors and the targets' rows. */
#include <stdio.h>
#include <string.h>

#include "ops/op.h"
#include "report/flows.h"
#include "targets/target.h"

/* ORDER: tare_quant_kind */
static const char *const kinds[] = { "float", "moves codes", "shares a scale", "observed", "fixed range" };
/* ORDER: tare_int_kind */
static const char *const hows[] = { "", "multiplies codes", "computes on codes", "moves codes" };

static const char *how(const tare_target *target, const tare_op *op) {
    if (op->domain) return "";
    for (const tare_target_row *row = target->rows; row->op; row++)
        if (!strcmp(row->op, op->name)) return hows[row->kind];
    return "";
}

static const char *domain_of(const tare_op *op) { return op->domain ? op->domain : ""; }

/* Descriptors of older forms follow the canonical one under the same name. */
static bool is_older_form(size_t index) {
    const tare_op *op = tare_op_at(index);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(tare_op_at(i)->name, op->name) && !strcmp(domain_of(tare_op_at(i)), domain_of(op))) return true;
    return false;
}

static void tell(tare_report *report, tare_table *table, json_t *list, const tare_op *op, bool markdown) {
    enum { NAMED = 3, TARGETS = 8 };
    const char *cells[NAMED + TARGETS];
    char name[96], since[24];
    const size_t targets = tare_target_count() < TARGETS ? tare_target_count() : TARGETS;
    json_t *o = json_object(), *by_target = json_object();
    snprintf(name, sizeof name, "%s%s%s", domain_of(op), op->domain ? "." : "", op->name);
    snprintf(since, sizeof since, "%d", op->since);
    cells[0] = name, cells[1] = since, cells[2] = kinds[op->quant.kind];
    for (size_t i = 0; i < targets; i++) {
        cells[NAMED + i] = how(tare_target_at(i), op);
        tare_report_set(report, by_target, tare_target_at(i)->name, tare_json_text(cells[NAMED + i]));
    }
    tare_table_row(table, cells);
    if (markdown) tare_report_line(report, "| %s | %s | %s | %s |", name, since, cells[2], cells[NAMED]);
    tare_report_set(report, o, "name", tare_json_text(op->name));
    tare_report_set(report, o, "domain", tare_json_text(domain_of(op)));
    tare_report_set(report, o, "since", json_integer(op->since));
    tare_report_set(report, o, "quantization", tare_json_text(cells[2]));
    tare_report_set(report, o, "targets", by_target);
    tare_report_push(report, list, o);
}

void tare_report_ops(tare_report *report, bool markdown) {
    static const char *const headings[] = { "operator", "opset", "quantization", "target onnx" };
    tare_table *table = markdown ? NULL : tare_report_table(report, 4, headings, "<><<", 0);
    json_t *list = json_array();
    if (markdown) {
        tare_report_line(report, "| operator | opset | quantization | target onnx |");
        tare_report_line(report, "|---|---|---|---|");
    }
    for (size_t i = 0; i < tare_op_count(); i++)
        if (!is_older_form(i)) tell(report, table, list, tare_op_at(i), markdown);
    tare_report_set(report, tare_report_root(report), "ops", list);
}

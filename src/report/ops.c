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

enum { NAMED = 3 /* columns before the targets' */, TARGETS = 8, CELL = 64 };

/* Bit i: profile i computes it on codes. An op may have a row for each profile. */
static unsigned integers_of(const tare_target *target, const tare_op *op) {
    unsigned profiles = 0;
    for (const tare_target_row *row = target->rows; !op->domain && row->op; row++)
        if (!strcmp(row->op, op->name) && row->codes) profiles |= row->codes->profiles;
    return profiles;
}

static const char *how(const tare_target *target, const tare_op *op) {
    for (const tare_target_row *row = target->rows; !op->domain && row->op; row++)
        if (!strcmp(row->op, op->name)) return hows[row->kind];
    return "";
}

/* "computes on codes [ort]"; of a target that models are not made for, "[micro, ref]" */
static void tell_target(char to[CELL], json_t *profiles, tare_report *report, const tare_target *target,
                        const tare_op *op) {
    const unsigned integers = integers_of(target, op);
    const char *before = target->quantizes ? " [" : "[";
    int length = snprintf(to, CELL, "%s", target->quantizes ? how(target, op) : "");
    for (int i = 0; target->profiles[i]; i++) {
        if (!(integers >> i & 1)) continue;
        length += snprintf(to + length, CELL - (size_t)length, "%s%s", before, target->profiles[i]);
        before = ", ";
        tare_report_push(report, profiles, tare_json_text(target->profiles[i]));
    }
    if (integers) snprintf(to + length, CELL - (size_t)length, "]");
}

static const char *domain_of(const tare_op *op) { return op->domain ? op->domain : ""; }

/* Descriptors of older forms follow the canonical one under the same name. */
static bool is_older_form(size_t index) {
    const tare_op *op = tare_op_at(index);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(tare_op_at(i)->name, op->name) && !strcmp(domain_of(tare_op_at(i)), domain_of(op))) return true;
    return false;
}

static size_t count_targets(void) { return tare_target_count() < TARGETS ? tare_target_count() : TARGETS; }

static void print_row(tare_report *report, tare_table *table, const char *const *cells) {
    if (table) {
        tare_table_row(table, cells);
        return;
    }
    char line[(NAMED + TARGETS) * (CELL + 3)] = "|";
    size_t length = 1;
    for (size_t i = 0; i < NAMED + count_targets(); i++)
        length += (size_t)snprintf(line + length, sizeof line - length, " %.*s |", CELL, cells[i]);
    tare_report_line(report, "%s", line);
}

static void tell(tare_report *report, tare_table *table, json_t *list, const tare_op *op) {
    const char *cells[NAMED + TARGETS];
    char name[CELL], since[24], told[TARGETS][CELL];
    json_t *o = json_object(), *by_target = json_object(), *integers = json_object();
    snprintf(name, sizeof name, "%s%s%s", domain_of(op), op->domain ? "." : "", op->name);
    snprintf(since, sizeof since, "%d", op->since);
    cells[0] = name, cells[1] = since, cells[2] = kinds[op->quant.kind];
    for (size_t i = 0; i < count_targets(); i++) {
        const tare_target *target = tare_target_at(i);
        json_t *profiles = json_array();
        tell_target(told[i], profiles, report, target, op);
        cells[NAMED + i] = told[i];
        tare_report_set(report, by_target, target->name, tare_json_text(how(target, op)));
        tare_report_set(report, integers, target->name, profiles);
    }
    print_row(report, table, cells);
    tare_report_set(report, o, "name", tare_json_text(op->name));
    tare_report_set(report, o, "domain", tare_json_text(domain_of(op)));
    tare_report_set(report, o, "since", json_integer(op->since));
    tare_report_set(report, o, "quantization", tare_json_text(cells[2]));
    tare_report_set(report, o, "targets", by_target);
    tare_report_set(report, o, "integers", integers);
    tare_report_push(report, list, o);
}

void tare_report_ops(tare_report *report, bool markdown) {
    const char *headings[NAMED + TARGETS] = { "operator", "opset", "quantization" }, *rules[NAMED + TARGETS];
    char targets[TARGETS][CELL];
    for (size_t i = 0; i < count_targets(); i++) {
        snprintf(targets[i], CELL, "%s%s", i ? "" : "target ", tare_target_at(i)->name);
        headings[NAMED + i] = targets[i];
    }
    for (size_t i = 0; i < NAMED + TARGETS; i++) rules[i] = "---";
    tare_table *table =
        markdown ? NULL : tare_report_table(report, NAMED + count_targets(), headings, "<><<<<<<<<<", 0);
    json_t *list = json_array();
    if (markdown) {
        print_row(report, NULL, headings);
        print_row(report, NULL, rules);
    }
    for (size_t i = 0; i < tare_op_count(); i++)
        if (!is_older_form(i)) tell(report, table, list, tare_op_at(i));
    tare_report_set(report, tare_report_root(report), "ops", list);
    tare_report_line(report, "%s", "");
    tare_report_line(report, "In brackets: the target's profiles whose integers `tare run --backend int` computes.");
}

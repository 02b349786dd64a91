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

enum { COLUMNS = 5, CELL = 96 };

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

/* "onnx tflite/micro": a target, or those of its profiles that compute the operator on codes. */
static void tell_integers(char to[CELL], const tare_op *op) {
    size_t length = 0;
    *to = 0;
    for (size_t t = 0; t < tare_target_count(); t++) {
        const tare_target *target = tare_target_at(t);
        const unsigned profiles = integers_of(target, op);
        unsigned all = 0;
        for (int i = 0; target->profiles[i]; i++) all |= 1u << i;
        for (int i = 0; target->profiles[i] && length < CELL; i++) {
            const bool is_all = profiles == all;
            if (!(profiles >> i & 1) || (is_all && i)) continue;
            length += (size_t)snprintf(to + length, CELL - length, "%s%s%s%s", length ? " " : "", target->name,
                                       is_all ? "" : "/", is_all ? "" : target->profiles[i]);
        }
    }
}

static json_t *list_profiles(tare_report *report, const tare_target *target, const tare_op *op) {
    json_t *profiles = json_array();
    for (int i = 0; target->profiles[i]; i++)
        if (integers_of(target, op) >> i & 1) tare_report_push(report, profiles, tare_json_text(target->profiles[i]));
    return profiles;
}

static const char *domain_of(const tare_op *op) { return op->domain ? op->domain : ""; }

/* Descriptors of older forms follow the canonical one under the same name. */
static bool is_older_form(size_t index) {
    const tare_op *op = tare_op_at(index);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(tare_op_at(i)->name, op->name) && !strcmp(domain_of(tare_op_at(i)), domain_of(op))) return true;
    return false;
}

static void print_row(tare_report *report, tare_table *table, const char *const *c) {
    if (table)
        tare_table_row(table, c);
    else
        tare_report_whole(report, "| %s | %s | %s | %s | %s |", c[0], c[1], c[2], c[3], c[4]);
}

static void tell(tare_report *report, tare_table *table, json_t *list, const tare_op *op) {
    char name[CELL], since[24], targets[CELL];
    json_t *o = json_object(), *by_target = json_object(), *integers = json_object();
    snprintf(name, sizeof name, "%s%s%s", domain_of(op), op->domain ? "." : "", op->name);
    snprintf(since, sizeof since, "%d", op->since);
    tell_integers(targets, op);
    const char *const cells[COLUMNS] = { name, since, kinds[op->quant.kind], how(tare_target_find("onnx"), op),
                                         targets };
    print_row(report, table, cells);
    for (size_t i = 0; i < tare_target_count(); i++) {
        const tare_target *target = tare_target_at(i);
        tare_report_set(report, by_target, target->name, tare_json_text(how(target, op)));
        tare_report_set(report, integers, target->name, list_profiles(report, target, op));
    }
    tare_report_set(report, o, "name", tare_json_text(op->name));
    tare_report_set(report, o, "domain", tare_json_text(domain_of(op)));
    tare_report_set(report, o, "since", json_integer(op->since));
    tare_report_set(report, o, "quantization", tare_json_text(cells[2]));
    tare_report_set(report, o, "targets", by_target);
    tare_report_set(report, o, "integers", integers);
    tare_report_push(report, list, o);
}

void tare_report_ops(tare_report *report, bool markdown) {
    static const char *const headings[COLUMNS] = { "operator", "opset", "quantization", "target onnx", "run on codes" };
    static const char *const rules[COLUMNS] = { "---", "---", "---", "---", "---" };
    tare_table *table = markdown ? NULL : tare_report_table(report, COLUMNS, headings, "<><<<", 0);
    json_t *list = json_array();
    if (markdown) {
        print_row(report, NULL, headings);
        print_row(report, NULL, rules);
    }
    for (size_t i = 0; i < tare_op_count(); i++)
        if (!is_older_form(i)) tell(report, table, list, tare_op_at(i));
    tare_report_set(report, tare_report_root(report), "ops", list);
    tare_report_line(report, "%s", "");
    tare_report_line(report,
                     "Run on codes: the targets (or target/profile) whose integers `tare run --backend int` has.");
}

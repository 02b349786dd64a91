/* The report object: lines, facts and tables in order, and the JSON tree. layout.c makes text of it when it is asked. */
#include "report/items.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tare_report *tare_report_new(const char *schema) {
    tare_arena *arena = tare_arena_new();
    tare_report *report = arena ? tare_arena_alloc(arena, 1, sizeof *report) : NULL;
    json_t *root = report ? json_object() : NULL;
    if (!root) {
        tare_arena_free(arena);
        return NULL;
    }
    report->arena = arena;
    report->root = root;
    tare_report_set(report, root, "schema", tare_json_text(schema));
    return report;
}

void tare_report_free(tare_report *report) {
    if (!report) return;
    json_decref(report->root);
    tare_arena_free(report->arena);
}

json_t *tare_report_root(tare_report *report) { return report->root; }

const char *tare_report_keep(tare_report *report, const char *text) {
    const char *copy = tare_arena_strdup(report->arena, text);
    if (!copy) report->failed = true;
    return copy;
}

tare_status tare_report_is_whole(const tare_report *report, tare_error *err) {
    return report->failed ? tare_fail_memory(err, 0) : TARE_OK;
}

tare_status tare_report_check(tare_report *report, tare_error *err) {
    const tare_status status = tare_report_is_whole(report, err);
    if (status != TARE_OK) tare_report_free(report);
    return status;
}

/* ---- text ---- */

/* Names come from strangers: all control characters but our own marks are escaped. */
static const char *copy_escaped(tare_report *report, const char *from) {
    tare_text text = { .arena = report->arena };
    tare_text_puts(&text, "");
    while (*from) {
        const size_t length = strcspn(from, "\001\002\003\004");
        if (length) {
            const char *part = tare_arena_copy(report->arena, from, length);
            const size_t room = 4 * length + 1; /* each byte at worst \xNN */
            char *escaped = tare_arena_alloc(report->arena, room, 1);
            if (!part || !escaped) return NULL;
            tare_text_escape(escaped, room, part);
            tare_text_puts(&text, escaped);
        }
        from += length;
        if (*from) tare_text_append(&text, from++, 1);
    }
    return text.failed ? NULL : text.at;
}

static void add_line(tare_report *report, const char *label, bool is_whole, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *line = tare_arena_alloc(report->arena, (size_t)length + 1, 1);
    if (line) vsnprintf(line, (size_t)length + 1, format, list);
    const tare_report_item item = { .label = label ? copy_escaped(report, label) : NULL,
                                    .line = line ? copy_escaped(report, line) : NULL,
                                    .is_whole = is_whole };
    if (!item.line || (label && !item.label) || !tare_vec_push(report->arena, &report->items, item))
        report->failed = true;
}

void tare_report_line(tare_report *report, const char *format, ...) {
    va_list list;
    va_start(list, format);
    add_line(report, NULL, false, format, list);
    va_end(list);
}

void tare_report_whole(tare_report *report, const char *format, ...) {
    va_list list;
    va_start(list, format);
    add_line(report, NULL, true, format, list);
    va_end(list);
}

void tare_report_fact(tare_report *report, const char *label, const char *format, ...) {
    va_list list;
    va_start(list, format);
    add_line(report, label, false, format, list);
    va_end(list);
}

void tare_report_command(tare_report *report, const char *label, const char *command) {
    const size_t before = report->items.count;
    tare_report_fact(report, label, "%s", command);
    if (report->items.count > before) report->items.at[before].is_whole = true;
}

tare_status tare_report_add_next(tare_report *report, const char *const *commands, size_t count, tare_error *err) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        tare_report_command(report, i ? "" : "next", commands[i]);
        tare_report_push(report, list, tare_json_text(commands[i]));
    }
    tare_report_set(report, report->root, "next", list);
    return tare_report_is_whole(report, err);
}

static void add_row(tare_table *table, const char *const *cells) {
    tare_report *report = table->report;
    const char **copy = tare_arena_alloc(report->arena, table->columns, sizeof *copy);
    bool ok = copy != NULL;
    for (size_t i = 0; ok && i < table->columns; i++) ok = (copy[i] = copy_escaped(report, cells[i])) != NULL;
    if (!ok || !tare_vec_push(report->arena, &table->rows, copy)) report->failed = true;
}

tare_table *tare_report_table(tare_report *report, size_t columns, const char *const *headings, const char *alignment,
                              size_t flexible) {
    tare_table *table = tare_arena_alloc(report->arena, 1, sizeof *table);
    const tare_report_item item = { .table = table };
    if (!table || !tare_vec_push(report->arena, &report->items, item)) {
        report->failed = true;
        return NULL;
    }
    *table = (tare_table){ .report = report, .columns = columns, .alignment = alignment, .flexible = flexible };
    add_row(table, headings);
    return table;
}

void tare_table_row(tare_table *table, const char *const *cells) {
    if (table) add_row(table, cells);
}

/* ---- numbers ---- */

/* Three digits and a unit of thousands. */
static void scaled(char cell[TARE_CELL_SIZE], double number, const char *const *units) {
    size_t unit = 0;
    while (number >= 999.5 && units[unit + 1]) number /= 1000, unit++;
    const int decimals = unit == 0 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
    snprintf(cell, TARE_CELL_SIZE, "%.*f%s", decimals, number, units[unit]);
}

const char *tare_cell_bytes(char cell[TARE_CELL_SIZE], uint64_t bytes) {
    static const char *const units[] = { " B", " kB", " MB", " GB", " TB", NULL };
    scaled(cell, (double)bytes, units);
    return cell;
}

const char *tare_cell_count(char cell[TARE_CELL_SIZE], uint64_t count) {
    static const char *const units[] = { "", " k", " M", " G", " T", NULL };
    if (count < 10000)
        snprintf(cell, TARE_CELL_SIZE, "%u", (unsigned)count);
    else
        scaled(cell, (double)count, units);
    return cell;
}

const char *tare_cell_db(char cell[TARE_CELL_SIZE], double db) {
    if (isnan(db))
        snprintf(cell, TARE_CELL_SIZE, "n/a");
    else if (isinf(db))
        snprintf(cell, TARE_CELL_SIZE, db > 0 ? "exact" : "-inf");
    else
        snprintf(cell, TARE_CELL_SIZE, "%.2f", db);
    return cell;
}

const char *tare_cell_number(char cell[TARE_CELL_SIZE], const char *format, double number) {
    if (isnan(number))
        snprintf(cell, TARE_CELL_SIZE, "n/a");
    else
        snprintf(cell, TARE_CELL_SIZE, format, number);
    return cell;
}

const char *tare_cell_share(char cell[TARE_CELL_SIZE], double share) {
    double percent = 100 * share;
    if (percent < 100 && percent > 99.9) percent = 99.9;
    if (percent > 0 && percent < 0.1) percent = 0.1;
    snprintf(cell, TARE_CELL_SIZE, percent == 100 || percent == 0 ? "%.0f %%" : "%.1f %%", percent);
    return cell;
}

/* ---- JSON ---- */

void tare_report_set(tare_report *report, json_t *object, const char *key, json_t *value) {
    char escaped[4096];
    if (!tare_utf8_is_valid(key, strlen(key))) {
        tare_text_escape(escaped, sizeof escaped, key);
        key = escaped;
    }
    if (json_object_set_new(object, key, value)) report->failed = true;
}

void tare_report_push(tare_report *report, json_t *array, json_t *value) {
    if (json_array_append_new(array, value)) report->failed = true;
}

json_t *tare_json_text(const char *text) {
    char escaped[4096];
    if (!text) return json_null();
    if (tare_utf8_is_valid(text, strlen(text))) return json_string(text);
    tare_text_escape(escaped, sizeof escaped, text);
    return json_string(escaped);
}

json_t *tare_json_real(double number) { return isfinite(number) ? json_real(number) : json_null(); }

json_t *tare_json_count(uint64_t count) { return json_integer((json_int_t)count); }

static int append_json(const char *bytes, size_t size, void *context) {
    tare_text_append(context, bytes, size);
    return 0;
}

const char *tare_report_json(tare_report *report) {
    tare_text text = { .arena = report->arena };
    const int failed = json_dump_callback(report->root, append_json, &text, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    tare_text_puts(&text, "\n");
    return failed || text.failed || report->failed ? NULL : text.at;
}

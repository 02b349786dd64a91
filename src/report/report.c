/* The report object: lines and tables in order, and the JSON tree; text made to fit when it is asked for. */
#include "report/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct tare_table {
    tare_report *report;
    size_t columns, flexible;
    const char *alignment;
    TARE_VEC(const char **) rows; /* headings first */
};

typedef struct item {
    const char *line; /* NULL: a table */
    tare_table *table;
} item;

struct tare_report {
    tare_arena *arena;
    TARE_VEC(item) items;
    json_t *root;
    bool failed;
};

tare_report *tare_report_new(void) {
    tare_arena *arena = tare_arena_new();
    tare_report *report = arena ? tare_arena_alloc(arena, 1, sizeof *report) : NULL;
    json_t *root = report ? json_object() : NULL;
    if (!root) {
        tare_arena_free(arena);
        return NULL;
    }
    report->arena = arena;
    report->root = root;
    return report;
}

void tare_report_free(tare_report *report) {
    if (!report) return;
    json_decref(report->root);
    tare_arena_free(report->arena);
}

json_t *tare_report_root(tare_report *report) { return report->root; }

tare_status tare_report_check(tare_report *report, tare_error *err) {
    if (!report->failed) return TARE_OK;
    tare_report_free(report);
    return tare_fail_memory(err, 0);
}

void tare_report_line(tare_report *report, const char *format, ...) {
    char line[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    const item entry = { .line = tare_arena_strdup(report->arena, line) };
    if (!entry.line || !tare_vec_push(report->arena, &report->items, entry)) report->failed = true;
}

static void add_row(tare_table *table, const char *const *cells) {
    tare_arena *arena = table->report->arena;
    const char **row = tare_arena_alloc(arena, table->columns, sizeof *row);
    bool ok = row != NULL;
    for (size_t i = 0; ok && i < table->columns; i++) ok = (row[i] = tare_arena_strdup(arena, cells[i])) != NULL;
    if (!ok || !tare_vec_push(arena, &table->rows, row)) table->report->failed = true;
}

tare_table *tare_report_table(tare_report *report, size_t columns, const char *const *headings, const char *alignment,
                              size_t flexible) {
    tare_table *table = tare_arena_alloc(report->arena, 1, sizeof *table);
    const item entry = { .table = table };
    if (!table || !tare_vec_push(report->arena, &report->items, entry)) {
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

/* ---- text ---- */

typedef struct page {
    tare_text text;
    size_t columns;
    bool colour;
} page;

static bool is_mark(char c) { return c >= 1 && c <= 4; }

/* Columns on a terminal: code points, without marks. */
static size_t width_of(const char *cell) {
    size_t width = 0;
    for (; *cell; cell++) width += !is_mark(*cell) && ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

static void put(page *p, const char *bytes, size_t length) {
    static const char *const escapes[] = { "\033[32m", "\033[31m", "\033[2m", "\033[0m" };
    for (size_t i = 0; i < length; i++) {
        if (!is_mark(bytes[i]))
            tare_text_append(&p->text, bytes + i, 1);
        else if (p->colour)
            tare_text_puts(&p->text, escapes[bytes[i] - 1]);
    }
}

static void pad(page *p, size_t count) {
    while (count--) tare_text_append(&p->text, " ", 1);
}

/* The bytes that the first `columns` code points take. */
static size_t bytes_of(const char *cell, size_t columns) {
    size_t i = 0;
    for (; cell[i]; i++) {
        if (((unsigned char)cell[i] & 0xc0) == 0x80 || is_mark(cell[i])) continue;
        if (!columns--) break;
    }
    return i;
}

/* A cell of exactly `width` columns; one that is longer loses its middle: both ends of a name tell most. */
static void put_cell(page *p, const char *cell, size_t width, char alignment, bool last) {
    const size_t own = width_of(cell);
    if (own > width) {
        const size_t head = (width - 1) / 2, tail = width - 1 - head;
        put(p, cell, bytes_of(cell, head));
        tare_text_puts(&p->text, "…");
        const size_t from = bytes_of(cell, own - tail);
        put(p, cell + from, strlen(cell + from));
        return;
    }
    if (alignment == '>') pad(p, width - own);
    put(p, cell, strlen(cell));
    if (alignment == '<' && !last) pad(p, width - own);
}

static void put_table(page *p, const tare_table *table) {
    enum { INDENT = 2, GAP = 2, LEAST = 8 };
    size_t width[32] = { 0 }, total = INDENT;
    if (table->rows.count < 2) return; /* headings of nothing */
    for (size_t r = 0; r < table->rows.count; r++)
        for (size_t c = 0; c < table->columns; c++) {
            size_t own = width_of(table->rows.at[r][c]);
            if (own > width[c]) width[c] = own;
        }
    for (size_t c = 0; c < table->columns; c++) total += width[c] + (c ? GAP : 0);
    size_t *flexible = &width[table->flexible];
    if (total > p->columns) {
        size_t over = total - p->columns;
        *flexible = *flexible > over + LEAST ? *flexible - over : LEAST;
    }
    for (size_t r = 0; r < table->rows.count; r++) {
        pad(p, INDENT);
        for (size_t c = 0; c < table->columns; c++) {
            if (c) pad(p, GAP);
            put_cell(p, table->rows.at[r][c], width[c], table->alignment[c], c + 1 == table->columns);
        }
        tare_text_puts(&p->text, "\n");
    }
}

const char *tare_report_text(tare_report *report, size_t columns, int colour) {
    page p = { .text = { .arena = report->arena }, .columns = columns ? columns : 80, .colour = colour != 0 };
    tare_text_puts(&p.text, "");
    for (size_t i = 0; i < report->items.count; i++) {
        const item *entry = &report->items.at[i];
        if (entry->table)
            put_table(&p, entry->table);
        else {
            put(&p, entry->line, strlen(entry->line));
            tare_text_puts(&p.text, "\n");
        }
    }
    return p.text.failed || report->failed ? NULL : p.text.at;
}

static int append_json(const char *bytes, size_t size, void *context) {
    tare_text_append(context, bytes, size);
    return 0;
}

const char *tare_report_json(tare_report *report) {
    tare_text text = { .arena = report->arena };
    const size_t flags = JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(9);
    int failed = json_dump_callback(report->root, append_json, &text, flags);
    tare_text_puts(&text, "\n");
    return failed || text.failed || report->failed ? NULL : text.at;
}

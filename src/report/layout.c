/* Reports as text of some width: facts wrapped, tables aligned, names cut in their middle, colour put in for marks. */
#include <string.h>

#include "report/items.h"

enum { INDENT = 2, GAP = 2, COMFORT = 16, LEAST = 8, LABEL = 12, COLUMNS_MAX = 32 };

typedef struct page {
    tare_text text;
    size_t columns;
    bool colour;
    bool has_edge; /* false: nothing is cut, tables are as wide as they are */
} page;

static bool is_mark(char c) { return c >= 1 && c <= 4; }

size_t tare_text_columns(const char *cell, size_t bytes) {
    size_t width = 0;
    for (size_t i = 0; i < bytes; i++) width += !is_mark(cell[i]) && ((unsigned char)cell[i] & 0xc0) != 0x80;
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

size_t tare_text_bytes(const char *cell, size_t columns) {
    size_t i = 0;
    for (; cell[i]; i++) {
        if (((unsigned char)cell[i] & 0xc0) == 0x80 || is_mark(cell[i])) continue;
        if (!columns--) break;
    }
    return i;
}

/* Text of `own` columns in `width`, less its middle: both ends of a name tell most. */
static void put_cut(page *p, const char *text, size_t bytes, size_t own, size_t width) {
    const size_t head = (width - 1) / 2, tail = width - 1 - head;
    put(p, text, tare_text_bytes(text, head));
    tare_text_puts(&p->text, "…");
    const size_t from = tare_text_bytes(text, own - tail);
    put(p, text + from, bytes - from);
}

/* A cell of exactly `width` columns; one that is longer is cut. */
static void put_cell(page *p, const char *cell, size_t width, char alignment, bool last) {
    const size_t bytes = strlen(cell), own = tare_text_columns(cell, bytes);
    if (own > width) {
        put_cut(p, cell, bytes, own, width);
        return;
    }
    if (alignment == '>') pad(p, width - own);
    put(p, cell, bytes);
    if (alignment == '<' && !last) pad(p, width - own);
}

/* The column that gives way: the flexible one while names can be told in it, then the widest text; columns: none can. */
static size_t column_to_cut(const tare_table *table, const size_t *width) {
    if (width[table->flexible] > COMFORT) return table->flexible;
    size_t found = table->columns;
    for (size_t c = 0; c < table->columns; c++)
        if (table->alignment[c] == '<' && width[c] > (found < table->columns ? width[found] : LEAST)) found = c;
    return found;
}

static void put_rows(page *p, const tare_table *table, const size_t *width, size_t gap, const size_t *chosen,
                     size_t count) {
    for (size_t r = 0; r < table->rows.count; r++) {
        const char *const *cells = table->rows.at[r];
        size_t end = count; /* nothing is put behind the last cell that has something */
        while (end > 1 && !*cells[chosen[end - 1]]) end--;
        pad(p, INDENT);
        for (size_t i = 0; i < end; i++) {
            const size_t c = chosen[i];
            if (i) pad(p, gap);
            put_cell(p, cells[c], width[c], table->alignment[c], i + 1 == end);
        }
        tare_text_puts(&p->text, "\n");
    }
}

/* One column's cells, shortened to a width, in a copy of the table. */
static bool shorten(page *p, tare_table *copy, size_t column, size_t width) {
    const size_t count = copy->rows.count;
    const char **cells = tare_arena_alloc(p->text.arena, count, sizeof *cells);
    if (!cells) return false;
    for (size_t r = 0; r < count; r++) cells[r] = copy->rows.at[r][column];
    if (!tare_text_shorten(p->text.arena, cells, count, width)) return false;
    for (size_t r = 0; r < count; r++) {
        const char **row = tare_arena_alloc(p->text.arena, copy->columns, sizeof *row);
        if (!row) return false;
        memcpy(row, copy->rows.at[r], copy->columns * sizeof *row);
        row[column] = cells[r];
        copy->rows.at[r] = row;
    }
    return true;
}

/* The table with names that fit the widths and can be told apart. */
static tare_table shortened(page *p, const tare_table *table, const size_t *own, const size_t *width) {
    tare_table copy = *table;
    const char *const **rows = tare_arena_alloc(p->text.arena, table->rows.count, sizeof *rows);
    if (!rows) return p->text.failed = true, copy;
    memcpy(rows, table->rows.at, table->rows.count * sizeof *rows);
    copy.rows.at = rows;
    for (size_t c = 0; c < table->columns; c++)
        if (width[c] < own[c] && !shorten(p, &copy, c, width[c])) p->text.failed = true;
    return copy;
}

/* A table that is too wide in parts below each other, each with the first column. */
static void put_parts(page *p, const tare_table *table, const size_t *own, size_t *width) {
    memcpy(width, own, table->columns * sizeof *width);
    if (width[0] > p->columns / 3) width[0] = p->columns / 3;
    const tare_table copy = shortened(p, table, own, width);
    for (size_t next = 1; next < table->columns;) {
        size_t chosen[COLUMNS_MAX] = { 0 }, count = 1, used = INDENT + width[0];
        do {
            used += GAP + width[next];
            chosen[count++] = next++;
        } while (next < table->columns && used + GAP + width[next] <= p->columns);
        put_rows(p, &copy, width, GAP, chosen, count);
    }
}

static void measure(const tare_table *table, size_t *own) {
    for (size_t r = 0; r < table->rows.count; r++)
        for (size_t c = 0; c < table->columns; c++) {
            const char *cell = table->rows.at[r][c];
            const size_t wide = tare_text_columns(cell, strlen(cell));
            if (wide > own[c]) own[c] = wide;
        }
}

static bool fit(const page *p, const tare_table *table, const size_t *own, size_t gap, size_t *width) {
    size_t total = INDENT + (table->columns - 1) * gap;
    for (size_t c = 0; c < table->columns; c++) total += width[c] = own[c];
    for (size_t c; p->has_edge && total > p->columns && (c = column_to_cut(table, width)) < table->columns; total--)
        width[c]--;
    return total <= p->columns;
}

/* Names are cut before columns move together, and those move together before the table is taken apart. Without an edge it
 * goes beyond it instead. */
static void put_table(page *p, const tare_table *table) {
    size_t own[COLUMNS_MAX] = { 0 }, width[COLUMNS_MAX], all[COLUMNS_MAX];
    if (table->rows.count < 2) return; /* headings of nothing */
    for (size_t c = 0; c < table->columns; c++) all[c] = c;
    measure(table, own);
    for (size_t gap = GAP; gap > 0; gap--) {
        if (!fit(p, table, own, gap, width)) continue;
        const tare_table copy = shortened(p, table, own, width);
        put_rows(p, &copy, width, gap, all, table->columns);
        return;
    }
    if (p->has_edge)
        put_parts(p, table, own, width);
    else
        put_rows(p, table, own, GAP, all, table->columns);
}

/* Words go on the line while they fit; one that fits on no line is cut in its middle, or stands out. */
static void put_wrapped(page *p, const char *text, size_t from, bool cuts) {
    const size_t room = p->columns - from;
    size_t at = 0;
    while (*text) {
        const size_t bytes = strcspn(text, " "), own = tare_text_columns(text, bytes);
        if (at && at + 1 + own > room) {
            tare_text_puts(&p->text, "\n");
            pad(p, from);
            at = 0;
        } else if (at) {
            pad(p, 1);
            at++;
        }
        if (own > room && cuts)
            put_cut(p, text, bytes, own, room);
        else
            put(p, text, bytes);
        at += own;
        text += bytes;
        text += strspn(text, " ");
    }
    tare_text_puts(&p->text, "\n");
}

static void put_fact(page *p, const tare_report_item *item) {
    pad(p, INDENT);
    put_cell(p, item->label, LABEL - 1, '<', false);
    pad(p, 1);
    if (!item->is_whole) {
        put_wrapped(p, item->line, INDENT + LABEL, p->has_edge);
        return;
    }
    put(p, item->line, strlen(item->line));
    tare_text_puts(&p->text, "\n");
}

/* A path in it stays whole, to be copied. */
static void put_line(page *p, const char *line, bool is_whole) {
    const size_t bytes = strlen(line);
    if (!is_whole && tare_text_columns(line, bytes) > p->columns) {
        put_wrapped(p, line, 0, false);
        return;
    }
    put(p, line, bytes);
    tare_text_puts(&p->text, "\n");
}

const char *tare_report_text(tare_report *report, size_t columns, int colour) {
    page p = { .text = { .arena = report->arena },
               .columns = columns ? columns : 80,
               .colour = colour != 0,
               .has_edge = columns > 0 };
    if (p.columns < 40) p.columns = 40;
    tare_text_puts(&p.text, "");
    for (size_t i = 0; i < report->items.count; i++) {
        const tare_report_item *item = &report->items.at[i];
        if (item->table) {
            put_table(&p, item->table);
        } else if (item->label) {
            put_fact(&p, item);
        } else {
            put_line(&p, item->line, item->is_whole);
        }
    }
    return p.text.failed || report->failed ? NULL : p.text.at;
}

/* The report from inside: what report.c fills and layout.c sets. */
#ifndef TARE_REPORT_ITEMS_H
#define TARE_REPORT_ITEMS_H

#include "report/report.h"

struct tare_table {
    tare_report *report;
    size_t columns, flexible;
    const char *alignment;
    TARE_VEC(const char *const *) rows; /* of cells; headings first */
};

typedef struct tare_report_item {
    const char *label; /* NULL: a bare line */
    const char *line;  /* NULL: a table */
    tare_table *table;
    bool is_whole; /* a line that is not to be wrapped: a command, or a text that programs read */
} tare_report_item;

struct tare_report {
    tare_arena *arena;
    TARE_VEC(tare_report_item) items;
    json_t *root;
    bool failed;
};

#define TARE_MARKS TARE_MARK_GOOD TARE_MARK_BAD TARE_MARK_DIM TARE_MARK_END

/* Columns on a terminal: code points, without marks; and the bytes that the first so many of them take. */
size_t tare_text_columns(const char *text, size_t bytes);
size_t tare_text_bytes(const char *text, size_t columns);

/* Replaces cells of more than `width` columns by shorter ones that can be told apart, on the arena. False: no memory. */
bool tare_text_shorten(tare_arena *arena, const char **cells, size_t count, size_t width);

#endif

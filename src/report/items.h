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
    bool is_command;
    bool is_whole; /* a line that is not to be wrapped */
} tare_report_item;

struct tare_report {
    tare_arena *arena;
    TARE_VEC(tare_report_item) items;
    json_t *root;
    bool failed;
};

#endif

/* Reports: facts as JSON and the same told in text, filled by a function per flow (report/<flow>.c). This room never
 * computes a metric. */
#ifndef TARE_REPORT_REPORT_H
#define TARE_REPORT_REPORT_H

#include <jansson.h>
#include <tare/report.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

/* Emphasis in lines and cells: what is between a mark and TARE_MARK_END is coloured where there is colour. */
#define TARE_MARK_GOOD "\001"
#define TARE_MARK_BAD  "\002"
#define TARE_MARK_DIM  "\003"
#define TARE_MARK_END  "\004"

tare_report *tare_report_new(void); /* NULL: no memory */
json_t *
tare_report_root(tare_report *report); /* the JSON object, to be filled; values are stolen with json_object_set_new */

/* A line of text. */
void tare_report_line(tare_report *report, const char *format, ...) TARE_PRINTF(2, 3);

/* A table: `alignment` has '<' or '>' for each column; the column `flexible` is cut in its middle when the whole is too
 * wide for the terminal. Text of cells is copied, control characters escaped. */
typedef struct tare_table tare_table;
tare_table *tare_report_table(tare_report *report, size_t columns, const char *const *headings, const char *alignment,
                              size_t flexible); /* NULL: no memory; rows are then dropped */
void tare_table_row(tare_table *table, const char *const *cells);

/* TARE_E_LIMIT when anything was dropped for want of memory; frees the report then. */
tare_status tare_report_check(tare_report *report, tare_error *err);

#endif

/* What a flow found out, to be shown: as text for a terminal, and as JSON. */
#ifndef TARE_REPORT_H
#define TARE_REPORT_H

#include <stddef.h>

#include <tare/error.h>

TARE_C_BEGIN

typedef struct tare_report tare_report;

TARE_API void tare_report_free(tare_report *report); /* NULL is fine */

/* Text of at most `columns` (40 at least), but for commands, which stay whole. 0: for no terminal: text has 80, tables are
 * as wide as their names need, and nothing is cut. A newline is behind each line, with escape sequences for colour or none;
 * and JSON, the stable contract of docs/formats/report.md, whose key "schema" says which report it is. The string is
 * the report's. NULL: no memory. */
TARE_API const char *tare_report_text(tare_report *report, size_t columns, int colour);
TARE_API const char *tare_report_json(tare_report *report);

/* Options of quantizing that would help most, as the command line has them ("--keep-float", "conv1"); the strings live as
 * long as the report. count 0: there is nothing to recommend. */
typedef struct tare_advice {
    const char *options[8];
    size_t count;
} tare_advice;

/* Adds commands to go on with, a line each. TARE_E_LIMIT: no memory; the report is still to be freed. */
TARE_API tare_status tare_report_add_next(tare_report *report, const char *const *commands, size_t count,
                                          tare_error *err);

TARE_C_END

#endif

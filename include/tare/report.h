/* What a flow found out, to be shown: as text for a terminal, as JSON, later as a page. */
#ifndef TARE_REPORT_H
#define TARE_REPORT_H

#include <stddef.h>

#include <tare/error.h>

typedef struct tare_report tare_report;

TARE_API void tare_report_free(tare_report *report); /* NULL is fine */

/* Text of at most `columns` (0: 80) with or without colour; JSON: the stable contract of docs/formats/report.md. The
 * string is owned by the report. NULL: no memory. */
TARE_API const char *tare_report_text(tare_report *report, size_t columns, int colour);
TARE_API const char *tare_report_json(tare_report *report);

#endif

/* Tokens of the text form: the part of its parser that knows characters. */
#ifndef TARE_GRAPH_TEXT_SCAN_H
#define TARE_GRAPH_TEXT_SCAN_H

#include "base/memory.h"
#include "base/status.h"

typedef struct tare_scan {
    const char *start, *at, *end;
    tare_arena *arena; /* for names and strings */
    tare_error *err;
} tare_scan;

/* "LINE:COLUMN: what"; TARE_E_MALFORMED. */
tare_status tare_scan_fail(tare_scan *scan, const char *format, ...) TARE_PRINTF(2, 3);

/* All of these skip spaces and comments first. */
char tare_scan_peek(tare_scan *scan);              /* the next character, 0 at the end */
bool tare_scan_take(tare_scan *scan, char wanted); /* takes it when it is the next */
tare_status tare_scan_need(tare_scan *scan, char wanted);
bool tare_scan_is_word(tare_scan *scan); /* does an identifier come next? */
/* An identifier, or when `dots` several joined by dots ("com.microsoft.Op"). */
tare_status tare_scan_word(tare_scan *scan, bool dots, const char **out);
tare_status tare_scan_string(tare_scan *scan, const char **out); /* in quotes; \" and \\ inside */
tare_status tare_scan_name(tare_scan *scan, const char **out);   /* an identifier or a string */
tare_status tare_scan_s64(tare_scan *scan, int64_t *out);
tare_status tare_scan_u64(tare_scan *scan, uint64_t *out);
tare_status tare_scan_f64(tare_scan *scan, double *out);

#endif

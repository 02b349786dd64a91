/* Reports: facts as JSON and the same told in text, filled by a function per flow (report/<flow>.c). This room never
 * computes a metric. */
#ifndef TARE_REPORT_REPORT_H
#define TARE_REPORT_REPORT_H

#include <jansson.h>
#include <tare/report.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"
#include "base/words.h"

/* Emphasis in lines and cells: what is between a mark and TARE_MARK_END is coloured where there is colour. */
#define TARE_MARK_GOOD "\001"
#define TARE_MARK_BAD  "\002"
#define TARE_MARK_DIM  "\003"
#define TARE_MARK_END  "\004"

/* `schema` names the JSON: "tare-info/1" (docs/formats). NULL: no memory. Whatever runs out of memory afterwards is
 * remembered, and told by tare_report_check. */
tare_report *tare_report_new(const char *schema);
json_t *tare_report_root(tare_report *report);

/* A copy of the text that lives as long as the report; NULL: no memory, which is remembered. */
const char *tare_report_keep(tare_report *report, const char *text);

/* ---- text ---- */

/* A line; words that are too many for it go on below. */
void tare_report_line(tare_report *report, const char *format, ...) TARE_PRINTF(2, 3);
/* A line as it is, however long: of a text that programs read. */
void tare_report_whole(tare_report *report, const char *format, ...) TARE_PRINTF(2, 3);
/* "label      text": text that is too wide goes on below itself, words whole. */
void tare_report_fact(tare_report *report, const char *label, const char *format, ...) TARE_PRINTF(3, 4);

/* A command line to be copied: it stays one line, however long. */
void tare_report_command(tare_report *report, const char *label, const char *command);

/* A table: `alignment` has '<' or '>' for each column; names in the column `flexible` are shortened when the whole is too
 * wide for the terminal, and when that is not enough, other columns of text. Text of cells is copied, control characters escaped. */
typedef struct tare_table tare_table;
tare_table *tare_report_table(tare_report *report, size_t columns, const char *const *headings, const char *alignment,
                              size_t flexible); /* NULL: no memory; rows are then dropped */
void tare_table_row(tare_table *table, const char *const *cells);

/* Numbers for people. */
enum { TARE_CELL_SIZE = 32 };
const char *tare_cell_bytes(char cell[TARE_CELL_SIZE], uint64_t bytes); /* "321 kB" */
const char *tare_cell_count(char cell[TARE_CELL_SIZE], uint64_t count); /* "12.5 M"; below 10000 as it is */
/* dB: what is exact is said in a word, what cannot be told is n/a. */
const char *tare_cell_db(char cell[TARE_CELL_SIZE], double db);
const char *tare_cell_number(char cell[TARE_CELL_SIZE], const char *format, double number); /* NaN: n/a */
/* "85.3 %"; 100 % and 0 % only when it is that. */
const char *tare_cell_share(char cell[TARE_CELL_SIZE], double share);

/* ---- JSON ---- */

/* object[key] = value, which is stolen; NULL for either, as jansson gives when memory is out, is remembered. */
void tare_report_set(tare_report *report, json_t *object, const char *key, json_t *value);
void tare_report_push(tare_report *report, json_t *array, json_t *value);
/* Text is escaped where it is no UTF-8; NULL is null. Neither NaN nor an infinity can be in JSON: they are null. */
json_t *tare_json_text(const char *text);
json_t *tare_json_real(double number);
json_t *tare_json_count(uint64_t count);

/* TARE_E_LIMIT when anything was dropped for want of memory; the first frees the report then. */
tare_status tare_report_check(tare_report *report, tare_error *err);
tare_status tare_report_is_whole(const tare_report *report, tare_error *err);

#endif

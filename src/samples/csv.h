/* Tables of text: RFC 4180, commas, quotes, any line ends, a byte order mark. */
#ifndef TARE_SAMPLES_CSV_H
#define TARE_SAMPLES_CSV_H

#include "base/memory.h"
#include "base/status.h"

typedef struct tare_csv {
    const char *at, *end;
    size_t line;                   /* of the row read last, from 1 */
    size_t next;                   /* line that the next row begins on */
    TARE_VEC(const char *) fields; /* of the row read last; on the arena */
    tare_arena *arena;
} tare_csv;

/* Do bytes that are no UTF-8 begin as text in UTF-16 or UTF-32 does: with its mark, or (UTF-16) with ASCII and NULs in turn? */
bool tare_text_is_utf16(const void *bytes, size_t size);
#define TARE_UTF16_ADVICE "is text in UTF-16 or UTF-32; save it as UTF-8"

/* The bytes are borrowed. */
tare_status tare_csv_init(tare_csv *csv, const void *bytes, size_t size, tare_arena *arena, tare_error *err);
/* Reads the next row that is not empty; false at the end, or on an error (err->status tells). */
bool tare_csv_next(tare_csv *csv, tare_error *err);
/* The column of this name in the row read last; SIZE_MAX: none. */
size_t tare_csv_find(const tare_csv *csv, const char *name);

#endif

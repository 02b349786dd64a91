/* Text that grows, and text from strangers made fit to print. */
#ifndef TARE_BASE_TEXT_H
#define TARE_BASE_TEXT_H

#include <tare/field.h> /* tare_text_nearest */

#include "base/memory.h"

/* Grows on the arena. When memory is out, `failed` is set and later appends do nothing: check once, at the end. */
typedef struct tare_text {
    tare_arena *arena;
    char *at; /* always ends in NUL once something was appended; NULL before */
    size_t length, capacity;
    bool failed;
} tare_text;

void tare_text_append(tare_text *text, const char *bytes, size_t length);
void tare_text_puts(tare_text *text, const char *string);
void tare_text_printf(tare_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool tare_utf8_is_valid(const char *bytes, size_t length);

/* Copies `from` into `to` (size bytes, always ended), with control characters, escapes and bad UTF-8 as \xNN. */
void tare_text_escape(char *to, size_t size, const char *from);

/* Edit distance of two names, at most 64 bytes of each read: for "did you mean". */
size_t tare_text_distance(const char *a, const char *b);

#endif

/* Text that grows on an arena, UTF-8, escaping, and the nearest of some names. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

/* Makes room for `more` bytes and the NUL. */
static bool reserve(tare_text *text, size_t more) {
    size_t needed;
    if (text->failed) return false;
    if (tare_size_add(text->length, more, &needed) && tare_size_add(needed, 1, &needed) &&
        tare_vec_reserve(text->arena, &text->at, &text->capacity, needed, 1))
        return true;
    text->failed = true;
    return false;
}

void tare_text_append(tare_text *text, const char *bytes, size_t length) {
    if (!reserve(text, length)) return;
    if (length > 0) memcpy(text->at + text->length, bytes, length);
    text->length += length;
    text->at[text->length] = '\0';
}

void tare_text_puts(tare_text *text, const char *string) { tare_text_append(text, string, strlen(string)); }

void tare_text_printf(tare_text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)length)) {
        vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

/* The length of the UTF-8 sequence at `at` and its code point; 0 when it is none (RFC 3629: no overlong forms, no
 * surrogates, nothing past U+10FFFF). */
static size_t decode(const unsigned char *at, size_t left, uint32_t *point) {
    static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (left == 0) return 0;
    unsigned first = at[0];
    if (first < 0x80) {
        *point = first;
        return 1;
    }
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < length) return 0;
    uint32_t value = first & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0U) != 0x80) return 0;
        value = value << 6 | (at[i] & 0x3fU);
    }
    if (value < lowest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return 0;
    *point = value;
    return length;
}

bool tare_utf8_is_valid(const char *bytes, size_t length) {
    const unsigned char *at = (const unsigned char *)bytes;
    while (length > 0) {
        uint32_t point;
        size_t step = decode(at, length, &point);
        if (step == 0) return false;
        at += step;
        length -= step;
    }
    return true;
}

/* Control characters of both sets, line and paragraph separators, and what turns the direction of writing. */
static bool is_printable(uint32_t point) {
    return !(point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x200e || point == 0x200f ||
             (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069));
}

void tare_text_escape(char *to, size_t size, const char *from) {
    static const char hex[] = "0123456789abcdef";
    const unsigned char *at = (const unsigned char *)from;
    size_t left = strlen(from), used = 0;
    if (size == 0) return;
    while (left > 0) {
        uint32_t point;
        size_t step = decode(at, left, &point);
        bool is_plain = step > 0 && is_printable(point);
        if (step == 0) step = 1;
        size_t needed = is_plain ? step : 4 * step;
        if (needed >= size - used) break;
        if (is_plain) {
            memcpy(to + used, at, step);
        } else {
            for (size_t i = 0; i < step; i++) {
                const char code[4] = { '\\', 'x', hex[at[i] >> 4], hex[at[i] & 15U] };
                memcpy(to + used + 4 * i, code, 4);
            }
        }
        used += needed;
        at += step;
        left -= step;
    }
    to[used] = '\0';
}

enum { DISTANCE_MAX = 64 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Optimal string alignment: insert, delete, replace, or exchange of neighbours, each 1. Three rows of the table. */
size_t tare_text_distance(const char *a, const char *b) {
    size_t rows[3][DISTANCE_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t a_length = strnlen(a, DISTANCE_MAX), b_length = strnlen(b, DISTANCE_MAX);
    for (size_t j = 0; j <= b_length; j++) last[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = least(least(last[j], row[j - 1]) + 1, last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b_length];
}

/* Near enough: at most a third of the letters differ, one in short names. */
const char *tare_text_nearest(const char *name, const char *const *names) {
    size_t length = strnlen(name, DISTANCE_MAX);
    size_t limit = length < 6 ? 1 : length / 3;
    const char *nearest = NULL;
    for (; *names != NULL; names++) {
        size_t distance = tare_text_distance(name, *names);
        if (distance > limit || distance >= length) continue;
        nearest = *names;
        if (distance == 0) break;
        limit = distance - 1;
    }
    return nearest;
}

/* Tokens of the text form. */
#include "graph/text_scan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tare_status tare_scan_fail(tare_scan *scan, const char *format, ...) {
    size_t line = 1, column = 1;
    for (const char *c = scan->start; c < scan->at; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return tare_fail(scan->err, TARE_E_MALFORMED, "%zu:%zu: %s", line, column, what);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void skip(tare_scan *scan) {
    for (; scan->at < scan->end; scan->at++) {
        if (*scan->at == '#')
            while (scan->at < scan->end && *scan->at != '\n') scan->at++;
        if (scan->at == scan->end || !strchr(" \t\r\n", *scan->at) || !*scan->at) return;
    }
}

char tare_scan_peek(tare_scan *scan) {
    skip(scan);
    return scan->at < scan->end ? *scan->at : '\0';
}

bool tare_scan_take(tare_scan *scan, char wanted) {
    if (tare_scan_peek(scan) != wanted || scan->at == scan->end) return false;
    scan->at++;
    return true;
}

tare_status tare_scan_need(tare_scan *scan, char wanted) {
    if (tare_scan_take(scan, wanted)) return TARE_OK;
    if (scan->at == scan->end) return tare_scan_fail(scan, "the text ends, want '%c'", wanted);
    return tare_scan_fail(scan, "got '%c', want '%c'", *scan->at, wanted);
}

bool tare_scan_is_word(tare_scan *scan) { return is_letter(tare_scan_peek(scan)); }

static tare_status copy(tare_scan *scan, const char *from, size_t length, const char **out) {
    *out = tare_arena_copy(scan->arena, from, length);
    return *out ? TARE_OK : tare_fail_memory(scan->err, length);
}

tare_status tare_scan_word(tare_scan *scan, bool dots, const char **out) {
    if (!tare_scan_is_word(scan)) return tare_scan_fail(scan, "want a name");
    const char *from = scan->at;
    while (scan->at < scan->end && (is_letter(*scan->at) || is_digit(*scan->at) || (dots && *scan->at == '.')))
        scan->at++;
    return copy(scan, from, (size_t)(scan->at - from), out);
}

tare_status tare_scan_string(tare_scan *scan, const char **out) {
    TARE_TRY(tare_scan_need(scan, '"'));
    const char *from = scan->at;
    size_t length = 0;
    const char *c = from;
    for (; c < scan->end && *c != '"'; c++) {
        if (*c == '\\' && c + 1 < scan->end) c++;
        if (!*c) return tare_scan_fail(scan, "a string holds a NUL byte");
        length++;
    }
    if (c >= scan->end) return tare_scan_fail(scan, "a string without end");
    char *to = tare_arena_alloc_raw(scan->arena, length + 1, 1);
    if (!to) return tare_fail_memory(scan->err, length + 1);
    *out = to;
    for (; scan->at < c; scan->at++) {
        if (*scan->at == '\\') scan->at++;
        *to++ = *scan->at;
    }
    *to = '\0';
    scan->at = c + 1;
    return TARE_OK;
}

tare_status tare_scan_name(tare_scan *scan, const char **out) {
    return tare_scan_peek(scan) == '"' ? tare_scan_string(scan, out) : tare_scan_word(scan, false, out);
}

/* The characters a number may have, copied so that a NUL ends them. */
static tare_status number(tare_scan *scan, char token[64]) {
    skip(scan);
    size_t length = 0;
    while (scan->at + length < scan->end && length < 63 &&
           (is_letter(scan->at[length]) || is_digit(scan->at[length]) || strchr("+-.", scan->at[length])) &&
           scan->at[length])
        length++;
    memcpy(token, scan->at, length);
    token[length] = '\0';
    return length ? TARE_OK : tare_scan_fail(scan, "want a number");
}

tare_status tare_scan_s64(tare_scan *scan, int64_t *out) {
    char token[64], *end;
    TARE_TRY(number(scan, token));
    errno = 0;
    long long parsed = strtoll(token, &end, 10);
    if (*end || errno) return tare_scan_fail(scan, "'%s' is no integer of 64 bits", token);
    *out = parsed;
    scan->at += end - token;
    return TARE_OK;
}

tare_status tare_scan_u64(tare_scan *scan, uint64_t *out) {
    char token[64], *end;
    TARE_TRY(number(scan, token));
    errno = 0;
    unsigned long long parsed = strtoull(token, &end, 10);
    if (*end || errno || *token == '-') return tare_scan_fail(scan, "'%s' is no unsigned integer of 64 bits", token);
    *out = parsed;
    scan->at += end - token;
    return TARE_OK;
}

tare_status tare_scan_f64(tare_scan *scan, double *out) {
    char token[64], *end;
    TARE_TRY(number(scan, token));
    *out = strtod(token, &end);
    if (*end) return tare_scan_fail(scan, "'%s' is no number", token);
    scan->at += end - token;
    return TARE_OK;
}

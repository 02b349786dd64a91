/* Reading tables of text row by row. */
#include "samples/csv.h"

#include <string.h>

enum { COLUMNS_MAX = 1024, FIELD_BYTES_MAX = 65536, ENCODING_BYTES = 128 };

bool tare_text_is_utf16(const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    if (size < 4) return false;
    if ((at[0] == 0xff && at[1] == 0xfe) || (at[0] == 0xfe && at[1] == 0xff)) return true;
    if (memcmp(at, "\0\0\xfe\xff", 4) == 0) return true;
    const size_t letter = at[0] ? 0 : 1, end = size < ENCODING_BYTES ? size : ENCODING_BYTES;
    for (size_t i = 0; i + 1 < end; i += 2) {
        const uint8_t here = at[i + letter];
        if (at[i + 1 - letter] || here > 126 || (here < ' ' && (here < '\t' || here > '\r'))) return false;
    }
    return true;
}

tare_status tare_csv_init(tare_csv *csv, const void *bytes, size_t size, tare_arena *arena, tare_error *err) {
    *csv = (tare_csv){ .at = bytes, .end = (const char *)bytes + size, .next = 1, .arena = arena };
    if (tare_text_is_utf16(bytes, size)) return tare_fail(err, TARE_E_MALFORMED, TARE_UTF16_ADVICE);
    if (memchr(bytes, '\0', size) != NULL) return tare_fail(err, TARE_E_MALFORMED, "has a NUL byte, so it is no text");
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) csv->at += 3;
    return TARE_OK;
}

static char *too_long(const tare_csv *csv, size_t length, tare_error *err) {
    tare_fail(err, TARE_E_LIMIT, "line %zu: a field has %zu bytes, at most %d are possible", csv->line, length,
              (int)FIELD_BYTES_MAX);
    return NULL;
}

/* A field in quotes, of which "" is one; csv->at is behind the first. */
static char *quoted_field(tare_csv *csv, tare_error *err) {
    const char *start = csv->at;
    for (;; csv->at++) {
        const char *quote = memchr(csv->at, '"', (size_t)(csv->end - csv->at));
        if (quote == NULL) {
            tare_fail(err, TARE_E_MALFORMED, "line %zu: a quote is not closed", csv->line);
            return NULL;
        }
        csv->at = quote + 1;
        if (csv->at == csv->end || *csv->at != '"') break;
    }
    size_t length = (size_t)(csv->at - 1 - start);
    if (length > FIELD_BYTES_MAX) return too_long(csv, length, err);
    char *field = tare_arena_alloc(csv->arena, length + 1, 1), *to = field;
    if (field == NULL) {
        tare_fail_memory(err, length + 1);
        return NULL;
    }
    for (const char *from = start; from < start + length; from++) {
        *to++ = *from;
        if (*from == '\n') csv->next++;
        if (*from == '"') from++;
    }
    return field;
}

static char *plain_field(tare_csv *csv, tare_error *err) {
    const char *start = csv->at;
    while (csv->at < csv->end && strchr(",\r\n", *csv->at) == NULL) csv->at++;
    size_t length = (size_t)(csv->at - start);
    if (length > FIELD_BYTES_MAX) return too_long(csv, length, err);
    char *field = tare_arena_copy(csv->arena, start, length);
    if (field == NULL) tare_fail_memory(err, length);
    return field;
}

static bool read_field(tare_csv *csv, tare_error *err) {
    bool is_quoted = csv->at < csv->end && *csv->at == '"';
    if (is_quoted) csv->at++;
    char *field = is_quoted ? quoted_field(csv, err) : plain_field(csv, err);
    if (field == NULL) return false;
    if (csv->fields.count == COLUMNS_MAX) {
        tare_fail(err, TARE_E_LIMIT, "line %zu: more than %d columns", csv->line, (int)COLUMNS_MAX);
        return false;
    }
    if (tare_vec_push(csv->arena, &csv->fields, field)) return true;
    tare_fail_memory(err, 0);
    return false;
}

/* Past the end of a line, however it is spelled; false: something else stands there. */
static bool end_line(tare_csv *csv) {
    if (csv->at == csv->end) return true;
    if (*csv->at == '\r') {
        csv->at++;
        if (csv->at < csv->end && *csv->at == '\n') csv->at++;
    } else if (*csv->at == '\n') {
        csv->at++;
    } else {
        return false;
    }
    csv->next++;
    return true;
}

bool tare_csv_next(tare_csv *csv, tare_error *err) {
    do {
        csv->line = csv->next;
        csv->fields.count = 0;
        if (csv->at == csv->end) return false;
        for (;;) {
            if (!read_field(csv, err)) return false;
            if (csv->at == csv->end || *csv->at != ',') break;
            csv->at++;
        }
        if (!end_line(csv)) {
            tare_fail(err, TARE_E_MALFORMED, "line %zu: text follows a closing quote", csv->line);
            return false;
        }
    } while (csv->fields.count == 1 && csv->fields.at[0][0] == '\0');
    return true;
}

size_t tare_csv_find(const tare_csv *csv, const char *name) {
    for (size_t i = 0; i < csv->fields.count; i++) {
        if (strcmp(csv->fields.at[i], name) == 0) return i;
    }
    return SIZE_MAX;
}

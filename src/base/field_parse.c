/* Members of a record from the text of a command line. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/field.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

struct tare_field_store {
    tare_arena *arena;
};

tare_field_store *tare_field_store_new(void) {
    tare_arena *arena = tare_arena_new();
    tare_field_store *store = arena ? tare_arena_alloc(arena, 1, sizeof *store) : NULL;
    if (store)
        store->arena = arena;
    else
        tare_arena_free(arena);
    return store;
}

void tare_field_store_free(tare_field_store *store) {
    if (store) tare_arena_free(store->arena);
}

tare_arena *tare_field_store_arena(tare_field_store *store) { return store->arena; }

static tare_status wrong(const char *text, const char *want, tare_error *err) {
    char shown[128];
    tare_text_escape(shown, sizeof shown, text);
    return tare_fail(err, TARE_E_USAGE, "'%s' is not %s", shown, want);
}

static tare_status in_range(const tare_field *field, double number, tare_error *err) {
    if (field->lo == 0 && field->hi == 0) return TARE_OK;
    if (number >= field->lo && number <= field->hi) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE, "%.9g is outside %.9g to %.9g", number, field->lo, field->hi);
}

static tare_status parse_int(const tare_field *field, const char *text, int64_t *number, tare_error *err) {
    char *end;
    errno = 0;
    long long parsed = strtoll(text, &end, 10);
    if (end == text || *end || errno) return wrong(text, "a whole number", err);
    *number = parsed;
    return in_range(field, (double)parsed, err);
}

/* A number, or a fraction of two: "1/255". */
static tare_status parse_real(const tare_field *field, const char *text, double *number, tare_error *err) {
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    if (end != text && *end == '/') {
        const char *below = end + 1;
        const double divisor = strtod(below, &end);
        if (end != below && divisor == 0) return wrong(text, "a number: it divides by 0", err);
        if (end == below || !isfinite(divisor)) return wrong(text, "a number", err);
        *number /= divisor;
    }
    if (end == text || *end || (errno && fabs(*number) > 1)) return wrong(text, "a number", err);
    if (!isfinite(*number) && !(field->flags & TARE_FIELD_ANY_REAL)) return wrong(text, "a finite number", err);
    return in_range(field, *number, err);
}

static tare_status parse_bool(const char *text, bool *flag, tare_error *err) {
    static const char *const on[] = { "on", "yes", "true", "1", "" };
    static const char *const off[] = { "off", "no", "false", "0" };
    for (size_t i = 0; i < sizeof on / sizeof on[0]; i++)
        if (!strcmp(text, on[i])) return *flag = true, TARE_OK;
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        if (!strcmp(text, off[i])) return *flag = false, TARE_OK;
    return wrong(text, "on or off", err);
}

/* Another's name of a code type, "int8", is 's8' here. */
static bool is_code_type(const char *name, const char *text) {
    const char *bits = strpbrk(text, "0123456789");
    const bool is_signed = !strncasecmp(text, "int", 3) || !strncasecmp(text, "qint", 4);
    const bool is_unsigned = !strncasecmp(text, "uint", 4) || !strncasecmp(text, "quint", 5);
    return bits && ((is_signed && name[0] == 's') || (is_unsigned && name[0] == 'u')) && !strcmp(name + 1, bits);
}

/* The one that is meant; NULL: none is near. */
static const char *nearest(const char *const *names, const char *text) {
    for (size_t i = 0; names[i]; i++)
        if (!strcasecmp(names[i], text) || is_code_type(names[i], text)) return names[i];
    return tare_text_nearest(text, names);
}

static tare_status parse_enum(const tare_field *field, const char *text, int *index, tare_error *err) {
    tare_error list = { 0 };
    size_t used = 0;
    for (int i = 0; field->names[i]; i++) {
        if (!strcmp(field->names[i], text)) return *index = i, TARE_OK;
        size_t length = strlen(field->names[i]);
        if (used + length + 3 > sizeof list.text) continue;
        if (used) list.text[used++] = ' ';
        memcpy(list.text + used, field->names[i], length);
        used += length;
    }
    const char *near = nearest(field->names, text);
    char shown[64];
    tare_text_escape(shown, sizeof shown, text);
    if (near) return tare_fail(err, TARE_E_USAGE, "no '%s'; did you mean '%s'?", shown, near);
    return tare_fail(err, TARE_E_USAGE, "no '%s'; there are: %s", shown, list.text);
}

/* The next of a list's items, on the store; commas part them. */
static char *next_item(const char **at, tare_arena *arena) {
    size_t length = strcspn(*at, ",");
    char *item = tare_arena_copy(arena, *at, length);
    *at += length + ((*at)[length] == ',');
    return item;
}

/* Room for one more behind what is there. */
static void *grow(tare_arena *arena, const void *at, size_t count, size_t size) {
    char *grown = tare_arena_alloc(arena, count + 1, size);
    if (grown && count) memcpy(grown, at, count * size);
    return grown;
}

static tare_status append(const tare_field *field, void *member, const char *item, tare_arena *arena, tare_error *err) {
    if (field->type == TARE_FIELD_STRINGS) {
        tare_strings *list = member;
        const char **grown = grow(arena, list->at, list->count, sizeof *grown);
        if (!grown) return tare_fail_memory(err, 0);
        grown[list->count] = item;
        *list = (tare_strings){ grown, list->count + 1 };
        return TARE_OK;
    }
    if (field->type == TARE_FIELD_INTS) {
        tare_ints *list = member;
        int64_t *grown = grow(arena, list->at, list->count, sizeof *grown);
        if (!grown) return tare_fail_memory(err, 0);
        TARE_TRY(parse_int(field, item, &grown[list->count], err));
        *list = (tare_ints){ grown, list->count + 1 };
        return TARE_OK;
    }
    tare_floats *list = member;
    double number;
    float *grown = grow(arena, list->at, list->count, sizeof *grown);
    if (!grown) return tare_fail_memory(err, 0);
    TARE_TRY(parse_real(field, item, &number, err));
    grown[list->count] = (float)number;
    *list = (tare_floats){ grown, list->count + 1 };
    return TARE_OK;
}

static tare_status parse_list(const tare_field *field, void *member, const char *text, tare_arena *arena,
                              tare_error *err) {
    do {
        const char *item = field->flags & TARE_FIELD_ONE ? tare_arena_strdup(arena, text) : next_item(&text, arena);
        if (!item) return tare_fail_memory(err, 0);
        if (!*item) return wrong(item, "an item of a list", err);
        TARE_TRY(append(field, member, item, arena, err));
    } while (*text && !(field->flags & TARE_FIELD_ONE));
    return TARE_OK;
}

tare_status tare_field_set(const tare_field *field, void *record, const char *text, tare_arena *arena,
                           tare_error *err) {
    void *member = tare_field_at(field, record);
    double number = 0;
    switch (field->type) {
    case TARE_FIELD_BOOL: return parse_bool(text, member, err);
    case TARE_FIELD_INT: return parse_int(field, text, member, err);
    case TARE_FIELD_ENUM: return parse_enum(field, text, member, err);
    case TARE_FIELD_FLOAT:
        TARE_TRY(parse_real(field, text, &number, err));
        *(float *)member = (float)number;
        return TARE_OK;
    case TARE_FIELD_DOUBLE: return parse_real(field, text, member, err);
    case TARE_FIELD_STRING:
        *(const char **)member = tare_arena_strdup(arena, text);
        return *(const char **)member ? TARE_OK : tare_fail_memory(err, 0);
    default: return parse_list(field, member, text, arena, err);
    }
}

tare_status tare_field_add(const tare_field *field, void *record, const char *text, tare_arena *arena,
                           tare_error *err) {
    const char *item = tare_arena_strdup(arena, text);
    return item ? append(field, tare_field_at(field, record), item, arena, err) : tare_fail_memory(err, 0);
}

tare_status tare_field_parse(const tare_field *field, void *record, const char *text, tare_field_store *store,
                             tare_error *err) {
    if (tare_field_set(field, record, text, store->arena, err) == TARE_OK) return TARE_OK;
    return tare_within(err, "--%s", field->name);
}

/* What can be done with a struct when its members are said in a table. */
#include "base/field.h"

#include <string.h>

/* The bytes of a member; a list's for its head. */
static size_t size_of(tare_field_type type) {
    switch (type) {
    case TARE_FIELD_END: return 0;
    case TARE_FIELD_BOOL: return sizeof(bool);
    case TARE_FIELD_INT: return sizeof(int64_t);
    case TARE_FIELD_FLOAT: return sizeof(float);
    case TARE_FIELD_DOUBLE: return sizeof(double);
    case TARE_FIELD_STRING: return sizeof(const char *);
    case TARE_FIELD_ENUM: return sizeof(int);
    case TARE_FIELD_INTS: return sizeof(tare_ints);
    case TARE_FIELD_FLOATS: return sizeof(tare_floats);
    case TARE_FIELD_STRINGS: return sizeof(tare_strings);
    case TARE_FIELD_TENSOR:
    case TARE_FIELD_GRAPH: return sizeof(void *);
    }
    return 0;
}

static void set_default(const tare_field *field, void *member) {
    switch (field->type) {
    case TARE_FIELD_BOOL: *(bool *)member = field->fallback.i != 0; break;
    case TARE_FIELD_INT: *(int64_t *)member = field->fallback.i; break;
    case TARE_FIELD_ENUM: *(int *)member = (int)field->fallback.i; break;
    case TARE_FIELD_FLOAT: *(float *)member = (float)field->fallback.f; break;
    case TARE_FIELD_DOUBLE: *(double *)member = field->fallback.f; break;
    case TARE_FIELD_STRING: *(const char **)member = field->fallback.s; break;
    default: memset(member, 0, size_of(field->type)); break;
    }
}

void tare_fields_set_defaults(const tare_field *fields, void *record) {
    for (const tare_field *field = fields; field->type != TARE_FIELD_END; field++) {
        set_default(field, tare_field_at(field, record));
    }
}

const tare_field *tare_fields_find(const tare_field *fields, const char *name) {
    for (const tare_field *field = fields; field->type != TARE_FIELD_END; field++) {
        if (strcmp(field->name, name) == 0) return field;
    }
    return NULL;
}

bool tare_field_is_list(const tare_field *field) {
    return field->type == TARE_FIELD_INTS || field->type == TARE_FIELD_FLOATS || field->type == TARE_FIELD_STRINGS;
}

static bool texts_equal(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* One that was not given differs from one that was given empty. */
static bool lists_equal(const void *a, size_t a_count, const void *b, size_t b_count, size_t size) {
    if ((a == NULL) != (b == NULL) || a_count != b_count) return false;
    return a_count == 0 || memcmp(a, b, a_count * size) == 0;
}

static bool strings_equal(const tare_strings *a, const tare_strings *b) {
    if ((a->at == NULL) != (b->at == NULL) || a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!texts_equal(a->at[i], b->at[i])) return false;
    }
    return true;
}

/* Floats are compared by their bits: -0 is not 0, a NaN is itself. */
static bool members_equal(tare_field_type type, const void *a, const void *b) {
    if (type == TARE_FIELD_STRING) return texts_equal(*(const char *const *)a, *(const char *const *)b);
    if (type == TARE_FIELD_STRINGS) return strings_equal(a, b);
    if (type == TARE_FIELD_INTS) {
        const tare_ints *x = a, *y = b;
        return lists_equal(x->at, x->count, y->at, y->count, sizeof *x->at);
    }
    if (type == TARE_FIELD_FLOATS) {
        const tare_floats *x = a, *y = b;
        return lists_equal(x->at, x->count, y->at, y->count, sizeof *x->at);
    }
    return memcmp(a, b, size_of(type)) == 0;
}

bool tare_field_is_default(const tare_field *field, const void *record) {
    union {
        int64_t i;
        double f;
        const void *p;
        tare_strings list;
    } fallback;
    set_default(field, &fallback);
    return members_equal(field->type, tare_field_get(field, record), &fallback);
}

bool tare_field_is_absent(const tare_field *field, const void *record) {
    const void *at = tare_field_get(field, record);
    switch (field->type) {
    case TARE_FIELD_STRING: return !*(const char *const *)at;
    case TARE_FIELD_INTS: return !((const tare_ints *)at)->at;
    case TARE_FIELD_FLOATS: return !((const tare_floats *)at)->at;
    case TARE_FIELD_STRINGS: return !((const tare_strings *)at)->at;
    case TARE_FIELD_TENSOR:
    case TARE_FIELD_GRAPH: return !*(const void *const *)at;
    default: return false;
    }
}

bool tare_fields_equal(const tare_field *fields, const void *a, const void *b) {
    for (const tare_field *field = fields; field->type != TARE_FIELD_END; field++) {
        if (!members_equal(field->type, tare_field_get(field, a), tare_field_get(field, b))) return false;
    }
    return true;
}

void tare_fields_copy(const tare_field *to_fields, void *to, const tare_field *from_fields, const void *from) {
    for (const tare_field *field = to_fields; field->type != TARE_FIELD_END; field++) {
        const tare_field *other = tare_fields_find(from_fields, field->name);
        if (!other || other->type != field->type) continue;
        memcpy(tare_field_at(field, to), tare_field_get(other, from), size_of(field->type));
    }
}

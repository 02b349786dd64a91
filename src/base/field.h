/* What the library does with field tables. */
#ifndef TARE_BASE_FIELD_H
#define TARE_BASE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tare/field.h>

#include "base/memory.h"

/* tare_fields_set_defaults: every member to its default; lists to empty, tensors and graphs to NULL. */
const tare_field *tare_fields_find(const tare_field *fields, const char *name); /* NULL: no such field */
tare_arena *tare_field_store_arena(tare_field_store *store);
/* What tare_field_parse does, on an arena; errors do not name the field. */
tare_status tare_field_set(const tare_field *field, void *record, const char *text, tare_arena *arena, tare_error *err);
/* Appends one item to a list, commas and all. */
tare_status tare_field_add(const tare_field *field, void *record, const char *text, tare_arena *arena, tare_error *err);
bool tare_field_is_list(const tare_field *field); /* INTS, FLOATS, STRINGS */
/* Has the member its default? Lists: were they not given? Tensors and graphs: are they absent? */
bool tare_field_is_default(const tare_field *field, const void *record);
/* Can it tell absent from given (texts, lists, tensors, graphs), and is it absent? */
bool tare_field_is_absent(const tare_field *field, const void *record);
/* Are two records equal by value (tensors and graphs by pointer, floats by their bits)? */
bool tare_fields_equal(const tare_field *fields, const void *a, const void *b);
/* Copies the members that both tables have by one name and type; lists, texts and tensors stay shared. */
void tare_fields_copy(const tare_field *to_fields, void *to, const tare_field *from_fields, const void *from);

static inline void *tare_field_at(const tare_field *field, void *record) { return (char *)record + field->offset; }
static inline const void *tare_field_get(const tare_field *field, const void *record) {
    return (const char *)record + field->offset;
}

#endif

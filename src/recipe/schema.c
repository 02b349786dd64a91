/* The JSON schema of a recipe: what editors check and complete while one is written. It says no more than the reader
 * takes and no less, but for spellings of numbers and words that only text has. */
#include <jansson.h>
#include <string.h>

#include "recipe/recipe.h"

/* Values are stolen; a NULL among them (no memory) makes the pack fail, and json_object_set_new tells. */
static bool put(json_t *object, const char *key, json_t *value) { return json_object_set_new(object, key, value) == 0; }

static json_t *typed(const char *type) { return json_pack("{s:s}", "type", type); }

static json_t *enumeration(const char *const *names) {
    json_t *list = json_array();
    for (; list != NULL && *names != NULL; names++) {
        if (json_array_append_new(list, json_string(*names)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list == NULL ? NULL : json_pack("{s:o}", "enum", list);
}

static json_t *number(const tare_field *field, const char *type) {
    json_t *schema = typed(type);
    if (schema == NULL || (field->lo == 0 && field->hi == 0)) return schema;
    bool is_whole = field->type == TARE_FIELD_INT || field->type == TARE_FIELD_INTS;
    json_t *lo = is_whole ? json_integer((json_int_t)field->lo) : json_real(field->lo);
    json_t *hi = is_whole ? json_integer((json_int_t)field->hi) : json_real(field->hi);
    if (put(schema, "minimum", lo) && put(schema, "maximum", hi)) return schema;
    json_decref(schema);
    return NULL;
}

/* One value of a field, or one item of its list. Text may look like a number to YAML: `resize: 256`. */
static json_t *value_of(const tare_field *field) {
    switch (field->type) {
    case TARE_FIELD_BOOL: return typed("boolean");
    case TARE_FIELD_INT:
    case TARE_FIELD_INTS: return number(field, "integer");
    case TARE_FIELD_FLOAT:
    case TARE_FIELD_DOUBLE:
    case TARE_FIELD_FLOATS: return number(field, "number");
    case TARE_FIELD_ENUM: return enumeration(field->names);
    default: return json_pack("{s:[s,s]}", "type", "string", "number");
    }
}

/* A list, one value alone, or its items as text with commas between. */
static json_t *list_of(const tare_field *field) {
    json_t *alone = value_of(field), *items = value_of(field);
    json_t *list = json_pack("{s:s, s:o}", "type", "array", "items", items);
    if (field->type == TARE_FIELD_STRINGS) return json_pack("{s:[o,o]}", "anyOf", list, alone);
    return json_pack("{s:[o,o,o]}", "anyOf", list, alone, typed("string"));
}

/* A default outside the range that may be written means: not given. */
static bool has_default(const tare_field *field) {
    double number = field->type == TARE_FIELD_INT ? (double)field->fallback.i : field->fallback.f;
    bool is_ranged =
        field->type == TARE_FIELD_INT || field->type == TARE_FIELD_FLOAT || field->type == TARE_FIELD_DOUBLE;
    return !is_ranged || (field->lo == 0 && field->hi == 0) || (number >= field->lo && number <= field->hi);
}

static json_t *default_of(const tare_field *field) {
    if (!has_default(field)) return NULL;
    switch (field->type) {
    case TARE_FIELD_BOOL: return json_boolean(field->fallback.i != 0);
    case TARE_FIELD_INT: return json_integer((json_int_t)field->fallback.i);
    case TARE_FIELD_FLOAT:
    case TARE_FIELD_DOUBLE: return json_real(field->fallback.f);
    case TARE_FIELD_ENUM: return json_string(field->names[field->fallback.i]);
    case TARE_FIELD_STRING: return field->fallback.s == NULL ? NULL : json_string(field->fallback.s);
    default: return NULL;
    }
}

static json_t *schema_of_field(const tare_field *field) {
    bool is_list = tare_field_is_list(field) && !(field->flags & TARE_FIELD_ONE && field->type != TARE_FIELD_STRINGS);
    json_t *schema = is_list ? list_of(field) : value_of(field), *fallback = default_of(field);
    bool is_whole = schema != NULL;
    if (is_whole && field->help != NULL) is_whole = put(schema, "description", json_string(field->help));
    if (is_whole && fallback != NULL) return put(schema, "default", fallback) ? schema : (json_decref(schema), NULL);
    json_decref(fallback);
    if (is_whole) return schema;
    json_decref(schema);
    return NULL;
}

static json_t *schema_of_section(const tare_section *section);

static bool put_keys(const tare_section *section, json_t *properties, json_t *required) {
    for (const tare_field *f = section->fields; f != NULL && f->type != TARE_FIELD_END; f++) {
        if (tare_section_leaves_out(section, f->name)) continue;
        if (!put(properties, f->name, schema_of_field(f))) return false;
        if (f->flags & TARE_FIELD_REQUIRED && json_array_append_new(required, json_string(f->name)) != 0) return false;
    }
    for (const tare_section *s = section->inner; s != NULL && s->name != NULL; s++) {
        if (!put(properties, s->name, schema_of_section(s))) return false;
    }
    return true;
}

static json_t *mapping_of(const tare_section *section) {
    json_t *properties = json_object(), *required = json_array();
    if (properties == NULL || required == NULL || !put_keys(section, properties, required)) {
        json_decref(properties);
        json_decref(required);
        return NULL;
    }
    if (json_array_size(required) > 0) {
        return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
                         "additionalProperties", 0);
    }
    json_decref(required);
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
}

static json_t *schema_of_section(const tare_section *section) {
    json_t *schema = mapping_of(section);
    if (section->alone != NULL) {
        schema =
            json_pack("{s:[o,o]}", "anyOf", schema, schema_of_field(tare_fields_find(section->fields, section->alone)));
    }
    if (section->item_size > 0) {
        json_t *list = json_pack("{s:s, s:O}", "type", "array", "items", schema);
        schema = json_pack("{s:[o,o]}", "anyOf", list, schema);
    }
    if (schema == NULL || section->help == NULL || put(schema, "description", json_string(section->help)))
        return schema;
    json_decref(schema);
    return NULL;
}

tare_status tare_section_print_schema(const tare_section *root, const char *id, tare_text *text, tare_error *err) {
    json_t *body = schema_of_section(root), *schema = json_object();
    bool is_whole = body != NULL && schema != NULL &&
                    put(schema, "$schema", json_string("https://json-schema.org/draft/2020-12/schema")) &&
                    (id == NULL || put(schema, "$id", json_string(id))) && json_object_update(schema, body) == 0;
    size_t size = is_whole ? json_dumpb(schema, NULL, 0, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : 0;
    char *bytes = size > 0 ? tare_arena_alloc_raw(text->arena, size, 1) : NULL;
    if (bytes != NULL) {
        json_dumpb(schema, bytes, size, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        tare_text_append(text, bytes, size);
        tare_text_puts(text, "\n");
    }
    json_decref(body);
    json_decref(schema);
    return bytes == NULL || text->failed ? tare_fail_memory(err, size) : TARE_OK;
}

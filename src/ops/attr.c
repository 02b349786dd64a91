/* Attributes by name. */
#include "ops/attr.h"

#include <assert.h>
#include <string.h>

static const tare_field *find(const tare_node *node, const char *name) {
    return node->op && node->op->attrs ? tare_fields_find(node->op->attrs, name) : NULL;
}

int64_t tare_attr_int(const tare_node *node, const char *name, int64_t fallback) {
    const tare_field *field = find(node, name);
    if (!field) return fallback;
    const void *at = tare_field_get(field, node->attrs);
    assert(field->type == TARE_FIELD_INT || field->type == TARE_FIELD_BOOL);
    return field->type == TARE_FIELD_INT ? *(const int64_t *)at : *(const bool *)at;
}

float tare_attr_float(const tare_node *node, const char *name, float fallback) {
    const tare_field *field = find(node, name);
    if (!field) return fallback;
    assert(field->type == TARE_FIELD_FLOAT);
    return *(const float *)tare_field_get(field, node->attrs);
}

bool tare_attr_is(const tare_node *node, const char *name, const char *word, const char *fallback) {
    const tare_field *field = find(node, name);
    const char *has = fallback;
    if (field) {
        const void *at = tare_field_get(field, node->attrs);
        assert(field->type == TARE_FIELD_STRING || field->type == TARE_FIELD_ENUM);
        has = field->type == TARE_FIELD_ENUM ? field->names[*(const int *)at] : *(const char *const *)at;
        if (!has) has = fallback;
    }
    return !strcmp(has, word);
}

tare_ints tare_attr_ints(const tare_node *node, const char *name) {
    const tare_field *field = find(node, name);
    if (!field) return (tare_ints){ NULL, 0 };
    assert(field->type == TARE_FIELD_INTS);
    return *(const tare_ints *)tare_field_get(field, node->attrs);
}

static void *member(tare_node *node, const char *name, tare_field_type *type) {
    const tare_field *field = find(node, name);
    assert(field);
    *type = field->type;
    return tare_field_at(field, node->attrs);
}

void tare_attr_set_int(tare_node *node, const char *name, int64_t number) {
    tare_field_type type;
    void *at = member(node, name, &type);
    if (type == TARE_FIELD_BOOL)
        *(bool *)at = number != 0;
    else
        *(int64_t *)at = number;
}

void tare_attr_set_float(tare_node *node, const char *name, float number) {
    tare_field_type type;
    *(float *)member(node, name, &type) = number;
    assert(type == TARE_FIELD_FLOAT);
}

void tare_attr_set_word(tare_node *node, const char *name, const char *word) {
    const tare_field *field = find(node, name);
    assert(field);
    void *at = tare_field_at(field, node->attrs);
    if (field->type == TARE_FIELD_STRING) {
        *(const char **)at = word;
        return;
    }
    assert(field->type == TARE_FIELD_ENUM);
    int i = 0;
    while (field->names[i] && strcmp(field->names[i], word)) i++;
    assert(field->names[i]);
    *(int *)at = i;
}

tare_status tare_attr_set_ints(tare_node *node, const char *name, const int64_t *numbers, size_t count,
                               tare_error *err) {
    tare_field_type type;
    tare_ints *at = member(node, name, &type);
    assert(type == TARE_FIELD_INTS);
    int64_t *copy = tare_arena_alloc(node->graph->model->arena, count, sizeof *copy);
    if (!copy) return tare_fail_memory(err, count * sizeof *copy);
    if (count) memcpy(copy, numbers, count * sizeof *copy);
    *at = (tare_ints){ copy, count };
    return TARE_OK;
}

bool tare_attrs_equal(const tare_node *a, const tare_node *b) {
    return a->op && a->op == b->op && (!a->op->attrs || tare_fields_equal(a->op->attrs, a->attrs, b->attrs));
}

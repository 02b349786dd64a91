/* YAML events to records, by the tables. The stack is as deep as the tree of sections, whatever the file holds. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/file.h"
#include "recipe/recipe.h"

enum {
    KEYS_MAX = 256,   /* of one section's table */
    ITEMS_MAX = 10000 /* of one list */
};

typedef struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the one read last */
    bool has_event;
    const char *folder; /* of the recipe with its '/', or "" */
    bool has_no_place;  /* it is one value from a command line: no line and column are told */
    tare_arena *arena;
    tare_error *err;
} reader;

static tare_status read_section(reader *r, const tare_section *section, void *outer, const char *where);

/* ---- errors ---- */

static tare_status at_mark(const reader *r, yaml_mark_t mark) {
    if (r->has_no_place) return r->err->status;
    return tare_within(r->err, "%zu:%zu", mark.line + 1, mark.column + 1);
}

/* The event's place and the key's path before the text. */
static tare_status fail_here(const reader *r, const char *where, const char *format, ...) TARE_PRINTF(3, 4);
static tare_status fail_here(const reader *r, const char *where, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tare_fail(r->err, TARE_E_USAGE, "%s", text);
    if (where[0] != '\0') tare_within(r->err, "%s", where);
    return at_mark(r, r->event.start_mark);
}

static const char *join(const reader *r, const char *where, const char *name) {
    return tare_arena_printf(r->arena, "%s%s%s", where, where[0] == '\0' ? "" : ".", name);
}

/* ---- events ---- */

static tare_status fail_yaml(const reader *r) {
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) return tare_fail_memory(r->err, 0);
    const char *problem = p->problem != NULL ? p->problem : "is no YAML";
    if (p->error == YAML_READER_ERROR) {
        return tare_fail(r->err, TARE_E_MALFORMED, "byte %zu: %s; a recipe is text, save it as UTF-8",
                         p->problem_offset, problem);
    }
    const char *advice = strstr(problem, "cannot start any token") ? "; YAML is indented by spaces, not by tabs" : "";
    tare_fail(r->err, TARE_E_MALFORMED, "%s%s%s%s", problem, p->context != NULL ? " " : "",
              p->context != NULL ? p->context : "", advice);
    return at_mark(r, p->problem_mark);
}

/* What every event is refused for. */
static tare_status check_event(const reader *r) {
    const yaml_event_t *e = &r->event;
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (e->type == YAML_ALIAS_EVENT) return fail_here(r, "", "aliases are not read; write the value out");
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
        if (strlen((const char *)e->data.scalar.value) != e->data.scalar.length) {
            return fail_here(r, "", "a value holds a NUL character");
        }
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
    }
    if (anchor != NULL) return fail_here(r, "", "anchors are not read; write the value out where it is needed");
    return tag == NULL ? TARE_OK : fail_here(r, "", "tags are not read; leave '%.60s' out", (const char *)tag);
}

static tare_status next(reader *r) {
    if (r->has_event) yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event) != 0;
    return r->has_event ? check_event(r) : fail_yaml(r);
}

static const char *scalar(const reader *r) { return (const char *)r->event.data.scalar.value; }

/* `key:` and `key: null` say nothing. */
static bool is_null(const reader *r) {
    static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
    if (r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) return false;
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        if (strcmp(scalar(r), nulls[i]) == 0) return true;
    }
    return false;
}

/* ---- values ---- */

/* A path of the recipe as the program would open it. Sources that are no files keep their text. */
static const char *resolve(const reader *r, const char *path) {
    bool stays = path[0] == '/' || path[0] == '\0' || strncmp(path, "random:", 7) == 0;
    return stays ? path : tare_arena_printf(r->arena, "%s%s", r->folder, path);
}

/* One value of a field; an item of a list is taken whole. */
static tare_status set_value(reader *r, const tare_field *field, void *record, bool is_item, const char *where) {
    if (is_null(r)) return fail_here(r, where, "has no value; leave the key out for the default");
    const char *text = scalar(r);
    if (field->flags & TARE_FIELD_PATH) text = resolve(r, text);
    if (text == NULL) return tare_fail_memory(r->err, 0);
    tare_status status = (is_item ? tare_field_add : tare_field_set)(field, record, text, r->arena, r->err);
    if (status == TARE_OK) return TARE_OK;
    tare_within(r->err, "%s", where);
    return at_mark(r, r->event.start_mark);
}

static const char *word_of(yaml_event_type_t type) { return type == YAML_MAPPING_START_EVENT ? "a mapping" : "a list"; }

/* The list that was given is empty, not absent. */
static void set_empty(const tare_field *field, void *record) {
    static const int64_t nothing[1];
    void *member = tare_field_at(field, record);
    if (field->type == TARE_FIELD_INTS) *(tare_ints *)member = (tare_ints){ nothing, 0 };
    if (field->type == TARE_FIELD_FLOATS) *(tare_floats *)member = (tare_floats){ (const float *)nothing, 0 };
    if (field->type == TARE_FIELD_STRINGS) *(tare_strings *)member = (tare_strings){ (const char *const *)nothing, 0 };
}

static tare_status read_field(reader *r, const tare_field *field, void *record, const char *where) {
    TARE_TRY(next(r));
    bool takes_list =
        tare_field_is_list(field) && !(field->flags & TARE_FIELD_ONE && field->type != TARE_FIELD_STRINGS);
    if (takes_list) set_empty(field, record);
    if (r->event.type == YAML_SCALAR_EVENT)
        return set_value(r, field, record, field->type == TARE_FIELD_STRINGS, where);
    if (r->event.type != YAML_SEQUENCE_START_EVENT || !takes_list) {
        return fail_here(r, where, "wants %s, not %s", takes_list ? "a value or a list of values" : "one value",
                         word_of(r->event.type));
    }
    for (;;) {
        TARE_TRY(next(r));
        if (r->event.type == YAML_SEQUENCE_END_EVENT) return TARE_OK;
        if (r->event.type != YAML_SCALAR_EVENT) {
            return fail_here(r, where, "its items are values, not %s", word_of(r->event.type));
        }
        TARE_TRY(set_value(r, field, record, true, where));
    }
}

/* ---- mappings ---- */

static bool same_key(const char *given, const char *name) {
    while (*given != '\0' && (*given == '_' ? '-' : *given) == (*name == '_' ? '-' : *name)) given++, name++;
    return *given == '\0' && *name == '\0';
}

static size_t count_keys(const tare_section *section) {
    size_t count = 0;
    for (const tare_field *f = section->fields; f != NULL && f->type != TARE_FIELD_END; f++) count++;
    for (const tare_section *s = section->inner; s != NULL && s->name != NULL; s++) count++;
    assert(count <= KEYS_MAX);
    return count;
}

/* The index of a key among fields and inner sections, and which of them it is; KEYS_MAX: unknown. */
static size_t find_key(const tare_section *section, const char *key, const tare_field **field,
                       const tare_section **inner) {
    size_t index = 0;
    *field = NULL;
    *inner = NULL;
    for (const tare_field *f = section->fields; f != NULL && f->type != TARE_FIELD_END; f++, index++) {
        if (same_key(key, f->name) && !tare_section_leaves_out(section, f->name)) return *field = f, index;
    }
    for (const tare_section *s = section->inner; s != NULL && s->name != NULL; s++, index++) {
        if (same_key(key, s->name)) return *inner = s, index;
    }
    return KEYS_MAX;
}

static tare_status unknown_key(const reader *r, const tare_section *section, const char *key, const char *where) {
    const char *names[KEYS_MAX + 1];
    char list[400] = "";
    size_t count = 0, used = 0;
    for (const tare_field *f = section->fields; f != NULL && f->type != TARE_FIELD_END; f++) {
        if (!tare_section_leaves_out(section, f->name)) names[count++] = f->name;
    }
    for (const tare_section *s = section->inner; s != NULL && s->name != NULL; s++) names[count++] = s->name;
    names[count] = NULL;
    for (size_t i = 0; i < count && used < sizeof list - 64; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : " ", names[i]);
    }
    const char *near = tare_text_nearest(key, names);
    if (near != NULL) return fail_here(r, where, "no key '%.64s'; did you mean '%s'?", key, near);
    return fail_here(r, where, "no key '%.64s'; there are: %s", key, list);
}

static tare_status check_required(reader *r, const tare_section *section, const size_t *had, yaml_mark_t start,
                                  const char *where) {
    size_t index = 0;
    for (const tare_field *f = section->fields; f != NULL && f->type != TARE_FIELD_END; f++, index++) {
        if (!(f->flags & TARE_FIELD_REQUIRED) || had[index] != 0) continue;
        tare_fail(r->err, TARE_E_USAGE, "'%s' is needed: %s", f->name, f->help != NULL ? f->help : "it has no default");
        if (where[0] != '\0') tare_within(r->err, "%s", where);
        return at_mark(r, start);
    }
    return TARE_OK;
}

/* The keys of a mapping whose start is the event at hand. */
static tare_status read_keys(reader *r, const tare_section *section, void *record, const char *where) {
    yaml_mark_t start = r->event.start_mark;
    /* Lines that keys stood on; fields first, then inner sections. */
    size_t count = count_keys(section), *had = tare_arena_alloc(r->arena, count, sizeof *had);
    if (had == NULL) return tare_fail_memory(r->err, count * sizeof *had);
    for (;;) {
        const tare_field *field;
        const tare_section *inner;
        TARE_TRY(next(r));
        if (r->event.type == YAML_MAPPING_END_EVENT) return check_required(r, section, had, start, where);
        if (r->event.type != YAML_SCALAR_EVENT)
            return fail_here(r, where, "a key is a word, not %s", word_of(r->event.type));
        size_t index = find_key(section, scalar(r), &field, &inner);
        if (index == KEYS_MAX) return unknown_key(r, section, scalar(r), where);
        const char *path = join(r, where, field != NULL ? field->name : inner->name);
        if (path == NULL) return tare_fail_memory(r->err, 0);
        if (had[index] != 0) return fail_here(r, path, "is here twice; the first is on line %zu", had[index]);
        had[index] = r->event.start_mark.line + 1;
        TARE_TRY(field != NULL ? read_field(r, field, record, path) : read_section(r, inner, record, path));
    }
}

/* A mapping, or the value that may stand in its place; the event at hand is its start. */
static tare_status read_mapping(reader *r, const tare_section *section, void *record, const char *where) {
    yaml_mark_t start = r->event.start_mark;
    if (r->event.type == YAML_MAPPING_START_EVENT) {
        TARE_TRY(read_keys(r, section, record, where));
    } else if (r->event.type == YAML_SCALAR_EVENT && section->alone != NULL) {
        const tare_field *field = tare_fields_find(section->fields, section->alone);
        assert(field != NULL);
        TARE_TRY(set_value(r, field, record, field->type == TARE_FIELD_STRINGS, where));
    } else if (r->event.type == YAML_SCALAR_EVENT && is_null(r)) {
        return fail_here(r, where, "is empty; leave the key out");
    } else {
        return fail_here(r, where, "wants keys, not %s",
                         r->event.type == YAML_SCALAR_EVENT ? "a value" : word_of(r->event.type));
    }
    const char *fault = section->check == NULL ? NULL : section->check(record);
    if (fault == NULL) return TARE_OK;
    tare_fail(r->err, TARE_E_USAGE, "%s", fault);
    tare_within(r->err, "%s", where);
    return at_mark(r, start);
}

/* Items are on the arena one by one, since their number is not known; the list is made of them at its end. */
typedef TARE_VEC(void *) item_list;

static tare_status add_item(reader *r, const tare_section *section, item_list *items, const char *where) {
    if (items->count == ITEMS_MAX) return fail_here(r, where, "has more than %d items", (int)ITEMS_MAX);
    void *item = tare_arena_alloc(r->arena, 1, section->item_size);
    const char *path = tare_arena_printf(r->arena, "%s[%zu]", where, items->count);
    if (item == NULL || path == NULL || !tare_vec_push(r->arena, items, item)) return tare_fail_memory(r->err, 0);
    tare_section_set_defaults(section, item);
    return read_mapping(r, section, item, path);
}

static tare_status read_list(reader *r, const tare_section *section, tare_records *records, const char *where) {
    item_list items = { 0 };
    if (r->event.type != YAML_SEQUENCE_START_EVENT) {
        TARE_TRY(add_item(r, section, &items, where));
    } else {
        for (;;) {
            TARE_TRY(next(r));
            if (r->event.type == YAML_SEQUENCE_END_EVENT) break;
            TARE_TRY(add_item(r, section, &items, where));
        }
    }
    records->at = tare_arena_alloc(r->arena, items.count, section->item_size);
    if (records->at == NULL) return tare_fail_memory(r->err, items.count * section->item_size);
    records->count = items.count;
    for (size_t i = 0; i < items.count; i++) {
        memcpy((char *)records->at + i * section->item_size, items.at[i], section->item_size);
    }
    return TARE_OK;
}

static tare_status read_section(reader *r, const tare_section *section, void *outer, const char *where) {
    void *record = (char *)outer + section->offset;
    TARE_TRY(next(r));
    if (section->item_size > 0) return read_list(r, section, record, where);
    return read_mapping(r, section, record, where);
}

/* ---- documents ---- */

static tare_status expect(reader *r, yaml_event_type_t type, const char *otherwise) {
    TARE_TRY(next(r));
    return r->event.type == type ? TARE_OK : fail_here(r, "", "%s", otherwise);
}

static tare_status begin_document(reader *r, const char *if_empty) {
    TARE_TRY(expect(r, YAML_STREAM_START_EVENT, "is no YAML"));
    TARE_TRY(expect(r, YAML_DOCUMENT_START_EVENT, if_empty));
    if (r->event.data.document_start.tag_directives.start == r->event.data.document_start.tag_directives.end)
        return TARE_OK;
    return fail_here(r, "", "tags are not read; leave the %%TAG line out");
}

static tare_status end_document(reader *r) {
    TARE_TRY(expect(r, YAML_DOCUMENT_END_EVENT, "something follows the recipe"));
    return expect(r, YAML_STREAM_END_EVENT, "a second document follows; a recipe is one");
}

static tare_status read_document(reader *r, const tare_section *root, void *record) {
    TARE_TRY(begin_document(r, "the recipe is empty"));
    TARE_TRY(next(r));
    TARE_TRY(read_mapping(r, root, record, ""));
    return end_document(r);
}

static const char *folder_of(const char *path, tare_arena *arena) {
    const char *slash = strrchr(path, '/');
    return tare_arena_copy(arena, path, slash == NULL ? 0 : (size_t)(slash - path) + 1);
}

static tare_status begin_bytes(reader *r, const void *bytes, size_t size) {
    if (size > TARE_RECIPE_BYTES_MAX) {
        return tare_fail(r->err, TARE_E_LIMIT, "has %zu bytes, a recipe has at most %d", size,
                         (int)TARE_RECIPE_BYTES_MAX);
    }
    if (!yaml_parser_initialize(&r->parser)) return tare_fail_memory(r->err, 0);
    /* Told the encoding, libyaml takes a byte order mark for text. */
    const size_t mark = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)bytes + mark, size - mark);
    return TARE_OK;
}

static void end_bytes(reader *r) {
    if (r->has_event) yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
}

tare_status tare_section_read_bytes(const tare_section *root, void *record, const char *path, const void *bytes,
                                    size_t size, tare_arena *arena, tare_error *err) {
    reader r = { .arena = arena, .err = err, .folder = folder_of(path, arena) };
    tare_section_set_defaults(root, record);
    tare_status status = r.folder == NULL ? tare_fail_memory(err, 0) : begin_bytes(&r, bytes, size);
    if (status == TARE_OK) {
        status = read_document(&r, root, record);
        end_bytes(&r);
    }
    return status == TARE_OK ? TARE_OK : tare_within(err, "%s", path);
}

tare_status tare_section_read(const tare_section *root, void *record, const char *path, tare_arena *arena,
                              tare_error *err) {
    tare_file file;
    TARE_TRY(tare_file_open(&file, path, err));
    tare_status status = tare_section_read_bytes(root, record, path, file.data, file.size, arena, err);
    tare_file_close(&file);
    return status;
}

/* ---- one key ---- */

/* Where a path of keys has led so far. */
typedef struct place {
    const tare_section *section;
    void *record;
    const tare_field *field; /* NULL: the section itself */
    bool is_item;            /* the record is an item of the section's list, not what is around it */
} place;

/* "[2]" behind a list's key, or the only item when there is none. One behind the last is added. */
static tare_status enter_item(reader *r, const tare_section *section, const char **at, void **record,
                              const char *where) {
    tare_records *list = *record;
    char *end;
    size_t index = 0;
    if (**at == '[') {
        unsigned long long number = strtoull(*at + 1, &end, 10);
        if (end == *at + 1 || *end != ']' || (*at)[1] == '-' || number > ITEMS_MAX)
            return fail_here(r, where, "'%.20s' is no index such as [0]", *at);
        index = (size_t)number;
        *at = end + 1;
    } else if (list->count > 1) {
        return fail_here(r, where, "has %zu items; say which, as %s[0]", list->count, where);
    }
    if (index > list->count || index == ITEMS_MAX)
        return fail_here(r, where, "has %zu items; [%zu] would be the next", list->count, list->count);
    char *items = tare_arena_alloc(r->arena, list->count + 1, section->item_size);
    if (items == NULL) return tare_fail_memory(r->err, section->item_size);
    if (list->count > 0) memcpy(items, list->at, list->count * section->item_size);
    if (index == list->count) tare_section_set_defaults(section, items + list->count++ * section->item_size);
    list->at = items;
    *record = items + index * section->item_size;
    return TARE_OK;
}

/* Where a key of this name is deeper in the tree, the first there is; NULL: nowhere, or no memory. */
static const char *find_deeper(const reader *r, const tare_section *section, const char *key, const char *where) {
    const tare_field *field;
    const tare_section *inner;
    for (const tare_section *s = section->inner; s != NULL && s->name != NULL; s++) {
        const char *path = join(r, where, s->name);
        if (path == NULL) return NULL;
        if (find_key(s, key, &field, &inner) != KEYS_MAX)
            return join(r, path, field != NULL ? field->name : inner->name);
        path = find_deeper(r, s, key, path);
        if (path != NULL) return path;
    }
    return NULL;
}

static tare_status fail_key(reader *r, const tare_section *section, const char *key, const char *where) {
    const char *deeper = find_deeper(r, section, key, where);
    if (deeper == NULL) return unknown_key(r, section, key, where);
    return fail_here(r, where, "no key '%.64s'; did you mean '%s'?", key, deeper);
}

/* Goes along "a.b[1].c" to what it names; `where` is the path as far as it is gone. */
static tare_status follow(reader *r, const char *path, place *p, const char **where) {
    const char *at = path;
    for (;;) {
        const size_t length = strcspn(at, ".[");
        const tare_field *field;
        const tare_section *inner;
        const char *key = tare_arena_copy(r->arena, at, length);
        if (key == NULL) return tare_fail_memory(r->err, length);
        if (find_key(p->section, key, &field, &inner) == KEYS_MAX) return fail_key(r, p->section, key, *where);
        *where = join(r, *where, field != NULL ? field->name : inner->name);
        if (*where == NULL) return tare_fail_memory(r->err, 0);
        at += length;
        if (field != NULL) {
            p->field = field;
            return *at == '\0' ? TARE_OK : fail_here(r, *where, "has no keys of its own: '%.64s'", at);
        }
        p->section = inner;
        if (*at == '\0') return TARE_OK; /* a section: its record is still the one around it */
        p->record = (char *)p->record + inner->offset;
        if (inner->item_size > 0) TARE_TRY(enter_item(r, inner, &at, &p->record, *where));
        p->is_item = *at == '\0' && inner->item_size > 0;
        if (p->is_item) return TARE_OK;
        if (*at != '.') return fail_here(r, *where, "wants a key behind it, as %s.KEY", *where);
        at++;
    }
}

static tare_status set_place(reader *r, const place *p, const char *where) {
    if (begin_document(r, "has no value") != TARE_OK) return tare_within(r->err, "%s", where);
    if (p->is_item) {
        TARE_TRY(next(r));
        tare_section_set_defaults(p->section, p->record);
        TARE_TRY(read_mapping(r, p->section, p->record, where));
    } else if (p->field == NULL) {
        TARE_TRY(read_section(r, p->section, p->record, where));
    } else {
        TARE_TRY(read_field(r, p->field, p->record, where));
        const char *fault = p->section->check == NULL ? NULL : p->section->check(p->record);
        if (fault != NULL) return fail_here(r, where, "%s", fault);
    }
    return end_document(r);
}

tare_status tare_section_set(const tare_section *root, void *record, const char *text, tare_arena *arena,
                             tare_error *err) {
    const char *equals = strchr(text, '='), *where = "";
    if (equals == NULL || equals == text) return tare_fail(err, TARE_E_USAGE, "'%.64s' is not KEY=VALUE", text);
    const char *path = tare_arena_copy(arena, text, (size_t)(equals - text));
    if (path == NULL) return tare_fail_memory(err, 0);
    reader r = { .arena = arena, .err = err, .folder = "", .has_no_place = true };
    place p = { .section = root, .record = record };
    TARE_TRY(follow(&r, path, &p, &where));
    TARE_TRY(begin_bytes(&r, equals + 1, strlen(equals + 1)));
    tare_status status = set_place(&r, &p, where);
    end_bytes(&r);
    return status;
}

bool tare_section_leaves_out(const tare_section *section, const char *name) {
    for (const char *const *at = section->without; at != NULL && *at != NULL; at++) {
        if (strcmp(*at, name) == 0) return true;
    }
    return false;
}

void tare_section_set_defaults(const tare_section *section, void *record) {
    if (section->fields != NULL) tare_fields_set_defaults(section->fields, record);
    for (const tare_section *s = section->inner; s != NULL && s->name != NULL; s++) {
        void *inner = (char *)record + s->offset;
        if (s->item_size > 0) {
            *(tare_records *)inner = (tare_records){ 0 };
        } else {
            tare_section_set_defaults(s, inner);
        }
    }
}

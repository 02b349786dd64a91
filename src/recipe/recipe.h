/* Recipes: the user's wishes as YAML. What a recipe may say is a tree of sections, each a field table and the struct it
 * fills; from the same tree come the reader, its errors and a JSON schema. This room knows no option by name. */
#ifndef TARE_RECIPE_RECIPE_H
#define TARE_RECIPE_RECIPE_H

#include "base/field.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

/* A mapping: its keys are the fields and the inner sections. Keys may have '_' where the table has '-'. */
typedef struct tare_section {
    const char *name;           /* its key in the section around it; NULL ends a list of sections, and is the root's */
    const char *help;           /* one line */
    const tare_field *fields;   /* NULL: none */
    const char *const *without; /* fields of the table that are no keys here, ended by NULL; NULL: none */
    const struct tare_section *inner; /* NULL: none */
    size_t offset;                    /* of its struct, or its tare_records, in the struct of the section around it */
    size_t item_size; /* > 0: a list of such mappings, each filling a struct of this size; one alone is a list of one */
    /* What is wrong with a record as a whole, a text that lasts; NULL: nothing, or no such check. */
    const char *(*check)(const void *record);
    const char *alone; /* a bare value in the mapping's place is this field's: `target: onnx`; NULL: not so */
} tare_section;

/* A recipe has at most this many bytes. */
enum { TARE_RECIPE_BYTES_MAX = 1 << 20 };

/* Fills `record` with the defaults of all tables, then with what the file says. What points to memory is on the arena.
 * Fields with TARE_FIELD_PATH become relative to the working directory, not the recipe's folder. Errors are
 * "PATH: line:col: key: what"; an unknown key or value is TARE_E_USAGE, broken YAML TARE_E_MALFORMED. Anchors, aliases,
 * tags and second documents are refused. */
tare_status tare_section_read(const tare_section *root, void *record, const char *path, tare_arena *arena,
                              tare_error *err);
/* The same for bytes; `path` says where they are from. */
tare_status tare_section_read_bytes(const tare_section *root, void *record, const char *path, const void *bytes,
                                    size_t size, tare_arena *arena, tare_error *err);

/* "KEY=VALUE": one key of a record that was read, or has its defaults, by its path ("quantization.defaults.method",
 * "inputs[1].data"); the value is YAML. A list's index may be left out where the list has one item or none; one more than
 * there are adds one. Files are relative to the working directory. Errors are "key: what". */
tare_status tare_section_set(const tare_section *root, void *record, const char *text, tare_arena *arena,
                             tare_error *err);

bool tare_section_leaves_out(const tare_section *section, const char *name);
/* The defaults alone. */
void tare_section_set_defaults(const tare_section *section, void *record);

/* Appends the JSON schema (draft 2020-12) of what the reader takes; `id` is its $id, NULL: none. */
tare_status tare_section_print_schema(const tare_section *root, const char *id, tare_text *text, tare_error *err);

#endif

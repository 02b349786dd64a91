/* Reading ONNX: the model around the graph. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/reader.h"

/* ---- text ---- */

bool tare_onnx_is_text(tare_span bytes) {
    return !(bytes.size && memchr(bytes.at, 0, bytes.size)) && tare_utf8_is_valid((const char *)bytes.at, bytes.size);
}

static tare_status take(tare_arena *arena, const tare_wire *wire, const tare_wire_field *field, size_t limit,
                        const char **to, tare_error *err) {
    const tare_span bytes = field->payload;
    if (field->type != PB_WT_STRING)
        return tare_wire_fail(wire, field, err, "wire type %d, want text", (int)field->type);
    if (bytes.size > limit) {
        tare_wire_fail(wire, field, err, "text of %zu bytes, at most %zu are allowed", bytes.size, limit);
        return err->status = TARE_E_LIMIT;
    }
    if (!tare_onnx_is_text(bytes)) return tare_wire_fail(wire, field, err, "text that is not UTF-8 or holds a NUL");
    const char *text = tare_arena_copy(arena, bytes.at, bytes.size);
    if (!text) return tare_fail_memory(err, bytes.size);
    *to = text;
    return TARE_OK;
}

tare_status tare_onnx_take_name(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                                const char **to, tare_error *err) {
    TARE_TRY(take(reader->scratch, wire, field, NAME_SIZE_MAX, to, err));
    for (const char *at = *to; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return tare_wire_fail(wire, field, err, "name '%.64s' holds a control character", *to);
    return TARE_OK;
}

tare_status tare_onnx_take_text(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                                const char **to, tare_error *err) {
    return take(reader->model->arena, wire, field, STRING_SIZE_MAX, to, err);
}

tare_status tare_onnx_keep(tare_onnx_reader *reader, tare_spans *spans, const tare_wire_field *field, tare_error *err) {
    return tare_vec_push(reader->model->arena, spans, field->whole) ? TARE_OK : tare_fail_memory(err, 0);
}

bool tare_onnx_has_room(const tare_error *err) { return strlen(err->text) < TARE_ERROR_SIZE / 2; }

/* ---- imports ---- */

int64_t tare_onnx_opset(const tare_onnx_reader *reader, const tare_onnx_scope *scope, const char *domain) {
    const tare_onnx_import *imports = reader->extra->imports.at;
    size_t count = reader->extra->imports.count;
    if (scope) {
        imports = scope->call->function->imports.at;
        count = scope->call->function->imports.count;
    }
    for (size_t i = 0; i < count; i++)
        if (!strcmp(imports[i].domain, domain)) return imports[i].version;
    return 0;
}

tare_status tare_onnx_read_import(tare_onnx_reader *reader, tare_span bytes, tare_onnx_import *to, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    *to = (tare_onnx_import){ .domain = "" };
    tare_wire_open(&wire, reader->base, bytes, "OperatorSetIdProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        tare_span text;
        switch (field.number) {
        case 0: break;
        case OPSET_DOMAIN:
            TARE_TRY(tare_wire_bytes(&wire, &field, &text, err));
            TARE_TRY(tare_onnx_take_text(reader, &wire, &field, &to->domain, err));
            continue;
        case OPSET_VERSION: TARE_TRY(tare_wire_s64(&wire, &field, &to->version, err)); continue;
        default: continue;
        }
        break;
    }
    if (!strcmp(to->domain, "ai.onnx")) to->domain = "";
    if (*to->domain) {
        if (to->version > 0) return TARE_OK;
        return tare_fail(err, TARE_E_MALFORMED, "opset %" PRId64 " of domain '%s', want 1 or more", to->version,
                         to->domain);
    }
    if (to->version >= OPSET_MIN && to->version <= OPSET_MAX) return TARE_OK;
    return tare_fail(err, TARE_E_UNSUPPORTED, "opset %" PRId64 ", supported %d-%d", to->version, OPSET_MIN, OPSET_MAX);
}

static tare_status add_import(tare_onnx_reader *reader, tare_span bytes, tare_error *err) {
    tare_onnx_import import;
    TARE_TRY(tare_onnx_read_import(reader, bytes, &import, err));
    if (tare_onnx_opset(reader, NULL, import.domain))
        return tare_fail(err, TARE_E_MALFORMED, "two opset_imports of domain '%s'", import.domain);
    if (!*import.domain) reader->model->opset = import.version;
    return tare_vec_push(reader->model->arena, &reader->extra->imports, import) ? TARE_OK : tare_fail_memory(err, 0);
}

/* ---- the model ---- */

/* Metadata is text to tare; what is none stays as it is. */
static tare_status read_property(tare_onnx_reader *reader, const tare_wire_field *whole, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    tare_span key = { 0 }, value = { 0 };
    bool is_plain = true;
    tare_wire_open(&wire, reader->base, whole->payload, "StringStringEntryProto");
    do {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (field.number == ENTRY_KEY) TARE_TRY(tare_wire_bytes(&wire, &field, &key, err));
        if (field.number == ENTRY_VALUE) TARE_TRY(tare_wire_bytes(&wire, &field, &value, err));
        is_plain &= field.number <= ENTRY_VALUE;
    } while (field.number);
    if (!is_plain || !tare_onnx_is_text(key) || !tare_onnx_is_text(value))
        return tare_onnx_keep(reader, &reader->extra->other, whole, err);
    tare_arena *arena = reader->model->arena;
    const tare_property property = { .key = tare_arena_copy(arena, key.at, key.size),
                                     .value = tare_arena_copy(arena, value.at, value.size) };
    if (!property.key || !property.value || !tare_vec_push(arena, &reader->model->properties, property))
        return tare_fail_memory(err, value.size);
    if (strcmp(property.key, TARE_ONNX_ORIGINS) != 0) return TARE_OK;
    return tare_onnx_read_origins(reader->model, property.value, reader->options->log, err);
}

/* The parts that are read once the whole header is known. */
typedef struct parts {
    bool has_graph;
    tare_span graph;
    tare_spans functions;
} parts;

static tare_status read_field(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field, parts *found,
                              tare_error *err) {
    tare_model *model = reader->model;
    tare_span bytes;
    switch (field->number) {
    case MODEL_IR_VERSION: return tare_wire_s64(wire, field, &model->ir_version, err);
    case MODEL_PRODUCER_NAME:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        return tare_onnx_take_text(reader, wire, field, &model->producer_name, err);
    case MODEL_PRODUCER_VERSION:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        return tare_onnx_take_text(reader, wire, field, &model->producer_version, err);
    case MODEL_DOC_STRING:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        if (!tare_onnx_is_text(bytes)) return tare_onnx_keep(reader, &reader->extra->other, field, err);
        model->doc = tare_arena_copy(model->arena, bytes.at, bytes.size);
        return model->doc ? TARE_OK : tare_fail_memory(err, bytes.size);
    case MODEL_GRAPH: found->has_graph = true; return tare_wire_bytes(wire, field, &found->graph, err);
    case MODEL_OPSET_IMPORT: TARE_TRY(tare_wire_item(wire, field, &bytes, err)); return add_import(reader, bytes, err);
    case MODEL_METADATA_PROPS:
        TARE_TRY(tare_wire_item(wire, field, &bytes, err));
        return read_property(reader, field, err);
    case MODEL_FUNCTIONS:
        TARE_TRY(tare_wire_item(wire, field, &bytes, err));
        return tare_vec_push(reader->scratch, &found->functions, bytes) ? TARE_OK : tare_fail_memory(err, 0);
    default: return tare_onnx_keep(reader, &reader->extra->other, field, err);
    }
}

static tare_status check_header(const tare_onnx_reader *reader, const parts *found, tare_error *err) {
    const int64_t version = reader->model->ir_version;
    if (!found->has_graph) return tare_fail(err, TARE_E_MALFORMED, "no graph in it");
    if (version <= 0) return tare_fail(err, TARE_E_MALFORMED, "ir_version %" PRId64 ", want 1 or more", version);
    if (version < IR_VERSION_MIN || version > IR_VERSION_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "ir_version %" PRId64 ", supported %d-%d", version, IR_VERSION_MIN,
                         IR_VERSION_MAX);
    if (!reader->extra->imports.count) return tare_fail(err, TARE_E_MALFORMED, "no opset_import");
    if (found->functions.count > FUNCTION_COUNT_MAX)
        return tare_fail(err, TARE_E_LIMIT, "%zu functions, at most %d are allowed", found->functions.count,
                         FUNCTION_COUNT_MAX);
    return TARE_OK;
}

/* A model of other domains alone gets this opset for what tare itself may add: the one most runtimes have. */
enum { OPSET_UNSAID = 17 };

static tare_status read_parts(tare_onnx_reader *reader, const parts *found, tare_error *err) {
    for (size_t i = 0; i < found->functions.count; i++)
        TARE_TRY(tare_onnx_read_function(reader, found->functions.at[i], err));
    TARE_TRY(tare_onnx_read_graph(reader, found->graph, reader->model->graph, NULL, err));
    if (!reader->model->opset) reader->model->opset = OPSET_UNSAID;
    TARE_TRY(tare_graph_sort(reader->model->graph, reader->options->log, err));
    return tare_graph_verify(reader->model->graph, err);
}

/* ---- what is no ONNX file ---- */

static const struct {
    size_t offset;
    const char *bytes;
    const char *name;
} lookalikes[] = {
    { 0, "\x89PNG", "a PNG image" },
    { 0, "\xff\xd8\xff", "a JPEG image" },
    { 0, "PK\x03\x04", "a zip archive (.npz, .pt, SavedModel); export it to ONNX" },
    { 4, "TFL3", "a TFLite model" },
    { 0, "\x89HDF", "an HDF5 file (Keras); export it to ONNX" },
    { 0, "\x1f\x8b", "a gzip archive; unpack it" },
    { 0, "GGUF", "a GGUF model" },
    { 0, "\x93NUMPY", "a .npy array" },
    { 0, "version https://git-lfs", "a Git LFS pointer; fetch the file itself with 'git lfs pull'" },
    { 0, "<", "HTML or XML, perhaps an error page in place of a download" },
    { 0, "{", "JSON text" },
};

static const char *looks_like(const uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++) {
        size_t offset = lookalikes[i].offset, length = strlen(lookalikes[i].bytes);
        if (size >= offset + length && !memcmp(bytes + offset, lookalikes[i].bytes, length)) return lookalikes[i].name;
    }
    return NULL;
}

static tare_status walk_model(tare_onnx_reader *reader, size_t size, parts *found, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    tare_wire_open(&wire, reader->base, (tare_span){ reader->base, size }, "ModelProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        TARE_TRY(read_field(reader, &wire, &field, found, err));
    }
}

static tare_status read_model(tare_onnx_reader *reader, size_t size, tare_error *err) {
    parts found = { 0 };
    if (!size) return tare_fail(err, TARE_E_MALFORMED, "empty file, no ONNX model");
    if (size > FILE_SIZE_MAX)
        return tare_fail(err, TARE_E_LIMIT, "%zu bytes, a protobuf file has %zu at most; weights can be external data",
                         size, FILE_SIZE_MAX);
    tare_status status = walk_model(reader, size, &found, err);
    if (status == TARE_OK) status = check_header(reader, &found, err);
    if (status == TARE_OK) return read_parts(reader, &found, err);
    const char *name = status == TARE_E_MALFORMED ? looks_like(reader->base, size) : NULL;
    if (!name) return status;
    const tare_error fault = *err;
    return tare_fail(err, status, "no ONNX file, it looks like %s (%s)", name, fault.text);
}

static tare_status read_into(tare_model *model, const uint8_t *bytes, size_t size, const char *path,
                             const tare_read_options *options, const tare_onnx_redirect *redirect, tare_error *err) {
    tare_onnx_reader reader = { .model = model, .base = bytes, .path = path, .options = options, .redirect = redirect };
    reader.scratch = tare_arena_new();
    reader.extra = tare_arena_alloc(model->arena, 1, sizeof *reader.extra);
    if (!reader.scratch || !reader.extra) {
        tare_arena_free(reader.scratch);
        return tare_fail_memory(err, 0);
    }
    reader.extra->format = &tare_format_onnx;
    model->extra = reader.extra;
    tare_map_init(&reader.functions, reader.scratch);
    tare_map_init(&reader.files, reader.scratch);
    tare_status status = read_model(&reader, size, err);
    tare_arena_free(reader.scratch);
    return status;
}

tare_status tare_onnx_read_bytes(tare_model **out, const uint8_t *bytes, size_t size, const char *path,
                                 const tare_read_options *options, const tare_onnx_redirect *redirect,
                                 tare_error *err) {
    tare_model *model;
    TARE_TRY(tare_model_new(&model, err));
    tare_status status = read_into(model, bytes, size, path, options, redirect, err);
    if (status != TARE_OK) {
        tare_model_free(model);
        return status;
    }
    *out = model;
    return TARE_OK;
}

/* The file is the model's from here on, also when something goes wrong. */
static tare_status read_mapped(tare_model *model, tare_file *file, const char *path, const tare_read_options *options,
                               const tare_onnx_redirect *redirect, tare_error *err) {
    if (!tare_vec_push(model->arena, &model->files, *file)) {
        tare_file_close(file);
        return tare_fail_memory(err, 0);
    }
    model->path = tare_arena_strdup(model->arena, path);
    if (!model->path) return tare_fail_memory(err, 0);
    return read_into(model, file->data, file->size, path, options, redirect, err);
}

tare_status tare_onnx_read_file(tare_model **out, const char *path, const tare_read_options *options,
                                const tare_onnx_redirect *redirect, tare_error *err) {
    tare_file file;
    tare_model *model;
    TARE_TRY(tare_file_open(&file, path, err));
    if (tare_model_new(&model, err) != TARE_OK) {
        tare_file_close(&file);
        return err->status;
    }
    if (read_mapped(model, &file, path, options, redirect, err) != TARE_OK) {
        tare_model_free(model);
        return tare_within(err, "%s", path);
    }
    *out = model;
    return TARE_OK;
}

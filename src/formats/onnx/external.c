/* Reading ONNX: weights in files beside the model. What a hostile model may name is ruled by tare_file_open_beneath; here
 * are the entries of external_data. Each file is mapped once and closed with the model. */
#include <inttypes.h>
#include <string.h>

#include "base/size.h"
#include "formats/onnx/reader.h"
#include "formats/onnx/sha1.h"

typedef struct entries {
    const char *location, *offset, *length, *checksum;
} entries;

/* A file that was opened, under its location. */
typedef struct opened {
    size_t index; /* in model->files */
    bool is_hashed;
    char digest[TARE_SHA1_TEXT];
} opened;

static tare_status read_entry(tare_onnx_reader *reader, tare_span bytes, const char **key, const char **value,
                              tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    tare_span text;
    *key = *value = "";
    tare_wire_open(&wire, reader->base, bytes, "StringStringEntryProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number != ENTRY_KEY && field.number != ENTRY_VALUE) continue;
        TARE_TRY(tare_wire_bytes(&wire, &field, &text, err));
        TARE_TRY(tare_onnx_take_text(reader, &wire, &field, field.number == ENTRY_KEY ? key : value, err));
    }
}

static tare_status read_entries(tare_onnx_reader *reader, const tare_spans *from, entries *to, tare_error *err) {
    *to = (entries){ 0 };
    const struct {
        const char *key;
        const char **value;
    } known[] = { { "location", &to->location },
                  { "offset", &to->offset },
                  { "length", &to->length },
                  { "checksum", &to->checksum } };
    for (size_t i = 0; i < from->count; i++) {
        const char *key, *value;
        bool is_known = false;
        TARE_TRY(read_entry(reader, from->at[i], &key, &value, err));
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            if (strcmp(key, known[k].key) != 0) continue;
            if (*known[k].value) return tare_fail(err, TARE_E_MALFORMED, "external_data key '%s' stands twice", key);
            *known[k].value = value;
            is_known = true;
        }
        if (!is_known) tare_log_warn(reader->options->log, "external_data key '%.64s' is unknown and ignored", key);
    }
    if (to->location) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "external_data without a location");
}

/* Digits and nothing else: no sign, no blanks, no exponent. */
static tare_status read_number(const char *key, const char *text, size_t *to, tare_error *err) {
    *to = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        size_t ten;
        if (!tare_size_mul(*to, 10, &ten) || !tare_size_add(ten, (size_t)(*at - '0'), to))
            return tare_fail(err, TARE_E_MALFORMED, "external_data %s '%.64s' is more than 2^64", key, text);
    }
    if (at != text && !*at) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "external_data %s '%.64s', want digits", key, text);
}

static tare_status map_file(tare_onnx_reader *reader, const char *location, tare_file *to, tare_error *err) {
    const tare_onnx_redirect *redirect = reader->redirect;
    if (redirect && !strcmp(redirect->location, location)) return tare_file_open(to, redirect->path, err);
    return tare_file_open_beneath(to, reader->path, location, reader->options->allow_hardlink, err);
}

static tare_status open_file(tare_onnx_reader *reader, const char *location, opened **to, tare_error *err) {
    *to = tare_map_get(&reader->files, location);
    if (*to) return TARE_OK;
    *to = tare_arena_alloc(reader->scratch, 1, sizeof **to);
    if (!*to) return tare_fail_memory(err, 0);
    (*to)->index = reader->model->files.count;
    tare_file file;
    TARE_TRY(map_file(reader, location, &file, err));
    if (!tare_vec_push(reader->model->arena, &reader->model->files, file)) {
        tare_file_close(&file);
        return tare_fail_memory(err, 0);
    }
    return tare_map_put(&reader->files, location, *to) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status check_digest(const tare_file *file, opened *to, const entries *said, tare_error *err) {
    if (!said->checksum) return TARE_OK;
    if (!to->is_hashed) tare_sha1_print(to->digest, file->data, file->size);
    to->is_hashed = true;
    if (!strcmp(to->digest, said->checksum)) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "external data '%.300s' has the checksum %s, want %.64s", said->location,
                     to->digest, said->checksum);
}

tare_status tare_onnx_read_external(tare_onnx_reader *reader, const tare_spans *list, size_t size, tare_span *to,
                                    tare_error *err) {
    entries said;
    opened *file;
    size_t offset = 0, length = size;
    TARE_TRY(read_entries(reader, list, &said, err));
    if (said.offset) TARE_TRY(read_number("offset", said.offset, &offset, err));
    if (said.length) TARE_TRY(read_number("length", said.length, &length, err));
    if (length != size)
        return tare_fail(err, TARE_E_MALFORMED, "external data '%.300s' has length %zu, dims want %zu bytes",
                         said.location, length, size);
    TARE_TRY(open_file(reader, said.location, &file, err));
    const tare_file *mapped = &reader->model->files.at[file->index];
    if (!tare_slice_fits(mapped->size, offset, length))
        return tare_fail(err, TARE_E_MALFORMED,
                         "external data '%.300s' has %zu bytes, the tensor lies at %zu and has %zu", said.location,
                         mapped->size, offset, length);
    TARE_TRY(check_digest(mapped, file, &said, err));
    *to = (tare_span){ mapped->data + offset, length };
    return TARE_OK;
}

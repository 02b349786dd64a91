/* Writing .npz: libzip lays out the archive, base's writer receives it. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <zip.h>

#include "base/text.h"
#include "samples/npz.h"

/* 1 January 1980, the first day a zip file can say; numpy writes the same. */
enum { FIXED_DATE = 1 << 5 | 1, NAME_MAX_BYTES = 4096 };

/* One entry: a header and the numbers, handed to libzip one after the other. */
typedef struct member {
    const uint8_t *part[2];
    size_t size[2];
    uint64_t at;
    char header[TARE_NPY_WRITTEN_MAX];
} member;

/* Where libzip writes to. */
typedef struct sink {
    tare_writer *writer;
    uint64_t at;
    tare_error *err;
} sink;

static zip_int64_t read_member(member *m, uint8_t *to, uint64_t room) {
    uint64_t done = 0, total = (uint64_t)m->size[0] + m->size[1];
    while (done < room && m->at < total) {
        bool in_header = m->at < m->size[0];
        uint64_t from = in_header ? m->at : m->at - m->size[0];
        uint64_t part = m->size[in_header ? 0 : 1] - from;
        if (part > room - done) part = room - done;
        memcpy(to + done, m->part[in_header ? 0 : 1] + from, (size_t)part);
        done += part;
        m->at += part;
    }
    return (zip_int64_t)done;
}

static zip_int64_t member_call(void *context, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    member *m = context;
    zip_error_t error;
    switch (command) {
    case ZIP_SOURCE_OPEN: m->at = 0; return 0;
    case ZIP_SOURCE_READ: return read_member(m, data, size);
    case ZIP_SOURCE_STAT: {
        zip_stat_t *stat = data;
        zip_stat_init(stat);
        stat->size = (zip_uint64_t)m->size[0] + m->size[1];
        stat->valid = ZIP_STAT_SIZE;
        return (zip_int64_t)sizeof *stat;
    }
    case ZIP_SOURCE_ERROR: zip_error_init(&error); return zip_error_to_data(&error, data, size);
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_READABLE;
    default: return 0; /* CLOSE, FREE: nothing is held */
    }
}

static zip_int64_t sink_write(sink *s, const void *data, uint64_t size) {
    uint64_t end = tare_writer_offset(s->writer);
    uint64_t patched = s->at >= end ? 0 : size < end - s->at ? size : end - s->at;
    tare_status status = TARE_OK;
    if (patched > 0) status = tare_writer_patch(s->writer, s->at, data, (size_t)patched, s->err);
    if (status == TARE_OK && patched < size) {
        status = tare_writer_write(s->writer, (const uint8_t *)data + patched, (size_t)(size - patched), s->err);
    }
    if (status != TARE_OK) return -1;
    s->at += size;
    return (zip_int64_t)size;
}

static zip_int64_t sink_seek(sink *s, const zip_source_args_seek_t *seek) {
    uint64_t end = tare_writer_offset(s->writer);
    uint64_t base = seek->whence == SEEK_SET ? 0 : seek->whence == SEEK_END ? end : s->at;
    s->at = base + (uint64_t)seek->offset;
    return s->at <= end ? 0 : -1;
}

static zip_int64_t sink_call(void *context, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    sink *s = context;
    zip_error_t error;
    switch (command) {
    case ZIP_SOURCE_STAT: zip_stat_init(data); return (zip_int64_t)sizeof(zip_stat_t);
    case ZIP_SOURCE_WRITE: return sink_write(s, data, size);
    case ZIP_SOURCE_SEEK_WRITE: return size < sizeof(zip_source_args_seek_t) ? -1 : sink_seek(s, data);
    case ZIP_SOURCE_TELL_WRITE: return (zip_int64_t)s->at;
    case ZIP_SOURCE_ERROR:
        zip_error_init(&error);
        if (s->err->status != TARE_OK) zip_error_set(&error, ZIP_ER_WRITE, EIO);
        return zip_error_to_data(&error, data, size);
    case ZIP_SOURCE_SUPPORTS: return ZIP_SOURCE_SUPPORTS_WRITABLE;
    default: return 0; /* BEGIN_WRITE, COMMIT_WRITE, ROLLBACK_WRITE: the writer is opened and committed outside */
    }
}

static const tare_tensor *writable(const tare_tensor *tensor, tare_arena *arena, tare_error *err) {
    if (tensor->dtype != TARE_BF16) return tensor;
    tare_tensor *wide;
    if (tare_tensor_new(arena, TARE_F32, &tensor->shape, &wide, err) != TARE_OK) return NULL;
    const uint16_t *from = tensor->data;
    float *to = wide->data;
    for (size_t i = 0; i < tensor->size / 2; i++) to[i] = tare_bf16_to_f32(from[i]);
    return wide;
}

static tare_status add_member(zip_t *zip, const tare_npz_array *array, tare_arena *arena, tare_error *err) {
    member *m = tare_arena_alloc(arena, 1, sizeof *m);
    char *name = tare_arena_printf(arena, "%s.npy", array->name);
    if (m == NULL || name == NULL) return tare_fail_memory(err, 0);
    if (strlen(name) > NAME_MAX_BYTES || !tare_utf8_is_valid(name, strlen(name))) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "its name is no UTF-8 text of at most 4 KiB");
    }
    const tare_tensor *tensor = writable(array->tensor, arena, err);
    if (tensor == NULL) return err->status;
    size_t header = tare_npy_print_header(m->header, tensor->dtype, &tensor->shape);
    if (header == 0) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "an .npz cannot hold %s", tare_dtype_name(tensor->dtype));
    }
    m->part[0] = (const uint8_t *)m->header;
    m->size[0] = header;
    m->part[1] = tensor->data;
    m->size[1] = tensor->size;
    zip_source_t *source = zip_source_function(zip, member_call, m);
    if (source == NULL) return tare_fail_memory(err, 0);
    zip_int64_t index = zip_file_add(zip, name, source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        zip_source_free(source);
        return tare_fail(err, TARE_E_BUG, "%s", zip_strerror(zip));
    }
    if (zip_set_file_compression(zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(zip, (zip_uint64_t)index, 0, FIXED_DATE, 0) != 0) {
        return tare_fail(err, TARE_E_BUG, "%s", zip_strerror(zip));
    }
    return TARE_OK;
}

/* The archive's bytes go to the sink when it is closed. */
static tare_status pack(sink *s, const tare_npz_array *arrays, size_t count, tare_arena *arena, tare_error *err) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_function_create(sink_call, s, &error);
    zip_t *zip = source == NULL ? NULL : zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
    if (zip == NULL) {
        if (source != NULL) zip_source_free(source);
        tare_fail(err, TARE_E_BUG, "%s", zip_error_strerror(&error));
        zip_error_fini(&error);
        return err->status;
    }
    zip_error_fini(&error);
    tare_status status = TARE_OK;
    for (size_t i = 0; i < count && status == TARE_OK; i++) {
        status = add_member(zip, &arrays[i], arena, err);
        if (status != TARE_OK) tare_within(err, "array '%s'", arrays[i].name);
    }
    if (status == TARE_OK && zip_close(zip) == 0) return TARE_OK;
    if (status == TARE_OK) {
        status = err->status != TARE_OK ? err->status : tare_fail(err, TARE_E_LIMIT, "%s", zip_strerror(zip));
    }
    zip_discard(zip);
    return status;
}

static tare_status compare(const char *path, const tare_npz_array *arrays, size_t count, tare_arena *arena,
                           tare_error *err) {
    tare_npz *npz;
    TARE_TRY(tare_npz_open(&npz, path, err));
    tare_status status = tare_npz_count(npz) == count ? TARE_OK : tare_fail(err, TARE_E_BUG, "was not written whole");
    for (size_t i = 0; i < count && status == TARE_OK; i++) {
        tare_arena_mark mark = tare_arena_get_mark(arena);
        tare_tensor *back;
        const tare_tensor *tensor = writable(arrays[i].tensor, arena, err);
        status = tensor == NULL ? err->status : tare_npz_read(npz, i, arena, &back, err);
        if (status == TARE_OK && (strcmp(tare_npz_name(npz, i), arrays[i].name) != 0 || back->size != tensor->size ||
                                  memcmp(back->data, tensor->data, back->size) != 0)) {
            status = tare_fail(err, TARE_E_IO, "array '%s' reads back as something else", arrays[i].name);
        }
        tare_arena_release(arena, mark);
    }
    tare_npz_close(npz);
    return status;
}

static tare_status write_all(const char *path, const tare_npz_array *arrays, size_t count, tare_arena *arena,
                             tare_error *err) {
    sink s = { .err = err };
    err->status = TARE_OK;
    TARE_TRY(tare_writer_open(&s.writer, path, err));
    const char *temporary;
    tare_status status = pack(&s, arrays, count, arena, err);
    if (status == TARE_OK) status = tare_writer_sync(s.writer, &temporary, err);
    if (status == TARE_OK) status = compare(temporary, arrays, count, arena, err);
    if (status == TARE_OK) return tare_writer_commit(s.writer, err);
    tare_writer_abandon(s.writer);
    return status;
}

tare_status tare_npz_write(const char *path, const tare_npz_array *arrays, size_t count, tare_error *err) {
    assert(count > 0);
    tare_arena *arena = tare_arena_new();
    if (arena == NULL) return tare_fail_memory(err, 0);
    tare_status status = write_all(path, arrays, count, arena, err);
    tare_arena_free(arena);
    return status;
}

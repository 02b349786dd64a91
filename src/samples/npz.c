/* Reading .npz through libzip from mapped bytes, and directories of .npy in the same way. */
#include "samples/npz.h"

#include <assert.h>
#include <string.h>
#include <zip.h>

#include "base/size.h"

/* deflate cannot shrink more than this; an entry that says so lies about its size. */
enum { DEFLATE_RATIO_MAX = 1032 + 1, ENTRIES_MAX = 1 << 20 };

typedef struct entry {
    const char *name; /* without .npy */
    zip_uint64_t index;
    uint64_t size;
    bool is_stored;
    const char *path; /* a file of its own; NULL: in the archive */
} entry;

struct tare_npz {
    tare_arena *arena;
    tare_file file; /* zeroed when the bytes are the caller's */
    zip_t *zip;     /* NULL: a directory */
    TARE_VEC(entry) entries;
};

static tare_status fail_zip(tare_error *err, zip_error_t *error) {
    int code = zip_error_code_zip(error);
    tare_status status = code == ZIP_ER_MEMORY ? TARE_E_LIMIT
                         : code == ZIP_ER_NOPASSWD || code == ZIP_ER_ENCRNOTSUPP || code == ZIP_ER_COMPNOTSUPP ||
                                 code == ZIP_ER_MULTIDISK
                             ? TARE_E_UNSUPPORTED
                             : TARE_E_MALFORMED;
    return tare_fail(err, status, "%s", zip_error_strerror(error));
}

static tare_status check_entry(const zip_stat_t *stat, tare_error *err) {
    if (stat->comp_method != ZIP_CM_STORE && stat->comp_method != ZIP_CM_DEFLATE) {
        return tare_fail(err, TARE_E_UNSUPPORTED,
                         "is compressed by method %u; possible are stored and deflated (numpy's "
                         "savez and savez_compressed)",
                         (unsigned)stat->comp_method);
    }
    if (stat->size / DEFLATE_RATIO_MAX > stat->comp_size + 64) {
        return tare_fail(err, TARE_E_MALFORMED, "says that it inflates from %llu to %llu bytes, which cannot be",
                         (unsigned long long)stat->comp_size, (unsigned long long)stat->size);
    }
    return TARE_OK;
}

static bool is_array_file(const char *name) {
    size_t length = strlen(name);
    return length >= 4 && strcmp(name + length - 4, ".npy") == 0;
}

static tare_status add_entry(tare_npz *npz, zip_uint64_t index, tare_error *err) {
    zip_stat_t stat;
    if (zip_stat_index(npz->zip, index, 0, &stat) != 0) return fail_zip(err, zip_get_error(npz->zip));
    zip_uint64_t wanted = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((stat.valid & wanted) != wanted)
        return tare_fail(err, TARE_E_MALFORMED, "entry %llu has no size or name", (unsigned long long)index);
    if (!is_array_file(stat.name)) return TARE_OK;
    const char *name = tare_arena_copy(npz->arena, stat.name, strlen(stat.name) - 4);
    if (name == NULL) return tare_fail_memory(err, strlen(stat.name));
    if (check_entry(&stat, err) != TARE_OK) return tare_within(err, "array '%s'", name);
    entry added = { .name = name, .index = index, .size = stat.size, .is_stored = stat.comp_method == ZIP_CM_STORE };
    return tare_vec_push(npz->arena, &npz->entries, added) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status list_entries(tare_npz *npz, tare_error *err) {
    zip_int64_t count = zip_get_num_entries(npz->zip, 0);
    if (count > ENTRIES_MAX) {
        return tare_fail(err, TARE_E_LIMIT, "has %lld entries, at most 2^20 are possible", (long long)count);
    }
    tare_map seen;
    tare_map_init(&seen, npz->arena);
    for (zip_int64_t i = 0; i < count; i++) {
        TARE_TRY(add_entry(npz, (zip_uint64_t)i, err));
    }
    for (size_t i = 0; i < npz->entries.count; i++) {
        entry *e = &npz->entries.at[i];
        if (tare_map_get(&seen, e->name) != NULL) {
            return tare_fail(err, TARE_E_MALFORMED, "has the array '%s' twice", e->name);
        }
        if (!tare_map_put(&seen, e->name, e)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static tare_status open_zip(tare_npz *npz, const uint8_t *bytes, size_t size, tare_error *err) {
    if (size < 4 || bytes[0] != 'P' || bytes[1] != 'K') {
        return tare_fail(err, TARE_E_MALFORMED, "is no .npz file: it does not begin as a zip archive");
    }
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source = zip_source_buffer_create(bytes, size, 0, &error);
    npz->zip = source == NULL ? NULL : zip_open_from_source(source, ZIP_RDONLY, &error);
    tare_status status = npz->zip == NULL ? fail_zip(err, &error) : TARE_OK;
    if (npz->zip == NULL && source != NULL) zip_source_free(source);
    zip_error_fini(&error);
    return status == TARE_OK ? list_entries(npz, err) : status;
}

static tare_status new_npz(tare_npz **out, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_npz *npz = arena == NULL ? NULL : tare_arena_alloc(arena, 1, sizeof *npz);
    if (npz == NULL) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *npz);
    }
    npz->arena = arena;
    *out = npz;
    return TARE_OK;
}

tare_status tare_npz_open_bytes(tare_npz **out, const uint8_t *bytes, size_t size, tare_error *err) {
    *out = NULL;
    tare_npz *npz = NULL;
    TARE_TRY(new_npz(&npz, err));
    tare_status status = open_zip(npz, bytes, size, err);
    if (status != TARE_OK) {
        tare_npz_close(npz);
        return status;
    }
    *out = npz;
    return TARE_OK;
}

tare_status tare_npz_open(tare_npz **out, const char *path, tare_error *err) {
    *out = NULL;
    tare_file file;
    TARE_TRY(tare_file_open(&file, path, err));
    if (tare_npz_open_bytes(out, file.data, file.size, err) != TARE_OK) {
        tare_file_close(&file);
        return tare_within(err, "%s", path);
    }
    (*out)->file = file;
    return TARE_OK;
}

void tare_npz_close(tare_npz *npz) {
    if (npz == NULL) return;
    if (npz->zip != NULL) zip_discard(npz->zip);
    tare_file_close(&npz->file);
    tare_arena_free(npz->arena);
}

static tare_status list_files(tare_npz *npz, const char *path, tare_error *err) {
    const char **names;
    size_t count;
    TARE_TRY(tare_path_list(path, npz->arena, &names, &count, err));
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        entry e = { .path = tare_arena_printf(npz->arena, "%s/%s", path, names[i]), .is_stored = true };
        if (e.path == NULL) return tare_fail_memory(err, 0);
        if (!is_array_file(names[i]) || !tare_path_is_file(e.path, &e.size)) continue;
        e.name = tare_arena_copy(npz->arena, names[i], length - 4);
        if (e.name == NULL || !tare_vec_push(npz->arena, &npz->entries, e)) return tare_fail_memory(err, 0);
    }
    return npz->entries.count > 0 ? TARE_OK : tare_fail(err, TARE_E_USAGE, "%s: has no .npy files", path);
}

tare_status tare_npz_open_directory(tare_npz **out, const char *path, tare_error *err) {
    *out = NULL;
    tare_npz *npz = NULL;
    TARE_TRY(new_npz(&npz, err));
    tare_status status = list_files(npz, path, err);
    if (status == TARE_OK) {
        *out = npz;
    } else {
        tare_npz_close(npz);
    }
    return status;
}

bool tare_npz_is_directory(const tare_npz *npz) { return npz->zip == NULL; }

size_t tare_npz_count(const tare_npz *npz) { return npz->entries.count; }

const char *tare_npz_name(const tare_npz *npz, size_t index) { return npz->entries.at[index].name; }

size_t tare_npz_find(const tare_npz *npz, const char *name) {
    for (size_t i = 0; i < npz->entries.count; i++) {
        if (strcmp(npz->entries.at[i].name, name) == 0) return i;
    }
    return SIZE_MAX;
}

bool tare_npz_is_stored(const tare_npz *npz, size_t index) { return npz->entries.at[index].is_stored; }

/* Reads exactly `size` bytes; one more is asked for at the entry's end, where libzip tells a wrong checksum. */
static tare_status read_exactly(zip_file_t *file, void *to, size_t size, bool at_end, tare_error *err) {
    uint8_t *at = to, more;
    while (size > 0) {
        zip_int64_t got = zip_fread(file, at, size);
        if (got < 0) return fail_zip(err, zip_file_get_error(file));
        if (got == 0) return tare_fail(err, TARE_E_MALFORMED, "ends %zu bytes early", size);
        at += got;
        size -= (size_t)got;
    }
    if (at_end && zip_fread(file, &more, 1) < 0) return fail_zip(err, zip_file_get_error(file));
    return TARE_OK;
}

static tare_status skip(zip_file_t *file, bool is_stored, size_t offset, tare_error *err) {
    if (offset == 0) return TARE_OK;
    if (is_stored && zip_fseek(file, (zip_int64_t)offset, SEEK_SET) == 0) return TARE_OK;
    uint8_t thrown[4096];
    while (offset > 0) {
        size_t part = offset < sizeof thrown ? offset : sizeof thrown;
        TARE_TRY(read_exactly(file, thrown, part, false, err));
        offset -= part;
    }
    return TARE_OK;
}

static tare_status read_file(const entry *e, size_t offset, size_t size, void *to, tare_error *err) {
    tare_file file;
    TARE_TRY(tare_file_open(&file, e->path, err));
    tare_status status = TARE_OK;
    if (file.size != e->size) {
        tare_fail(err, TARE_E_IO, "had %llu bytes and has %zu: it changes while it is read",
                  (unsigned long long)e->size, file.size);
        status = tare_within(err, "%s", e->path);
    } else {
        memcpy(to, file.data + offset, size);
    }
    tare_file_close(&file);
    return status;
}

static tare_status read_part(tare_npz *npz, size_t index, size_t offset, size_t size, void *to, tare_error *err) {
    const entry *e = &npz->entries.at[index];
    if (e->path != NULL) return read_file(e, offset, size, to, err);
    zip_file_t *file = zip_fopen_index(npz->zip, e->index, 0);
    if (file == NULL) {
        fail_zip(err, zip_get_error(npz->zip));
        return tare_within(err, "array '%s'", e->name);
    }
    tare_status status = skip(file, e->is_stored, offset, err);
    /* After a seek libzip has no checksum to compare. */
    bool at_end = offset + size == e->size && !(e->is_stored && offset > 0);
    if (status == TARE_OK) status = read_exactly(file, to, size, at_end, err);
    zip_fclose(file);
    return status == TARE_OK ? TARE_OK : tare_within(err, "array '%s'", e->name);
}

tare_status tare_npz_read_header(tare_npz *npz, size_t index, tare_npy *out, tare_error *err) {
    const entry *e = &npz->entries.at[index];
    size_t available = e->size < TARE_NPY_HEADER_MAX ? (size_t)e->size : TARE_NPY_HEADER_MAX;
    tare_arena *arena = tare_arena_new();
    uint8_t *head = arena == NULL ? NULL : tare_arena_alloc_raw(arena, available + 1, 1);
    tare_status status =
        head == NULL ? tare_fail_memory(err, available) : read_part(npz, index, 0, available, head, err);
    if (status == TARE_OK && tare_npy_parse(out, head, available, (size_t)e->size, err) != TARE_OK) {
        status = tare_within(err, "array '%s'", e->name);
    }
    tare_arena_free(arena);
    return status;
}

tare_status tare_npz_read_numbers(tare_npz *npz, size_t index, const tare_npy *npy, size_t offset, size_t size,
                                  void *to, tare_error *err) {
    assert(tare_slice_fits(npy->size, offset, size));
    return read_part(npz, index, npy->offset + offset, size, to, err);
}

tare_status tare_npz_read(tare_npz *npz, size_t index, tare_arena *arena, tare_tensor **out, tare_error *err) {
    tare_npy npy;
    TARE_TRY(tare_npz_read_header(npz, index, &npy, err));
    tare_arena *bytes = tare_arena_new();
    uint8_t *numbers = bytes == NULL ? NULL : tare_arena_alloc_raw(bytes, npy.size + 1, 1);
    tare_status status = numbers == NULL ? tare_fail_memory(err, npy.size)
                                         : tare_npz_read_numbers(npz, index, &npy, 0, npy.size, numbers, err);
    if (status == TARE_OK) {
        static const tare_normalize none;
        tare_array array = tare_npy_array(&npy, numbers);
        status = tare_convert_array(out, &array, npy.dtype, &none, -1, arena, err);
    }
    tare_arena_free(bytes);
    return status;
}

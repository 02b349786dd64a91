/* Dumps of tensors, one archive a sample. */
#include "samples/dump.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct tare_dump_writer {
    tare_arena *arena;
    const char *directory;
    TARE_VEC(const char *) ids;
    pthread_mutex_t *one_at_a_time; /* for ids and arena */
};

struct tare_dump {
    tare_arena *arena;
    const char *directory, *single; /* one of them; single: an .npz, or a directory of .npy */
    bool has_folders;               /* a sample is a directory of .npy */
    TARE_VEC(const char *) ids;     /* sorted */
};

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

const char *tare_dump_path(const char *directory, const char *id, tare_arena *arena) {
    return id == NULL ? tare_arena_printf(arena, "%s/list.txt", directory)
                      : tare_arena_printf(arena, "%s/%s.npz", directory, id);
}

static tare_status begin(tare_dump_writer *dump, const char *directory, tare_error *err) {
    dump->directory = tare_arena_strdup(dump->arena, directory);
    const char *list = tare_dump_path(directory, NULL, dump->arena);
    if (dump->directory == NULL || list == NULL) return tare_fail_memory(err, 0);
    TARE_TRY(tare_path_make_directory(directory, err));
    return tare_file_write(list, "", 0, err);
}

tare_status tare_dump_begin(tare_dump_writer **out, const char *directory, tare_error *err) {
    *out = NULL;
    tare_arena *arena = tare_arena_new();
    tare_dump_writer *dump = arena == NULL ? NULL : tare_arena_alloc(arena, 1, sizeof *dump);
    pthread_mutex_t *mutex = dump == NULL ? NULL : tare_arena_alloc(arena, 1, sizeof *mutex);
    if (mutex == NULL) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *dump);
    }
    dump->arena = arena;
    tare_status status = begin(dump, directory, err);
    if (status != TARE_OK) {
        tare_arena_free(arena);
        return status;
    }
    pthread_mutex_init(mutex, NULL);
    dump->one_at_a_time = mutex;
    *out = dump;
    return TARE_OK;
}

tare_status tare_dump_add(tare_dump_writer *dump, const char *id, const tare_npz_array *arrays, size_t count,
                          tare_error *err) {
    assert(strchr(id, '/') == NULL);
    pthread_mutex_lock(dump->one_at_a_time);
    const char *path = tare_dump_path(dump->directory, id, dump->arena);
    const char *copy = tare_arena_strdup(dump->arena, id);
    bool is_added = path != NULL && copy != NULL && tare_vec_push(dump->arena, &dump->ids, copy);
    pthread_mutex_unlock(dump->one_at_a_time);
    return is_added ? tare_npz_write(path, arrays, count, err) : tare_fail_memory(err, 0);
}

static tare_status write_list(tare_dump_writer *dump, tare_error *err) {
    tare_text text = { .arena = dump->arena };
    if (dump->ids.count > 1) qsort(dump->ids.at, dump->ids.count, sizeof *dump->ids.at, by_text);
    for (size_t i = 0; i < dump->ids.count; i++) tare_text_printf(&text, "%s.npz\n", dump->ids.at[i]);
    const char *list = tare_dump_path(dump->directory, NULL, dump->arena);
    if (text.failed || list == NULL) return tare_fail_memory(err, 0);
    return tare_file_write(list, text.length == 0 ? "" : text.at, text.length, err);
}

tare_status tare_dump_end(tare_dump_writer *dump, tare_status status, tare_error *err) {
    if (status == TARE_OK) status = write_list(dump, err);
    pthread_mutex_destroy(dump->one_at_a_time);
    tare_arena_free(dump->arena);
    return status;
}

/* ---- reading ---- */

static const char ending[] = ".npz";
enum { ENDING = sizeof ending - 1 };

static bool is_archive(const char *name, size_t length) {
    return length > ENDING && memcmp(name + length - ENDING, ending, ENDING) == 0;
}

bool tare_dump_is_archive(const char *path) { return is_archive(path, strlen(path)); }

/* A line or a file's name: NAME.npz. */
static tare_status add_name(tare_dump *dump, const char *name, size_t length, tare_error *err) {
    if (!is_archive(name, length) || memchr(name, '/', length) != NULL || memchr(name, '\0', length) != NULL) {
        return tare_fail(err, TARE_E_MALFORMED, "'%.*s' is no name of an .npz beside it",
                         (int)(length < 128 ? length : 128), name);
    }
    const char *id = tare_arena_copy(dump->arena, name, length - ENDING);
    return id != NULL && tare_vec_push(dump->arena, &dump->ids, id) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status read_list(tare_dump *dump, const tare_file *list, tare_error *err) {
    const char *at = (const char *)list->data, *end = at + list->size;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end;
        size_t length = (size_t)(stop - at);
        if (length > 0 && at[length - 1] == '\r') length--;
        if (length > 0 && add_name(dump, at, length, err) != TARE_OK) return tare_within(err, "line %zu", line);
        at = stop < end ? stop + 1 : end;
    }
    if (dump->ids.count > 0) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "names no samples: the run that wrote it was cut short");
}

static bool has_arrays(const char *path) {
    tare_npz *npz;
    tare_error err = { 0 };
    if (tare_npz_open_directory(&npz, path, &err) != TARE_OK) return false;
    tare_npz_close(npz);
    return true;
}

static tare_status add_id(tare_dump *dump, const char *id, tare_error *err) {
    return tare_vec_push(dump->arena, &dump->ids, id) ? TARE_OK : tare_fail_memory(err, 0);
}

/* Without an .npz: the .npy files here, or the directories that have some. */
static tare_status list_arrays(tare_dump *dump, const char **names, size_t count, tare_error *err) {
    if (has_arrays(dump->directory)) {
        dump->single = dump->directory;
        dump->directory = NULL;
        return add_id(dump, dump->single, err);
    }
    dump->has_folders = true;
    for (size_t i = 0; i < count; i++) {
        const char *path = tare_arena_printf(dump->arena, "%s/%s", dump->directory, names[i]);
        if (path == NULL) return tare_fail_memory(err, 0);
        if (tare_path_is_directory(path) && has_arrays(path)) TARE_TRY(add_id(dump, names[i], err));
    }
    if (dump->ids.count > 0) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE, "%s: is no dump: wanted <id>.npz files, or <tensor>.npy, or <id>/<tensor>.npy",
                     dump->directory);
}

static tare_status list_directory(tare_dump *dump, tare_error *err) {
    const char **names;
    size_t count;
    TARE_TRY(tare_path_list(dump->directory, dump->arena, &names, &count, err));
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (is_archive(names[i], length)) TARE_TRY(add_name(dump, names[i], length, err));
    }
    return dump->ids.count > 0 ? TARE_OK : list_arrays(dump, names, count, err);
}

static tare_status open_file(tare_dump *dump, const char *path, tare_error *err) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    if (!is_archive(name, strlen(name))) return tare_fail(err, TARE_E_USAGE, "%s: is no .npz of dumped tensors", path);
    dump->single = tare_arena_strdup(dump->arena, path);
    return dump->single == NULL ? tare_fail_memory(err, 0) : add_name(dump, name, strlen(name), err);
}

static tare_status open_directory(tare_dump *dump, const char *directory, tare_error *err) {
    dump->directory = tare_arena_strdup(dump->arena, directory);
    const char *path = tare_dump_path(directory, NULL, dump->arena);
    if (dump->directory == NULL || path == NULL) return tare_fail_memory(err, 0);
    uint64_t size;
    tare_file list;
    if (!tare_path_is_file(path, &size)) {
        TARE_TRY(list_directory(dump, err));
    } else {
        TARE_TRY(tare_file_open(&list, path, err));
        tare_status status = read_list(dump, &list, err);
        tare_file_close(&list);
        if (status != TARE_OK) return tare_within(err, "%s", path);
    }
    if (dump->ids.count > 1) qsort(dump->ids.at, dump->ids.count, sizeof *dump->ids.at, by_text);
    for (size_t i = 1; i < dump->ids.count; i++) {
        if (strcmp(dump->ids.at[i - 1], dump->ids.at[i]) != 0) continue;
        return tare_fail(err, TARE_E_MALFORMED, "%s: names '%s.npz' twice", path, dump->ids.at[i]);
    }
    return TARE_OK;
}

tare_status tare_dump_open(tare_dump **out, const char *path, tare_error *err) {
    *out = NULL;
    uint64_t size;
    bool is_directory = tare_path_is_directory(path);
    if (!is_directory && !tare_path_is_file(path, &size))
        return tare_fail(err, TARE_E_IO, "%s: is no directory of dumped tensors and no .npz", path);
    tare_arena *arena = tare_arena_new();
    tare_dump *dump = arena == NULL ? NULL : tare_arena_alloc(arena, 1, sizeof *dump);
    if (dump == NULL) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *dump);
    }
    dump->arena = arena;
    tare_status status = is_directory ? open_directory(dump, path, err) : open_file(dump, path, err);
    if (status != TARE_OK) {
        tare_dump_close(dump);
        return status;
    }
    *out = dump;
    return TARE_OK;
}

void tare_dump_close(tare_dump *dump) {
    if (dump != NULL) tare_arena_free(dump->arena);
}

bool tare_dump_is_single(const tare_dump *dump) { return dump->single != NULL; }

size_t tare_dump_count(const tare_dump *dump) { return dump->ids.count; }

const char *tare_dump_id(const tare_dump *dump, size_t index) { return dump->ids.at[index]; }

size_t tare_dump_find(const tare_dump *dump, const char *id) {
    size_t lo = 0, hi = dump->ids.count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        int order = strcmp(dump->ids.at[middle], id);
        if (order == 0) return middle;
        if (order < 0) {
            lo = middle + 1;
        } else {
            hi = middle;
        }
    }
    return SIZE_MAX;
}

tare_status tare_dump_get(const tare_dump *dump, size_t index, tare_npz **out, tare_error *err) {
    *out = NULL;
    if (dump->single != NULL)
        return is_archive(dump->single, strlen(dump->single)) ? tare_npz_open(out, dump->single, err)
                                                              : tare_npz_open_directory(out, dump->single, err);
    tare_arena *arena = tare_arena_new();
    const char *id = dump->ids.at[index], *path = NULL;
    if (arena != NULL)
        path = dump->has_folders ? tare_arena_printf(arena, "%s/%s", dump->directory, id)
                                 : tare_dump_path(dump->directory, id, arena);
    tare_status status = path == NULL        ? tare_fail_memory(err, 0)
                         : dump->has_folders ? tare_npz_open_directory(out, path, err)
                                             : tare_npz_open(out, path, err);
    tare_arena_free(arena);
    return status;
}

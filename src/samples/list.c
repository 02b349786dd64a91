/* A list: a text file with one path a line, relative to the list's folder; empty lines and lines that begin with '#'
 * are skipped. */
#include <string.h>

#include "base/map.h"
#include "samples/data.h"

enum { LINE_MAX_BYTES = 4096 };

/* The list's folder with its '/', or "". */
static const char *folder_of(const char *path, tare_arena *arena) {
    const char *slash = strrchr(path, '/');
    return tare_arena_copy(arena, path, slash == NULL ? 0 : (size_t)(slash - path) + 1);
}

static tare_status refuse_missing(const char *path, size_t folder_length, tare_arena *arena, tare_error *err) {
    const size_t length = folder_length + strcspn(path + folder_length, " \t,;");
    const char *first = tare_arena_copy(arena, path, length);
    uint64_t size;
    if (first == NULL) return tare_fail_memory(err, length);
    if (path[length] != '\0' && tare_path_is_file(first, &size))
        return tare_fail(err, TARE_E_IO,
                         "'%s': there is no such file; a line is one path, and labels go into a file for --labels",
                         path);
    if (strchr(path, ',') != NULL)
        return tare_fail(
            err, TARE_E_IO,
            "'%s': there is no such file; a line is one path: if this is a table of labels, pass the pictures "
            "to --data and it to --labels",
            path);
    return tare_fail(err, TARE_E_IO, "'%s': there is no such file", path);
}

static tare_status add_line(tare_data *data, const char *folder, const char *name, size_t line, tare_arena *arena,
                            tare_error *err) {
    const char *path = name[0] == '/' ? name : tare_arena_printf(arena, "%s%s", folder, name);
    if (path == NULL) return tare_fail_memory(err, 0);
    tare_data_kind kind = tare_data_kind_of_name(name);
    uint64_t size;
    if (tare_path_is_directory(path))
        return tare_fail(err, TARE_E_IO, "'%s': is a directory; a list names files", path);
    if (!tare_path_is_file(path, &size)) return refuse_missing(path, strlen(path) - strlen(name), arena, err);
    if (kind == TARE_DATA_KIND_COUNT) {
        return tare_fail(err, TARE_E_USAGE, "'%s': is no .png, .jpg, .jpeg, .npy or .npz", path);
    }
    return tare_data_add_file(data, path, name, line, kind, arena, err);
}

static tare_status parse_line(tare_data *data, const char *folder, const char *at, size_t length, size_t line,
                              tare_arena *arena, tare_error *err) {
    if (memchr(at, '\0', length) != NULL) return tare_fail(err, TARE_E_MALFORMED, "has a NUL byte, so it is no text");
    while (length > 0 && strchr(" \t\r", at[length - 1]) != NULL) length--;
    if (length == 0 || at[0] == '#') return TARE_OK;
    if (length > LINE_MAX_BYTES) {
        return tare_fail(err, TARE_E_LIMIT, "has %zu bytes, at most %d are possible", length, (int)LINE_MAX_BYTES);
    }
    const char *name = tare_arena_copy(arena, at, length);
    return name == NULL ? tare_fail_memory(err, length) : add_line(data, folder, name, line, arena, err);
}

static tare_status parse_list(tare_data *data, const char *path, const tare_file *file, tare_arena *arena,
                              tare_error *err) {
    const char *folder = folder_of(path, arena), *at = (const char *)file->data, *end = at + file->size;
    data->list = tare_arena_strdup(arena, path);
    if (folder == NULL || data->list == NULL) return tare_fail_memory(err, 0);
    if (file->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    for (size_t line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) stop = end;
        if (parse_line(data, folder, at, (size_t)(stop - at), line, arena, err) != TARE_OK) {
            return tare_within(err, "line %zu", line);
        }
        at = stop < end ? stop + 1 : end;
    }
    return data->files.count > 0 ? TARE_OK : tare_fail(err, TARE_E_USAGE, "the list names no files");
}

/* A file that is named again is one more sample: who weights samples so means it, most do not. */
static tare_status warn_of_repeats(const tare_data *data, const char *path, tare_arena *arena, tare_log *log,
                                   tare_error *err) {
    tare_map named;
    size_t count = 0;
    const tare_data_file *again = NULL;
    tare_map_init(&named, arena);
    for (size_t i = 0; i < data->files.count; i++) {
        tare_data_file *file = &data->files.at[i];
        const char *name = file->name;
        while (name[0] == '.' && name[1] == '/') name += 2;
        if (tare_map_get(&named, name) == NULL) {
            if (!tare_map_put(&named, name, file)) return tare_fail_memory(err, 0);
        } else if (count++ == 0) {
            again = file;
        }
    }
    if (count > 0)
        tare_log_warn(log,
                      "%s: %zu of %zu lines name a file again, the first is line %zu: '%s'; each counts as a sample",
                      path, count, data->files.count, again->line, again->name);
    return TARE_OK;
}

tare_status tare_data_add_list(tare_data *data, const char *path, const tare_file *file, tare_arena *arena,
                               tare_log *log, tare_error *err) {
    if (parse_list(data, path, file, arena, err) != TARE_OK) return tare_within(err, "%s", path);
    return warn_of_repeats(data, path, arena, log, err);
}

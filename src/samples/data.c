/* What a source's text names: its form, its files, their ids. */
#include "samples/data.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "samples/csv.h"

enum { RANDOM_MAX = 10000000, FILES_MAX = 10000000, INDEX_DIGITS = 6 };

/* ORDER: data kind */
static const char *const kind_words[TARE_DATA_KIND_COUNT] = { "a picture",          "an .npy array", "an .npz archive",
                                                              "a file of raw data", "an NV12 frame", "random" };

tare_data_kind tare_data_kind_of_name(const char *name) {
    static const struct {
        const char *extension;
        tare_data_kind kind;
    } kinds[] = {
        { ".png", TARE_DATA_IMAGE },  { ".jpg", TARE_DATA_IMAGE },  { ".jpeg", TARE_DATA_IMAGE },
        { ".npy", TARE_DATA_NPY },    { ".npz", TARE_DATA_NPZ },    { ".bmp", TARE_DATA_IMAGE },
        { ".gif", TARE_DATA_IMAGE },  { ".webp", TARE_DATA_IMAGE }, { ".tif", TARE_DATA_IMAGE },
        { ".tiff", TARE_DATA_IMAGE }, { ".heic", TARE_DATA_IMAGE }, { ".avif", TARE_DATA_IMAGE },
    };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcasecmp(dot, kinds[i].extension) == 0) return kinds[i].kind;
    }
    return TARE_DATA_KIND_COUNT;
}

tare_status tare_data_within(const tare_data *data, const tare_data_file *file, tare_error *err) {
    if (file->line == 0) return tare_within(err, "%s", file->path);
    return tare_within(err, "%s: line %zu: %s", data->list, file->line, file->path);
}

tare_status tare_data_add_file(tare_data *data, const char *path, const char *name, size_t line, tare_data_kind kind,
                               tare_arena *arena, tare_error *err) {
    tare_data_file file = { .path = path, .name = name, .line = line };
    if (data->files.count == FILES_MAX) {
        return tare_fail(err, TARE_E_LIMIT, "more than %d files; split them over several runs", (int)FILES_MAX);
    }
    if (data->files.count > 0 && kind != data->kind) {
        return tare_fail(err, TARE_E_USAGE, "'%s' is %s, but '%s' is %s; give one kind at a time, by a list of its own",
                         path, kind_words[kind], data->files.at[0].path, kind_words[data->kind]);
    }
    data->kind = kind;
    return tare_vec_push(arena, &data->files, file) ? TARE_OK : tare_fail_memory(err, 0);
}

/* ---- ids ---- */

const char *tare_name_stem(const char *name, tare_arena *arena) {
    const char *slash = strrchr(name, '/'), *base = slash == NULL ? name : slash + 1, *dot = strrchr(base, '.');
    size_t length = dot == NULL || dot == base ? strlen(base) : (size_t)(dot - base);
    return tare_arena_copy(arena, base, length);
}

const char *tare_name_flatten(const char *name, tare_arena *arena) {
    while (name[0] == '.' && name[1] == '/') name += 2;
    char *flat = tare_arena_strdup(arena, name);
    for (char *at = flat; at != NULL && *at != '\0'; at++) {
        if (*at == '/') *at = '_';
    }
    return flat;
}

/* The whole name, and a number when that is taken too. */
static const char *long_id(const char *name, const tare_map *taken, tare_arena *arena) {
    const char *id = tare_name_flatten(name, arena), *free_id = id;
    for (size_t n = 2; free_id != NULL && tare_map_get(taken, free_id) != NULL; n++) {
        free_id = tare_arena_printf(arena, "%s~%zu", id, n);
    }
    return free_id;
}

/* Stems that occur once are ids; where one occurs again, its files get their whole names. */
static tare_status set_ids(tare_data *data, tare_arena *arena, tare_error *err) {
    tare_map first;
    tare_map_init(&first, arena);
    bool *again = tare_arena_alloc(arena, data->files.count, sizeof *again);
    if (again == NULL) return tare_fail_memory(err, data->files.count);
    for (size_t i = 0; i < data->files.count; i++) {
        tare_data_file *file = &data->files.at[i];
        file->id = tare_name_stem(file->name, arena);
        if (file->id == NULL) return tare_fail_memory(err, 0);
        tare_data_file *other = tare_map_get(&first, file->id);
        if (other != NULL) {
            again[i] = again[other - data->files.at] = true;
        } else if (!tare_map_put(&first, file->id, file)) {
            return tare_fail_memory(err, 0);
        }
    }
    tare_map taken;
    tare_map_init(&taken, arena);
    for (int pass = 0; pass < 2; pass++) { /* the stems that stay are taken before paths look for a free id */
        for (size_t i = 0; i < data->files.count; i++) {
            tare_data_file *file = &data->files.at[i];
            if (again[i] != (pass == 1)) continue;
            if (pass == 1) file->id = long_id(file->name, &taken, arena);
            if (file->id == NULL || !tare_map_put(&taken, file->id, file)) return tare_fail_memory(err, 0);
        }
    }
    return TARE_OK;
}

static int digits_of(size_t count) {
    int digits = INDEX_DIGITS;
    for (size_t top = 1000000; count > top && digits < 19; top *= 10) digits++;
    return digits;
}

const tare_data_file *tare_data_find(const tare_data *data, size_t item, size_t *slice) {
    size_t lo = 0, hi = data->files.count;
    while (hi - lo > 1) {
        size_t middle = lo + (hi - lo) / 2;
        if (data->files.at[middle].first <= item) {
            lo = middle;
        } else {
            hi = middle;
        }
    }
    const tare_data_file *file = &data->files.at[lo];
    assert(item - file->first < file->count);
    *slice = item - file->first;
    return file;
}

const char *tare_data_id(const tare_data *data, size_t item, tare_arena *arena) {
    if (data->is_indexed) return tare_arena_printf(arena, "%0*zu", digits_of(data->item_count), item);
    size_t slice;
    const tare_data_file *file = tare_data_find(data, item, &slice);
    return file->count == 1 ? file->id : tare_arena_printf(arena, "%s_%0*zu", file->id, digits_of(file->count), slice);
}

/* ---- opening ---- */

static tare_status parse_random(tare_data *data, const char *count, tare_error *err) {
    char *end;
    unsigned long long number = strtoull(count, &end, 10);
    if (count[0] < '0' || count[0] > '9' || *end != '\0' || number == 0 || number > RANDOM_MAX) {
        return tare_fail(err, TARE_E_USAGE, "'%s': random:N wants a number of samples, 1...%d", data->text,
                         (int)RANDOM_MAX);
    }
    data->kind = TARE_DATA_RANDOM;
    data->is_indexed = true;
    data->declared = (size_t)number;
    return TARE_OK;
}

/* A list is valid UTF-8 without control characters but white space. */
static bool looks_like_text(const tare_file *file) {
    for (size_t i = 0; i < file->size; i++) {
        if (file->data[i] < 9 || (file->data[i] > 13 && file->data[i] < 32)) return false;
    }
    return tare_utf8_is_valid((const char *)file->data, file->size);
}

static bool begins(const tare_file *file, const char *magic, size_t length) {
    return file->size >= length && memcmp(file->data, magic, length) == 0;
}

static bool is_there(const char *path) {
    tare_file_id unused;
    return tare_path_identify(path, &unused);
}

/* "F.bin:f33:1x3": what is behind the longest part before a colon that is there; NULL: no part is. */
static const char *find_suffix(const char *text, tare_arena *arena) {
    char *path = tare_arena_strdup(arena, text);
    for (char *colon; path != NULL && (colon = strrchr(path, ':')) != NULL && colon > path;) {
        *colon = '\0';
        if (is_there(path)) return text + (colon - path);
    }
    return NULL;
}

static tare_status refuse_missing(const char *path, tare_arena *arena, tare_error *err) {
    const char *suffix = find_suffix(path, arena);
    if (suffix != NULL)
        return tare_fail(err, TARE_E_USAGE,
                         "%s: '%s' is no :TYPE:SHAPE such as :f32:1x3x224x224 or :u8:3x8x8, nor :nv12:WIDTHxHEIGHT",
                         path, suffix);
    if (strpbrk(path, "*?[") != NULL)
        return tare_fail(err, TARE_E_IO,
                         "%s: No such file or directory; a pattern is not expanded: pass the directory, or a text that "
                         "lists the files",
                         path);
    return tare_fail(err, TARE_E_IO,
                     "%s: No such file or directory; --data takes a directory of images, .npy or .npz, one such "
                     "file, a list, F.bin:f32:1x3x8x8 or random:N",
                     path);
}

static tare_status refuse_kind(const char *path, const tare_file *file, tare_error *err) {
    if (tare_text_is_utf16(file->data, file->size)) return tare_fail(err, TARE_E_USAGE, "%s: " TARE_UTF16_ADVICE, path);
    const char *advice = tare_data_advice(path);
    if (advice != NULL) return tare_fail(err, TARE_E_USAGE, "%s: %s", path, advice);
    return tare_fail(
        err, TARE_E_USAGE,
        "%s: is no picture, .npy, .npz or list of files; for raw numbers pass %s:f32:1x3x224x224 with their type and "
        "shape, for NV12 frames %s:nv12:WIDTHxHEIGHT",
        path, path, path);
}

/* One file: its first bytes say what it is, then its name. */
static tare_status add_single(tare_data *data, const char *path, tare_arena *arena, tare_log *log, tare_error *err) {
    tare_file file;
    const tare_status opened = tare_file_open(&file, path, err);
    if (opened != TARE_OK) return is_there(path) ? opened : refuse_missing(path, arena, err);
    tare_data_kind kind = tare_data_kind_of_name(path);
    if (begins(&file, "\x89PNG", 4) || begins(&file, "\xff\xd8\xff", 3)) kind = TARE_DATA_IMAGE;
    if (begins(&file, "\x93NUMPY", 6)) kind = TARE_DATA_NPY;
    if (begins(&file, "PK\3\4", 4)) kind = TARE_DATA_NPZ;
    tare_status status = TARE_OK;
    data->is_single = true;
    if (kind != TARE_DATA_KIND_COUNT) {
        status = tare_data_add_file(data, path, path, 0, kind, arena, err);
    } else if (looks_like_text(&file)) {
        data->is_single = false;
        status = tare_data_add_list(data, path, &file, arena, log, err);
    } else {
        status = refuse_kind(path, &file, err);
    }
    if (status == TARE_OK && data->is_single && (kind == TARE_DATA_NPY || kind == TARE_DATA_NPZ)) {
        data->map = file;
    } else {
        tare_file_close(&file);
    }
    return status;
}

static bool is_raw_name(const char *name) {
    static const char *const extensions[] = { ".bin", ".raw", ".dat", ".yuv", ".nv12" };
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof extensions / sizeof extensions[0]; i++) {
        if (strcasecmp(dot, extensions[i]) == 0) return true;
    }
    return false;
}

static tare_status add_raw(tare_data *data, const char *path, tare_arena *arena, tare_error *err) {
    tare_data_kind kind = data->kind;
    if (!tare_path_is_directory(path)) {
        data->is_single = true;
        return tare_data_add_file(data, path, path, 0, kind, arena, err);
    }
    const char **names;
    size_t count;
    uint64_t size;
    TARE_TRY(tare_path_list(path, arena, &names, &count, err));
    for (size_t i = 0; i < count; i++) {
        const char *file = tare_arena_printf(arena, "%s/%s", path, names[i]);
        if (file == NULL) return tare_fail_memory(err, 0);
        if (!is_raw_name(names[i]) || !tare_path_is_file(file, &size)) continue;
        TARE_TRY(tare_data_add_file(data, file, names[i], 0, kind, arena, err));
    }
    if (data->files.count > 0) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE, "%s: the directory has no .bin, .raw, .dat, .yuv or .nv12 files", path);
}

/* "PATH:TYPE:SHAPE", when no file has the whole text for its name. */
static bool split_raw(tare_data *data, char *text) {
    char *last = strrchr(text, ':');
    if (last == NULL) return false;
    *last = '\0';
    char *before = strrchr(text, ':');
    *last = ':';
    if (before == NULL || before == text || !tare_raw_parse(data, before + 1)) return false;
    *before = '\0';
    return true;
}

static tare_status find_files(tare_data *data, tare_arena *arena, tare_log *log, tare_error *err) {
    uint64_t size;
    if (!tare_path_is_file(data->text, &size)) {
        if (strncmp(data->text, "random:", 7) == 0) return parse_random(data, data->text + 7, err);
        char *path = tare_arena_strdup(arena, data->text);
        if (path == NULL) return tare_fail_memory(err, 0);
        if (split_raw(data, path)) return add_raw(data, path, arena, err);
        if (tare_path_is_directory(data->text)) return tare_data_add_directory(data, data->text, arena, log, err);
    }
    return add_single(data, data->text, arena, log, err);
}

tare_status tare_data_open(tare_data *out, const char *text, bool whole, tare_arena *arena, tare_log *log,
                           tare_error *err) {
    *out = (tare_data){ .text = text, .kind = TARE_DATA_KIND_COUNT, .whole = whole };
    tare_status status = find_files(out, arena, log, err);
    if (status == TARE_OK && out->files.count > 0) status = set_ids(out, arena, err);
    if (status != TARE_OK) tare_data_close(out);
    return status;
}

void tare_data_close(tare_data *data) { tare_file_close(&data->map); }

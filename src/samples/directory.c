/* A directory: the files in it that are samples, in the order of their names. */
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/text.h"
#include "base/words.h"
#include "samples/data.h"

enum { KINDS_MOST = 4 /* kinds of other entries that are told */ };

/* Entries that are no samples, by extension. */
typedef struct others {
    struct {
        const char *name; /* ".txt", or the whole name where there is no extension */
        size_t count;
    } kinds[KINDS_MOST];
    size_t kind_count, count;
    const char *first;
} others;

static void add_other(others *o, const char *name) {
    const char *dot = strrchr(name, '.'), *kind = dot ? dot : name;
    size_t k = 0;
    if (o->count++ == 0) o->first = name;
    while (k < o->kind_count && strcmp(o->kinds[k].name, kind) != 0) k++;
    if (k == KINDS_MOST) return;
    if (k == o->kind_count) o->kinds[o->kind_count++].name = kind;
    o->kinds[k].count++;
}

static void print_others(tare_text *text, const others *o) {
    size_t told = 0;
    tare_text_printf(text, "%zu other %s ignored: ", o->count, tare_plural(o->count, "entry", "entries"));
    for (size_t k = 0; k < o->kind_count; told += o->kinds[k++].count) {
        tare_text_printf(text, "%s%s", k ? ", " : "", o->kinds[k].name);
        if (o->kinds[k].count > 1) tare_text_printf(text, " %zu", o->kinds[k].count);
    }
    if (told < o->count) tare_text_puts(text, ", ...");
}

static const char *path_in(const char *path, const char *name, tare_arena *arena) {
    const char *gap = path[0] != '\0' && path[strlen(path) - 1] == '/' ? "" : "/";
    return tare_arena_printf(arena, "%s%s%s", path, gap, name);
}

/* How many files of a directory are samples, and an extension of theirs; 0 where it cannot be read. */
static size_t count_samples(const char *path, const char **extension, tare_arena *arena) {
    const char **names;
    size_t count, samples = 0;
    tare_error none;
    if (tare_path_list(path, arena, &names, &count, &none) != TARE_OK) return 0;
    for (size_t i = 0; i < count; i++)
        if (tare_data_kind_of_name(names[i]) != TARE_DATA_KIND_COUNT && samples++ == 0)
            *extension = strrchr(names[i], '.');
    return samples;
}

/* A folder too high up: the one beneath with the most samples is meant. */
static tare_status refuse_parent(const char *path, const char *const *names, size_t count, tare_arena *arena,
                                 tare_error *err) {
    size_t most = 0;
    const char *best = NULL, *extension = NULL, *of_best = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *folder = path_in(path, names[i], arena);
        if (folder == NULL) return tare_fail_memory(err, 0);
        const size_t samples = tare_path_is_directory(folder) ? count_samples(folder, &extension, arena) : 0;
        if (samples > most) most = samples, best = folder, of_best = extension;
    }
    if (best == NULL) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE,
                     "the directory has no samples itself; %s beneath it has %zu, such as %s: pass that", best, most,
                     of_best);
}

static bool is_one_of(const char *name, const char *const *extensions) {
    const char *dot = strrchr(name, '.');
    for (; dot != NULL && *extensions != NULL; extensions++)
        if (strcasecmp(dot, *extensions) == 0) return true;
    return false;
}

const char *tare_data_advice(const char *name) {
    static const char *const media[] = {
        ".wav", ".mp3", ".flac", ".ogg", ".m4a", ".mp4", ".avi", ".mov", ".mkv", NULL
    };
    static const char *const texts[] = { ".txt", ".csv", ".json", ".yaml", ".yml", ".md", NULL };
    if (is_one_of(name, media))
        return "sound and video are not decoded: save what the model takes, one .npy a sample or one of all";
    if (is_one_of(name, texts)) return "a text can only be a list of sample files, passed itself";
    return NULL;
}

static tare_status refuse_empty(const char *path, const char *const *names, size_t count, const others *o,
                                tare_arena *arena, tare_error *err) {
    TARE_TRY(refuse_parent(path, names, count, arena, err));
    const char *advice = o->first == NULL ? NULL : tare_data_advice(o->first);
    if (o->first == NULL)
        return tare_fail(err, TARE_E_USAGE, "the directory has no samples: no .png, .jpg, .jpeg, .npy or .npz");
    return tare_fail(
        err, TARE_E_USAGE, "the directory has no samples: no .png, .jpg, .jpeg, .npy or .npz, only such as '%s'; %s",
        o->first, advice != NULL ? advice : "for raw numbers (.bin, .raw, .dat) pass DIRECTORY:f32:1x3x224x224");
}

static tare_status tell_others(tare_data *data, const char *path, const others *o, tare_arena *arena, tare_log *log,
                               tare_error *err) {
    tare_text text = { .arena = arena };
    if (o->count == 0) return TARE_OK;
    print_others(&text, o);
    if (text.failed) return tare_fail_memory(err, 0);
    data->ignored = text.at;
    tare_log_note(log, "%s: %s", path, data->ignored);
    return TARE_OK;
}

tare_status tare_data_add_directory(tare_data *data, const char *path, tare_arena *arena, tare_log *log,
                                    tare_error *err) {
    const char **names;
    others other = { .count = 0 };
    size_t count;
    uint64_t size;
    TARE_TRY(tare_path_list(path, arena, &names, &count, err));
    for (size_t i = 0; i < count; i++) {
        const char *file = path_in(path, names[i], arena);
        if (file == NULL) return tare_fail_memory(err, 0);
        tare_data_kind kind = tare_data_kind_of_name(names[i]);
        if (kind != TARE_DATA_KIND_COUNT && tare_path_is_file(file, &size))
            TARE_TRY(tare_data_add_file(data, file, names[i], 0, kind, arena, err));
        else if (strcmp(names[i], "list.txt") != 0) /* dumps have a list.txt beside their .npz */
            add_other(&other, names[i]);
    }
    if (data->files.count > 0) return tell_others(data, path, &other, arena, log, err);
    refuse_empty(path, names, count, &other, arena, err);
    return tare_within(err, "%s", path);
}

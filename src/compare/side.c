/* Sides: models and dumps. */
#include "compare/side.h"

#include <string.h>

static const char suffix[] = ".npz";

static tare_status new_side(tare_side **out, const char *name, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_side *side = arena ? tare_arena_alloc(arena, 1, sizeof *side) : NULL;
    const char *copy = side ? tare_arena_strdup(arena, name) : NULL;
    if (!copy) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *side);
    }
    side->arena = arena;
    side->name = copy;
    *out = side;
    return TARE_OK;
}

void tare_side_close(tare_side *side) {
    if (side) tare_arena_free(side->arena);
}

tare_status tare_side_open_model(tare_side **out, const char *name, const tare_model *model, tare_backend backend,
                                 tare_error *err) {
    TARE_TRY(new_side(out, name, err));
    (*out)->model = model;
    (*out)->backend = backend;
    return TARE_OK;
}

void tare_side_set_quant_filter(tare_side *side, bool (*is_quantized)(void *context, const tare_value *value),
                                void *context) {
    side->is_quantized = is_quantized;
    side->filter_context = context;
}

tare_status tare_side_open_dump(tare_side **out, const char *name, const char *path, tare_error *err) {
    uint64_t size;
    bool is_directory = tare_path_is_directory(path);
    if (!is_directory && !tare_path_is_file(path, &size))
        return tare_fail(err, TARE_E_IO, "%s: is no directory of dumped tensors and no .npz", path);
    tare_side *side;
    TARE_TRY(new_side(&side, name, err));
    side->is_directory = is_directory;
    side->path = tare_arena_strdup(side->arena, path);
    if (!side->path) {
        tare_side_close(side);
        return tare_fail_memory(err, 0);
    }
    *out = side;
    return TARE_OK;
}

tare_status tare_side_open_sample(const tare_side *side, const char *id, tare_npz **out, tare_error *err) {
    if (!side->is_directory) return tare_npz_open(out, side->path, err);
    tare_arena *arena = tare_arena_new();
    const char *path = arena ? tare_arena_printf(arena, "%s/%s%s", side->path, id, suffix) : NULL;
    tare_status status = path ? tare_npz_open(out, path, err) : tare_fail_memory(err, 0);
    tare_arena_free(arena);
    return status;
}

tare_status tare_side_list(const tare_side *side, tare_arena *arena, const char ***ids, size_t *count,
                           tare_error *err) {
    const char **names;
    size_t total = 1;
    *count = 0;
    if (side->is_directory) {
        TARE_TRY(tare_path_list(side->path, arena, &names, &total, err));
    } else {
        const char *slash = strrchr(side->path, '/');
        names = tare_arena_alloc(arena, 1, sizeof *names);
        if (!names) return tare_fail_memory(err, sizeof *names);
        names[0] = slash ? slash + 1 : side->path;
    }
    for (size_t i = 0; i < total; i++) {
        size_t length = strlen(names[i]), tail = sizeof suffix - 1;
        if (length <= tail || strcmp(names[i] + length - tail, suffix) != 0) continue;
        names[*count] = tare_arena_copy(arena, names[i], length - tail);
        if (!names[(*count)++]) return tare_fail_memory(err, 0);
    }
    *ids = names;
    return TARE_OK;
}

/* Sides: models and dumps. */
#include "compare/side.h"

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
    if (!side) return;
    tare_dump_close(side->dump);
    tare_arena_free(side->arena);
}

tare_status tare_side_open_model(tare_side **out, const char *name, const tare_model *model, tare_backend backend,
                                 tare_error *err) {
    TARE_TRY(new_side(out, name, err));
    (*out)->model = model;
    (*out)->backend = backend;
    return TARE_OK;
}

tare_status tare_side_open_runner(tare_side **out, const char *name, const tare_model *model, const tare_runner *runner,
                                  tare_error *err) {
    TARE_TRY(tare_side_open_model(out, name, model, TARE_BACKEND_FLOAT, err));
    (*out)->runner = *runner;
    return TARE_OK;
}

void tare_side_set_target(tare_side *side, const tare_target *target, int profile) {
    side->target = target;
    side->profile = profile;
}

void tare_side_set_quant_filter(tare_side *side, bool (*is_quantized)(void *context, const tare_value *value),
                                void *context) {
    side->is_quantized = is_quantized;
    side->filter_context = context;
}

tare_status tare_side_open_dump(tare_side **out, const char *name, const char *path, tare_error *err) {
    tare_side *side;
    TARE_TRY(new_side(&side, name, err));
    const tare_status status = tare_dump_open(&side->dump, path, err);
    if (status == TARE_OK)
        *out = side;
    else
        tare_side_close(side);
    return status;
}

size_t tare_side_find(const tare_side *side, const char *id) {
    return tare_dump_is_single(side->dump) ? 0 : tare_dump_find(side->dump, id);
}

tare_status tare_side_open_sample(const tare_side *side, const char *id, tare_npz **out, tare_error *err) {
    return tare_dump_get(side->dump, tare_side_find(side, id), out, err);
}

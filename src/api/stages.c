/* The stages of a quantization as files of a directory, so that each can be run, looked at and compared. */
#include <tare/quantize.h>

#include "api/stage.h"
#include "base/file.h"
#include "report/flows.h"

enum { STAGE_COUNT = TARE_STAGE_QUANTIZED + 1 };

/* "DIR/calibrated.onnx"; NULL: no memory */
static const char *path_of(const char *directory, tare_stage stage, tare_arena *arena) {
    tare_text text = { .arena = arena };
    tare_text_printf(&text, "%s/%s.onnx", directory, tare_stage_name(stage));
    return text.failed ? NULL : text.at;
}

/* All of them, in their order. */
static tare_status list_paths(const char *paths[STAGE_COUNT], const char *directory, tare_arena *arena,
                              tare_error *err) {
    for (int s = 0; s < STAGE_COUNT; s++)
        if (!(paths[s] = path_of(directory, (tare_stage)s, arena))) return tare_fail_memory(err, 0);
    return TARE_OK;
}

static tare_status prepare(const char *directory, const tare_model *model, const tare_samples *samples,
                           const tare_samples *holdout, tare_arena *arena, tare_error *err) {
    const char *paths[STAGE_COUNT];
    TARE_TRY(list_paths(paths, directory, arena, err));
    uint64_t unused;
    if (tare_path_is_file(directory, &unused))
        return tare_fail(err, TARE_E_IO, "'%s' is a file, and a directory is wanted: name another", directory);
    TARE_TRY(tare_path_make_directory(directory, err));
    for (size_t i = 0; i < STAGE_COUNT; i++) {
        TARE_TRY(tare_model_check_path(model, paths[i], err));
        if (samples) TARE_TRY(tare_samples_check_path(samples, paths[i], err));
        if (holdout) TARE_TRY(tare_samples_check_path(holdout, paths[i], err));
    }
    return TARE_OK;
}

tare_status tare_stages_prepare(const char *directory, const tare_model *model, const tare_samples *samples,
                                const tare_samples *holdout, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    const tare_status status =
        arena ? prepare(directory, model, samples, holdout, arena, err) : tare_fail_memory(err, 0);
    tare_arena_free(arena);
    return status == TARE_OK ? TARE_OK : tare_within(err, "--stages");
}

/* A copy says which stage it is: the model itself may have come from a file that says another. */
static tare_status save(const tare_model *model, tare_stage stage, const char *path, tare_log *log, tare_error *err) {
    tare_model *copy;
    TARE_TRY(tare_model_copy(&copy, model, err));
    tare_status status = tare_model_set_stage(copy, stage, err);
    if (status == TARE_OK) status = tare_model_save(copy, path, log, err);
    tare_model_free(copy);
    return status;
}

tare_status tare_stages_save(const tare_stages *stages, const char *directory, tare_log *log, tare_error *err) {
    const tare_model *const models[STAGE_COUNT] = { stages->original, stages->optimized, stages->calibrated,
                                                    stages->quantized };
    const char *paths[STAGE_COUNT];
    tare_arena *arena = tare_arena_new();
    tare_status status = arena ? list_paths(paths, directory, arena, err) : tare_fail_memory(err, 0);
    for (int s = 0; status == TARE_OK && s < STAGE_COUNT; s++)
        status = save(models[s], (tare_stage)s, paths[s], log, err);
    tare_arena_free(arena);
    return status;
}

tare_status tare_report_add_stages(tare_report *report, const char *directory, tare_error *err) {
    const char *paths[STAGE_COUNT];
    tare_arena *arena = tare_arena_new();
    const tare_status status = arena ? list_paths(paths, directory, arena, err) : tare_fail_memory(err, 0);
    if (status == TARE_OK) tare_report_stages(report, directory, paths, STAGE_COUNT);
    tare_arena_free(arena);
    return status == TARE_OK ? tare_report_is_whole(report, err) : status;
}

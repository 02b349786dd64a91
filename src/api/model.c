/* Models from files, rewritten, and back. */
#include <tare/model.h>

#include <string.h>
#include <sys/stat.h>

#include "formats/format.h"
#include "passes/pass.h"
#include "report/flows.h"

static tare_status prepare(tare_model *model, const tare_open_options *options, tare_log *log, tare_error *err) {
    const tare_normalize_options normalize = { .repair_scales = options && options->repair_scales };
    TARE_TRY(tare_passes_normalize(model, &normalize, log, err));
    return tare_graph_infer(model->graph, err);
}

tare_status tare_model_open(tare_model **out, const char *path, const tare_open_options *options, tare_log *log,
                            tare_error *err) {
    const tare_read_options read = { .allow_hardlink = options && options->allow_hardlink,
                                     .repair_scales = options && options->repair_scales,
                                     .log = log };
    const tare_format *format = tare_format_to_read(path);
    if (!format) return tare_fail(err, TARE_E_UNSUPPORTED, "%s: not a format that can be read; there is: onnx", path);
    tare_model *model;
    TARE_TRY(format->read(&model, path, &read, err));
    if (prepare(model, options, log, err) != TARE_OK) {
        tare_model_free(model);
        return tare_within(err, "%s", path);
    }
    *out = model;
    return TARE_OK;
}

static bool is_own_file(const tare_model *model, const char *path) {
    struct stat there;
    if (stat(path, &there)) return false;
    for (size_t i = 0; i < model->files.count; i++)
        if (model->files.at[i].device == (uint64_t)there.st_dev && model->files.at[i].inode == (uint64_t)there.st_ino)
            return true;
    return false;
}

tare_status tare_model_save(const tare_model *model, const char *path, tare_log *log, tare_error *err) {
    const tare_format *format = tare_format_to_write(path);
    if (!format)
        return tare_fail(err, TARE_E_USAGE, "%s: the extension names no format that can be written; there is: .onnx",
                         path);
    if (is_own_file(model, path))
        return tare_fail(err, TARE_E_USAGE, "%s: is a file the model was read from; inputs are never touched", path);
    const tare_write_options write = { .log = log };
    return format->write(model, path, &write, err);
}

static tare_strings strings_of(const char *const *list) {
    tare_strings strings = { .at = list };
    while (list && list[strings.count]) strings.count++;
    return strings;
}

tare_status tare_model_optimize(tare_model *model, const tare_optimize_options *options, tare_report **report,
                                tare_log *log, tare_error *err) {
    const tare_pass_options pass_options = { .explain = options && options->explain,
                                             .only = strings_of(options ? options->only : NULL),
                                             .skip = strings_of(options ? options->skip : NULL) };
    const size_t before = model->graph->node_count, passes = tare_pass_count();
    tare_arena *arena = tare_arena_new();
    tare_pass_total *totals = arena ? tare_arena_alloc(arena, passes, sizeof *totals) : NULL;
    tare_status status = totals ? TARE_OK : tare_fail_memory(err, passes * sizeof *totals);
    if (status == TARE_OK) status = tare_passes_run(model, &pass_options, log, totals, err);
    if (status == TARE_OK && report) {
        *report = tare_report_new();
        if (*report) tare_report_optimize(*report, before, model->graph->node_count, totals, passes);
        status = *report ? tare_report_check(*report, err) : tare_fail_memory(err, 0);
    }
    tare_arena_free(arena);
    return status;
}

/* Where the accuracy goes: local and accumulated error of each node. */
#include <tare/compare.h>

#include "api/judge.h"
#include "api/work.h"
#include "compare/compare.h"
#include "report/flows.h"

static tare_status accumulated(tare_comparison **out, const tare_model *model, const tare_model *quantized,
                               const tare_samples *samples, const tare_compare_options *options, tare_log *log,
                               tare_error *err) {
    tare_side *a = NULL, *b = NULL;
    tare_status status = tare_side_open_model(&a, "float", model, TARE_BACKEND_FLOAT, err);
    if (status == TARE_OK) status = tare_side_open_model(&b, "quantized", quantized, TARE_BACKEND_QDQ, err);
    if (status == TARE_OK) status = tare_compare(out, a, b, samples, options, log, err);
    tare_side_close(a);
    tare_side_close(b);
    return status;
}

static tare_status tell(tare_report **out, const tare_sides *sides, const tare_comparison *local,
                        const tare_comparison *together, tare_error *err) {
    tare_report *report = tare_report_new("tare-debug/1");
    if (!report) return tare_fail_memory(err, 0);
    tare_report_debug(report, sides, local, together);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return TARE_OK;
}

tare_status tare_debug_model(const tare_model *model, const tare_model *quantized, const tare_samples *samples,
                             const tare_judging *judging, const tare_work_options *work, tare_report **report,
                             tare_log *log, tare_error *err) {
    tare_compare_options options = { .threads = work ? (size_t)work->threads : 0 };
    TARE_TRY(tare_work_cpu(work, &options.cpu, err));
    tare_compare_options judged = options;
    judged.labels = judging ? judging->labels : NULL;
    tare_comparison *local = NULL, *together = NULL;
    const tare_backend_options floats = { .backend = TARE_BACKEND_FLOAT }, codes = { .backend = TARE_BACKEND_QDQ };
    tare_figures figures[2];
    const tare_sides sides = { { "float", "quantized" }, { &figures[0], &figures[1] } };
    tare_arena *arena = tare_arena_new();
    tare_status status = arena ? TARE_OK : tare_fail_memory(err, 0);
    if (status == TARE_OK) status = accumulated(&together, model, quantized, samples, &judged, log, err);
    if (status == TARE_OK) status = tare_compare_local(&local, quantized, NULL, NULL, samples, &options, log, err);
    if (status == TARE_OK)
        status = tare_judge_model(&figures[0], judging, model, &floats, samples, work, arena, log, err);
    if (status == TARE_OK)
        status = tare_judge_model(&figures[1], judging, quantized, &codes, samples, work, arena, log, err);
    if (status == TARE_OK) status = tell(report, &sides, local, together, err);
    tare_comparison_free(local);
    tare_comparison_free(together);
    tare_arena_free(arena);
    return status;
}

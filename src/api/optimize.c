/* The passes, by name, and what they did. */
#include <tare/model.h>

#include "api/stage.h"
#include "passes/pass.h"
#include "report/flows.h"

const tare_field tare_optimize_fields[] = {
    { "passes", TARE_FIELD_STRINGS, offsetof(tare_optimize_options, passes), .metavar = "NAMES",
      .help = "only these passes" },
    { "skip-passes", TARE_FIELD_STRINGS, offsetof(tare_optimize_options, skip), .metavar = "NAMES",
      .help = "all passes but these" },
    { "explain", TARE_FIELD_BOOL, offsetof(tare_optimize_options, explain), .help = "say each rewrite with its nodes" },
    { .type = TARE_FIELD_END },
};

typedef struct job {
    tare_model *model;
    const tare_optimize_options *options;
    tare_report *report; /* NULL: nobody wants one */
    tare_log *log;
} job;

/* With `explain` the passes' notes go into the report. */
static void take_line(void *context, tare_log_level level, const char *text) {
    job *j = context;
    if (level == TARE_LOG_NOTE)
        tare_report_rewrite(j->report, text);
    else if (j->log && j->log->line)
        j->log->line(j->log->context, level, text);
}

static tare_status optimize(job *j, tare_arena *arena, tare_error *err) {
    static const tare_optimize_options defaults;
    const tare_optimize_options *options = j->options ? j->options : &defaults;
    const tare_pass_options passes = { .explain = options->explain, .only = options->passes, .skip = options->skip };
    const size_t count = tare_pass_count(), before = j->model->graph->node_count;
    tare_log own = { .line = take_line, .context = j };
    tare_pass_total *totals = tare_arena_alloc(arena, count, sizeof *totals);
    if (!totals) return tare_fail_memory(err, count * sizeof *totals);
    TARE_TRY(tare_passes_run(j->model, &passes, options->explain && j->report ? &own : j->log, totals, err));
    if (tare_model_get_stage(j->model) == TARE_STAGE_ORIGINAL_FLOAT)
        TARE_TRY(tare_model_set_stage(j->model, TARE_STAGE_OPTIMIZED_FLOAT, err));
    if (j->report) tare_report_optimize(j->report, before, j->model->graph->node_count, totals, count);
    return TARE_OK;
}

tare_status tare_model_optimize(tare_model *model, const tare_optimize_options *options, tare_report **report,
                                tare_log *log, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    job j = { .model = model, .options = options, .log = log };
    j.report = report ? tare_report_new("tare-optimize/1") : NULL;
    tare_status status = arena && (j.report || !report) ? optimize(&j, arena, err) : tare_fail_memory(err, 0);
    tare_arena_free(arena);
    if (status == TARE_OK && report) {
        TARE_TRY(tare_report_check(j.report, err));
        *report = j.report;
    } else {
        tare_report_free(j.report);
    }
    return status;
}

/* Checking a model before it is quantized. */
#include <string.h>
#include <tare/check.h>

#include "api/quantize_options.h"
#include "api/sized.h"
#include "api/stage.h"
#include "api/work.h"
#include "diagnose/diagnose.h"
#include "passes/pass.h"
#include "report/flows.h"

const tare_field tare_check_fields[] = {
    { "target", TARE_FIELD_STRING, offsetof(tare_check_options, target), .fallback.s = "onnx",
      .names = tare_quantizing_names, .metavar = "NAME", .help = "whose arithmetic and constraints" },
    { .type = TARE_FIELD_END },
};

typedef struct job {
    tare_arena *arena;
    tare_model *model;  /* optimized */
    tare_model *marked; /* with codes where they would be */
    tare_sized sized;
    tare_ranges *ranges;
    tare_findings findings;
    tare_checked checked;
} job;

/* ---- what the target makes of each operator ---- */

/* ORDER: tare_int_kind */
static const char *const hows[] = { "float", "multiplies codes", "computes on codes", "moves codes" };

static tare_op_fate *fate_of(job *j, const char *op, const char *how) {
    for (size_t i = 0; i < j->checked.ops.count; i++)
        if (!strcmp(j->checked.ops.at[i].op, op)) return &j->checked.ops.at[i];
    const tare_op_fate fate = { .op = op, .how = how };
    if (!tare_vec_push(j->arena, &j->checked.ops, fate)) return NULL;
    return &j->checked.ops.at[j->checked.ops.count - 1];
}

/* Nodes that give real numbers and stay float, and those that give none or are unknown, have a mark. */
static void mark_floats(const job *j, tare_graph *graph) {
    tare_for_nodes (node, graph)
        node->mark =
            !node->op || !node->output_count || !node->outputs[0] || !tare_dtype_is_float(node->outputs[0]->dtype);
    for (size_t g = 0; g < j->checked.fates.floats.count; g++) {
        const tare_float_group *group = &j->checked.fates.floats.at[g];
        for (size_t i = 0; i < group->nodes.count; i++) {
            tare_value *given = tare_map_get(&graph->values, group->nodes.at[i]->outputs[0]->name);
            if (given && given->producer) given->producer->mark = true;
        }
    }
}

static tare_status list_ops(job *j, tare_error *err) {
    tare_graph *graph = j->marked->graph;
    mark_floats(j, graph);
    tare_for_nodes (node, graph) {
        const tare_target_row *row = tare_target_row_of(j->findings.target, node);
        const bool merges = row->kind == TARE_INT_NONE && !node->mark;
        tare_op_fate *fate = fate_of(j, node->type, merges ? "merges into products" : hows[row->kind]);
        if (!fate) return tare_fail_memory(err, 0);
        const uint64_t macs = node->op && node->op->macs ? node->op->macs(node) : 0;
        fate->count++, fate->macs += macs;
        if (!node->mark) fate->on_codes++, fate->codes_macs += macs;
    }
    return TARE_OK;
}

/* What quantizing would make of it, or has made of it. */
static tare_status list_fates(job *j, const tare_model *model, tare_error *err) {
    tare_map *spared = tare_arena_alloc(j->arena, 1, sizeof *spared);
    if (!spared) return tare_fail_memory(err, sizeof *spared);
    tare_map_init(spared, j->arena);
    const tare_quantize_options options = { .target = j->findings.target, .skip_nonfinite = true, .spared = spared };
    j->checked.is_quantized = tare_model_get_stage(model) == TARE_STAGE_QUANTIZED;
    j->checked.for_target = j->checked.is_quantized ? tare_model_get_target(model) : NULL;
    j->checked.by = j->checked.is_quantized ? tare_model_get_tool(model) : NULL;
    TARE_TRY(tare_model_copy(&j->marked, j->sized.model ? j->sized.model : j->model, err));
    if (!j->checked.is_quantized) TARE_TRY(tare_quantize_mark(j->marked, j->ranges, &options, err));
    j->findings.marked = j->marked;
    return tare_quantize_list_fates(&j->checked.fates, j->marked, &options, j->arena, err);
}

/* ---- */

static size_t count_blockers(const tare_findings *findings) {
    size_t blockers = 0;
    for (size_t i = 0; i < findings->list.count; i++)
        blockers += findings->list.at[i].check->severity == TARE_SEVERITY_BLOCKER;
    return blockers;
}

/* A model with unknown operators cannot be run: then it is looked at without samples. */
static tare_status calibrate(job *j, const tare_samples *samples, const tare_work_options *work, tare_log *log,
                             tare_error *err) {
    tare_calibrate_options options = { .threads = work ? (size_t)work->threads : 0, .skip_nonfinite = true };
    TARE_TRY(tare_work_cpu(work, &options.cpu, err));
    TARE_TRY(tare_calibrate(&j->ranges, j->model, samples, &options, log, err));
    j->findings.ranges = j->ranges;
    j->checked.samples = tare_ranges_samples(j->ranges);
    j->checked.is_synthetic = tare_ranges_are_synthetic(j->ranges);
    return TARE_OK;
}

static bool has_unknown(const tare_graph *graph) {
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        if (!node->op) return true;
        for (int i = 0; (body = tare_node_body(node, i)); i++)
            if (has_unknown(body)) return true;
    }
    return false;
}

static tare_status look(job *j, const tare_model *model, const tare_check_options *options, const tare_samples *samples,
                        const tare_work_options *work, tare_log *log, tare_error *err) {
    const tare_target *target;
    TARE_TRY(tare_target_get(&target, options ? options->target : NULL, true, err));
    TARE_TRY(tare_model_copy(&j->model, model, err));
    TARE_TRY(tare_passes_run(j->model, NULL, log, NULL, err));
    TARE_TRY(tare_sized_open(&j->sized, j->model, log, err));
    j->findings = (tare_findings){ .arena = j->arena, .model = j->model, .target = target };
    if (samples && !has_unknown(j->model->graph)) TARE_TRY(calibrate(j, samples, work, log, err));
    TARE_TRY(list_fates(j, model, err));
    TARE_TRY(list_ops(j, err));
    return tare_diagnose(&j->findings, err);
}

static tare_status tell(job *j, tare_report **out, tare_error *err) {
    tare_report *report = tare_report_new("tare-check/1");
    if (!report) return tare_fail_memory(err, 0);
    j->checked.findings = &j->findings;
    tare_report_checked(report, &j->checked);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    const size_t blockers = count_blockers(&j->findings);
    if (!blockers) return TARE_OK;
    return tare_fail(err, TARE_E_UNSUPPORTED, "%s: %zu node%s cannot be run, the first is node '%s' (%s)",
                     j->model->path ? j->model->path : "model", blockers, tare_plural(blockers, "", "s"),
                     j->findings.list.at[0].node, j->findings.list.at[0].op);
}

tare_status tare_model_check(const tare_model *model, const tare_check_options *options, const tare_samples *samples,
                             const tare_work_options *work, tare_report **report, tare_log *log, tare_error *err) {
    job j = { .arena = tare_arena_new() };
    *report = NULL;
    tare_status status = j.arena ? look(&j, model, options, samples, work, log, err) : tare_fail_memory(err, 0);
    if (status == TARE_OK) status = tell(&j, report, err);
    tare_ranges_free(j.ranges);
    tare_model_free(j.marked);
    tare_sized_close(&j.sized);
    tare_model_free(j.model);
    tare_arena_free(j.arena);
    return status;
}

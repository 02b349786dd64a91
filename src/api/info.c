/* Looking a model over. */
#include <stdlib.h>
#include <string.h>
#include <tare/model.h>

#include "api/sized.h"
#include "api/stage.h"
#include "formats/format.h"
#include "report/flows.h"

const tare_field tare_info_fields[] = {
    { "nodes", TARE_FIELD_BOOL, offsetof(tare_info_options, nodes), .help = "a row for each node" },
    { "values", TARE_FIELD_BOOL, offsetof(tare_info_options, values),
      .help = "a row for each computed or quantized value, with its scale" },
    { "memory", TARE_FIELD_BOOL, offsetof(tare_info_options, memory),
      .help = "what running it takes, and at which nodes" },
    { .type = TARE_FIELD_END },
};

/* ---- counting ---- */

typedef struct counter {
    tare_info *info;
    tare_arena *arena;
    tare_map ops;
} counter;

static tare_status count_op(counter *c, const tare_node *node, tare_error *err) {
    const char *name = *node->domain ? tare_arena_printf(c->arena, "%s.%s", node->domain, node->type) : node->type;
    size_t *index = name ? tare_map_get(&c->ops, name) : NULL;
    c->info->node_count++;
    if (name && !index) {
        const tare_op_tally entry = { .name = name, .is_known = node->op != NULL };
        index = tare_arena_alloc(c->arena, 1, sizeof *index);
        if (!index || !tare_vec_push(c->arena, &c->info->ops, entry) || !tare_map_put(&c->ops, name, index))
            return tare_fail_memory(err, 0);
        *index = c->info->ops.count - 1;
    }
    if (!index) return tare_fail_memory(err, 0);
    c->info->ops.at[*index].count++;
    return TARE_OK;
}

static void count_value(tare_info *info, const tare_value *value) {
    if (value->quant) {
        info->origins[value->quant->origin.kind]++;
        (value->constant ? info->weight_codes : info->codes)[value->quant->code]++;
    }
    if (!value->constant && tare_dtype_is_float(value->dtype)) info->activations++;
    if (!value->constant || (!value->uses.count && !value->is_output)) return;
    info->weight_count++;
    info->weight_numbers += (uint64_t)tare_shape_elements(&value->constant->shape);
    info->weight_bytes += value->constant->size;
}

/* Bodies nest at most as deep as the reader lets by. */
static tare_status count_graph(counter *c, const tare_graph *graph, tare_error *err) {
    for (size_t i = 0; i < graph->values.entries.count; i++)
        if (graph->values.entries.at[i].value) count_value(c->info, graph->values.entries.at[i].value);
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        TARE_TRY(count_op(c, node, err));
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(count_graph(c, body, err));
    }
    return TARE_OK;
}

static int by_count(const void *a, const void *b) {
    const tare_op_tally *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* ---- */

/* A model that cannot be planned is told without that; only for want of memory there is nothing to tell. */
static tare_status plan(tare_info *info, const tare_sized *sized, tare_arena *arena, tare_error *err) {
    tare_error fault = { 0 };
    const tare_session_options options = { .backend = TARE_BACKEND_QDQ, .cpu = tare_cpu_detect() };
    tare_session *session = NULL;
    tare_status status = tare_session_new(&session, info->model, &options, &fault);
    if (status == TARE_OK) status = tare_session_plan(session, sized->inputs, &fault);
    info->has_plan = status == TARE_OK;
    status = TARE_OK;
    if (info->has_plan) {
        tare_session_get_macs(session, &info->macs, &info->quantized_macs);
        info->memory = tare_session_get_memory(session);
        if (info->wants_memory) status = tare_session_get_timeline(session, arena, &info->timeline, err);
    }
    tare_session_free(session);
    return status;
}

static tare_status look(tare_info *info, tare_arena *arena, tare_error *err) {
    counter c = { .info = info, .arena = arena };
    tare_map_init(&c.ops, arena);
    TARE_TRY(count_graph(&c, info->model->graph, err));
    if (info->ops.count) qsort(info->ops.at, info->ops.count, sizeof *info->ops.at, by_count);
    for (size_t i = 0; i < info->model->files.count; i++) info->file_bytes += info->model->files.at[i].size;
    const tare_format *format = info->model->path ? tare_format_to_read(info->model->path) : NULL;
    info->format = format ? format->name : NULL;
    info->stage = tare_model_stage(info->model);
    info->target = tare_model_get_target(info->model);
    info->tool = tare_model_get_tool(info->model);
    return TARE_OK;
}

static tare_status tell(const tare_info *info, tare_report **out, tare_error *err) {
    tare_report *report = tare_report_new("tare-info/1");
    if (!report) return tare_fail_memory(err, 0);
    tare_report_info(report, info);
    TARE_TRY(tare_report_check(report, err));
    *out = report;
    return TARE_OK;
}

tare_status tare_model_info(const tare_model *model, const tare_info_options *options, tare_report **report,
                            tare_log *log, tare_error *err) {
    static const tare_info_options defaults;
    if (!options) options = &defaults;
    tare_info info = {
        .model = model, .wants_nodes = options->nodes, .wants_values = options->values, .wants_memory = options->memory
    };
    tare_sized sized = { 0 };
    tare_arena *arena = tare_arena_new();
    tare_status status = arena ? look(&info, arena, err) : tare_fail_memory(err, 0);
    if (status == TARE_OK) status = tare_sized_open(&sized, model, log, err);
    if (status == TARE_OK) {
        info.sized = sized.model;
        info.is_sized = sized.is_guess;
        status = plan(&info, &sized, arena, err);
    }
    if (status == TARE_OK) status = tell(&info, report, err);
    tare_sized_close(&sized);
    tare_arena_free(arena);
    return status;
}

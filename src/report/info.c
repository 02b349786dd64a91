/* A model at a glance, then node by node and value by value. */
#include "report/info.h"

#include <stdio.h>
#include <string.h>

#include "ops/op.h"

enum { SHAPE = 128 };

static const char *shape_cell(char cell[SHAPE], const tare_shape *shape, const tare_model *model) {
    tare_shape_print(cell, SHAPE, shape, model->symbols.at);
    return cell;
}

json_t *tare_json_shape(tare_report *report, const tare_shape *shape, const tare_model *model) {
    if (shape->rank == TARE_RANK_UNKNOWN) return json_null();
    json_t *list = json_array();
    for (int i = 0; i < shape->rank; i++) {
        const int64_t dim = shape->dim[i];
        tare_report_push(report, list,
                         dim >= 0                  ? json_integer(dim)
                         : dim == TARE_DIM_UNKNOWN ? json_null()
                                                   : tare_json_text(model->symbols.at[-2 - dim]));
    }
    return list;
}

bool tare_report_meaning(tare_report *report, json_t *object, const tare_value *value, char text[TARE_MEANING_SIZE]) {
    double scale, zero_point;
    *text = '\0';
    if (!tare_value_read_meaning(value, &scale, &zero_point)) return false;
    snprintf(text, TARE_MEANING_SIZE, "= %.9g * (code - %d)", scale, (int)zero_point);
    tare_report_set(report, object, "scale", tare_json_real(scale));
    tare_report_set(report, object, "zero_point", tare_json_real(zero_point));
    return true;
}

/* ---- the model ---- */

static json_t *tell_ports(tare_report *report, const tare_model *model, const char *label, tare_value *const *values,
                          size_t count, bool are_inputs) {
    json_t *all = json_object();
    for (size_t i = 0; i < count; i++) {
        const tare_value *value = values[i];
        char shape[SHAPE];
        if (are_inputs && value->is_initializer) continue;
        json_t *o = json_object();
        tare_report_set(report, o, "type", tare_json_text(tare_dtype_name(value->dtype)));
        char meaning[TARE_MEANING_SIZE];
        const bool are_codes = tare_report_meaning(report, o, value, meaning);
        tare_report_fact(report, label, "%s  %s  %s%s%s", value->name, tare_dtype_name(value->dtype),
                         shape_cell(shape, &value->shape, model), are_codes ? "  " : "", meaning);
        tare_report_set(report, o, "shape", tare_json_shape(report, &value->shape, model));
        tare_report_set(report, all, value->name, o);
    }
    return all;
}

static void tell_head(tare_report *report, const tare_info *info) {
    const tare_model *model = info->model;
    json_t *root = tare_report_root(report);
    char bytes[TARE_CELL_SIZE];
    const char *producer = model->producer_name ? model->producer_name : "";
    const char *version = model->producer_version ? model->producer_version : "";
    tare_report_line(report, "%s", model->path ? model->path : "(a model in memory)");
    tare_report_fact(report, "format", "%s, opset %lld, %s%s%s%s%s%s", info->format ? info->format : "none",
                     (long long)model->opset, tare_cell_bytes(bytes, info->file_bytes), *producer ? ", by " : "",
                     producer, *version ? " " : "", version, "");
    tare_report_fact(report, "stage", "%s%s%s%s%s", info->stage, info->target ? ", for target " : "",
                     info->target ? info->target : "", info->tool ? ", by " : "", info->tool ? info->tool : "");
    tare_report_set(report, root, "path", tare_json_text(model->path));
    tare_report_set(report, root, "format", tare_json_text(info->format));
    tare_report_set(report, root, "opset", json_integer(model->opset));
    tare_report_set(report, root, "bytes", tare_json_count(info->file_bytes));
    tare_report_set(report, root, "producer", tare_json_text(producer));
    tare_report_set(report, root, "producer_version", tare_json_text(version));
    tare_report_set(report, root, "stage", tare_json_text(info->stage));
    tare_report_set(report, root, "target", tare_json_text(info->target));
    tare_report_set(report, root, "tool", tare_json_text(info->tool));
    const tare_graph *graph = model->graph;
    tare_report_set(report, root, "inputs",
                    tell_ports(report, model, "input", graph->inputs.at, graph->inputs.count, true));
    tare_report_set(report, root, "outputs",
                    tell_ports(report, model, "output", graph->outputs.at, graph->outputs.count, false));
}

static void tell_ops(tare_report *report, const tare_info *info) {
    json_t *root = tare_report_root(report), *ops = json_object();
    tare_arena *arena = tare_arena_new();
    tare_text text = { .arena = arena };
    if (!arena) return;
    for (size_t i = 0; i < info->ops.count; i++) {
        const tare_op_tally *op = &info->ops.at[i];
        tare_text_printf(&text, "%s%s %zu%s", i ? ", " : "", op->name, op->count, op->is_known ? "" : " (unknown)");
        tare_report_set(report, ops, op->name, tare_json_count(op->count));
    }
    tare_report_fact(report, "nodes", "%zu: %s", info->node_count, text.at && !text.failed ? text.at : "");
    tare_arena_free(arena);
    tare_report_set(report, root, "node_count", tare_json_count(info->node_count));
    tare_report_set(report, root, "ops", ops);
}

static void tell_sizes(tare_report *report, const tare_info *info) {
    json_t *root = tare_report_root(report);
    char a[TARE_CELL_SIZE], b[TARE_CELL_SIZE], c[TARE_CELL_SIZE];
    tare_report_fact(report, "weights", "%s numbers in %zu tensor%s, %s", tare_cell_count(a, info->weight_numbers),
                     info->weight_count, tare_plural(info->weight_count, "", "s"),
                     tare_cell_bytes(b, info->weight_bytes));
    tare_report_set(report, root, "weight_count", tare_json_count(info->weight_count));
    tare_report_set(report, root, "weight_numbers", tare_json_count(info->weight_numbers));
    tare_report_set(report, root, "weight_bytes", tare_json_count(info->weight_bytes));
    tare_report_set(report, root, "macs", info->has_plan ? tare_json_count(info->macs) : json_null());
    tare_report_set(report, root, "quantized_macs",
                    info->has_plan ? tare_json_count(info->quantized_macs) : json_null());
    if (!info->has_plan) {
        tare_report_fact(report, "MACs", "not known: shapes depend on the input, which --input-shape can tell");
        return;
    }
    const char *note = info->is_sized ? " (open dimensions as 1)" : "";
    tare_report_fact(report, "MACs", "%s%s, %s on codes", tare_cell_count(a, info->macs), note,
                     tare_cell_share(b, info->macs ? (double)info->quantized_macs / (double)info->macs : 0));
    if (!info->wants_memory) return;
    tare_report_fact(report, "memory", "values %s, scratch %s, prepared weights %s%s",
                     tare_cell_bytes(a, info->memory.slab), tare_cell_bytes(b, info->memory.scratch),
                     tare_cell_bytes(c, info->memory.packed), note);
    json_t *o = json_object();
    tare_report_set(report, o, "values", tare_json_count(info->memory.slab));
    tare_report_set(report, o, "scratch", tare_json_count(info->memory.scratch));
    tare_report_set(report, o, "prepared_weights", tare_json_count(info->memory.packed));
    tare_report_set(report, root, "memory_bytes", o);
    tare_report_timeline(report, &info->timeline);
}

/* "20 u8, 3 s8"; counts into JSON too. */
static size_t tell_codes(tare_report *report, const size_t *counts, tare_text *text, json_t *into) {
    size_t all = 0;
    for (int t = 0; t < TARE_DTYPE_COUNT; t++) {
        if (!counts[t]) continue;
        tare_text_printf(text, "%s%zu %s", all ? ", " : "", counts[t], tare_dtype_name((tare_dtype)t));
        tare_report_set(report, into, tare_dtype_name((tare_dtype)t), tare_json_count(counts[t]));
        all += counts[t];
    }
    return all;
}

static void tell_quantized(tare_report *report, const tare_info *info) {
    json_t *root = tare_report_root(report), *codes[2] = { json_object(), json_object() }, *origins = json_object();
    tare_arena *arena = tare_arena_new();
    if (!arena) return;
    tare_text values = { .arena = arena }, weights = { .arena = arena }, who = { .arena = arena };
    const size_t v = tell_codes(report, info->codes, &values, codes[0]);
    const size_t w = tell_codes(report, info->weight_codes, &weights, codes[1]);
    if (v || w) {
        tare_report_fact(report, "quantized", "%zu of %zu computed value%s%s%s%s; constants: %s", v, info->activations,
                         tare_plural(info->activations, "", "s"), v ? " (" : "", v && !values.failed ? values.at : "",
                         v ? ")" : "", w && !weights.failed ? weights.at : "none");
        for (int k = 0, any = 0; k < TARE_ORIGIN_COUNT; k++) {
            const char *word = tare_origin_kind_name((tare_origin_kind)k);
            if (!info->origins[k]) continue;
            tare_text_printf(&who, "%s%s %zu", any++ ? ", " : "", word, info->origins[k]);
            tare_report_set(report, origins, word, tare_json_count(info->origins[k]));
        }
        tare_report_fact(report, "origins", "%s", who.failed || !who.at ? "" : who.at);
    } else {
        tare_report_fact(report, "quantized", "nothing");
    }
    tare_arena_free(arena);
    json_t *o = json_object();
    tare_report_set(report, o, "computed_values", tare_json_count(info->activations));
    tare_report_set(report, o, "values", codes[0]);
    tare_report_set(report, o, "constants", codes[1]);
    tare_report_set(report, o, "origins", origins);
    tare_report_set(report, root, "quantized", o);
}

/* ---- nodes ---- */

/* A file that was quantized here has "x" behind its Q and DQ, and "x_raw" before them: the value that both are is known as x. */
static const char *known_name(const tare_value *value) {
    static const char suffix[] = "_raw";
    const tare_model *model = value->graph->model;
    const size_t length = strlen(value->name), bare = length - (sizeof suffix - 1);
    tare_alias alias;
    if (length < sizeof suffix || strcmp(value->name + bare, suffix) != 0) return value->name;
    const char *name = tare_arena_copy(model->arena, value->name, bare);
    const bool is_alias = name && tare_model_resolve(model, name, &alias) && !strcmp(alias.target, value->name);
    return is_alias ? name : value->name;
}

static json_t *names(tare_report *report, tare_value *const *values, int count) {
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        tare_report_push(report, list, tare_json_text(values[i] ? known_name(values[i]) : NULL));
    return list;
}

static uint64_t macs_of(const tare_node *node) { return node->op && node->op->macs ? node->op->macs(node) : 0; }

static void tell_node(tare_report *report, tare_table *table, json_t *list, const tare_model *model,
                      const tare_node *node) {
    const tare_value *out = tare_node_output(node, 0);
    const uint64_t macs = macs_of(node);
    char shape[SHAPE] = "", count[TARE_CELL_SIZE] = "";
    const char *type = !out ? "" : tare_dtype_name(out->quant ? out->quant->code : out->dtype);
    if (macs) tare_cell_count(count, macs);
    tare_table_row(table, (const char *const[]){ node->name, node->type,
                                                 out ? shape_cell(shape, &out->shape, model) : "", type, count });
    json_t *o = json_object();
    tare_report_set(report, o, "name", tare_json_text(node->name));
    tare_report_set(report, o, "op", tare_json_text(node->type));
    tare_report_set(report, o, "domain", tare_json_text(node->domain));
    tare_report_set(report, o, "inputs", names(report, node->inputs, node->input_count));
    tare_report_set(report, o, "outputs", names(report, node->outputs, node->output_count));
    tare_report_set(report, o, "macs", tare_json_count(macs));
    tare_report_push(report, list, o);
}

static void tell_nodes(tare_report *report, const tare_info *info) {
    static const char *const headings[] = { "node", "op", "output", "type", "MACs" };
    const tare_model *model = info->sized ? info->sized : info->model;
    tare_table *table = tare_report_table(report, 5, headings, "<<<<>", 0);
    json_t *list = json_array();
    tare_for_nodes (node, model->graph) tell_node(report, table, list, model, node);
    tare_report_set(report, tare_report_root(report), "nodes", list);
}

/* ---- values ---- */

enum { ORIGIN = 512 }; /* names in it may be long; the table cuts them anyway */

typedef struct quant_cells {
    char scale[SHAPE], zero[SHAPE], axis[SHAPE], origin[ORIGIN];
} quant_cells;

static void tell_quant(tare_report *report, json_t *o, const tare_quant *quant, quant_cells *cells) {
    float least = quant->scale[0], most = quant->scale[0];
    json_t *scales = json_array(), *zeros = json_array();
    for (size_t i = 0; i < quant->count; i++) {
        if (quant->scale[i] < least) least = quant->scale[i];
        if (quant->scale[i] > most) most = quant->scale[i];
        tare_report_push(report, scales, tare_json_real((double)quant->scale[i]));
        tare_report_push(report, zeros, json_integer(quant->zero_point[i]));
    }
    if (quant->count == 1)
        snprintf(cells->scale, SHAPE, "%.6g", (double)least);
    else
        snprintf(cells->scale, SHAPE, "%.3g…%.3g", (double)least, (double)most);
    snprintf(cells->zero, SHAPE, quant->count == 1 ? "%d" : "%d…", quant->zero_point[0]);
    if (quant->axis >= 0) snprintf(cells->axis, SHAPE, "%d", quant->axis);
    tare_origin_print(cells->origin, ORIGIN, &quant->origin);
    tare_report_set(report, o, "code", tare_json_text(tare_dtype_name(quant->code)));
    tare_report_set(report, o, "axis", quant->axis < 0 ? json_null() : json_integer(quant->axis));
    tare_report_set(report, o, "block", quant->block ? json_integer(quant->block) : json_null());
    tare_report_set(report, o, "scale", scales);
    tare_report_set(report, o, "zero_point", zeros);
    tare_report_set(report, o, "origin", tare_json_text(cells->origin));
}

static void tell_value(tare_report *report, tare_table *table, json_t *all, const tare_model *model,
                       const tare_value *value) {
    char shape[SHAPE];
    const tare_quant *quant = value->quant;
    quant_cells cells = { "", "", "", "" };
    json_t *o = json_object();
    tare_report_set(report, o, "type", tare_json_text(tare_dtype_name(value->dtype)));
    tare_report_set(report, o, "shape", tare_json_shape(report, &value->shape, model));
    tare_report_set(report, o, "constant", json_boolean(value->constant != NULL));
    if (quant) tell_quant(report, o, quant, &cells);
    tare_report_set(report, all, known_name(value), o);
    tare_table_row(table, (const char *const[]){ known_name(value), tare_dtype_name(quant ? quant->code : value->dtype),
                                                 shape_cell(shape, &value->shape, model), cells.axis, cells.scale,
                                                 cells.zero, cells.origin });
}

/* Of bodies only what is quantized. They nest at most as deep as the reader lets by. */
static void tell_values_of(tare_report *report, tare_table *table, json_t *all, const tare_graph *graph) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (value && (value->quant || (!graph->outer && !value->constant)))
            tell_value(report, table, all, graph->model, value);
    }
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) tell_values_of(report, table, all, body);
    }
}

static void tell_values(tare_report *report, const tare_info *info) {
    static const char *const headings[] = { "value", "type", "shape", "axis", "scale", "zero", "origin" };
    tare_table *table = tare_report_table(report, 7, headings, "<<<>>><", 0);
    json_t *all = json_object();
    tell_values_of(report, table, all, info->model->graph);
    tare_report_set(report, tare_report_root(report), "values", all);
}

void tare_report_info(tare_report *report, const tare_info *info) {
    tell_head(report, info);
    tell_ops(report, info);
    tell_sizes(report, info);
    tell_quantized(report, info);
    if (info->wants_nodes) tell_nodes(report, info);
    if (info->wants_values) tell_values(report, info);
}

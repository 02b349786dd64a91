/* A piece of a model, by names of values or nodes. */
#include <string.h>
#include <tare/model.h>

#include "graph/graph.h"

const tare_field tare_cut_fields[] = {
    { "to", TARE_FIELD_STRINGS, offsetof(tare_cut_options, to), .metavar = "NAMES",
      .help = "the new outputs: values, or nodes for all they give" },
    { "from", TARE_FIELD_STRINGS, offsetof(tare_cut_options, from), .metavar = "NAMES",
      .help = "the new inputs: values, or nodes for all they read" },
    { .type = TARE_FIELD_END },
};

typedef struct list {
    tare_arena *arena;
    TARE_VEC(tare_value *) values;
} list;

static tare_status add(list *l, tare_value *value, tare_error *err) {
    for (size_t i = 0; i < l->values.count; i++)
        if (l->values.at[i] == value) return TARE_OK;
    return tare_vec_push(l->arena, &l->values, value) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status fail_name(const tare_graph *graph, const char *flag, const char *name, const char *reason,
                             tare_arena *arena, tare_error *err) {
    const char **names = tare_arena_alloc(arena, graph->values.entries.count + graph->node_count + 1, sizeof *names);
    size_t count = 0;
    if (!names) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < graph->values.entries.count; i++)
        if (graph->values.entries.at[i].value) names[count++] = graph->values.entries.at[i].key;
    tare_for_nodes (node, graph) names[count++] = node->name;
    const char *near = tare_text_nearest(name, names);
    if (near) return tare_fail(err, TARE_E_USAGE, "--%s: no value or node '%s'; did you mean '%s'?", flag, name, near);
    return tare_fail(err, TARE_E_USAGE, "--%s: no value or node '%s' in the main graph (%s); `tare info --nodes` lists",
                     flag, name, reason);
}

/* A node's outputs (for `to`) or computed inputs (for `from`). */
static tare_status add_node(list *l, const tare_node *node, bool is_to, tare_error *err) {
    const int count = is_to ? node->output_count : node->input_count;
    for (int i = 0; i < count; i++) {
        tare_value *value = is_to ? node->outputs[i] : node->inputs[i];
        if (value && !value->constant) TARE_TRY(add(l, value, err));
    }
    return TARE_OK;
}

static tare_status find(list *l, const tare_model *model, const char *name, bool is_to, tare_error *err) {
    const char *flag = is_to ? "to" : "from";
    tare_alias alias = { .reason = "there is none of that name" };
    tare_value *value = NULL;
    if (tare_model_resolve(model, name, &alias)) value = tare_graph_find_value(model->graph, alias.target);
    if (!value) {
        tare_for_nodes (node, model->graph)
            if (!strcmp(node->name, name)) return add_node(l, node, is_to, err);
        return fail_name(model->graph, flag, name, alias.reason, l->arena, err);
    }
    if (value->constant) return tare_fail(err, TARE_E_USAGE, "--%s: '%s' is a constant", flag, name);
    if (is_to && !value->producer) return tare_fail(err, TARE_E_USAGE, "--to: '%s' is an input", name);
    return add(l, value, err);
}

static tare_status cut(tare_model *model, const tare_cut_options *options, tare_arena *arena, tare_error *err) {
    list to = { .arena = arena }, from = { .arena = arena };
    for (size_t i = 0; i < options->to.count; i++) TARE_TRY(find(&to, model, options->to.at[i], true, err));
    for (size_t i = 0; i < options->from.count; i++) TARE_TRY(find(&from, model, options->from.at[i], false, err));
    return tare_graph_cut(model->graph, to.values.at, to.values.count, from.values.at, from.values.count, err);
}

tare_status tare_model_cut(tare_model *model, const tare_cut_options *options, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    const tare_status status = cut(model, options, arena, err);
    tare_arena_free(arena);
    return status;
}

/* Models: made, copied, freed. */
#include <string.h>

#include "graph/graph.h"

tare_status tare_graph_new(tare_graph **out, tare_model *model, tare_graph *outer, tare_node *owner, tare_error *err) {
    tare_graph *graph = tare_arena_alloc(model->arena, 1, sizeof *graph);
    if (!graph) return tare_fail_memory(err, sizeof *graph);
    graph->model = model;
    graph->outer = outer;
    graph->owner = owner;
    graph->name = "";
    tare_map_init(&graph->values, model->arena);
    *out = graph;
    return TARE_OK;
}

tare_status tare_model_new(tare_model **out, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_model *model = arena ? tare_arena_alloc(arena, 1, sizeof *model) : NULL;
    if (!model) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *model);
    }
    model->arena = arena;
    tare_map_init(&model->aliases, arena);
    tare_map_init(&model->origins, arena);
    tare_map_init(&model->names, arena);
    tare_map_init(&model->symbol_numbers, arena);
    tare_map_init(&model->node_names, arena);
    tare_status status = tare_graph_new(&model->graph, model, NULL, NULL, err);
    if (status != TARE_OK) {
        tare_arena_free(arena);
        return status;
    }
    *out = model;
    return TARE_OK;
}

void tare_model_free(tare_model *model) {
    if (!model) return;
    for (size_t i = 0; i < model->files.count; i++) tare_file_close(&model->files.at[i]);
    tare_arena_free(model->arena);
}

/* ---- properties ---- */

const char *tare_model_property(const tare_model *model, const char *key) {
    for (size_t i = 0; i < model->properties.count; i++)
        if (!strcmp(model->properties.at[i].key, key)) return model->properties.at[i].value;
    return NULL;
}

tare_status tare_model_set_property(tare_model *model, const char *key, const char *value, tare_error *err) {
    const tare_property property = { .key = key, .value = value };
    size_t kept = 0;
    bool is_set = !value;
    for (size_t i = 0; i < model->properties.count; i++) {
        const tare_property old = model->properties.at[i];
        const bool is_it = !strcmp(old.key, key);
        if (is_it && is_set) continue;
        is_set |= is_it;
        model->properties.at[kept++] = is_it ? property : old;
    }
    model->properties.count = kept;
    return is_set || tare_vec_push(model->arena, &model->properties, property) ? TARE_OK : tare_fail_memory(err, 0);
}

/* ---- */

int64_t tare_model_symbol(tare_model *model, const char *name) {
    uintptr_t number = (uintptr_t)tare_map_get(&model->symbol_numbers, name);
    if (number) return -1 - (int64_t)number;
    const char *copy = tare_arena_strdup(model->arena, name);
    if (!copy || !tare_vec_push(model->arena, &model->symbols, copy)) return TARE_DIM_UNKNOWN;
    number = model->symbols.count;
    return tare_map_put(&model->symbol_numbers, copy, (void *)number) ? -1 - (int64_t)number : TARE_DIM_UNKNOWN;
}

static tare_status copy_value(tare_graph *to, const tare_value *from, tare_error *err) {
    tare_value *value;
    TARE_TRY(tare_graph_add_value(to, from->name, &value, err));
    value->dtype = from->dtype;
    value->shape = from->shape;
    value->quant = from->quant;
    value->constant = from->constant;
    value->is_initializer = from->is_initializer;
    value->doc = from->doc;
    value->extra = from->extra;
    return TARE_OK;
}

/* Values of the copy have the names of the original, which are unique in a graph and those around it. */
static tare_status twins(tare_graph *to, tare_value *const *from, int count, tare_value ***out, tare_error *err) {
    tare_value **values = tare_arena_alloc(to->model->arena, (size_t)count + 1, sizeof(tare_value *));
    if (!values) return tare_fail_memory(err, (size_t)count * sizeof(tare_value *));
    for (int i = 0; i < count; i++) values[i] = from[i] ? tare_graph_find_value(to, from[i]->name) : NULL;
    *out = values;
    return TARE_OK;
}

static tare_status copy_graph(tare_graph *to, const tare_graph *from, tare_error *err);

static tare_status copy_attrs(tare_node *to, const tare_node *from, tare_error *err) {
    size_t size;
    const tare_field *fields = tare_op_attrs(from->op, &size);
    if (size) memcpy(to->attrs, from->attrs, size);
    for (const tare_field *field = fields; field && field->type != TARE_FIELD_END; field++) {
        tare_graph **body = tare_field_at(field, to->attrs);
        if (field->type != TARE_FIELD_GRAPH || !*body) continue;
        const tare_graph *original = *body;
        TARE_TRY(tare_graph_new(body, to->graph->model, to->graph, to, err));
        TARE_TRY(copy_graph(*body, original, err));
    }
    return TARE_OK;
}

static tare_status copy_node(tare_graph *to, const tare_node *from, tare_error *err) {
    tare_value **inputs, **outputs;
    tare_node *node;
    TARE_TRY(twins(to, from->inputs, from->input_count, &inputs, err));
    TARE_TRY(twins(to, from->outputs, from->output_count, &outputs, err));
    if (from->op)
        TARE_TRY(tare_graph_add_node(to, NULL, from->op, from->name, inputs, from->input_count, outputs,
                                     from->output_count, &node, err));
    else
        TARE_TRY(tare_graph_add_unknown(to, NULL, from->domain, from->type, from->name, inputs, from->input_count,
                                        outputs, from->output_count, &node, err));
    node->name = from->name;
    node->generated_name = from->generated_name;
    node->extra = from->extra;
    return from->op ? copy_attrs(node, from, err) : TARE_OK;
}

static tare_status copy_graph(tare_graph *to, const tare_graph *from, tare_error *err) {
    to->name = from->name;
    to->extra = from->extra;
    for (size_t i = 0; i < from->values.entries.count; i++) {
        const tare_value *value = from->values.entries.at[i].value;
        if (value) TARE_TRY(copy_value(to, value, err));
    }
    for (size_t i = 0; i < from->inputs.count; i++)
        TARE_TRY(tare_graph_add_input(to, tare_graph_find_value(to, from->inputs.at[i]->name), err));
    tare_for_nodes (node, from) TARE_TRY(copy_node(to, node, err));
    for (size_t i = 0; i < from->outputs.count; i++)
        TARE_TRY(tare_graph_add_output(to, tare_graph_find_value(to, from->outputs.at[i]->name), err));
    return TARE_OK;
}

static tare_status copy_map(tare_map *to, const tare_map *from, tare_error *err) {
    for (size_t i = 0; i < from->entries.count; i++) {
        const tare_map_entry *entry = &from->entries.at[i];
        if (entry->value && !tare_map_put(to, entry->key, entry->value)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static tare_status copy_lists(tare_model *to, const tare_model *from, tare_error *err) {
    for (size_t i = 0; i < from->properties.count; i++)
        if (!tare_vec_push(to->arena, &to->properties, from->properties.at[i])) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < from->symbols.count; i++)
        if (tare_model_symbol(to, from->symbols.at[i]) == TARE_DIM_UNKNOWN) return tare_fail_memory(err, 0);
    TARE_TRY(copy_map(&to->aliases, &from->aliases, err));
    return copy_map(&to->origins, &from->origins, err);
}

/* The copy remembers which files it came from, so that none is written over; the bytes stay the first model's. */
static tare_status copy_files(tare_model *to, const tare_model *from, tare_error *err) {
    for (size_t i = 0; i < from->files.count; i++) {
        const tare_file file = { .device = from->files.at[i].device, .inode = from->files.at[i].inode };
        if (!tare_vec_push(to->arena, &to->files, file)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

tare_status tare_model_copy(tare_model **out, const tare_model *model, tare_error *err) {
    tare_model *copy;
    TARE_TRY(tare_model_new(&copy, err));
    copy->path = model->path;
    copy->opset = model->opset;
    copy->ir_version = model->ir_version;
    copy->producer_name = model->producer_name;
    copy->producer_version = model->producer_version;
    copy->doc = model->doc;
    copy->extra = model->extra;
    tare_status status = copy_lists(copy, model, err);
    if (status == TARE_OK) status = copy_files(copy, model, err);
    if (status == TARE_OK) status = copy_graph(copy->graph, model->graph, err);
    if (status != TARE_OK) {
        tare_model_free(copy);
        return status;
    }
    *out = copy;
    return TARE_OK;
}

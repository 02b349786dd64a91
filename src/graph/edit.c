/* Building and changing graphs; the only code that touches producers, uses and the node list. */
#include <assert.h>
#include <string.h>

#include "graph/graph.h"

/* ---- names ---- */

static const char *unique(const tare_map *taken, tare_arena *arena, const char *base) {
    if (!tare_map_get(taken, base)) return tare_arena_strdup(arena, base);
    for (uint64_t i = 1;; i++) {
        const char *name = tare_arena_printf(arena, "%s_%llu", base, (unsigned long long)i);
        if (!name || !tare_map_get(taken, name)) return name;
    }
}

const char *tare_graph_unique_name(tare_graph *graph, const char *base) {
    return unique(&graph->model->names, graph->model->arena, base);
}

tare_value *tare_graph_find_value(const tare_graph *graph, const char *name) {
    for (; graph; graph = graph->outer) {
        tare_value *value = tare_map_get(&graph->values, name);
        if (value) return value;
    }
    return NULL;
}

/* ---- values ---- */

static tare_status enter_name(tare_graph *graph, tare_value *value, tare_error *err) {
    if (!tare_map_put(&graph->values, value->name, value) ||
        !tare_map_put(&graph->model->names, value->name, graph->model))
        return tare_fail_memory(err, 0);
    return TARE_OK;
}

tare_status tare_graph_add_value(tare_graph *graph, const char *name, tare_value **out, tare_error *err) {
    tare_arena *arena = graph->model->arena;
    tare_value *value = tare_arena_alloc(arena, 1, sizeof *value);
    const char *copy = value ? tare_arena_strdup(arena, name) : NULL;
    if (!copy) return tare_fail_memory(err, sizeof *value);
    value->name = copy;
    value->shape = tare_shape_unknown();
    value->graph = graph;
    TARE_TRY(enter_name(graph, value, err));
    *out = value;
    return TARE_OK;
}

tare_status tare_graph_add_input(tare_graph *graph, tare_value *value, tare_error *err) {
    if (!tare_vec_push(graph->model->arena, &graph->inputs, value)) return tare_fail_memory(err, 0);
    value->is_input = true;
    return TARE_OK;
}

tare_status tare_graph_add_output(tare_graph *graph, tare_value *value, tare_error *err) {
    if (!tare_vec_push(graph->model->arena, &graph->outputs, value)) return tare_fail_memory(err, 0);
    value->is_output = true;
    return TARE_OK;
}

tare_status tare_graph_add_constant(tare_graph *graph, const char *base_name, const tare_tensor *tensor,
                                    const tare_quant *quant, bool borrow, tare_value **out, tare_error *err) {
    tare_arena *arena = graph->model->arena;
    const char *name = tare_graph_unique_name(graph, base_name);
    tare_tensor *copy = name ? tare_arena_alloc(arena, 1, sizeof *copy) : NULL;
    if (!copy) return tare_fail_memory(err, sizeof *copy);
    *copy = *tensor;
    if (!borrow) {
        copy->data = tare_arena_copy(arena, tensor->data, tensor->size);
        if (!copy->data) return tare_fail_memory(err, tensor->size);
    }
    TARE_TRY(tare_graph_add_value(graph, name, out, err));
    (*out)->dtype = quant ? TARE_F32 : tensor->dtype;
    (*out)->shape = tensor->shape;
    (*out)->quant = quant;
    (*out)->constant = copy;
    (*out)->is_initializer = true;
    return TARE_OK;
}

tare_status tare_graph_add_s64(tare_graph *graph, const char *base_name, const int64_t *numbers, size_t count,
                               bool scalar, tare_value **out, tare_error *err) {
    const int64_t dim = (int64_t)count;
    const int64_t none = 0;
    tare_arena *arena = graph->model->arena;
    void *data = tare_arena_copy(arena, count ? numbers : &none, count * sizeof *numbers);
    if (!data) return tare_fail_memory(err, count * sizeof *numbers);
    const tare_tensor tensor = {
        .dtype = TARE_S64, .shape = tare_shape_of(scalar ? 0 : 1, &dim), .data = data, .size = count * sizeof *numbers
    };
    return tare_graph_add_constant(graph, base_name, &tensor, NULL, true, out, err);
}

tare_status tare_graph_add_f32(tare_graph *graph, const char *base_name, float number, tare_value **out,
                               tare_error *err) {
    const tare_tensor tensor = { .dtype = TARE_F32, .shape = { .rank = 0 }, .data = &number, .size = sizeof number };
    return tare_graph_add_constant(graph, base_name, &tensor, NULL, false, out, err);
}

static void drop_use(tare_value *value, const tare_node *node, int index) {
    for (size_t i = 0; i < value->uses.count; i++) {
        if (value->uses.at[i].node != node || value->uses.at[i].index != index) continue;
        value->uses.at[i] = value->uses.at[--value->uses.count];
        return;
    }
    assert(0 && "a use that is in the node is in the value");
}

void tare_value_set_producer(tare_value *value, tare_node *node, int index) {
    if (value->producer) value->producer->outputs[value->producer_index] = NULL;
    value->producer = node;
    value->producer_index = index;
    if (node) node->outputs[index] = value;
}

tare_status tare_value_replace(tare_value *from, tare_value *to, tare_error *err) {
    assert(from != to);
    while (from->uses.count) {
        const tare_use use = from->uses.at[from->uses.count - 1];
        TARE_TRY(tare_node_set_input(use.node, use.index, to, err));
    }
    if (!from->is_output) return TARE_OK;
    tare_graph *graph = from->graph;
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] == from) graph->outputs.at[i] = to;
    from->is_output = false;
    to->is_output = true;
    return TARE_OK;
}

tare_status tare_value_take_name(tare_value *to, tare_value *from, tare_error *err) {
    assert(to->graph == from->graph && to != from);
    tare_graph *graph = to->graph;
    const char *old = to->name, *spare = tare_graph_unique_name(graph, from->name);
    if (!spare) return tare_fail_memory(err, 0);
    tare_map_remove(&graph->values, to->name);
    tare_map_remove(&graph->values, from->name);
    to->name = from->name;
    from->name = spare;
    TARE_TRY(enter_name(graph, to, err));
    TARE_TRY(enter_name(graph, from, err));
    return tare_model_add_alias(graph->model, old, &(tare_alias){ .target = to->name, .factor = 1 }, err);
}

void tare_value_close_input(tare_value *value) {
    tare_graph *graph = value->graph;
    for (size_t i = 0; value->is_input && i < graph->inputs.count; i++) {
        if (graph->inputs.at[i] != value) continue;
        memmove(&graph->inputs.at[i], &graph->inputs.at[i + 1], (graph->inputs.count - i - 1) * sizeof(tare_value *));
        graph->inputs.count--;
        value->is_input = false;
    }
}

void tare_value_remove(tare_value *value) {
    assert(!value->producer && !value->uses.count && !value->is_output);
    tare_value_close_input(value);
    tare_map_remove(&value->graph->values, value->name);
}

/* ---- nodes ---- */

static void link_before(tare_node *node, tare_node *before) {
    tare_graph *graph = node->graph;
    node->next = before;
    node->previous = before ? before->previous : graph->last;
    *(node->previous ? &node->previous->next : &graph->first) = node;
    *(before ? &before->previous : &graph->last) = node;
    graph->node_count++;
}

static void unlink_node(tare_node *node) {
    tare_graph *graph = node->graph;
    *(node->previous ? &node->previous->next : &graph->first) = node->next;
    *(node->next ? &node->next->previous : &graph->last) = node->previous;
    graph->node_count--;
}

static tare_status name_node(tare_node *node, const char *base_name, tare_error *err) {
    tare_model *model = node->graph->model;
    node->generated_name = !base_name;
    if (!base_name) {
        for (size_t i = model->node_names.entries.count;; i++) {
            base_name = tare_arena_printf(model->arena, "%s#%zu", node->type, i);
            if (!base_name || !tare_map_get(&model->node_names, base_name)) break;
        }
    }
    node->name = base_name ? unique(&model->node_names, model->arena, base_name) : NULL;
    if (!node->name || !tare_map_put(&model->node_names, node->name, node)) return tare_fail_memory(err, 0);
    return TARE_OK;
}

/* A node with room for its links, in the list but not connected. */
static tare_status new_node(tare_graph *graph, tare_node *before, const char *type, const char *base_name,
                            int input_count, int output_count, tare_node **out, tare_error *err) {
    tare_arena *arena = graph->model->arena;
    tare_node *node = tare_arena_alloc(arena, 1, sizeof *node);
    if (!node) return tare_fail_memory(err, sizeof *node);
    node->graph = graph;
    node->type = type;
    node->inputs = tare_arena_alloc(arena, (size_t)input_count + 1, sizeof(tare_value *));
    node->outputs = tare_arena_alloc(arena, (size_t)output_count + 1, sizeof(tare_value *));
    if (!node->inputs || !node->outputs) return tare_fail_memory(err, 0);
    node->input_count = input_count;
    node->output_count = output_count;
    TARE_TRY(name_node(node, base_name, err));
    link_before(node, before);
    *out = node;
    return TARE_OK;
}

static tare_status connect(tare_node *node, tare_value *const *inputs, tare_value *const *outputs, tare_error *err) {
    for (int i = 0; i < node->input_count; i++) TARE_TRY(tare_node_set_input(node, i, inputs[i], err));
    for (int i = 0; i < node->output_count; i++) {
        if (!outputs[i]) continue;
        assert(!outputs[i]->producer);
        tare_value_set_producer(outputs[i], node, i);
    }
    return TARE_OK;
}

tare_status tare_graph_add_node(tare_graph *graph, tare_node *before, const tare_op *op, const char *base_name,
                                tare_value *const *inputs, int input_count, tare_value *const *outputs,
                                int output_count, tare_node **out, tare_error *err) {
    size_t size;
    const tare_field *fields = tare_op_attrs(op, &size);
    tare_node *node;
    TARE_TRY(new_node(graph, before, tare_op_name(op), base_name, input_count, output_count, &node, err));
    node->domain = tare_op_domain(op);
    node->op = op;
    node->attrs = tare_arena_alloc(graph->model->arena, 1, size);
    if (!node->attrs) return tare_fail_memory(err, size);
    if (fields) tare_fields_set_defaults(fields, node->attrs);
    *out = node;
    return connect(node, inputs, outputs, err);
}

tare_status tare_graph_add_unknown(tare_graph *graph, tare_node *before, const char *domain, const char *type,
                                   const char *base_name, tare_value *const *inputs, int input_count,
                                   tare_value *const *outputs, int output_count, tare_node **out, tare_error *err) {
    const char *own_type = tare_arena_strdup(graph->model->arena, type);
    const char *own_domain = tare_arena_strdup(graph->model->arena, domain);
    if (!own_type || !own_domain) return tare_fail_memory(err, 0);
    TARE_TRY(new_node(graph, before, own_type, base_name, input_count, output_count, out, err));
    (*out)->domain = own_domain;
    return connect(*out, inputs, outputs, err);
}

tare_status tare_node_become(tare_node *node, const tare_op *op, tare_error *err) {
    size_t size;
    const tare_field *fields = tare_op_attrs(op, &size);
    void *attrs = tare_arena_alloc(node->graph->model->arena, 1, size);
    if (!attrs) return tare_fail_memory(err, size);
    if (fields) tare_fields_set_defaults(fields, attrs);
    node->op = op;
    node->type = tare_op_name(op);
    node->domain = tare_op_domain(op);
    node->attrs = attrs;
    return node->generated_name ? name_node(node, NULL, err) : TARE_OK;
}

tare_status tare_node_set_input(tare_node *node, int index, tare_value *value, tare_error *err) {
    assert(index >= 0 && index < node->input_count);
    if (node->inputs[index] == value) return TARE_OK;
    const tare_use use = { .node = node, .index = index };
    if (value && !tare_vec_push(value->graph->model->arena, &value->uses, use)) return tare_fail_memory(err, 0);
    if (node->inputs[index]) drop_use(node->inputs[index], node, index);
    node->inputs[index] = value;
    return TARE_OK;
}

tare_status tare_node_resize_inputs(tare_node *node, int count, tare_error *err) {
    for (int i = count; i < node->input_count; i++) TARE_TRY(tare_node_set_input(node, i, NULL, err));
    if (count > node->input_count) {
        tare_value **grown = tare_arena_alloc(node->graph->model->arena, (size_t)count + 1, sizeof(tare_value *));
        if (!grown) return tare_fail_memory(err, (size_t)count * sizeof(tare_value *));
        for (int i = 0; i < node->input_count; i++) grown[i] = node->inputs[i];
        node->inputs = grown;
    }
    node->input_count = count;
    return TARE_OK;
}

void tare_node_trim(tare_node *node) {
    while (node->input_count && !node->inputs[node->input_count - 1]) node->input_count--;
}

static void forget_body_uses(tare_graph *body);

static void disconnect(tare_node *node) {
    for (int i = 0; i < node->input_count; i++) {
        if (!node->inputs[i]) continue;
        drop_use(node->inputs[i], node, i);
        node->inputs[i] = NULL;
    }
    tare_graph *body;
    for (int i = 0; (body = tare_node_body(node, i)); i++) forget_body_uses(body);
}

/* What the nodes of a removed body read from outside is read no more. Depth: graphs nest at most 32 deep. */
static void forget_body_uses(tare_graph *body) {
    tare_for_nodes (node, body) disconnect(node);
}

void tare_node_remove(tare_node *node) {
    disconnect(node);
    for (int i = 0; i < node->output_count; i++) {
        tare_value *value = node->outputs[i];
        if (!value) continue;
        assert(!value->uses.count && !value->is_output);
        tare_value_set_producer(value, NULL, 0);
        tare_value_remove(value);
    }
    unlink_node(node);
}

void tare_node_move_before(tare_node *node, tare_node *before) {
    assert(node != before);
    unlink_node(node);
    link_before(node, before);
}

/* ---- bodies ---- */

/* Has a graph inside this one a value of the name? Depth: graphs nest at most 32 deep. */
static bool is_named_inside(const tare_graph *graph, const char *name) {
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++)
            if (tare_map_get(&body->values, name) || is_named_inside(body, name)) return true;
    }
    return false;
}

static tare_status move_value(tare_graph *to, tare_value *value, tare_error *err) {
    tare_map_remove(&value->graph->values, value->name);
    if (tare_graph_find_value(to, value->name) || is_named_inside(to, value->name)) {
        value->name = tare_graph_unique_name(to, value->name);
        if (!value->name) return tare_fail_memory(err, 0);
    }
    value->graph = to;
    value->is_output = false;
    return enter_name(to, value, err);
}

tare_status tare_graph_inline(tare_graph *body, tare_node *before, tare_error *err) {
    tare_graph *to = before->graph;
    for (size_t i = 0; i < body->values.entries.count; i++) {
        tare_value *value = body->values.entries.at[i].value;
        if (value) TARE_TRY(move_value(to, value, err));
    }
    while (body->first) {
        tare_node *node = body->first;
        tare_graph *inner;
        unlink_node(node);
        node->graph = to;
        link_before(node, before);
        for (int i = 0; (inner = tare_node_body(node, i)); i++) inner->outer = to;
    }
    return TARE_OK;
}

/* ---- what became of removed names ---- */

tare_status tare_model_add_alias(tare_model *model, const char *removed, const tare_alias *alias, tare_error *err) {
    tare_alias *copy = tare_arena_alloc(model->arena, 1, sizeof *copy);
    const char *key = copy ? tare_arena_strdup(model->arena, removed) : NULL;
    if (!key) return tare_fail_memory(err, sizeof *copy);
    *copy = *alias;
    if (alias->target && !(copy->target = tare_arena_strdup(model->arena, alias->target)))
        return tare_fail_memory(err, 0);
    if (alias->reason && !(copy->reason = tare_arena_strdup(model->arena, alias->reason)))
        return tare_fail_memory(err, 0);
    return tare_map_put(&model->aliases, key, copy) ? TARE_OK : tare_fail_memory(err, 0);
}

tare_status tare_model_add_gone(tare_model *model, const char *removed, const char *reason, tare_error *err) {
    return tare_model_add_alias(model, removed, &(tare_alias){ .reason = reason, .factor = 1 }, err);
}

bool tare_model_resolve(const tare_model *model, const char *name, tare_alias *alias) {
    *alias = (tare_alias){ .target = name, .factor = 1 };
    /* Each step follows one removal: more steps than there are removals is a ring. */
    for (size_t step = 0; step <= model->aliases.entries.count; step++) {
        if (tare_graph_find_value(model->graph, alias->target)) return true;
        const tare_alias *next = tare_map_get(&model->aliases, alias->target);
        if (!next) break;
        if (!next->target) {
            alias->reason = next->reason;
            return false;
        }
        if (next->has_permutation) {
            for (int i = 0; i < TARE_RANK_MAX; i++)
                alias->permutation[i] = next->permutation[alias->has_permutation ? alias->permutation[i] : i];
            alias->has_permutation = true;
        }
        alias->offset += alias->factor * next->offset;
        alias->factor *= next->factor;
        alias->target = next->target;
    }
    alias->reason = "not in the model";
    return false;
}

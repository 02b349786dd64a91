/* Reading ONNX: graphs and the names in them. */
#include <string.h>

#include "formats/onnx/reader.h"

/* ---- names ---- */

static const tare_onnx_binding *binding_of(const tare_onnx_scope *scope, const char *name) {
    for (; scope; scope = scope->outer) {
        const tare_onnx_binding *binding = tare_map_get(&scope->names, name);
        if (binding) return binding;
    }
    return NULL;
}

/* An input of a function stands for a name where the function is called, which may be in a function again. */
tare_value *tare_onnx_find(const tare_graph *graph, const tare_onnx_scope *scope, const char *name, bool *left_out) {
    *left_out = false;
    while (scope) {
        const tare_onnx_binding *binding = binding_of(scope, name);
        if (!binding || binding->value) return binding ? binding->value : NULL;
        name = binding->actual;
        if (!*name) {
            *left_out = true;
            return NULL;
        }
        graph = scope->call->graph;
        scope = scope->call->scope;
    }
    return tare_graph_find_value(graph, name);
}

static tare_status fail_taken(const tare_graph *graph, const tare_value *value, tare_error *err) {
    const char *rule = "names of values must be unique";
    if (value->graph != graph)
        return tare_fail(err, TARE_E_MALFORMED, "tensor '%s': graph '%s' around this one has that name already; %s",
                         value->name, value->graph->name, rule);
    if (value->producer)
        return tare_fail(err, TARE_E_MALFORMED, "tensor '%s': node '%s' (%s) makes it already; %s", value->name,
                         value->producer->name, value->producer->type, rule);
    const char *what = value->is_input ? "a graph input" : value->is_initializer ? "an initializer" : "an output";
    return tare_fail(err, TARE_E_MALFORMED, "tensor '%s': it is %s already; %s", value->name, what, rule);
}

static tare_status make_value(tare_onnx_reader *reader, tare_graph *graph, const char *name, tare_value **to,
                              tare_error *err) {
    if (++reader->tensors > TENSOR_COUNT_MAX)
        return tare_fail(err, TARE_E_LIMIT, "more than %d tensors", TENSOR_COUNT_MAX);
    return tare_graph_add_value(graph, name, to, err);
}

const char *tare_onnx_inner_name(tare_onnx_reader *reader, const tare_onnx_scope *scope, const char *name) {
    const char *prefix = scope->call->prefix;
    if (strlen(name) > INLINED_NAME_MAX / 2)
        return tare_arena_printf(reader->scratch, "%s/%zu", prefix, reader->tensors);
    return tare_arena_printf(reader->scratch, "%s/%s", prefix, name);
}

/* Inside a function: a value of a name made of the call's and this one, unless it is an output that the call named. */
static tare_status define_inside(tare_onnx_reader *reader, tare_graph *graph, const tare_onnx_scope *scope,
                                 const char *name, tare_value **to, tare_error *err) {
    const tare_onnx_binding *taken = binding_of(scope, name);
    if (taken && !scope->outer && taken->actual && taken->value && !taken->value->producer) {
        *to = taken->value;
        return TARE_OK;
    }
    if (taken)
        return tare_fail(err, TARE_E_MALFORMED, "tensor '%s': made twice in function '%s'", name,
                         scope->call->function->name);
    const char *base = tare_onnx_inner_name(reader, scope, name);
    const char *unique = base ? tare_graph_unique_name(graph, base) : NULL;
    tare_onnx_binding *binding = tare_arena_alloc(reader->scratch, 1, sizeof *binding);
    const char *key = tare_arena_strdup(reader->scratch, name);
    if (!unique || !binding || !key) return tare_fail_memory(err, 0);
    TARE_TRY(make_value(reader, graph, unique, to, err));
    binding->value = *to;
    /* The scope is the reader's own, const only to those who look names up. */
    tare_map *names = (tare_map *)(uintptr_t)&scope->names;
    return tare_map_put(names, key, binding) ? TARE_OK : tare_fail_memory(err, 0);
}

tare_status tare_onnx_define(tare_onnx_reader *reader, tare_graph *graph, const tare_onnx_scope *scope,
                             const char *name, tare_value **to, tare_error *err) {
    if (scope) return define_inside(reader, graph, scope, name, to, err);
    const tare_value *taken = tare_graph_find_value(graph, name);
    return taken ? fail_taken(graph, taken, err) : make_value(reader, graph, name, to, err);
}

/* ---- the parts of a GraphProto ---- */

typedef struct parts {
    tare_spans nodes, initializers, sparse, inputs, outputs, infos;
    tare_onnx_graph *extra;
} parts;

static tare_status collect_field(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field,
                                 tare_graph *graph, parts *found, tare_error *err) {
    tare_spans *list = NULL;
    tare_span bytes;
    switch (field->number) {
    case GRAPH_NODE: list = &found->nodes; break;
    case GRAPH_INITIALIZER: list = &found->initializers; break;
    case GRAPH_SPARSE_INITIALIZER: list = &found->sparse; break;
    case GRAPH_INPUT: list = &found->inputs; break;
    case GRAPH_OUTPUT: list = &found->outputs; break;
    case GRAPH_VALUE_INFO: list = &found->infos; break;
    case GRAPH_NAME:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        return tare_onnx_take_text(reader, wire, field, &graph->name, err);
    default: return tare_onnx_keep(reader, &found->extra->other, field, err);
    }
    TARE_TRY(tare_wire_item(wire, field, &bytes, err));
    return tare_vec_push(reader->scratch, list, bytes) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status collect(tare_onnx_reader *reader, tare_span bytes, tare_graph *graph, parts *found,
                           tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    found->extra = tare_arena_alloc(reader->model->arena, 1, sizeof *found->extra);
    if (!found->extra) return tare_fail_memory(err, 0);
    graph->extra = found->extra;
    tare_wire_open(&wire, reader->base, bytes, "GraphProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        TARE_TRY(collect_field(reader, &wire, &field, graph, found, err));
    }
}

static tare_status read_inputs(tare_onnx_reader *reader, const parts *found, tare_graph *graph,
                               const tare_onnx_scope *scope, tare_error *err) {
    for (size_t i = 0; i < found->inputs.count; i++) {
        const char *name;
        tare_value *value;
        TARE_TRY(tare_onnx_read_info_name(reader, found->inputs.at[i], &name, err));
        if (!*name) return tare_fail(err, TARE_E_MALFORMED, "graph input %zu has no name", i);
        TARE_TRY(tare_onnx_define(reader, graph, scope, name, &value, err));
        TARE_TRY(tare_graph_add_input(graph, value, err));
        TARE_TRY(tare_onnx_read_info(reader, found->inputs.at[i], value, !scope, err));
    }
    return TARE_OK;
}

static tare_status enter_constant(tare_onnx_reader *reader, tare_graph *graph, const tare_onnx_scope *scope,
                                  const char *name, const tare_tensor *tensor, const tare_spans *other,
                                  tare_error *err) {
    bool left_out;
    tare_status fits = TARE_OK;
    tare_value *value = *name ? tare_onnx_find(graph, scope, name, &left_out) : NULL;
    if (!*name) return tare_fail(err, TARE_E_MALFORMED, "an initializer without a name");
    if (value && value->graph == graph && value->is_input && !value->constant && !graph->outer)
        fits = tare_onnx_declare(reader, value, tensor->dtype, &tensor->shape, err);
    else if (value && value->graph == graph && value->is_input && graph->outer)
        return tare_fail(err, TARE_E_MALFORMED, "tensor '%s': input of a body and an initializer there", name);
    else
        TARE_TRY(tare_onnx_define(reader, graph, scope, name, &value, err));
    if (fits != TARE_OK) return tare_within(err, "tensor '%s'", name);
    value->dtype = tensor->dtype;
    value->shape = tensor->shape;
    value->constant = tensor;
    value->is_initializer = true;
    if (!other->count) return TARE_OK;
    tare_onnx_value *extra = tare_onnx_value_extra(reader, value, err);
    if (!extra) return err->status;
    extra->tensor = *other;
    return TARE_OK;
}

static tare_status read_initializers(tare_onnx_reader *reader, const parts *found, tare_graph *graph,
                                     const tare_onnx_scope *scope, tare_error *err) {
    const char *name;
    tare_tensor *tensor;
    for (size_t i = 0; i < found->initializers.count; i++) {
        tare_spans other = { 0 };
        TARE_TRY(tare_onnx_read_tensor(reader, found->initializers.at[i], &name, &tensor, &other, err));
        TARE_TRY(enter_constant(reader, graph, scope, name, tensor, &other, err));
    }
    for (size_t i = 0; i < found->sparse.count; i++) {
        TARE_TRY(tare_onnx_read_sparse(reader, found->sparse.at[i], &name, &tensor, err));
        TARE_TRY(enter_constant(reader, graph, scope, name, tensor, &(tare_spans){ 0 }, err));
    }
    return TARE_OK;
}

/* What is said of values that are not there is of no use. */
static tare_status read_infos(tare_onnx_reader *reader, const parts *found, tare_graph *graph,
                              const tare_onnx_scope *scope, tare_error *err) {
    for (size_t i = 0; i < found->infos.count; i++) {
        const char *name;
        bool left_out;
        tare_arena_mark mark = tare_arena_get_mark(reader->scratch);
        TARE_TRY(tare_onnx_read_info_name(reader, found->infos.at[i], &name, err));
        tare_value *value = tare_onnx_find(graph, scope, name, &left_out);
        tare_arena_release(reader->scratch, mark);
        if (!value || value->graph != graph) continue;
        TARE_TRY(tare_onnx_read_info(reader, found->infos.at[i], value, !scope, err));
    }
    return TARE_OK;
}

static tare_status read_outputs(tare_onnx_reader *reader, const parts *found, tare_graph *graph,
                                const tare_onnx_scope *scope, tare_error *err) {
    for (size_t i = 0; i < found->outputs.count; i++) {
        const char *name;
        bool left_out;
        TARE_TRY(tare_onnx_read_info_name(reader, found->outputs.at[i], &name, err));
        tare_value *value = tare_onnx_find(graph, scope, name, &left_out);
        if (!value) return tare_fail(err, TARE_E_MALFORMED, "tensor '%s': a graph output that nothing makes", name);
        if (value->graph != graph)
            return tare_fail(err, TARE_E_MALFORMED,
                             "tensor '%s': output of a body that belongs to graph '%s' around it; an Identity node in "
                             "the body must hand it on",
                             name, value->graph->name);
        if (value->is_output) return tare_fail(err, TARE_E_MALFORMED, "tensor '%s': a graph output twice", name);
        TARE_TRY(tare_graph_add_output(graph, value, err));
        TARE_TRY(tare_onnx_read_info(reader, found->outputs.at[i], value, !scope, err));
    }
    return TARE_OK;
}

/* ---- nodes and their bodies ---- */

static tare_status read_body(tare_onnx_reader *reader, const tare_onnx_body *body, tare_error *err) {
    tare_graph *graph;
    tare_node *node = body->node;
    int depth = 0;
    for (const tare_graph *outer = node->graph; outer; outer = outer->outer) depth++;
    if (depth > GRAPH_DEPTH_MAX)
        return tare_fail(err, TARE_E_LIMIT, "graphs are nested more than %d deep", GRAPH_DEPTH_MAX);
    TARE_TRY(tare_graph_new(&graph, reader->model, node->graph, node, err));
    *(tare_graph **)tare_field_at(body->field, node->attrs) = graph;
    tare_onnx_scope inner = { 0 };
    if (body->scope) {
        inner = (tare_onnx_scope){ .call = body->scope->call, .outer = body->scope };
        tare_map_init(&inner.names, reader->scratch);
    }
    return tare_onnx_read_graph(reader, body->bytes, graph, body->scope ? &inner : NULL, err);
}

static tare_status within_node(const tare_node *node, tare_error *err) {
    if (!tare_onnx_has_room(err)) return err->status;
    return tare_within(err, "node '%s' (%s)", node->name, node->type);
}

static tare_status finish_nodes(tare_onnx_reader *reader, const tare_onnx_pendings *pendings, tare_error *err) {
    tare_onnx_bodies bodies = { 0 };
    for (size_t i = 0; i < pendings->count; i++)
        if (tare_onnx_connect(reader, &pendings->at[i], err) != TARE_OK) return within_node(pendings->at[i].node, err);
    for (size_t i = 0; i < pendings->count; i++)
        if (tare_onnx_read_attributes(reader, &pendings->at[i], &bodies, err) != TARE_OK)
            return within_node(pendings->at[i].node, err);
    for (size_t i = 0; i < bodies.count; i++) {
        if (read_body(reader, &bodies.at[i], err) == TARE_OK) continue;
        if (tare_onnx_has_room(err)) tare_within(err, "attribute '%s'", bodies.at[i].field->name);
        return within_node(bodies.at[i].node, err);
    }
    return TARE_OK;
}

tare_status tare_onnx_read_graph(tare_onnx_reader *reader, tare_span bytes, tare_graph *graph,
                                 const tare_onnx_scope *scope, tare_error *err) {
    parts found = { 0 };
    tare_onnx_pendings pendings = { 0 };
    TARE_TRY(collect(reader, bytes, graph, &found, err));
    TARE_TRY(read_inputs(reader, &found, graph, scope, err));
    TARE_TRY(read_initializers(reader, &found, graph, scope, err));
    TARE_TRY(tare_onnx_add_nodes(reader, &found.nodes, graph, scope, &pendings, err));
    TARE_TRY(read_infos(reader, &found, graph, scope, err));
    TARE_TRY(finish_nodes(reader, &pendings, err));
    return read_outputs(reader, &found, graph, scope, err);
}

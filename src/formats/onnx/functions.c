/* Reading ONNX: the model's own functions, put in place of the nodes that call them. Names inside get the call's as a
 * prefix; depth, number of nodes and recursion are bounded. */
#include <string.h>

#include "base/text.h"
#include "formats/onnx/reader.h"

static const char *key_of(tare_arena *arena, const char *domain, const char *name, const char *overload) {
    /* No name holds a control character, so the three cannot run into each other. */
    return tare_arena_printf(arena, "%s\x1f%s\x1f%s", domain, name, overload);
}

/* ---- FunctionProto ---- */

static tare_status push_name(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                             const char ***at, size_t *count, size_t *capacity, tare_error *err) {
    const char *name;
    TARE_TRY(tare_onnx_take_name(reader, wire, field, &name, err));
    for (size_t i = 0; i < *count; i++)
        if (!strcmp((*at)[i], name)) return tare_wire_fail(wire, field, err, "'%s' stands twice", name);
    if (!*name) return tare_wire_fail(wire, field, err, "an empty name");
    if (*count >= FUNCTION_NAMES_MAX)
        return tare_fail(err, TARE_E_LIMIT, "more than %d inputs, outputs or attributes", FUNCTION_NAMES_MAX);
    if (!tare_vec_reserve(reader->scratch, at, capacity, *count + 1, sizeof **at)) return tare_fail_memory(err, 0);
    (*at)[(*count)++] = name;
    return TARE_OK;
}

static tare_status push_item(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                             tare_spans *to, tare_error *err) {
    tare_span bytes;
    TARE_TRY(tare_wire_item(wire, field, &bytes, err));
    return tare_vec_push(reader->scratch, to, bytes) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status push_import(tare_onnx_reader *reader, const tare_wire *wire, const tare_wire_field *field,
                               tare_onnx_function *to, tare_error *err) {
    tare_span bytes;
    tare_onnx_import import;
    TARE_TRY(tare_wire_item(wire, field, &bytes, err));
    TARE_TRY(tare_onnx_read_import(reader, bytes, &import, err));
    return tare_vec_push(reader->scratch, &to->imports, import) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status read_field(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field,
                              tare_onnx_function *to, const char **overload, tare_error *err) {
    tare_span bytes;
    switch (field->number) {
    case FUNCTION_NAME:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        return tare_onnx_take_name(reader, wire, field, &to->name, err);
    case FUNCTION_DOMAIN:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        return tare_onnx_take_name(reader, wire, field, &to->domain, err);
    case FUNCTION_OVERLOAD:
        TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
        return tare_onnx_take_name(reader, wire, field, overload, err);
    case FUNCTION_INPUT:
        return push_name(reader, wire, field, &to->inputs.at, &to->inputs.count, &to->inputs.capacity, err);
    case FUNCTION_OUTPUT:
        return push_name(reader, wire, field, &to->outputs.at, &to->outputs.count, &to->outputs.capacity, err);
    case FUNCTION_ATTRIBUTE:
        return push_name(reader, wire, field, &to->attributes.at, &to->attributes.count, &to->attributes.capacity, err);
    case FUNCTION_ATTRIBUTE_PROTO: return push_item(reader, wire, field, &to->defaults, err);
    case FUNCTION_NODE: return push_item(reader, wire, field, &to->nodes, err);
    case FUNCTION_OPSET_IMPORT: return push_import(reader, wire, field, to, err);
    default: return TARE_OK;
    }
}

tare_status tare_onnx_read_function(tare_onnx_reader *reader, tare_span bytes, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    const char *overload = "";
    tare_onnx_function *function = tare_arena_alloc(reader->scratch, 1, sizeof *function);
    if (!function) return tare_fail_memory(err, 0);
    function->name = function->domain = "";
    tare_wire_open(&wire, reader->base, bytes, "FunctionProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        if (read_field(reader, &wire, &field, function, &overload, err) != TARE_OK)
            return tare_within(err, "function '%s'", function->name);
    }
    if (!*function->name) return tare_fail(err, TARE_E_MALFORMED, "a function without a name");
    if (!strcmp(function->domain, "ai.onnx")) function->domain = "";
    function->key = key_of(reader->scratch, function->domain, function->name, overload);
    if (!function->key) return tare_fail_memory(err, 0);
    if (tare_map_get(&reader->functions, function->key))
        return tare_fail(err, TARE_E_MALFORMED, "function '%s' of domain '%s' stands twice", function->name,
                         function->domain);
    return tare_map_put(&reader->functions, function->key, function) ? TARE_OK : tare_fail_memory(err, 0);
}

tare_status tare_onnx_find_function(tare_onnx_reader *reader, const tare_onnx_head *head, const tare_onnx_function **to,
                                    tare_error *err) {
    *to = NULL;
    if (!reader->functions.entries.count) return TARE_OK;
    const char *key = key_of(reader->scratch, head->domain, head->type, head->overload);
    if (!key) return tare_fail_memory(err, 0);
    *to = tare_map_get(&reader->functions, key);
    return TARE_OK;
}

/* Bytes that are walked again because they stand in a function; a small file could ask for any amount. */
tare_status tare_onnx_count_work(tare_onnx_reader *reader, size_t bytes, tare_error *err) {
    reader->work += bytes;
    if (reader->work <= FUNCTION_WORK_MAX) return TARE_OK;
    return tare_fail(err, TARE_E_LIMIT, "more than %zu bytes of nodes when functions are inlined", FUNCTION_WORK_MAX);
}

/* ---- attributes that refer to the call's ---- */

static tare_status find_in_node(tare_onnx_reader *reader, tare_span node, const char *name, tare_onnx_attribute *to,
                                bool *found, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    *found = false;
    TARE_TRY(tare_onnx_count_work(reader, node.size, err));
    tare_wire_open(&wire, reader->base, node, "NodeProto");
    for (;;) {
        tare_span bytes;
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number != NODE_ATTRIBUTE) continue;
        TARE_TRY(tare_wire_item(&wire, &field, &bytes, err));
        TARE_TRY(tare_onnx_parse_attribute(reader, bytes, to, err));
        if (strcmp(to->name, name) != 0) continue;
        *found = true;
        return TARE_OK;
    }
}

static tare_status find_default(tare_onnx_reader *reader, const tare_onnx_function *function, const char *name,
                                tare_onnx_attribute *to, bool *found, tare_error *err) {
    *found = false;
    for (size_t i = 0; i < function->defaults.count && !*found; i++) {
        TARE_TRY(tare_onnx_parse_attribute(reader, function->defaults.at[i], to, err));
        *found = !strcmp(to->name, name);
    }
    if (*found && *to->reference)
        return tare_fail(err, TARE_E_MALFORMED, "the default in function '%s' is a reference", function->name);
    return TARE_OK;
}

/* Each step leads out of one call. */
tare_status tare_onnx_follow_reference(tare_onnx_reader *reader, tare_onnx_attribute *to, const tare_onnx_scope **scope,
                                       bool *absent, tare_error *err) {
    const int type = to->type;
    *absent = false;
    while (*to->reference) {
        if (!*scope) return tare_fail(err, TARE_E_MALFORMED, "refers to '%s' outside of a function", to->reference);
        const tare_onnx_call *call = (*scope)->call;
        const char *name = to->reference;
        bool found;
        TARE_TRY(find_in_node(reader, call->node, name, to, &found, err));
        if (found) {
            *scope = call->scope;
            continue;
        }
        TARE_TRY(find_default(reader, call->function, name, to, &found, err));
        *absent = !found;
        break;
    }
    if (*absent || !type || to->type == type) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "refers to '%s', which is of another type", to->name);
}

/* ---- calls ---- */

static tare_status check_recursion(tare_onnx_reader *reader, const tare_onnx_function *function,
                                   const tare_onnx_scope *scope, tare_error *err) {
    tare_text ring = { .arena = reader->scratch };
    bool is_ring = false;
    int depth = 0;
    tare_text_puts(&ring, function->name);
    for (; scope && !is_ring; scope = scope->call->scope, depth++) {
        tare_text_printf(&ring, " called by %s", scope->call->function->name);
        is_ring = scope->call->function == function;
    }
    if (ring.failed) return tare_fail_memory(err, 0);
    if (is_ring) return tare_fail(err, TARE_E_MALFORMED, "functions call each other in a ring: %s", ring.at);
    if (depth < FUNCTION_DEPTH_MAX) return TARE_OK;
    return tare_fail(err, TARE_E_LIMIT, "functions call functions more than %d deep", FUNCTION_DEPTH_MAX);
}

static tare_status bind(tare_onnx_reader *reader, tare_onnx_scope *scope, const char *formal, tare_value *value,
                        const char *actual, tare_error *err) {
    tare_onnx_binding *binding = tare_arena_alloc(reader->scratch, 1, sizeof *binding);
    if (!binding) return tare_fail_memory(err, 0);
    *binding = (tare_onnx_binding){ .value = value, .actual = actual };
    return tare_map_put(&scope->names, formal, binding) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status bind_inputs(tare_onnx_reader *reader, const tare_onnx_call *call, tare_onnx_scope *inner,
                               tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    size_t index = 0;
    const tare_onnx_function *function = call->function;
    tare_wire_open(&wire, reader->base, call->node, "NodeProto");
    for (;;) {
        const char *actual;
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        if (field.number != NODE_INPUT) continue;
        TARE_TRY(tare_onnx_take_name(reader, &wire, &field, &actual, err));
        TARE_TRY(bind(reader, inner, function->inputs.at[index++], NULL, actual, err));
    }
    for (; index < function->inputs.count; index++)
        TARE_TRY(bind(reader, inner, function->inputs.at[index], NULL, "", err));
    return TARE_OK;
}

/* An input that is an output as well is handed on by an Identity. */
static tare_status hand_on(tare_onnx_reader *reader, const tare_onnx_scope *inner, const char *formal,
                           tare_value *output, tare_onnx_pendings *pendings, tare_error *err) {
    const tare_op *identity = tare_op_find("", "Identity", OPSET_MAX);
    if (!identity) return tare_fail(err, TARE_E_BUG, "there is no operator Identity");
    tare_value *none = NULL;
    tare_onnx_pending pending = { .input = formal, .scope = inner };
    TARE_TRY(tare_graph_add_node(inner->call->graph, NULL, identity, NULL, &none, 1, &output, 1, &pending.node, err));
    return tare_vec_push(reader->scratch, pendings, pending) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status bind_outputs(tare_onnx_reader *reader, const tare_onnx_head *head, const tare_onnx_call *call,
                                tare_onnx_scope *inner, tare_onnx_pendings *pendings, tare_error *err) {
    for (size_t i = 0; i < head->outputs.count; i++) {
        const char *actual = head->outputs.at[i], *formal = call->function->outputs.at[i];
        tare_value *value;
        if (!*actual) continue;
        TARE_TRY(tare_onnx_define(reader, call->graph, call->scope, actual, &value, err));
        if (tare_map_get(&inner->names, formal))
            TARE_TRY(hand_on(reader, inner, formal, value, pendings, err));
        else
            TARE_TRY(bind(reader, inner, formal, value, actual, err));
    }
    return TARE_OK;
}

static tare_status check_outputs(const tare_onnx_head *head, const tare_onnx_call *call, const tare_onnx_scope *inner,
                                 tare_error *err) {
    for (size_t i = 0; i < head->outputs.count; i++) {
        const tare_onnx_binding *binding = tare_map_get(&inner->names, call->function->outputs.at[i]);
        if (!binding || !binding->value || binding->value->producer) continue;
        return tare_fail(err, TARE_E_MALFORMED, "nothing makes output '%s'", call->function->outputs.at[i]);
    }
    return TARE_OK;
}

/* What the function imports and the model does not, the model imports from now on. */
static tare_status merge_imports(tare_onnx_reader *reader, const tare_onnx_function *function, tare_error *err) {
    for (size_t i = 0; i < function->imports.count; i++) {
        const tare_onnx_import *import = &function->imports.at[i];
        if (tare_onnx_opset(reader, NULL, import->domain)) continue;
        if (!*import->domain) reader->model->opset = import->version;
        if (!tare_vec_push(reader->model->arena, &reader->extra->imports, *import)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static tare_status check_call(tare_onnx_reader *reader, const tare_onnx_function *function, const tare_onnx_head *head,
                              tare_error *err) {
    if (head->input_count > function->inputs.count || head->outputs.count > function->outputs.count)
        return tare_fail(err, TARE_E_MALFORMED, "%zu inputs and %zu outputs, the function has %zu and %zu",
                         head->input_count, head->outputs.count, function->inputs.count, function->outputs.count);
    if (!reader->inlined) tare_log_note(reader->options->log, "the model's own functions are inlined");
    reader->inlined += function->nodes.count + 1;
    if (reader->inlined <= FUNCTION_NODES_MAX) return TARE_OK;
    return tare_fail(err, TARE_E_LIMIT, "more than %d nodes when functions are inlined", FUNCTION_NODES_MAX);
}

/* What the names of the call's values and nodes begin with: the names of the calls around it while that is short. */
static const char *make_prefix(tare_onnx_reader *reader, const tare_onnx_function *function, const tare_onnx_head *head,
                               const tare_onnx_scope *scope) {
    size_t length = strlen(head->name) + (scope ? strlen(scope->call->prefix) : 0);
    if (!*head->name || length > INLINED_NAME_MAX / 2)
        return tare_arena_printf(reader->scratch, "%.*s#%zu", INLINED_NAME_MAX / 2, function->name, reader->nodes);
    if (!scope) return head->name;
    return tare_arena_printf(reader->scratch, "%s/%s", scope->call->prefix, head->name);
}

tare_status tare_onnx_inline(tare_onnx_reader *reader, const tare_onnx_function *function, const tare_onnx_head *head,
                             tare_span bytes, tare_graph *graph, const tare_onnx_scope *scope,
                             tare_onnx_pendings *pendings, tare_error *err) {
    TARE_TRY(check_recursion(reader, function, scope, err));
    TARE_TRY(check_call(reader, function, head, err));
    TARE_TRY(merge_imports(reader, function, err));
    tare_onnx_call *call = tare_arena_alloc(reader->scratch, 1, sizeof *call);
    tare_onnx_scope *inner = tare_arena_alloc(reader->scratch, 1, sizeof *inner);
    const char *prefix = make_prefix(reader, function, head, scope);
    if (!call || !inner || !prefix) return tare_fail_memory(err, 0);
    *call = (tare_onnx_call){ .function = function, .graph = graph, .scope = scope, .prefix = prefix, .node = bytes };
    inner->call = call;
    tare_map_init(&inner->names, reader->scratch);
    TARE_TRY(bind_inputs(reader, call, inner, err));
    TARE_TRY(bind_outputs(reader, head, call, inner, pendings, err));
    tare_status status = tare_onnx_add_nodes(reader, &function->nodes, graph, inner, pendings, err);
    if (status == TARE_OK) status = check_outputs(head, call, inner, err);
    return status == TARE_OK || !tare_onnx_has_room(err) ? status : tare_within(err, "function '%s'", function->name);
}

/* Reading ONNX: nodes and what they are connected to. */
#include <string.h>

#include "formats/onnx/reader.h"

/* ---- what a node is ---- */

static tare_status head_text(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field, const char **to,
                             tare_error *err) {
    tare_span bytes;
    TARE_TRY(tare_wire_bytes(wire, field, &bytes, err));
    return tare_onnx_take_name(reader, wire, field, to, err);
}

static tare_status head_field(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field,
                              tare_onnx_head *head, tare_error *err) {
    const char *name;
    switch (field->number) {
    case NODE_INPUT: head->input_count++; return TARE_OK;
    case NODE_OUTPUT:
        TARE_TRY(tare_onnx_take_name(reader, wire, field, &name, err));
        return tare_vec_push(reader->scratch, &head->outputs, name) ? TARE_OK : tare_fail_memory(err, 0);
    case NODE_NAME: return head_text(reader, wire, field, &head->name, err);
    case NODE_OP_TYPE: return head_text(reader, wire, field, &head->type, err);
    case NODE_DOMAIN: return head_text(reader, wire, field, &head->domain, err);
    case NODE_OVERLOAD: return head_text(reader, wire, field, &head->overload, err);
    case NODE_ATTRIBUTE: head->attribute_count++; return TARE_OK;
    default: return TARE_OK;
    }
}

static tare_status read_head(tare_onnx_reader *reader, tare_span bytes, tare_onnx_head *head, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    *head = (tare_onnx_head){ .name = "", .type = "", .domain = "", .overload = "" };
    tare_wire_open(&wire, reader->base, bytes, "NodeProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        TARE_TRY(head_field(reader, &wire, &field, head, err));
    }
    if (!strcmp(head->domain, "ai.onnx")) head->domain = "";
    if (!*head->type) return tare_fail(err, TARE_E_MALFORMED, "no op_type");
    if (head->attribute_count > ATTRIBUTE_COUNT_MAX)
        return tare_fail(err, TARE_E_LIMIT, "%zu attributes, at most %d are allowed", head->attribute_count,
                         ATTRIBUTE_COUNT_MAX);
    if (head->input_count > TENSOR_COUNT_MAX || head->outputs.count > TENSOR_COUNT_MAX)
        return tare_fail(err, TARE_E_LIMIT, "%zu inputs and %zu outputs, at most %d are allowed", head->input_count,
                         head->outputs.count, TENSOR_COUNT_MAX);
    return TARE_OK;
}

/* A function must mean the same ops as the model does: the model has one opset. */
static tare_status find_op(tare_onnx_reader *reader, const tare_onnx_head *head, const tare_onnx_scope *scope,
                           const tare_op **to, tare_error *err) {
    int64_t opset = tare_onnx_opset(reader, scope, head->domain);
    if (!opset && !*head->domain) return tare_fail(err, TARE_E_MALFORMED, "no opset_import of ONNX's own domain");
    *to = tare_op_find(head->domain, head->type, opset ? opset : 1);
    if (!scope) return TARE_OK;
    int64_t outside = tare_onnx_opset(reader, NULL, head->domain);
    if (outside == opset || tare_op_find(head->domain, head->type, outside ? outside : 1) == *to) return TARE_OK;
    return tare_fail(err, TARE_E_UNSUPPORTED,
                     "function '%s' imports opset %lld and the model %lld, between which this operator changed",
                     scope->call->function->name, (long long)opset, (long long)outside);
}

/* ---- nodes with their outputs ---- */

static tare_status define_outputs(tare_onnx_reader *reader, const tare_onnx_head *head, tare_graph *graph,
                                  const tare_onnx_scope *scope, tare_value **outputs, tare_error *err) {
    for (size_t i = 0; i < head->outputs.count; i++) {
        if (!*head->outputs.at[i]) continue;
        TARE_TRY(tare_onnx_define(reader, graph, scope, head->outputs.at[i], &outputs[i], err));
    }
    return TARE_OK;
}

static const char *node_name(tare_onnx_reader *reader, const tare_onnx_head *head, const tare_onnx_scope *scope) {
    const char *name = head->name;
    if (!*name) return NULL;
    if (scope) name = tare_onnx_inner_name(reader, scope, name);
    return name && !tare_map_get(&reader->model->node_names, name) ? name : NULL;
}

static tare_status add_plain(tare_onnx_reader *reader, const tare_onnx_head *head, tare_span bytes, tare_graph *graph,
                             const tare_onnx_scope *scope, tare_onnx_pendings *pendings, tare_error *err) {
    const tare_op *op = NULL;
    tare_onnx_pending pending = { .bytes = bytes, .scope = scope };
    int input_count = (int)head->input_count, output_count = (int)head->outputs.count;
    tare_value **inputs = tare_arena_alloc(reader->scratch, head->input_count + 1, sizeof(tare_value *));
    tare_value **outputs = tare_arena_alloc(reader->scratch, head->outputs.count + 1, sizeof(tare_value *));
    if (!inputs || !outputs) return tare_fail_memory(err, 0);
    TARE_TRY(find_op(reader, head, scope, &op, err));
    TARE_TRY(define_outputs(reader, head, graph, scope, outputs, err));
    const char *name = node_name(reader, head, scope);
    tare_status status =
        op ? tare_graph_add_node(graph, NULL, op, name, inputs, input_count, outputs, output_count, &pending.node, err)
           : tare_graph_add_unknown(graph, NULL, head->domain, head->type, name, inputs, input_count, outputs,
                                    output_count, &pending.node, err);
    if (status != TARE_OK) return status;
    if (!tare_vec_push(reader->scratch, pendings, pending)) return tare_fail_memory(err, 0);
    return TARE_OK;
}

static tare_status add_node(tare_onnx_reader *reader, const tare_onnx_head *head, tare_span bytes, tare_graph *graph,
                            const tare_onnx_scope *scope, tare_onnx_pendings *pendings, tare_error *err) {
    if (++reader->nodes > NODE_COUNT_MAX) return tare_fail(err, TARE_E_LIMIT, "more than %d nodes", NODE_COUNT_MAX);
    if (scope) TARE_TRY(tare_onnx_count_work(reader, bytes.size, err));
    const tare_onnx_function *function;
    TARE_TRY(tare_onnx_find_function(reader, head, &function, err));
    if (function) return tare_onnx_inline(reader, function, head, bytes, graph, scope, pendings, err);
    return add_plain(reader, head, bytes, graph, scope, pendings, err);
}

tare_status tare_onnx_add_nodes(tare_onnx_reader *reader, const tare_spans *nodes, tare_graph *graph,
                                const tare_onnx_scope *scope, tare_onnx_pendings *pendings, tare_error *err) {
    for (size_t i = 0; i < nodes->count; i++) {
        tare_onnx_head head;
        tare_status status = read_head(reader, nodes->at[i], &head, err);
        if (status == TARE_OK) status = add_node(reader, &head, nodes->at[i], graph, scope, pendings, err);
        if (status == TARE_OK) continue;
        if (!tare_onnx_has_room(err)) return status;
        if (*head.name) return tare_within(err, "node '%s' (%s)", head.name, head.type);
        return tare_within(err, "node #%zu (%s)", i, head.type);
    }
    return TARE_OK;
}

/* ---- inputs ---- */

static tare_status connect_input(const tare_onnx_pending *pending, int index, const char *name, tare_error *err) {
    bool left_out;
    if (!*name) return TARE_OK;
    tare_value *value = tare_onnx_find(pending->node->graph, pending->scope, name, &left_out);
    if (value) return tare_node_set_input(pending->node, index, value, err);
    if (left_out) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "input %d is tensor '%s', which nothing makes", index, name);
}

tare_status tare_onnx_connect(tare_onnx_reader *reader, const tare_onnx_pending *pending, tare_error *err) {
    if (!pending->bytes.at) return connect_input(pending, 0, pending->input, err);
    tare_wire wire;
    tare_wire_field field;
    int index = 0;
    tare_wire_open(&wire, reader->base, pending->bytes, "NodeProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        if (field.number != NODE_INPUT) continue;
        const char *name;
        tare_arena_mark mark = tare_arena_get_mark(reader->scratch);
        TARE_TRY(tare_onnx_take_name(reader, &wire, &field, &name, err));
        TARE_TRY(connect_input(pending, index++, name, err));
        tare_arena_release(reader->scratch, mark);
    }
    tare_node_trim(pending->node);
    return TARE_OK;
}

/* Writing ONNX: nodes, graphs, the model around them. Fields stand in the order of their numbers; what was kept of a file
 * follows. */
#include <string.h>

#include "formats/onnx/schema.h"
#include "formats/onnx/writer.h"

static bool emit_spans(pb_ostream_t *to, const tare_spans *spans) {
    for (size_t i = 0; i < spans->count; i++)
        if (!tare_emit_span(to, spans->at[i])) return false;
    return true;
}

/* ---- nodes ---- */

/* Inputs that are attributes in this opset are none; what is left out at the end is not written. */
static bool emit_inputs(pb_ostream_t *to, const tare_onnx_writing *writing, const tare_node *node) {
    int waiting = 0;
    for (int i = 0; i < node->input_count; i++) {
        if (!node->inputs[i] || tare_onnx_dual_of(node, i, writing->model->opset)) {
            waiting++;
            continue;
        }
        for (; waiting; waiting--)
            if (!tare_emit_item(to, NODE_INPUT, "")) return false;
        if (!tare_emit_item(to, NODE_INPUT, node->inputs[i]->name)) return false;
    }
    return true;
}

static bool emit_node(pb_ostream_t *to, const void *context, const void *item) {
    const tare_onnx_writing *writing = context;
    const tare_node *node = item;
    const tare_onnx_node *extra = writing->extra ? node->extra : NULL;
    if (!emit_inputs(to, writing, node)) return false;
    for (int i = 0; i < node->output_count; i++)
        if (!tare_emit_item(to, NODE_OUTPUT, node->outputs[i] ? node->outputs[i]->name : "")) return false;
    return (node->generated_name || tare_emit_text(to, NODE_NAME, node->name)) &&
           tare_emit_text(to, NODE_OP_TYPE, node->type) && tare_onnx_emit_attributes(to, writing, node) &&
           tare_emit_text(to, NODE_DOMAIN, node->domain) && (!extra || emit_spans(to, &extra->other));
}

/* ---- graphs ---- */

/* A constant that is an attribute wherever it is used needs no initializer. */
static bool is_attribute_only(const tare_onnx_writing *writing, const tare_value *value) {
    if (value->is_input || value->is_output || !value->uses.count) return false;
    for (size_t i = 0; i < value->uses.count; i++) {
        const tare_use *use = &value->uses.at[i];
        if (!tare_onnx_dual_of(use->node, use->index, writing->model->opset)) return false;
    }
    return true;
}

bool tare_onnx_is_initializer(const tare_onnx_writing *writing, const tare_value *value) {
    return value->constant && !value->producer && !is_attribute_only(writing, value);
}

static bool emit_initializers(pb_ostream_t *to, const tare_onnx_writing *writing, const tare_graph *graph) {
    const tare_onnx_sidecar *sidecar = &writing->sidecar;
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (!value || !tare_onnx_is_initializer(writing, value)) continue;
        const tare_onnx_value *extra = writing->extra ? value->extra : NULL;
        const tare_onnx_named_tensor named = { .name = value->name,
                                               .tensor = value->constant,
                                               .other = extra ? &extra->tensor : NULL,
                                               .place = value->mark ? &sidecar->places.at[value->mark - 1] : NULL,
                                               .location = sidecar->location };
        if (!tare_emit_message(to, GRAPH_INITIALIZER, tare_onnx_emit_tensor, NULL, &named)) return false;
    }
    return true;
}

static bool has_type(const tare_onnx_writing *writing, const tare_value *value) {
    const tare_onnx_value *extra = writing->extra ? value->extra : NULL;
    return value->dtype || (extra && extra->type.at);
}

/* In the order of the nodes, which a reader keeps. Outputs of the graph say their types themselves. */
static bool emit_value_infos(pb_ostream_t *to, const tare_onnx_writing *writing, const tare_graph *graph) {
    tare_for_nodes (node, graph) {
        for (int i = 0; i < node->output_count; i++) {
            const tare_value *value = node->outputs[i];
            if (!value || value->is_output || !has_type(writing, value)) continue;
            if (!tare_emit_message(to, GRAPH_VALUE_INFO, tare_onnx_emit_info, writing, value)) return false;
        }
    }
    return true;
}

bool tare_onnx_emit_graph(pb_ostream_t *to, const void *context, const void *item) {
    const tare_onnx_writing *writing = context;
    const tare_graph *graph = item;
    const tare_onnx_graph *extra = writing->extra ? graph->extra : NULL;
    tare_for_nodes (node, graph)
        if (!tare_emit_message(to, GRAPH_NODE, emit_node, writing, node)) return false;
    /* The checker wants a name. */
    if (!tare_emit_item(to, GRAPH_NAME, *graph->name ? graph->name : "graph")) return false;
    if (!emit_initializers(to, writing, graph)) return false;
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (!tare_emit_message(to, GRAPH_INPUT, tare_onnx_emit_info, writing, graph->inputs.at[i])) return false;
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (!tare_emit_message(to, GRAPH_OUTPUT, tare_onnx_emit_info, writing, graph->outputs.at[i])) return false;
    return emit_value_infos(to, writing, graph) && (!extra || emit_spans(to, &extra->other));
}

/* ---- the model ---- */

static bool emit_import(pb_ostream_t *to, const void *context, const void *item) {
    const tare_onnx_import *import = item;
    (void)context;
    return tare_emit_item(to, OPSET_DOMAIN, import->domain) && tare_emit_s64(to, OPSET_VERSION, import->version);
}

static bool emit_missing_imports(pb_ostream_t *to, const tare_onnx_writing *writing) {
    for (size_t i = 0; i < writing->domains.count; i++) {
        const tare_onnx_import import = { .domain = writing->domains.at[i], .version = 1 };
        if (!tare_emit_message(to, MODEL_OPSET_IMPORT, emit_import, NULL, &import)) return false;
    }
    return true;
}

static bool emit_imports(pb_ostream_t *to, const tare_onnx_writing *writing) {
    const tare_onnx_import main_import = { .domain = "", .version = writing->model->opset };
    bool has_main = false;
    for (size_t i = 0; writing->extra && i < writing->extra->imports.count; i++) {
        const tare_onnx_import *import = &writing->extra->imports.at[i];
        has_main |= !*import->domain;
        if (!tare_emit_message(to, MODEL_OPSET_IMPORT, emit_import, NULL, *import->domain ? import : &main_import))
            return false;
    }
    if (!has_main && (writing->needs_main || !writing->extra) &&
        !tare_emit_message(to, MODEL_OPSET_IMPORT, emit_import, NULL, &main_import))
        return false;
    return emit_missing_imports(to, writing);
}

static bool emit_property(pb_ostream_t *to, const void *context, const void *item) {
    const tare_property *property = item;
    (void)context;
    return tare_emit_item(to, ENTRY_KEY, property->key) && tare_emit_item(to, ENTRY_VALUE, property->value);
}

bool tare_onnx_emit_model(pb_ostream_t *to, const tare_onnx_writing *writing) {
    const tare_model *model = writing->model;
    if (!tare_emit_s64(to, MODEL_IR_VERSION, model->ir_version) ||
        !tare_emit_text(to, MODEL_PRODUCER_NAME, model->producer_name) ||
        !tare_emit_text(to, MODEL_PRODUCER_VERSION, model->producer_version) ||
        !tare_emit_text(to, MODEL_DOC_STRING, model->doc) ||
        !tare_emit_message(to, MODEL_GRAPH, tare_onnx_emit_graph, writing, model->graph) || !emit_imports(to, writing))
        return false;
    for (size_t i = 0; i < model->properties.count; i++)
        if (!tare_emit_message(to, MODEL_METADATA_PROPS, emit_property, NULL, &model->properties.at[i])) return false;
    return !writing->extra || emit_spans(to, &writing->extra->other);
}

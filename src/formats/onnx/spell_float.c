/* Writing ONNX: products that are float between codes. ONNX Runtime rounds the float weight of a Conv, ConvTranspose or Gemm
 * to s8, with one scale, when its input comes from a DQ with one scale and what it gives goes, through Relus and Clips that
 * have no other reader, to a Q and nowhere else (source: its WeightBiasQuantization). A DQ with that scale for each entry
 * of an axis means the same and is not one of these: such a product gets one of its own. */
#include <string.h>

#include "formats/onnx/writer.h"

static bool is_called(const tare_node *node, const char *type) { return node && !strcmp(node->type, type); }

static bool has_float_weight(const tare_node *node) {
    if (!is_called(node, "Conv") && !is_called(node, "ConvTranspose") && !is_called(node, "Gemm")) return false;
    const tare_value *weight = tare_node_input(node, 1);
    return weight && weight->constant && weight->dtype == TARE_F32;
}

/* The DQ with one scale that the node reads; NULL: it reads something else. */
static const tare_node *dq_before(const tare_node *node) {
    const tare_node *dq = node->inputs[0] ? node->inputs[0]->producer : NULL;
    if (!is_called(dq, "DequantizeLinear") || !dq->inputs[1]->constant) return NULL;
    return dq->inputs[1]->constant->size == sizeof(float) ? dq : NULL;
}

static bool goes_to_q(const tare_node *node) {
    while (node->output_count == 1 && tare_value_has_one_use(node->outputs[0])) {
        node = node->outputs[0]->uses.at[0].node;
        if (is_called(node, "QuantizeLinear")) return true;
        if (!is_called(node, "Relu") && !is_called(node, "Clip")) return false;
    }
    return false;
}

/* The channels' if they are more than one, else another that is; -1: there is none. */
static int find_axis(const tare_shape *shape) {
    for (int i = 1; i < shape->rank; i++)
        if (shape->dim[i] > 1) return i;
    return shape->rank > 0 && shape->dim[0] > 1 ? 0 : -1;
}

/* The one element as often as the axis is long. */
static tare_status repeat(tare_value **out, const tare_value *one, int64_t count, tare_error *err) {
    tare_model *model = one->graph->model;
    const size_t size = one->constant->size;
    tare_tensor *many;
    TARE_TRY(
        tare_tensor_new(model->arena, one->constant->dtype, &(tare_shape){ .rank = 1, .dim = { count } }, &many, err));
    for (size_t i = 0; i < (size_t)count; i++) memcpy((char *)many->data + i * size, one->constant->data, size);
    return tare_graph_add_constant(model->graph, one->name, many, NULL, true, out, err);
}

static tare_status add_own_dq(tare_node *node, const tare_node *dq, int axis, tare_error *err) {
    tare_value *x = node->inputs[0], *inputs[3] = { dq->inputs[0] }, *own;
    tare_model *model = node->graph->model;
    tare_node *made;
    for (int i = 1; i < dq->input_count; i++)
        if (dq->inputs[i]) TARE_TRY(repeat(&inputs[i], dq->inputs[i], x->shape.dim[axis], err));
    const char *base = tare_arena_printf(model->arena, "%s_float", x->name);
    const char *name = base ? tare_graph_unique_name(node->graph, base) : NULL;
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_value(node->graph, name, &own, err));
    own->dtype = x->dtype;
    own->shape = x->shape;
    TARE_TRY(tare_graph_add_node(node->graph, node, dq->op, base, inputs, dq->input_count, &own, 1, &made, err));
    tare_onnx_set_integer(made, "axis", axis);
    return tare_node_set_input(node, 0, own, err);
}

static tare_status keep_node(tare_node *node, const tare_write_options *options, tare_error *err) {
    const tare_node *dq = has_float_weight(node) ? dq_before(node) : NULL;
    if (!dq || !goes_to_q(node)) return TARE_OK;
    const int axis = find_axis(&node->inputs[0]->shape);
    if (axis >= 0) return add_own_dq(node, dq, axis, err);
    tare_log_warn(options->log, "node '%s' (%s): ONNX Runtime will round its float weight to s8, with one scale",
                  node->name, node->type);
    return TARE_OK;
}

/* Depth: graphs nest at most 32 deep. */
tare_status tare_onnx_spell_float(tare_graph *graph, const tare_write_options *options, tare_error *err) {
    tare_for_nodes (node, graph) {
        tare_graph *body;
        TARE_TRY(keep_node(node, options, err));
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(tare_onnx_spell_float(body, options, err));
    }
    return TARE_OK;
}

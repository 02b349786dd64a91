/* Outputs of codes.
 * Before:  producer → y, quantized, an output         others read y
 * After:   producer → y_real → QuantizeLinear → y     others read y_real, quantized */
#include "quantize/quantize.h"

/* ONNX's own has 16 bits from here on; before, com.microsoft's has. */
enum { OPSET_WIDE = 21 };

static const tare_op *op_for(const tare_model *model, tare_dtype code) {
    const bool is_contrib = tare_dtype_size(code) > 1 && model->opset < OPSET_WIDE;
    return tare_op_find(is_contrib ? "com.microsoft" : "", "QuantizeLinear", is_contrib ? 1 : model->opset);
}

static tare_status add_parameters(tare_value *output, tare_value *inputs[3], tare_error *err) {
    const tare_quant *quant = output->quant;
    tare_model *model = output->graph->model;
    const char *scale = tare_arena_printf(model->arena, "%s_scale", output->name);
    const char *zero_point = tare_arena_printf(model->arena, "%s_zero_point", output->name);
    uint8_t narrow = (uint8_t)quant->zero_point[0]; /* of signed ones too: two's complement */
    uint16_t wide = (uint16_t)quant->zero_point[0];
    const bool is_narrow = tare_dtype_size(quant->code) == 1;
    const tare_tensor tensor = { .dtype = quant->code,
                                 .data = is_narrow ? (void *)&narrow : (void *)&wide,
                                 .size = is_narrow ? sizeof narrow : sizeof wide };
    if (!scale || !zero_point) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_f32(output->graph, scale, quant->scale[0], &inputs[1], err));
    return tare_graph_add_constant(output->graph, zero_point, &tensor, NULL, false, &inputs[2], err);
}

/* The value that has the real numbers from now on: made where y was, read where y was. */
static tare_status split(tare_value *output, tare_value **out, tare_error *err) {
    const char *base = tare_arena_printf(output->graph->model->arena, "%s_real", output->name);
    const char *name = base ? tare_graph_unique_name(output->graph, base) : NULL;
    tare_value *real;
    tare_node *producer = output->producer;
    const int index = output->producer_index;
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_value(output->graph, name, &real, err));
    real->dtype = output->dtype;
    real->shape = output->shape;
    real->quant = output->uses.count ? output->quant : NULL;
    tare_value_set_producer(output, NULL, 0);
    tare_value_set_producer(real, producer, index);
    while (output->uses.count) {
        const tare_use use = output->uses.at[output->uses.count - 1];
        TARE_TRY(tare_node_set_input(use.node, use.index, real, err));
    }
    *out = real;
    return TARE_OK;
}

static tare_status give_codes(tare_value *output, tare_error *err) {
    const tare_quant *quant = output->quant;
    tare_model *model = output->graph->model;
    const tare_op *op = op_for(model, quant->code);
    tare_value *inputs[3];
    tare_node *node;
    if (quant->count != 1)
        return tare_fail(err, TARE_E_UNSUPPORTED, "output '%s': has %zu scales in the model, --int-outputs gives one",
                         output->name, quant->count);
    if (!op) return tare_fail(err, TARE_E_BUG, "there is no QuantizeLinear in opset %lld", (long long)model->opset);
    TARE_TRY(add_parameters(output, inputs, err));
    TARE_TRY(split(output, &inputs[0], err));
    TARE_TRY(tare_graph_add_node(output->graph, NULL, op, NULL, inputs, 3, &output, 1, &node, err));
    output->dtype = quant->code;
    output->quant = NULL;
    if (quant->origin.kind == TARE_ORIGIN_QDQ) return TARE_OK;
    const bool is_kept = tare_map_put(&model->origins, output->name, (void *)(uintptr_t)&quant->origin);
    return is_kept ? TARE_OK : tare_fail_memory(err, 0);
}

tare_status tare_quantize_give_codes(tare_model *model, tare_error *err) {
    const tare_graph *graph = model->graph;
    for (size_t i = 0; i < graph->outputs.count; i++) {
        tare_value *value = graph->outputs.at[i];
        if (value->quant && !tare_value_is_constant(value) && !value->is_input) TARE_TRY(give_codes(value, err));
    }
    return tare_graph_verify(graph, err);
}

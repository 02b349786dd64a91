/* Writing ONNX: quantized values become QuantizeLinear and DequantizeLinear again.
 *   computed value x      producer → x_raw → Q → x_quantized → DQ → x      consumers and outputs keep the name
 *   graph input x         x → Q → x_quantized → DQ → x_dequantized         the interface keeps its name
 *   constant codes w      w_quantized → DQ → w
 *   constant float w      w_float → Q → w_quantized → DQ → w
 * One Q per value and one DQ that all consumers share, zero points always there but for biases: the forms that ONNX
 * Runtime fuses (reference: onnxruntime.md §1, §9). Equal scales and zero points share an initializer. */
#include <string.h>

#include "formats/onnx/writer.h"

enum { OPSET_QDQ = 13, OPSET_NARROW_OR_WIDE = 21 }; /* per-axis; 4 and 16 bits and blocks in ONNX's own domain */

static bool is_wide(tare_dtype code) { return code == TARE_S16 || code == TARE_U16; }

static int64_t opset_of(const tare_quant *quant) {
    if (quant->code == TARE_S4 || quant->code == TARE_U4 || quant->block) return OPSET_NARROW_OR_WIDE;
    return is_wide(quant->code) && !quant->contrib ? OPSET_NARROW_OR_WIDE : OPSET_QDQ;
}

/* Graphs nest at most 32 deep, here and below. */
int64_t tare_onnx_quant_opset(const tare_graph *graph) {
    int64_t opset = 0;
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (value && value->quant && opset_of(value->quant) > opset) opset = opset_of(value->quant);
    }
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) {
            int64_t inner = tare_onnx_quant_opset(body);
            if (inner > opset) opset = inner;
        }
    }
    return opset;
}

typedef struct speller {
    tare_model *model;
    const tare_write_options *options;
    tare_map shared;  /* text of what an initializer holds: its tare_value * */
    tare_node *start; /* the first node of the graph: what constants and inputs go through comes before it */
} speller;

/* ---- scales and zero points ---- */

/* Blocked: as the value, with one scale per block along the axis. */
static tare_shape shape_of(const tare_quant *quant, const tare_value *value) {
    if (quant->axis < 0) return (tare_shape){ .rank = 0 };
    if (!quant->block) return tare_shape_of(1, &(int64_t){ (int64_t)quant->count });
    tare_shape shape = value->shape;
    int64_t *dim = &shape.dim[quant->axis];
    *dim = (*dim + quant->block - 1) / quant->block;
    return shape;
}

/* A constant of the main graph, which bodies see as well. What is one number throughout is shared. */
static tare_status add_shared(speller *to, const char *base, const tare_tensor *tensor, tare_value **value,
                              tare_error *err) {
    size_t element = tare_dtype_size(tensor->dtype), count = tensor->size / element;
    const uint8_t *bytes = tensor->data;
    uint32_t number = 0;
    memcpy(&number, bytes, element);
    bool is_one = true;
    for (size_t i = 1; i < count && is_one; i++) is_one = !memcmp(bytes, bytes + i * element, element);
    const char *key = tare_arena_printf(to->model->arena, "%d %d %zu %08x", (int)tensor->dtype, tensor->shape.rank,
                                        count, (unsigned)number);
    if (!key) return tare_fail_memory(err, 0);
    *value = is_one && tensor->shape.rank < 2 ? tare_map_get(&to->shared, key) : NULL;
    if (*value) return TARE_OK;
    TARE_TRY(tare_graph_add_constant(to->model->graph, base, tensor, NULL, false, value, err));
    if (!is_one) return TARE_OK;
    return tare_map_put(&to->shared, key, *value) ? TARE_OK : tare_fail_memory(err, 0);
}

static const char *suffixed(const speller *to, const char *name, const char *suffix) {
    return tare_arena_printf(to->model->arena, "%s%s", name, suffix);
}

static tare_status add_scale(speller *to, const char *name, const tare_quant *quant, const tare_value *value,
                             tare_value **out, tare_error *err) {
    const char *base = suffixed(to, name, "_scale");
    float *scales = tare_arena_alloc_raw(to->model->arena, quant->count, sizeof *scales);
    if (!base || !scales) return tare_fail_memory(err, 0);
    memcpy(scales, quant->scale, quant->count * sizeof *scales);
    const tare_tensor tensor = {
        .dtype = TARE_F32, .shape = shape_of(quant, value), .data = scales, .size = quant->count * sizeof *scales
    };
    return add_shared(to, base, &tensor, out, err);
}

static tare_status add_zero_point(speller *to, const char *name, const tare_quant *quant, const tare_value *value,
                                  tare_value **out, tare_error *err) {
    size_t element = tare_dtype_size(quant->code);
    const char *base = suffixed(to, name, "_zero_point");
    uint8_t *codes = tare_arena_alloc_raw(to->model->arena, quant->count, element);
    if (!base || !codes) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < quant->count; i++) memcpy(codes + i * element, &quant->zero_point[i], element);
    const tare_tensor tensor = {
        .dtype = quant->code, .shape = shape_of(quant, value), .data = codes, .size = quant->count * element
    };
    return add_shared(to, base, &tensor, out, err);
}

/* The scale and zero point of a pair. A bias has a zero point only when it is not 0. */
static tare_status add_parameters(speller *to, const char *name, const tare_quant *quant, const tare_value *value,
                                  tare_value *parameters[2], tare_error *err) {
    bool is_needed = quant->code != TARE_S32;
    for (size_t i = 0; i < quant->count; i++) is_needed |= quant->zero_point[i] != 0;
    TARE_TRY(add_scale(to, name, quant, value, &parameters[0], err));
    parameters[1] = NULL;
    return is_needed ? add_zero_point(to, name, quant, value, &parameters[1], err) : TARE_OK;
}

/* ---- nodes ---- */

void tare_onnx_set_integer(tare_node *node, const char *name, int64_t number) {
    const tare_field *field = tare_fields_find(node->op->attrs, name);
    if (field && field->type == TARE_FIELD_INT) *(int64_t *)tare_field_at(field, node->attrs) = number;
}

/* from → Q or DQ → result, before `before`. */
static tare_status add_node(const speller *to, tare_graph *graph, tare_node *before, const char *type,
                            const tare_quant *quant, tare_value *from, tare_value *const parameters[2],
                            tare_value *result, tare_error *err) {
    bool is_contrib = is_wide(quant->code) && to->model->opset < OPSET_NARROW_OR_WIDE;
    const char *domain = is_contrib ? "com.microsoft" : "";
    const tare_op *op = tare_op_find(domain, type, is_contrib ? 1 : to->model->opset);
    if (!op) return tare_fail(err, TARE_E_BUG, "there is no operator %s in domain '%s'", type, domain);
    tare_value *inputs[3] = { from, parameters[0], parameters[1] };
    tare_node *node;
    const char *base = tare_arena_printf(to->model->arena, "%s_%s", result->name, type);
    if (!base) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_node(graph, before, op, base, inputs, parameters[1] ? 3 : 2, &result, 1, &node, err));
    if (quant->axis < 0) return TARE_OK;
    tare_onnx_set_integer(node, "axis", quant->axis);
    if (quant->block) tare_onnx_set_integer(node, "block_size", quant->block);
    return TARE_OK;
}

static tare_status add_value(const speller *to, tare_graph *graph, const char *name, const char *suffix,
                             tare_dtype dtype, const tare_shape *shape, tare_value **out, tare_error *err) {
    const char *base = suffixed(to, name, suffix);
    const char *unique = base ? tare_graph_unique_name(graph, base) : NULL;
    if (!unique) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_value(graph, unique, out, err));
    (*out)->dtype = dtype;
    (*out)->shape = *shape;
    return TARE_OK;
}

/* Who decided the scale is said of the codes (origins.c). */
static tare_status keep_origin(const speller *to, const tare_value *codes, const tare_quant *quant, tare_error *err) {
    tare_map *origins = &to->model->origins;
    tare_map_remove(origins, codes->name);
    if (quant->origin.kind == TARE_ORIGIN_QDQ && !quant->origin.was) return TARE_OK;
    return tare_map_put(origins, codes->name, (void *)(uintptr_t)&quant->origin) ? TARE_OK : tare_fail_memory(err, 0);
}

/* from → Q → NAME_quantized → DQ → result */
static tare_status add_pair(speller *to, tare_graph *graph, tare_node *before, const char *name,
                            const tare_quant *quant, tare_value *from, tare_value *result, tare_error *err) {
    tare_value *parameters[2], *codes;
    TARE_TRY(add_parameters(to, name, quant, from, parameters, err));
    TARE_TRY(add_value(to, graph, name, "_quantized", quant->code, &from->shape, &codes, err));
    TARE_TRY(keep_origin(to, codes, quant, err));
    TARE_TRY(add_node(to, graph, before, "QuantizeLinear", quant, from, parameters, codes, err));
    return add_node(to, graph, before, "DequantizeLinear", quant, codes, parameters, result, err);
}

/* ---- values ---- */

/* Consumers read the other value; graph outputs stay. */
static tare_status redirect(tare_value *from, tare_value *to, tare_error *err) {
    while (from->uses.count) {
        const tare_use use = from->uses.at[from->uses.count - 1];
        TARE_TRY(tare_node_set_input(use.node, use.index, to, err));
    }
    return TARE_OK;
}

/* A value x_raw (x_float) that was read from a pair which ended in x: the name x is still known as its alias. */
static const char *name_before(const tare_value *value, const char *suffix) {
    tare_model *model = value->graph->model;
    size_t length = strlen(value->name), end = strlen(suffix);
    if (value->is_output || length <= end || strcmp(value->name + length - end, suffix) != 0) return NULL;
    const char *name = tare_arena_copy(model->arena, value->name, length - end);
    const tare_alias *alias = name ? tare_map_get(&model->aliases, name) : NULL;
    bool is_same = alias && alias->target && !strcmp(alias->target, value->name) && !alias->has_permutation &&
                   alias->factor == 1 && alias->offset == 0;
    return is_same && !tare_map_get(&model->names, name) ? name : NULL;
}

/* value → Q → DQ → NAME: the value itself is what comes before the pair. */
static tare_status put_behind(speller *to, tare_value *value, const char *name, const tare_quant *quant,
                              tare_node *before, tare_error *err) {
    tare_value *result;
    TARE_TRY(add_value(to, value->graph, name, "", value->dtype, &value->shape, &result, err));
    TARE_TRY(redirect(value, result, err));
    return add_pair(to, value->graph, before, result->name, quant, value, result, err);
}

static tare_status spell_constant(speller *to, tare_value *value, tare_error *err) {
    const tare_quant *quant = value->quant;
    tare_graph *graph = value->graph;
    tare_tensor tensor = *value->constant;
    tare_value *source, *parameters[2];
    value->quant = NULL;
    if (quant->code == TARE_S32 && tensor.dtype != quant->code) {
        /* There is no QuantizeLinear to 32 bits. */
        tare_log_note(to->options->log, "tensor '%s': a bias that is not rounded yet is written as float", value->name);
        return TARE_OK;
    }
    if (to->options->float_weights && quant->code != TARE_S32 && tensor.dtype == quant->code) {
        const float *numbers;
        size_t count;
        const tare_value held = { .constant = value->constant, .quant = quant, .name = value->name };
        TARE_TRY(tare_value_read_f32(&held, to->model->arena, &numbers, &count, err));
        tensor.dtype = TARE_F32;
        tensor.size = count * sizeof *numbers;
        tensor.data = (void *)(uintptr_t)numbers;
    }
    bool is_float = tensor.dtype != quant->code;
    bool is_as_held = tensor.data == value->constant->data;
    const char *name = is_float && is_as_held ? name_before(value, "_float") : NULL;
    if (name) return put_behind(to, value, name, quant, to->start, err);
    value->constant = NULL;
    value->is_initializer = false;
    const char *base = suffixed(to, value->name, is_float ? "_float" : "_quantized");
    if (!base) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_constant(graph, base, &tensor, NULL, true, &source, err));
    source->extra = value->extra;
    if (is_float) return add_pair(to, graph, to->start, value->name, quant, source, value, err);
    TARE_TRY(add_parameters(to, value->name, quant, source, parameters, err));
    TARE_TRY(keep_origin(to, source, quant, err));
    return add_node(to, graph, to->start, "DequantizeLinear", quant, source, parameters, value, err);
}

static tare_status spell_input(speller *to, tare_value *value, tare_error *err) {
    const tare_quant *quant = value->quant;
    tare_value *result;
    value->quant = NULL;
    if (!value->uses.count) return TARE_OK;
    TARE_TRY(add_value(to, value->graph, value->name, "_dequantized", value->dtype, &value->shape, &result, err));
    TARE_TRY(redirect(value, result, err));
    return add_pair(to, value->graph, to->start, value->name, quant, value, result, err);
}

static tare_status spell_computed(speller *to, tare_value *value, tare_error *err) {
    const tare_quant *quant = value->quant;
    tare_graph *graph = value->graph;
    tare_node *producer = value->producer, *before = producer->next;
    const char *name = name_before(value, "_raw");
    tare_value *raw;
    value->quant = NULL;
    if (name) return put_behind(to, value, name, quant, before, err);
    TARE_TRY(add_value(to, graph, value->name, "_raw", value->dtype, &value->shape, &raw, err));
    int index = value->producer_index;
    tare_value_set_producer(value, NULL, 0);
    tare_value_set_producer(raw, producer, index);
    return add_pair(to, graph, before, value->name, quant, raw, value, err);
}

static tare_status spell_value(speller *to, tare_value *value, tare_error *err) {
    if (!value || !value->quant) return TARE_OK;
    tare_status status = value->producer   ? spell_computed(to, value, err)
                         : value->is_input ? spell_input(to, value, err)
                                           : spell_constant(to, value, err);
    return status == TARE_OK ? TARE_OK : tare_within(err, "tensor '%s'", value->name);
}

/* Inputs, constants, then node by node: an order that is the same when the file is read and written again, so that what is
 * shared has its name from the same value. */
static tare_status spell_graph(speller *to, tare_graph *graph, tare_error *err) {
    const size_t count = graph->values.entries.count;
    to->start = graph->first;
    for (size_t i = 0; i < graph->inputs.count; i++) TARE_TRY(spell_value(to, graph->inputs.at[i], err));
    for (size_t i = 0; i < count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (value && !value->producer) TARE_TRY(spell_value(to, value, err));
    }
    tare_for_nodes (node, graph) {
        for (int i = 0; i < node->output_count; i++) TARE_TRY(spell_value(to, node->outputs[i], err));
    }
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(spell_graph(to, body, err));
    }
    return TARE_OK;
}

tare_status tare_onnx_spell_quant(tare_graph *graph, const tare_write_options *options, tare_error *err) {
    speller to = { .model = graph->model, .options = options };
    tare_map_init(&to.shared, graph->model->arena);
    return spell_graph(&to, graph, err);
}

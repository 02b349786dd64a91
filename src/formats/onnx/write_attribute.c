/* Writing ONNX: attributes, out of the struct that the op's field table describes. */
#include <string.h>

#include "formats/onnx/schema.h"
#include "formats/onnx/writer.h"

/* What an AttributeProto is made of. */
typedef struct item {
    const tare_onnx_writing *writing;
    const tare_node *node;
    const char *name;
    tare_spans other;
    /* one of these */
    const tare_field *field;
    const tare_op_dual *dual;
    tare_span raw;
} item;

static bool emit_ints(pb_ostream_t *to, const int64_t *at, size_t count, bool one) {
    if (one) return tare_emit_s64(to, ATTRIBUTE_I, at[0]) && tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_INT);
    for (size_t i = 0; i < count; i++)
        if (!tare_emit_s64(to, ATTRIBUTE_INTS, at[i])) return false;
    return tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_INTS);
}

static bool emit_floats(pb_ostream_t *to, const float *at, size_t count, bool one) {
    if (one) return tare_emit_f32(to, ATTRIBUTE_F, at[0]) && tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_FLOAT);
    for (size_t i = 0; i < count; i++)
        if (!tare_emit_f32(to, ATTRIBUTE_FLOATS, at[i])) return false;
    return tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_FLOATS);
}

static bool emit_string(pb_ostream_t *to, const char *text) {
    return tare_emit_item(to, ATTRIBUTE_S, text) && tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_STRING);
}

static bool emit_strings(pb_ostream_t *to, const tare_strings *strings) {
    for (size_t i = 0; i < strings->count; i++)
        if (!tare_emit_item(to, ATTRIBUTE_STRINGS, strings->at[i])) return false;
    return tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_STRINGS);
}

static bool emit_tensor(pb_ostream_t *to, const tare_tensor *tensor) {
    const tare_onnx_named_tensor named = { .tensor = tensor };
    return tare_emit_message(to, ATTRIBUTE_T, tare_onnx_emit_tensor, NULL, &named) &&
           tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_TENSOR);
}

static bool emit_graph(pb_ostream_t *to, const tare_onnx_writing *writing, const tare_graph *graph) {
    return tare_emit_message(to, ATTRIBUTE_G, tare_onnx_emit_graph, writing, graph) &&
           tare_emit_s64(to, ATTRIBUTE_TYPE, TYPE_GRAPH);
}

static bool emit_field(pb_ostream_t *to, const item *from) {
    const tare_field *field = from->field;
    const void *at = tare_field_get(field, from->node->attrs);
    bool one = field->flags & TARE_FIELD_ONE;
    switch (field->type) {
    case TARE_FIELD_BOOL: return emit_ints(to, &(int64_t){ *(const bool *)at }, 1, true);
    case TARE_FIELD_INT: return emit_ints(to, at, 1, true);
    case TARE_FIELD_FLOAT: return emit_floats(to, at, 1, true);
    case TARE_FIELD_DOUBLE: return emit_floats(to, &(float){ (float)*(const double *)at }, 1, true);
    case TARE_FIELD_STRING: return emit_string(to, *(const char *const *)at);
    case TARE_FIELD_ENUM: return emit_string(to, field->names[*(const int *)at]);
    case TARE_FIELD_INTS: return emit_ints(to, ((const tare_ints *)at)->at, ((const tare_ints *)at)->count, one);
    case TARE_FIELD_FLOATS:
        return emit_floats(to, ((const tare_floats *)at)->at, ((const tare_floats *)at)->count, one);
    case TARE_FIELD_STRINGS: return emit_strings(to, at);
    case TARE_FIELD_TENSOR: return emit_tensor(to, *(const tare_tensor *const *)at);
    case TARE_FIELD_GRAPH: return emit_graph(to, from->writing, *(tare_graph *const *)at);
    case TARE_FIELD_END: break;
    }
    return true;
}

static bool emit_dual(pb_ostream_t *to, const item *from) {
    const tare_op_dual *dual = from->dual;
    const tare_tensor *tensor = tare_node_input(from->node, dual->input)->constant;
    if (dual->type == TARE_FIELD_FLOAT || dual->type == TARE_FIELD_FLOATS)
        return emit_floats(to, tensor->data, tensor->size / sizeof(float), dual->type == TARE_FIELD_FLOAT);
    return emit_ints(to, tensor->data, tensor->size / sizeof(int64_t), dual->type == TARE_FIELD_INT);
}

/* All fields but the name, and the reference that was followed. */
static bool emit_raw(pb_ostream_t *to, tare_span bytes) {
    tare_wire wire;
    tare_wire_field field;
    tare_error err = { 0 };
    tare_wire_open(&wire, bytes.at, bytes, "AttributeProto");
    while (tare_wire_next(&wire, &field, &err) == TARE_OK && field.number) {
        if (field.number == ATTRIBUTE_NAME || field.number == ATTRIBUTE_REF_ATTR_NAME) continue;
        if (!tare_emit_span(to, field.whole)) return false;
    }
    return err.status == TARE_OK;
}

static bool emit_attribute(pb_ostream_t *to, const void *context, const void *of) {
    const item *from = of;
    (void)context;
    if (!tare_emit_item(to, ATTRIBUTE_NAME, from->name)) return false;
    if (from->raw.at) return emit_raw(to, from->raw);
    if (!(from->field ? emit_field(to, from) : emit_dual(to, from))) return false;
    for (size_t i = 0; i < from->other.count; i++)
        if (!tare_emit_span(to, from->other.at[i])) return false;
    return true;
}

static bool emit(pb_ostream_t *to, const item *from) {
    return tare_emit_message(to, NODE_ATTRIBUTE, emit_attribute, NULL, from);
}

/* What the file left to the default stays left to it. */
static bool is_written(const tare_field *field, const tare_node *node, bool given) {
    if (tare_field_is_absent(field, node->attrs)) return false;
    bool is_asked = field->flags & (TARE_FIELD_REQUIRED | TARE_FIELD_ALWAYS);
    return is_asked || given || !tare_field_is_default(field, node->attrs);
}

static bool emit_fields(pb_ostream_t *to, const tare_onnx_writing *writing, const tare_node *node,
                        const tare_onnx_node *extra) {
    const tare_field *fields = node->op->attrs;
    /* What was read belongs to the table of the op that it was then. */
    bool is_same = extra && extra->op == node->op;
    for (size_t i = 0; fields && fields[i].type != TARE_FIELD_END; i++) {
        item from = { .writing = writing, .node = node, .name = fields[i].name, .field = &fields[i] };
        if (!is_written(&fields[i], node, is_same && extra->given >> i & 1)) continue;
        for (size_t k = 0; is_same && k < extra->attributes.count; k++)
            if (!strcmp(extra->attributes.at[k].name, from.name)) from.other = extra->attributes.at[k].other;
        if (!emit(to, &from)) return false;
    }
    return true;
}

bool tare_onnx_emit_attributes(pb_ostream_t *to, const tare_onnx_writing *writing, const tare_node *node) {
    const tare_onnx_node *extra = writing->extra ? node->extra : NULL;
    if (!node->op) {
        for (size_t i = 0; extra && i < extra->raw.count; i++) {
            const item from = { .name = extra->raw.at[i].name, .raw = extra->raw.at[i].bytes };
            if (!emit(to, &from)) return false;
        }
        return true;
    }
    if (!emit_fields(to, writing, node, extra)) return false;
    for (int i = 0; i < node->input_count; i++) {
        const tare_op_dual *dual = tare_onnx_dual_of(node, i, writing->model->opset);
        const item from = { .node = node, .name = dual ? dual->attribute : NULL, .dual = dual };
        if (dual && node->inputs[i] && !emit(to, &from)) return false;
    }
    return true;
}

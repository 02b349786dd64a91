/* Reading ONNX: attributes, taken apart and put into the struct that the op's field table describes. */
#include <string.h>

#include "base/text.h"
#include "formats/onnx/reader.h"
#include "ops/op.h"

/* ORDER: enum attribute_type. The words are those of onnx.proto; the field is the one that holds the value. */
static const struct {
    const char *word;
    uint32_t field;
} types[TYPE_COUNT] = {
    [TYPE_UNDEFINED] = { "UNDEFINED", 0 },
    [TYPE_FLOAT] = { "FLOAT", ATTRIBUTE_F },
    [TYPE_INT] = { "INT", ATTRIBUTE_I },
    [TYPE_STRING] = { "STRING", ATTRIBUTE_S },
    [TYPE_TENSOR] = { "TENSOR", ATTRIBUTE_T },
    [TYPE_GRAPH] = { "GRAPH", ATTRIBUTE_G },
    [TYPE_FLOATS] = { "FLOATS", ATTRIBUTE_FLOATS },
    [TYPE_INTS] = { "INTS", ATTRIBUTE_INTS },
    [TYPE_STRINGS] = { "STRINGS", ATTRIBUTE_STRINGS },
    [TYPE_TENSORS] = { "TENSORS", ATTRIBUTE_TENSORS },
    [TYPE_GRAPHS] = { "GRAPHS", ATTRIBUTE_GRAPHS },
    [TYPE_SPARSE_TENSOR] = { "SPARSE_TENSOR", ATTRIBUTE_SPARSE_TENSOR },
    [TYPE_SPARSE_TENSORS] = { "SPARSE_TENSORS", ATTRIBUTE_SPARSE_TENSORS },
    [TYPE_TYPE_PROTO] = { "TYPE_PROTO", ATTRIBUTE_TP },
    [TYPE_TYPE_PROTOS] = { "TYPE_PROTOS", ATTRIBUTE_TYPE_PROTOS },
};

static uint32_t bit(uint32_t number) { return (uint32_t)1 << number; }

/* ---- taking apart ---- */

static tare_status parse_field(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field,
                               tare_onnx_attribute *to, int64_t *type, tare_error *err) {
    tare_span item;
    size_t count = 0;
    switch (field->number) {
    case ATTRIBUTE_NAME:
        TARE_TRY(tare_wire_bytes(wire, field, &item, err));
        return tare_onnx_take_name(reader, wire, field, &to->name, err);
    case ATTRIBUTE_REF_ATTR_NAME:
        TARE_TRY(tare_wire_bytes(wire, field, &item, err));
        return tare_onnx_take_name(reader, wire, field, &to->reference, err);
    case ATTRIBUTE_TYPE: return tare_wire_s64(wire, field, type, err);
    case ATTRIBUTE_F: TARE_TRY(tare_wire_f32(wire, field, &to->f, err)); break;
    case ATTRIBUTE_I: TARE_TRY(tare_wire_s64(wire, field, &to->i, err)); break;
    case ATTRIBUTE_S: TARE_TRY(tare_wire_bytes(wire, field, &to->s, err)); break;
    case ATTRIBUTE_T: TARE_TRY(tare_wire_bytes(wire, field, &to->t, err)); break;
    case ATTRIBUTE_G: TARE_TRY(tare_wire_bytes(wire, field, &to->g, err)); break;
    case ATTRIBUTE_FLOATS:
        TARE_TRY(tare_wire_fixed(wire, field, sizeof(float), &item, err));
        count = item.size / sizeof(float);
        break;
    case ATTRIBUTE_INTS: TARE_TRY(tare_wire_varint_count(wire, field, &count, err)); break;
    case ATTRIBUTE_STRINGS:
    case ATTRIBUTE_TENSORS:
    case ATTRIBUTE_GRAPHS:
    case ATTRIBUTE_TYPE_PROTOS:
    case ATTRIBUTE_SPARSE_TENSORS:
        TARE_TRY(tare_wire_item(wire, field, &item, err));
        count = 1;
        break;
    case ATTRIBUTE_TP:
    case ATTRIBUTE_SPARSE_TENSOR: TARE_TRY(tare_wire_bytes(wire, field, &item, err)); break;
    default: return tare_onnx_keep(reader, &to->other, field, err);
    }
    to->present |= bit(field->number);
    to->count += count;
    return TARE_OK;
}

/* A reference has its type where it leads. Old files leave the type to the field that is there; files by writers that omit zeros leave out the field. */
static tare_status settle_type(tare_onnx_attribute *to, int64_t type, tare_error *err) {
    if (type < 0 || type >= TYPE_COUNT)
        return tare_fail(err, TARE_E_MALFORMED, "type %lld is none of AttributeProto's", (long long)type);
    for (int i = 1; i < TYPE_COUNT && !type; i++)
        if (to->present & bit(types[i].field)) type = i;
    to->type = (int)type;
    if (!type && *to->reference) return TARE_OK;
    if (!type) return tare_fail(err, TARE_E_MALFORMED, "neither a type nor a value");
    const uint32_t own = bit(types[type].field);
    for (int i = 1; i < TYPE_COUNT; i++) {
        if (bit(types[i].field) == own || !(to->present & bit(types[i].field))) continue;
        return tare_fail(err, TARE_E_MALFORMED, "type %s, but it holds a value of type %s", types[type].word,
                         types[i].word);
    }
    bool needs_value = type == TYPE_TENSOR || type == TYPE_GRAPH || type == TYPE_SPARSE_TENSOR;
    if (needs_value && !to->present && !*to->reference)
        return tare_fail(err, TARE_E_MALFORMED, "type %s, but it holds no value", types[type].word);
    return TARE_OK;
}

tare_status tare_onnx_parse_attribute(tare_onnx_reader *reader, tare_span bytes, tare_onnx_attribute *to,
                                      tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    int64_t type = TYPE_UNDEFINED;
    *to = (tare_onnx_attribute){ .name = "", .reference = "", .bytes = bytes };
    tare_wire_open(&wire, reader->base, bytes, "AttributeProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        TARE_TRY(parse_field(reader, &wire, &field, to, &type, err));
    }
    if (!*to->name) return tare_fail(err, TARE_E_MALFORMED, "an attribute without a name");
    if (settle_type(to, type, err) == TARE_OK) return TARE_OK;
    return tare_within(err, "attribute '%s'", to->name);
}

/* ---- lists ---- */

typedef struct filler {
    union {
        int64_t *ints;
        float *floats;
        const char **strings;
    } to;
    size_t count;
} filler;

static tare_status take_int(void *context, uint64_t bits, tare_error *err) {
    filler *fill = context;
    (void)err;
    fill->to.ints[fill->count++] = (int64_t)bits;
    return TARE_OK;
}

static tare_status fill_item(tare_onnx_reader *reader, tare_wire *wire, const tare_wire_field *field, filler *fill,
                             tare_error *err) {
    tare_span item;
    if (field->number == ATTRIBUTE_INTS) return tare_wire_varints(wire, field, take_int, fill, err);
    if (field->number == ATTRIBUTE_STRINGS)
        return tare_onnx_take_text(reader, wire, field, &fill->to.strings[fill->count++], err);
    TARE_TRY(tare_wire_fixed(wire, field, sizeof(float), &item, err));
    if (item.size) memcpy(fill->to.floats + fill->count, item.at, item.size);
    fill->count += item.size / sizeof(float);
    return TARE_OK;
}

/* The list is there even when it is empty: that it was given counts. */
static tare_status fill_list(tare_onnx_reader *reader, const tare_onnx_attribute *from, size_t size, filler *fill,
                             tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    fill->to.ints = tare_arena_alloc(reader->model->arena, from->count ? from->count : 1, size);
    if (!fill->to.ints) return tare_fail_memory(err, 0);
    if (from->type == TYPE_INT || from->type == TYPE_FLOAT) return TARE_OK; /* a list of one, filled by the caller */
    tare_wire_open(&wire, reader->base, from->bytes, "AttributeProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number == types[from->type].field) TARE_TRY(fill_item(reader, &wire, &field, fill, err));
    }
}

/* ---- the fields of an op ---- */

static int wanted_type(const tare_field *field) {
    bool one = field->flags & TARE_FIELD_ONE;
    switch (field->type) {
    case TARE_FIELD_BOOL:
    case TARE_FIELD_INT: return TYPE_INT;
    case TARE_FIELD_FLOAT:
    case TARE_FIELD_DOUBLE: return TYPE_FLOAT;
    case TARE_FIELD_STRING:
    case TARE_FIELD_ENUM: return TYPE_STRING;
    case TARE_FIELD_INTS: return one ? TYPE_INT : TYPE_INTS;
    case TARE_FIELD_FLOATS: return one ? TYPE_FLOAT : TYPE_FLOATS;
    case TARE_FIELD_STRINGS: return TYPE_STRINGS;
    case TARE_FIELD_TENSOR: return TYPE_TENSOR;
    case TARE_FIELD_GRAPH: return TYPE_GRAPH;
    case TARE_FIELD_END: break;
    }
    return TYPE_UNDEFINED;
}

static tare_status set_text(tare_onnx_reader *reader, const tare_field *field, tare_span text, void *at,
                            tare_error *err) {
    if (text.size > STRING_SIZE_MAX)
        return tare_fail(err, TARE_E_LIMIT, "text of %zu bytes, at most %d are allowed", text.size, STRING_SIZE_MAX);
    if (!tare_onnx_is_text(text)) return tare_fail(err, TARE_E_MALFORMED, "text that is not UTF-8 or holds a NUL");
    const char *copy = tare_arena_copy(reader->model->arena, text.at, text.size);
    if (!copy) return tare_fail_memory(err, text.size);
    if (field->type == TARE_FIELD_STRING) {
        *(const char **)at = copy;
        return TARE_OK;
    }
    for (int i = 0; field->names[i]; i++) {
        if (strcmp(copy, field->names[i]) != 0) continue;
        *(int *)at = i;
        return TARE_OK;
    }
    tare_text words = { .arena = reader->scratch };
    for (int i = 0; field->names[i]; i++) tare_text_printf(&words, "%s%s", i ? ", " : "", field->names[i]);
    return tare_fail(err, TARE_E_MALFORMED, "'%.64s', want one of %s", copy, words.failed ? "its words" : words.at);
}

static tare_status set_list(tare_onnx_reader *reader, const tare_field *field, const tare_onnx_attribute *from,
                            void *at, tare_error *err) {
    filler fill = { .count = 0 };
    if (field->type == TARE_FIELD_INTS) {
        TARE_TRY(fill_list(reader, from, sizeof(int64_t), &fill, err));
        if (from->type == TYPE_INT) fill.to.ints[fill.count++] = from->i;
        *(tare_ints *)at = (tare_ints){ fill.to.ints, fill.count };
    } else if (field->type == TARE_FIELD_FLOATS) {
        TARE_TRY(fill_list(reader, from, sizeof(float), &fill, err));
        if (from->type == TYPE_FLOAT) fill.to.floats[fill.count++] = from->f;
        *(tare_floats *)at = (tare_floats){ fill.to.floats, fill.count };
    } else {
        TARE_TRY(fill_list(reader, from, sizeof(char *), &fill, err));
        *(tare_strings *)at = (tare_strings){ fill.to.strings, fill.count };
    }
    return TARE_OK;
}

static tare_status set_tensor(tare_onnx_reader *reader, tare_span bytes, const tare_tensor **at, tare_error *err) {
    const char *name;
    tare_tensor *tensor;
    tare_spans other = { 0 };
    TARE_TRY(tare_onnx_read_tensor(reader, bytes, &name, &tensor, &other, err));
    *at = tensor;
    return TARE_OK;
}

/* What the attributes of a node are read into. */
typedef struct target {
    tare_onnx_reader *reader;
    tare_node *node;
    tare_onnx_node *extra;
    tare_onnx_bodies *bodies;
    uint64_t duals; /* bit i: the i-th dual was given */
} target;

static tare_status set_field(target *to, const tare_field *field, const tare_onnx_attribute *from,
                             const tare_onnx_scope *scope, tare_error *err) {
    tare_onnx_reader *reader = to->reader;
    void *at = tare_field_at(field, to->node->attrs);
    int want = wanted_type(field);
    if (from->type != want)
        return tare_fail(err, TARE_E_MALFORMED, "type %s, want %s", types[from->type].word, types[want].word);
    switch (field->type) {
    case TARE_FIELD_BOOL: *(bool *)at = from->i != 0; return TARE_OK;
    case TARE_FIELD_INT: *(int64_t *)at = from->i; return TARE_OK;
    case TARE_FIELD_FLOAT: *(float *)at = from->f; return TARE_OK;
    case TARE_FIELD_DOUBLE: *(double *)at = (double)from->f; return TARE_OK;
    case TARE_FIELD_STRING:
    case TARE_FIELD_ENUM: return set_text(reader, field, from->s, at, err);
    case TARE_FIELD_INTS:
    case TARE_FIELD_FLOATS:
    case TARE_FIELD_STRINGS: return set_list(reader, field, from, at, err);
    case TARE_FIELD_TENSOR: return set_tensor(reader, from->t, at, err);
    case TARE_FIELD_GRAPH: {
        const tare_onnx_body body = { .node = to->node, .field = field, .bytes = from->g, .scope = scope };
        return tare_vec_push(reader->scratch, to->bodies, body) ? TARE_OK : tare_fail_memory(err, 0);
    }
    case TARE_FIELD_END: break;
    }
    return TARE_OK;
}

/* ---- attributes of old opsets that are inputs now ---- */

static tare_status dual_constant(tare_onnx_reader *reader, tare_node *node, const tare_op_dual *dual,
                                 const tare_onnx_attribute *from, tare_value **to, tare_error *err) {
    bool is_float = dual->type == TARE_FIELD_FLOAT || dual->type == TARE_FIELD_FLOATS;
    bool is_list = dual->type == TARE_FIELD_INTS || dual->type == TARE_FIELD_FLOATS;
    const int want = is_float ? (is_list ? TYPE_FLOATS : TYPE_FLOAT) : (is_list ? TYPE_INTS : TYPE_INT);
    if (from->type != want)
        return tare_fail(err, TARE_E_MALFORMED, "type %s, want %s", types[from->type].word, types[want].word);
    const char *base = tare_arena_printf(reader->scratch, "%s_%s", node->name, dual->attribute);
    if (!base) return tare_fail_memory(err, 0);
    filler fill = { .count = 0 };
    TARE_TRY(fill_list(reader, from, is_float ? sizeof(float) : sizeof(int64_t), &fill, err));
    if (!is_float)
        return tare_graph_add_s64(node->graph, base, is_list ? fill.to.ints : &from->i, is_list ? fill.count : 1,
                                  !is_list, to, err);
    if (!is_list) return tare_graph_add_f32(node->graph, base, from->f, to, err);
    const tare_tensor tensor = { .dtype = TARE_F32,
                                 .shape = tare_shape_of(1, &(int64_t){ (int64_t)fill.count }),
                                 .data = fill.to.floats,
                                 .size = fill.count * sizeof(float) };
    return tare_graph_add_constant(node->graph, base, &tensor, NULL, true, to, err);
}

static tare_status set_dual(const target *to, const tare_op_dual *dual, const tare_onnx_attribute *from, int64_t opset,
                            tare_error *err) {
    tare_node *node = to->node;
    tare_value *value;
    if (opset > dual->until)
        return tare_fail(err, TARE_E_MALFORMED, "it is input %d since opset %d, and the model has %lld", dual->input,
                         dual->until + 1, (long long)opset);
    TARE_TRY(dual_constant(to->reader, node, dual, from, &value, err));
    if (node->input_count <= dual->input) TARE_TRY(tare_node_resize_inputs(node, dual->input + 1, err));
    return tare_node_set_input(node, dual->input, value, err);
}

/* Before the change there was no such input. */
static tare_status check_duals(const tare_node *node, int64_t opset, tare_error *err) {
    for (const tare_op_dual *dual = node->op->duals; dual && dual->attribute; dual++)
        if (opset <= dual->until && tare_node_input(node, dual->input))
            return tare_fail(err, TARE_E_MALFORMED,
                             "input %d is attribute '%s' before opset %d, and the model has %lld", dual->input,
                             dual->attribute, dual->until + 1, (long long)opset);
    return TARE_OK;
}

/* ---- the attributes of a node ---- */

static tare_status fail_unknown(const tare_onnx_reader *reader, const tare_op *op, const tare_onnx_attribute *from,
                                tare_error *err) {
    if (from->type == TYPE_SPARSE_TENSOR)
        return tare_fail(err, TARE_E_UNSUPPORTED, "type SPARSE_TENSOR is not supported");
    size_t count = 0;
    for (const tare_field *field = op->attrs; field && field->type != TARE_FIELD_END; field++) count++;
    const char **names = tare_arena_alloc(reader->scratch, count + 1, sizeof(char *));
    for (size_t i = 0; names && i < count; i++) names[i] = op->attrs[i].name;
    const char *nearest = names ? tare_text_nearest(from->name, names) : NULL;
    if (nearest) return tare_fail(err, TARE_E_MALFORMED, "the operator has none of that name; is it '%s'", nearest);
    return tare_fail(err, TARE_E_MALFORMED, "the operator has none of that name");
}

static tare_status set_attribute(target *to, const tare_onnx_attribute *from, const char *name,
                                 const tare_onnx_scope *scope, int64_t opset, tare_error *err) {
    const tare_op *op = to->node->op;
    const tare_field *field = op->attrs ? tare_fields_find(op->attrs, name) : NULL;
    for (int i = 0; !field && op->duals && op->duals[i].attribute; i++) {
        if (strcmp(op->duals[i].attribute, name) != 0) continue;
        uint64_t own = (uint64_t)1 << i;
        if (to->duals & own) return tare_fail(err, TARE_E_MALFORMED, "given twice");
        to->duals |= own;
        return set_dual(to, &op->duals[i], from, opset, err);
    }
    if (!field) return fail_unknown(to->reader, op, from, err);
    uint64_t own = (uint64_t)1 << (field - op->attrs);
    if (to->extra->given & own) return tare_fail(err, TARE_E_MALFORMED, "given twice");
    to->extra->given |= own;
    if (from->other.count) {
        const tare_onnx_attribute_extra extra = { .name = field->name, .other = from->other };
        if (!tare_vec_push(to->reader->model->arena, &to->extra->attributes, extra)) return tare_fail_memory(err, 0);
    }
    return set_field(to, field, from, scope, err);
}

/* External data is named relative to the file, and would not be found from another place. */
static tare_status check_raw_tensor(tare_onnx_reader *reader, tare_span bytes, tare_error *err) {
    tare_wire wire;
    tare_wire_field field;
    tare_wire_open(&wire, reader->base, bytes, "TensorProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) return TARE_OK;
        if (field.number == TENSOR_DATA_LOCATION && field.bits == LOCATION_EXTERNAL)
            return tare_fail(err, TARE_E_UNSUPPORTED, "external data in an operator that tare does not know");
    }
}

/* An op that tare does not know keeps its attributes as they stand; but names inside a body could not be kept right. */
static tare_status keep_raw(target *to, const tare_onnx_attribute *from, const char *name, tare_error *err) {
    for (size_t i = 0; i < to->extra->raw.count; i++)
        if (!strcmp(to->extra->raw.at[i].name, name)) return tare_fail(err, TARE_E_MALFORMED, "given twice");
    if (from->type == TYPE_GRAPH || from->type == TYPE_GRAPHS)
        return tare_fail(err, TARE_E_UNSUPPORTED, "a body in an operator of domain '%s' that tare does not know",
                         *to->node->domain ? to->node->domain : "ai.onnx");
    if (from->type == TYPE_TENSOR) TARE_TRY(check_raw_tensor(to->reader, from->t, err));
    tare_arena *arena = to->reader->model->arena;
    const tare_onnx_raw_attribute raw = { .name = tare_arena_strdup(arena, name), .bytes = from->bytes };
    return raw.name && tare_vec_push(arena, &to->extra->raw, raw) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status read_one(target *to, tare_span bytes, const tare_onnx_scope *scope, int64_t opset, tare_error *err) {
    tare_onnx_attribute from;
    bool absent = false;
    TARE_TRY(tare_onnx_parse_attribute(to->reader, bytes, &from, err));
    const char *name = from.name;
    tare_status status = tare_onnx_follow_reference(to->reader, &from, &scope, &absent, err);
    if (status == TARE_OK && absent) return TARE_OK;
    if (status == TARE_OK)
        status = to->node->op ? set_attribute(to, &from, name, scope, opset, err) : keep_raw(to, &from, name, err);
    return status == TARE_OK ? TARE_OK : tare_within(err, "attribute '%s'", name);
}

static tare_status check_required(const target *to, tare_error *err) {
    const tare_field *fields = to->node->op->attrs;
    for (size_t i = 0; fields && fields[i].type != TARE_FIELD_END; i++)
        if (fields[i].flags & TARE_FIELD_REQUIRED && !(to->extra->given >> i & 1))
            return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' is missing", fields[i].name);
    return TARE_OK;
}

/* The name, domain, inputs and outputs of a node are the graph's; what is left is kept. */
static bool is_kept(uint32_t number) {
    return number != NODE_INPUT && number != NODE_OUTPUT && number != NODE_NAME && number != NODE_OP_TYPE &&
           number != NODE_DOMAIN;
}

tare_status tare_onnx_read_attributes(tare_onnx_reader *reader, const tare_onnx_pending *pending,
                                      tare_onnx_bodies *bodies, tare_error *err) {
    if (!pending->bytes.at) return TARE_OK;
    tare_node *node = pending->node;
    target to = { .reader = reader, .node = node, .bodies = bodies };
    to.extra = tare_arena_alloc(reader->model->arena, 1, sizeof *to.extra);
    if (!to.extra) return tare_fail_memory(err, 0);
    to.extra->op = node->op;
    node->extra = to.extra;
    int64_t opset = tare_onnx_opset(reader, pending->scope, node->domain);
    if (node->op) TARE_TRY(check_duals(node, opset, err));
    tare_wire wire;
    tare_wire_field field;
    tare_wire_open(&wire, reader->base, pending->bytes, "NodeProto");
    for (;;) {
        TARE_TRY(tare_wire_next(&wire, &field, err));
        if (!field.number) break;
        tare_arena_mark mark = tare_arena_get_mark(reader->scratch);
        size_t before = bodies->count;
        if (field.number == NODE_ATTRIBUTE) {
            tare_span bytes;
            TARE_TRY(tare_wire_item(&wire, &field, &bytes, err));
            TARE_TRY(read_one(&to, bytes, pending->scope, opset, err));
        } else if (is_kept(field.number)) {
            TARE_TRY(tare_onnx_keep(reader, &to.extra->other, &field, err));
        }
        if (bodies->count == before) tare_arena_release(reader->scratch, mark);
    }
    return node->op ? check_required(&to, err) : TARE_OK;
}

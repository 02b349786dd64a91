/* Reads models from the text form. */
#include <string.h>

#include "graph/text_form.h"
#include "graph/text_scan.h"

enum { BODY_DEPTH_MAX = 8, NODE_LINKS_MAX = 4096 };

/* The type a graph output or an intermediate value is declared with. */
typedef struct declared {
    tare_dtype dtype;
    tare_shape shape;
} declared;

typedef struct parser {
    tare_scan scan;
    tare_model *model;
    tare_graph *graph;
    tare_map *declared; /* of this graph: name -> declared * */
    int depth;
    tare_error *err;
} parser;

typedef TARE_VEC(const char *) name_list;

#define FAIL(p, ...)  tare_scan_fail(&(p)->scan, __VA_ARGS__)
#define PUSH(p, v, x) (tare_vec_push((p)->model->arena, (v), (x)) ? TARE_OK : tare_fail_memory((p)->err, 0))

/* ---- types ---- */

static tare_dtype type_find(const char *word) {
    for (int i = 1; i < TARE_DTYPE_COUNT; i++)
        if (!strcmp(word, tare_text_type_name((tare_dtype)i))) return (tare_dtype)i;
    return TARE_DTYPE_NONE;
}

static tare_status parse_dim(parser *p, int64_t *dim) {
    const char *name;
    if (tare_scan_take(&p->scan, '?')) {
        *dim = TARE_DIM_UNKNOWN;
        return TARE_OK;
    }
    if (!tare_scan_is_word(&p->scan) && tare_scan_peek(&p->scan) != '"') {
        TARE_TRY(tare_scan_s64(&p->scan, dim));
        return *dim >= 0 ? TARE_OK : FAIL(p, "dimension %lld is negative", (long long)*dim);
    }
    TARE_TRY(tare_scan_name(&p->scan, &name));
    *dim = tare_model_symbol(p->model, name);
    return *dim == TARE_DIM_UNKNOWN ? tare_fail_memory(p->err, 0) : TARE_OK;
}

static tare_status parse_type(parser *p, declared *type) {
    const char *word;
    TARE_TRY(tare_scan_word(&p->scan, false, &word));
    type->dtype = type_find(word);
    if (!type->dtype && strcmp(word, tare_text_type_name(TARE_DTYPE_NONE)))
        return FAIL(p, "'%s' is no element type", word);
    type->shape = (tare_shape){ .rank = 0 };
    if (!tare_scan_take(&p->scan, '[')) return TARE_OK;
    if (tare_scan_take(&p->scan, ']')) {
        type->shape = tare_shape_unknown();
        return TARE_OK;
    }
    do {
        if (type->shape.rank == TARE_RANK_MAX) return FAIL(p, "more than %d dimensions", TARE_RANK_MAX);
        TARE_TRY(parse_dim(p, &type->shape.dim[type->shape.rank++]));
    } while (tare_scan_take(&p->scan, ','));
    return tare_scan_need(&p->scan, ']');
}

/* ---- tensors ---- */

static tare_status parse_integer(parser *p, const tare_tensor *tensor, size_t i) {
    int64_t number;
    uint64_t natural;
    if (tensor->dtype == TARE_U64) {
        TARE_TRY(tare_scan_u64(&p->scan, &natural));
        ((uint64_t *)tensor->data)[i] = natural;
        return TARE_OK;
    }
    TARE_TRY(tare_scan_s64(&p->scan, &number));
    int64_t lo = 0, hi = UINT16_MAX; /* the halves, as bits */
    switch (tensor->dtype) {
    case TARE_S64: ((int64_t *)tensor->data)[i] = number; return TARE_OK;
    case TARE_U32: hi = UINT32_MAX; break;
    case TARE_BOOL: hi = 1; break;
    case TARE_F16:
    case TARE_BF16: break;
    default: lo = tare_dtype_lowest(tensor->dtype), hi = tare_dtype_highest(tensor->dtype); break;
    }
    if (number < lo || number > hi)
        return FAIL(p, "%lld is outside %s", (long long)number, tare_text_type_name(tensor->dtype));
    switch (tare_dtype_size(tensor->dtype)) {
    case 1: ((uint8_t *)tensor->data)[i] = (uint8_t)number; break;
    case 2: ((uint16_t *)tensor->data)[i] = (uint16_t)number; break;
    default: ((uint32_t *)tensor->data)[i] = (uint32_t)number; break;
    }
    return TARE_OK;
}

static tare_status parse_element(parser *p, const tare_tensor *tensor, size_t i) {
    double real;
    const char *string;
    switch (tensor->dtype) {
    case TARE_F32:
        TARE_TRY(tare_scan_f64(&p->scan, &real));
        ((float *)tensor->data)[i] = (float)real;
        return TARE_OK;
    case TARE_F64:
        TARE_TRY(tare_scan_f64(&p->scan, &real));
        ((double *)tensor->data)[i] = real;
        return TARE_OK;
    case TARE_STRING:
        TARE_TRY(tare_scan_string(&p->scan, &string));
        ((const char **)tensor->data)[i] = string;
        return TARE_OK;
    default: return parse_integer(p, tensor, i);
    }
}

static tare_status parse_tensor(parser *p, const declared *type, tare_tensor **out) {
    int64_t count;
    if (!type->dtype || !tare_shape_is_static(&type->shape) || !tare_shape_count(&type->shape, &count))
        return FAIL(p, "numbers need a type and a shape that are known");
    /* An element takes at least two characters, so that the text bounds what is allocated. */
    if (count > (p->scan.end - p->scan.at) / 2 + 1)
        return FAIL(p, "%lld elements, but the text ends before", (long long)count);
    TARE_TRY(tare_tensor_new(p->model->arena, type->dtype, &type->shape, out, p->err));
    TARE_TRY(tare_scan_need(&p->scan, '{'));
    for (int64_t i = 0; i < count; i++) {
        if (i) TARE_TRY(tare_scan_need(&p->scan, ','));
        TARE_TRY(parse_element(p, *out, (size_t)i));
    }
    return tare_scan_need(&p->scan, '}');
}

/* ---- attributes ---- */

static tare_status parse_graph(parser *p, tare_graph *graph);

static tare_status parse_ints(parser *p, tare_ints *list) {
    TARE_VEC(int64_t) items = { 0 };
    for (int64_t item = 0; tare_scan_peek(&p->scan) != ']';) {
        if (items.count) TARE_TRY(tare_scan_need(&p->scan, ','));
        TARE_TRY(tare_scan_s64(&p->scan, &item));
        TARE_TRY(PUSH(p, &items, item));
    }
    list->count = items.count;
    list->at = items.at ? items.at : tare_arena_alloc(p->model->arena, 1, sizeof *list->at);
    return list->at ? TARE_OK : tare_fail_memory(p->err, 0);
}

static tare_status parse_floats(parser *p, tare_floats *list) {
    TARE_VEC(float) items = { 0 };
    for (double item = 0; tare_scan_peek(&p->scan) != ']';) {
        if (items.count) TARE_TRY(tare_scan_need(&p->scan, ','));
        TARE_TRY(tare_scan_f64(&p->scan, &item));
        TARE_TRY(PUSH(p, &items, (float)item));
    }
    list->count = items.count;
    list->at = items.at ? items.at : tare_arena_alloc(p->model->arena, 1, sizeof *list->at);
    return list->at ? TARE_OK : tare_fail_memory(p->err, 0);
}

static tare_status parse_strings(parser *p, tare_strings *list) {
    name_list items = { 0 };
    for (const char *item = NULL; tare_scan_peek(&p->scan) != ']';) {
        if (items.count) TARE_TRY(tare_scan_need(&p->scan, ','));
        TARE_TRY(tare_scan_string(&p->scan, &item));
        TARE_TRY(PUSH(p, &items, item));
    }
    list->count = items.count;
    list->at = items.at ? items.at : tare_arena_alloc(p->model->arena, 1, sizeof *list->at);
    return list->at ? TARE_OK : tare_fail_memory(p->err, 0);
}

static tare_status parse_list(parser *p, const tare_field *field, void *at) {
    TARE_TRY(tare_scan_need(&p->scan, '['));
    if (field->type == TARE_FIELD_INTS)
        TARE_TRY(parse_ints(p, at));
    else if (field->type == TARE_FIELD_FLOATS)
        TARE_TRY(parse_floats(p, at));
    else
        TARE_TRY(parse_strings(p, at));
    return tare_scan_need(&p->scan, ']');
}

static tare_status parse_enum(parser *p, const tare_field *field, int *out) {
    const char *word;
    TARE_TRY(tare_scan_string(&p->scan, &word));
    for (int i = 0; field->names[i]; i++) {
        if (strcmp(field->names[i], word)) continue;
        *out = i;
        return TARE_OK;
    }
    return FAIL(p, "attribute '%s' cannot be '%s'", field->name, word);
}

static tare_status parse_body(parser *p, tare_graph **out) {
    if (p->depth == BODY_DEPTH_MAX) return FAIL(p, "graphs are nested more than %d deep", BODY_DEPTH_MAX);
    TARE_TRY(tare_graph_new(out, p->model, p->graph, NULL, p->err));
    parser inner = { .scan = p->scan, .model = p->model, .depth = p->depth + 1, .err = p->err };
    TARE_TRY(parse_graph(&inner, *out));
    p->scan.at = inner.scan.at;
    return TARE_OK;
}

static tare_status parse_value_of(parser *p, const tare_field *field, void *at) {
    int64_t integer;
    double real;
    declared type;
    switch (field->type) {
    case TARE_FIELD_BOOL:
        TARE_TRY(tare_scan_s64(&p->scan, &integer));
        *(bool *)at = integer != 0;
        return TARE_OK;
    case TARE_FIELD_INT: return tare_scan_s64(&p->scan, at);
    case TARE_FIELD_FLOAT:
        TARE_TRY(tare_scan_f64(&p->scan, &real));
        *(float *)at = (float)real;
        return TARE_OK;
    case TARE_FIELD_DOUBLE: return tare_scan_f64(&p->scan, at);
    case TARE_FIELD_STRING: return tare_scan_string(&p->scan, at);
    case TARE_FIELD_ENUM: return parse_enum(p, field, at);
    case TARE_FIELD_TENSOR: TARE_TRY(parse_type(p, &type)); return parse_tensor(p, &type, at);
    case TARE_FIELD_GRAPH: return parse_body(p, at);
    default: return parse_list(p, field, at);
    }
}

/* <name = value, …> into attrs, which hold their defaults. */
static tare_status parse_attrs(parser *p, const tare_field *fields, const char *op, void *attrs) {
    if (!tare_scan_take(&p->scan, '<')) return TARE_OK;
    do {
        const char *name, *type;
        TARE_TRY(tare_scan_word(&p->scan, false, &name));
        const tare_field *field = fields ? tare_fields_find(fields, name) : NULL;
        if (!field) return FAIL(p, "%s has no attribute '%s'", op, name);
        if (tare_scan_take(&p->scan, ':')) TARE_TRY(tare_scan_word(&p->scan, false, &type));
        TARE_TRY(tare_scan_need(&p->scan, '='));
        TARE_TRY(parse_value_of(p, field, tare_field_at(field, attrs)));
    } while (tare_scan_take(&p->scan, ','));
    return tare_scan_need(&p->scan, '>');
}

/* ---- nodes ---- */

static tare_status parse_names(parser *p, char last, name_list *names) {
    while (tare_scan_peek(&p->scan) != last) {
        const char *name;
        if (names->count) TARE_TRY(tare_scan_need(&p->scan, ','));
        TARE_TRY(tare_scan_name(&p->scan, &name));
        if (names->count == NODE_LINKS_MAX) return FAIL(p, "more than %d names in a list", NODE_LINKS_MAX);
        TARE_TRY(PUSH(p, names, name));
    }
    return tare_scan_need(&p->scan, last);
}

static tare_status define(parser *p, const char *name, tare_value **out) {
    if (tare_graph_find_value(p->graph, name)) return FAIL(p, "'%s' is made twice", name);
    TARE_TRY(tare_graph_add_value(p->graph, name, out, p->err));
    const declared *type = tare_map_get(p->declared, name);
    if (type) (*out)->dtype = type->dtype, (*out)->shape = type->shape;
    return TARE_OK;
}

static tare_status look_up(parser *p, const name_list *names, bool is_new, tare_value ***out) {
    tare_value **values = tare_arena_alloc(p->model->arena, names->count + 1, sizeof(tare_value *));
    if (!values) return tare_fail_memory(p->err, 0);
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->at[i];
        if (!*name) continue;
        if (is_new)
            TARE_TRY(define(p, name, &values[i]));
        else if (!(values[i] = tare_graph_find_value(p->graph, name)))
            return FAIL(p, "no value '%s' before here", name);
    }
    *out = values;
    return TARE_OK;
}

/* "com.microsoft.Op" into domain and name. */
static tare_status parse_op_type(parser *p, const char **domain, const char **type) {
    const char *word;
    TARE_TRY(tare_scan_word(&p->scan, true, &word));
    const char *dot = strrchr(word, '.');
    *type = dot ? dot + 1 : word;
    *domain = tare_arena_copy(p->model->arena, word, dot ? (size_t)(dot - word) : 0);
    if (!*domain) return tare_fail_memory(p->err, 0);
    return **type ? TARE_OK : FAIL(p, "'%s' is no operator", word);
}

static tare_status add_node(parser *p, const char *domain, const char *type, const char *name, void *attrs,
                            const name_list *inputs, const name_list *outputs) {
    const tare_op *op = tare_op_find(domain, type, p->model->opset);
    tare_value **in, **out;
    tare_node *node;
    TARE_TRY(look_up(p, inputs, false, &in));
    TARE_TRY(look_up(p, outputs, true, &out));
    if (!op)
        return tare_graph_add_unknown(p->graph, NULL, domain, type, name, in, (int)inputs->count, out,
                                      (int)outputs->count, &node, p->err);
    TARE_TRY(
        tare_graph_add_node(p->graph, NULL, op, name, in, (int)inputs->count, out, (int)outputs->count, &node, p->err));
    size_t size;
    tare_op_attrs(op, &size);
    if (size) memcpy(node->attrs, attrs, size);
    tare_graph *body;
    for (int i = 0; (body = tare_node_body(node, i)); i++) body->owner = node;
    return TARE_OK;
}

static tare_status parse_node(parser *p) {
    const char *name = NULL, *domain, *type;
    name_list outputs = { 0 }, inputs = { 0 };
    if (tare_scan_take(&p->scan, '[')) {
        TARE_TRY(tare_scan_name(&p->scan, &name));
        TARE_TRY(tare_scan_need(&p->scan, ']'));
        if (!*name) return FAIL(p, "a node name is empty");
    }
    TARE_TRY(parse_names(p, '=', &outputs));
    TARE_TRY(parse_op_type(p, &domain, &type));
    size_t size = 0;
    const tare_op *op = tare_op_find(domain, type, p->model->opset);
    const tare_field *fields = op ? tare_op_attrs(op, &size) : NULL;
    void *attrs = tare_arena_alloc(p->model->arena, 1, size);
    if (!attrs) return tare_fail_memory(p->err, size);
    if (fields) tare_fields_set_defaults(fields, attrs);
    TARE_TRY(parse_attrs(p, fields, type, attrs));
    TARE_TRY(tare_scan_need(&p->scan, '('));
    TARE_TRY(parse_names(p, ')', &inputs));
    return add_node(p, domain, type, name, attrs, &inputs, &outputs);
}

/* ---- graphs ---- */

static tare_status declare(parser *p, const char *name, const declared *type) {
    declared *copy = tare_arena_alloc(p->model->arena, 1, sizeof *copy);
    if (!copy) return tare_fail_memory(p->err, sizeof *copy);
    *copy = *type;
    return tare_map_put(p->declared, name, copy) ? TARE_OK : tare_fail_memory(p->err, 0);
}

/* An input or output: "float[2] x", or "x" alone. */
static tare_status parse_port(parser *p, const char **name) {
    declared type = { .shape = tare_shape_unknown() };
    parser ahead = *p;
    const char *word = NULL;
    if (tare_scan_is_word(&p->scan)) TARE_TRY(tare_scan_word(&ahead.scan, false, &word));
    char next = tare_scan_peek(&ahead.scan);
    if (word && next != ',' && next != ')') TARE_TRY(parse_type(p, &type));
    TARE_TRY(tare_scan_name(&p->scan, name));
    return declare(p, *name, &type);
}

static tare_status parse_ports(parser *p, name_list *names) {
    TARE_TRY(tare_scan_need(&p->scan, '('));
    while (!tare_scan_take(&p->scan, ')')) {
        const char *name;
        if (names->count) TARE_TRY(tare_scan_need(&p->scan, ','));
        TARE_TRY(parse_port(p, &name));
        TARE_TRY(PUSH(p, names, name));
    }
    return TARE_OK;
}

/* "float[2] w = {1, 2}" makes an initializer, or the default of an input; "float[2] t" declares. */
static tare_status parse_info(parser *p) {
    const char *name;
    declared type;
    TARE_TRY(parse_type(p, &type));
    TARE_TRY(tare_scan_name(&p->scan, &name));
    if (!tare_scan_take(&p->scan, '=')) return declare(p, name, &type);
    tare_tensor *tensor;
    TARE_TRY(parse_tensor(p, &type, &tensor));
    tare_value *value = tare_map_get(&p->graph->values, name);
    if (value && (!value->is_input || value->constant)) return FAIL(p, "'%s' is made twice", name);
    if (!value) TARE_TRY(define(p, name, &value));
    value->constant = tensor;
    value->is_initializer = true;
    value->dtype = tensor->dtype;
    value->shape = tensor->shape;
    return TARE_OK;
}

static tare_status parse_infos(parser *p) {
    if (!tare_scan_take(&p->scan, '<')) return TARE_OK;
    if (tare_scan_take(&p->scan, '>')) return TARE_OK;
    do TARE_TRY(parse_info(p));
    while (tare_scan_take(&p->scan, ','));
    return tare_scan_need(&p->scan, '>');
}

static tare_status add_outputs(parser *p, const name_list *outputs) {
    for (size_t i = 0; i < outputs->count; i++) {
        tare_value *value = tare_map_get(&p->graph->values, outputs->at[i]);
        if (!value) return FAIL(p, "nothing makes the output '%s'", outputs->at[i]);
        TARE_TRY(tare_graph_add_output(p->graph, value, p->err));
    }
    return TARE_OK;
}

/* Depth: bounded by parse_body. */
static tare_status parse_graph(parser *p, tare_graph *graph) {
    tare_map types;
    name_list inputs = { 0 }, outputs = { 0 };
    tare_map_init(&types, p->model->arena);
    p->graph = graph;
    p->declared = &types;
    TARE_TRY(tare_scan_name(&p->scan, &graph->name));
    TARE_TRY(parse_ports(p, &inputs));
    TARE_TRY(tare_scan_need(&p->scan, '='));
    TARE_TRY(tare_scan_need(&p->scan, '>'));
    TARE_TRY(parse_ports(p, &outputs));
    for (size_t i = 0; i < inputs.count; i++) {
        tare_value *value;
        if (!*inputs.at[i]) return FAIL(p, "an input has no name");
        TARE_TRY(define(p, inputs.at[i], &value));
        TARE_TRY(tare_graph_add_input(graph, value, p->err));
    }
    TARE_TRY(parse_infos(p));
    TARE_TRY(tare_scan_need(&p->scan, '{'));
    while (!tare_scan_take(&p->scan, '}')) TARE_TRY(parse_node(p));
    return add_outputs(p, &outputs);
}

/* <ir_version: 8, opset_import: ["" : 17, …]> */
static tare_status parse_header(parser *p) {
    TARE_TRY(tare_scan_need(&p->scan, '<'));
    do {
        const char *key, *domain;
        int64_t version;
        TARE_TRY(tare_scan_word(&p->scan, false, &key));
        TARE_TRY(tare_scan_need(&p->scan, ':'));
        if (!strcmp(key, "ir_version")) {
            TARE_TRY(tare_scan_s64(&p->scan, &p->model->ir_version));
            continue;
        }
        if (strcmp(key, "opset_import")) return FAIL(p, "'%s' is not known here", key);
        TARE_TRY(tare_scan_need(&p->scan, '['));
        do {
            TARE_TRY(tare_scan_string(&p->scan, &domain));
            TARE_TRY(tare_scan_need(&p->scan, ':'));
            TARE_TRY(tare_scan_s64(&p->scan, &version));
            if (!*domain) p->model->opset = version;
        } while (tare_scan_take(&p->scan, ','));
        TARE_TRY(tare_scan_need(&p->scan, ']'));
    } while (tare_scan_take(&p->scan, ','));
    TARE_TRY(tare_scan_need(&p->scan, '>'));
    return p->model->opset > 0 ? TARE_OK : FAIL(p, "the opset is missing: <ir_version: 8, opset_import: [\"\" : 17]>");
}

tare_status tare_model_parse(tare_model **out, const char *bytes, size_t size, tare_error *err) {
    tare_model *model;
    TARE_TRY(tare_model_new(&model, err));
    parser p = { .scan = { .start = bytes, .at = bytes, .end = bytes + size, .arena = model->arena, .err = err },
                 .model = model,
                 .err = err };
    tare_status status = parse_header(&p);
    if (status == TARE_OK) status = parse_graph(&p, model->graph);
    if (status == TARE_OK && tare_scan_peek(&p.scan)) status = FAIL(&p, "text behind the graph");
    if (status != TARE_OK) {
        tare_model_free(model);
        return status;
    }
    *out = model;
    return TARE_OK;
}

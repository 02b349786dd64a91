/* Prints models in the text form. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/text_form.h"

/* ORDER: dtype. What ONNX's text calls the types. */
const char *tare_text_type_name(tare_dtype dtype) {
    static const char *const names[TARE_DTYPE_COUNT] = {
        [TARE_DTYPE_NONE] = "undefined", [TARE_F32] = "float", [TARE_F16] = "float16", [TARE_BF16] = "bfloat16",
        [TARE_F64] = "double",           [TARE_S8] = "int8",   [TARE_U8] = "uint8",    [TARE_S16] = "int16",
        [TARE_U16] = "uint16",           [TARE_S32] = "int32", [TARE_U32] = "uint32",  [TARE_S64] = "int64",
        [TARE_U64] = "uint64",           [TARE_BOOL] = "bool", [TARE_S4] = "int4",     [TARE_U4] = "uint4",
        [TARE_STRING] = "string",
    };
    return names[dtype];
}

typedef struct printer {
    tare_text *text;
    const tare_model *model;
    size_t elements;
    int depth;
} printer;

static bool is_identifier(const char *name) {
    if (!(*name >= 'a' && *name <= 'z') && !(*name >= 'A' && *name <= 'Z') && *name != '_') return false;
    return !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static void print_quoted(printer *p, const char *string) {
    tare_text_puts(p->text, "\"");
    for (; *string; string++) {
        if (*string == '"' || *string == '\\') tare_text_puts(p->text, "\\");
        tare_text_append(p->text, string, 1);
    }
    tare_text_puts(p->text, "\"");
}

static void print_name(printer *p, const char *name) {
    if (is_identifier(name))
        tare_text_puts(p->text, name);
    else
        print_quoted(p, name);
}

static void print_indent(printer *p) {
    for (int i = 0; i < p->depth; i++) tare_text_puts(p->text, "  ");
}

static void print_type(printer *p, tare_dtype dtype, const tare_shape *shape) {
    tare_text_puts(p->text, tare_text_type_name(dtype));
    if (shape->rank == 0) return;
    tare_text_puts(p->text, "[");
    for (int i = 0; i < shape->rank; i++) {
        if (i) tare_text_puts(p->text, ",");
        if (shape->dim[i] >= 0)
            tare_text_printf(p->text, "%" PRId64, shape->dim[i]);
        else if (shape->dim[i] == TARE_DIM_UNKNOWN)
            tare_text_puts(p->text, "?");
        else
            print_name(p, p->model->symbols.at[-2 - shape->dim[i]]);
    }
    tare_text_puts(p->text, "]");
}

static void print_f64(printer *p, double number, int digits) {
    if (isnan(number))
        tare_text_puts(p->text, "nan");
    else if (isinf(number))
        tare_text_puts(p->text, number < 0 ? "-inf" : "inf");
    else
        tare_text_printf(p->text, "%.*g", digits, number);
}

static void print_element(printer *p, const tare_tensor *tensor, size_t i) {
    const void *data = tensor->data;
    switch (tensor->dtype) {
    case TARE_F32: print_f64(p, (double)((const float *)data)[i], 9); break;
    case TARE_F64: print_f64(p, ((const double *)data)[i], 17); break;
    case TARE_F16:
    case TARE_BF16:
    case TARE_U16: tare_text_printf(p->text, "%u", (unsigned)((const uint16_t *)data)[i]); break;
    case TARE_S8:
    case TARE_S4: tare_text_printf(p->text, "%d", ((const int8_t *)data)[i]); break;
    case TARE_U8:
    case TARE_U4:
    case TARE_BOOL: tare_text_printf(p->text, "%u", (unsigned)((const uint8_t *)data)[i]); break;
    case TARE_S16: tare_text_printf(p->text, "%d", ((const int16_t *)data)[i]); break;
    case TARE_S32: tare_text_printf(p->text, "%" PRId32, ((const int32_t *)data)[i]); break;
    case TARE_U32: tare_text_printf(p->text, "%" PRIu32, ((const uint32_t *)data)[i]); break;
    case TARE_S64: tare_text_printf(p->text, "%" PRId64, ((const int64_t *)data)[i]); break;
    case TARE_U64: tare_text_printf(p->text, "%" PRIu64, ((const uint64_t *)data)[i]); break;
    case TARE_STRING: print_quoted(p, ((const char *const *)data)[i]); break;
    case TARE_DTYPE_NONE:
    case TARE_DTYPE_COUNT: break;
    }
}

static void print_data(printer *p, const tare_tensor *tensor) {
    size_t count = tensor->size / tare_dtype_size(tensor->dtype);
    if (count > p->elements) {
        tare_text_puts(p->text, "...");
        return;
    }
    tare_text_puts(p->text, "{");
    for (size_t i = 0; i < count; i++) {
        if (i) tare_text_puts(p->text, ", ");
        print_element(p, tensor, i);
    }
    tare_text_puts(p->text, "}");
}

/* ---- attributes ---- */

static void print_graph(printer *p, const tare_graph *graph);

/* A float attribute needs a point or an exponent, else it reads as an integer. */
static void print_real(printer *p, float number) {
    size_t start = p->text->length;
    print_f64(p, (double)number, 9);
    if (!p->text->failed && !strpbrk(p->text->at + start, ".ein")) tare_text_puts(p->text, ".0");
}

static void print_list(printer *p, const tare_field *field, const void *at) {
    const tare_ints *ints = at;
    const tare_floats *floats = at;
    const tare_strings *strings = at;
    size_t count = field->type == TARE_FIELD_INTS     ? ints->count
                   : field->type == TARE_FIELD_FLOATS ? floats->count
                                                      : strings->count;
    tare_text_puts(p->text, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) tare_text_puts(p->text, ", ");
        if (field->type == TARE_FIELD_INTS)
            tare_text_printf(p->text, "%" PRId64, ints->at[i]);
        else if (field->type == TARE_FIELD_FLOATS)
            print_real(p, floats->at[i]);
        else
            print_quoted(p, strings->at[i]);
    }
    tare_text_puts(p->text, "]");
}

static void print_attr(printer *p, const tare_field *field, const void *at) {
    switch (field->type) {
    case TARE_FIELD_BOOL: tare_text_puts(p->text, *(const bool *)at ? "1" : "0"); break;
    case TARE_FIELD_INT: tare_text_printf(p->text, "%" PRId64, *(const int64_t *)at); break;
    case TARE_FIELD_FLOAT: print_real(p, *(const float *)at); break;
    case TARE_FIELD_DOUBLE: print_f64(p, *(const double *)at, 17); break;
    case TARE_FIELD_STRING: print_quoted(p, *(const char *const *)at); break;
    case TARE_FIELD_ENUM: print_quoted(p, field->names[*(const int *)at]); break;
    case TARE_FIELD_INTS:
    case TARE_FIELD_FLOATS:
    case TARE_FIELD_STRINGS: print_list(p, field, at); break;
    case TARE_FIELD_TENSOR: {
        const tare_tensor *tensor = *(const tare_tensor *const *)at;
        print_type(p, tensor->dtype, &tensor->shape);
        tare_text_puts(p->text, " ");
        print_data(p, tensor);
        break;
    }
    case TARE_FIELD_GRAPH: print_graph(p, *(tare_graph *const *)at); break;
    case TARE_FIELD_END: break;
    }
}

/* The words that tell an empty list's type. */
static const char *list_type(tare_field_type type) {
    return type == TARE_FIELD_INTS ? "ints" : type == TARE_FIELD_FLOATS ? "floats" : "strings";
}

static void print_attrs(printer *p, const tare_node *node) {
    size_t size;
    const char *open = "<";
    const tare_field *field = node->op ? tare_op_attrs(node->op, &size) : NULL;
    for (; field && field->type != TARE_FIELD_END; field++) {
        if (tare_field_is_default(field, node->attrs) && !(field->flags & TARE_FIELD_ALWAYS)) continue;
        const void *at = tare_field_get(field, node->attrs);
        bool is_list =
            field->type == TARE_FIELD_INTS || field->type == TARE_FIELD_FLOATS || field->type == TARE_FIELD_STRINGS;
        tare_text_printf(p->text, "%s%s", open, field->name);
        if (is_list && !((const tare_ints *)at)->count) tare_text_printf(p->text, " : %s", list_type(field->type));
        tare_text_puts(p->text, " = ");
        print_attr(p, field, at);
        open = ", ";
    }
    if (*open == ',') tare_text_puts(p->text, ">");
}

/* ---- graphs ---- */

static void print_links(printer *p, tare_value *const *values, int count) {
    for (int i = 0; i < count; i++) {
        if (i) tare_text_puts(p->text, ", ");
        print_name(p, values[i] ? values[i]->name : "");
    }
}

static void print_node(printer *p, const tare_node *node) {
    print_indent(p);
    if (!node->generated_name) {
        tare_text_puts(p->text, "[");
        print_name(p, node->name);
        tare_text_puts(p->text, "] ");
    }
    print_links(p, node->outputs, node->output_count);
    tare_text_printf(p->text, " = %s%s%s", node->domain, *node->domain ? "." : "", node->type);
    print_attrs(p, node);
    tare_text_puts(p->text, "(");
    print_links(p, node->inputs, node->input_count);
    tare_text_puts(p->text, ")\n");
}

static void print_ports(printer *p, tare_value *const *values, size_t count) {
    tare_text_puts(p->text, "(");
    for (size_t i = 0; i < count; i++) {
        if (i) tare_text_puts(p->text, ", ");
        print_type(p, values[i]->dtype, &values[i]->shape);
        tare_text_puts(p->text, " ");
        print_name(p, values[i]->name);
    }
    tare_text_puts(p->text, ")");
}

static void print_initializers(printer *p, const tare_graph *graph) {
    const char *open = "<";
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (!value || !value->constant || value->producer) continue;
        if (*open == ',') tare_text_puts(p->text, ",\n");
        print_indent(p);
        tare_text_puts(p->text, *open == '<' ? "<" : " ");
        print_type(p, value->constant->dtype, &value->constant->shape);
        tare_text_puts(p->text, " ");
        print_name(p, value->name);
        tare_text_puts(p->text, " = ");
        print_data(p, value->constant);
        open = ",";
    }
    if (*open == ',') tare_text_puts(p->text, ">\n");
}

/* Depth: graphs nest at most 32 deep. */
static void print_graph(printer *p, const tare_graph *graph) {
    print_name(p, *graph->name ? graph->name : "g");
    tare_text_puts(p->text, " ");
    print_ports(p, graph->inputs.at, graph->inputs.count);
    tare_text_puts(p->text, " => ");
    print_ports(p, graph->outputs.at, graph->outputs.count);
    tare_text_puts(p->text, "\n");
    print_initializers(p, graph);
    print_indent(p);
    tare_text_puts(p->text, "{\n");
    p->depth++;
    tare_for_nodes (node, graph) print_node(p, node);
    p->depth--;
    print_indent(p);
    tare_text_puts(p->text, "}");
    if (!p->depth) tare_text_puts(p->text, "\n");
}

/* ---- what ONNX's text has no words for ---- */

static void print_quant(printer *p, const tare_value *value) {
    const tare_quant *quant = value->quant;
    char origin[256];
    tare_origin_print(origin, sizeof origin, &quant->origin);
    tare_text_puts(p->text, "# quantized ");
    print_name(p, value->name);
    tare_text_printf(p->text, ": %s", tare_dtype_name(quant->code));
    if (quant->axis >= 0) tare_text_printf(p->text, " axis %d", quant->axis);
    if (quant->block) tare_text_printf(p->text, " block %" PRId64, quant->block);
    tare_text_puts(p->text, " scale");
    for (size_t i = 0; i < quant->count && i < p->elements; i++)
        tare_text_printf(p->text, " %.9g", (double)quant->scale[i]);
    tare_text_puts(p->text, " zero_point");
    for (size_t i = 0; i < quant->count && i < p->elements; i++)
        tare_text_printf(p->text, " %" PRId32, quant->zero_point[i]);
    tare_text_printf(p->text, "%s%s (%s)\n", quant->narrow ? " narrow" : "", quant->contrib ? " com.microsoft" : "",
                     origin);
}

/* Depth: as above. */
static void print_quants(printer *p, const tare_graph *graph) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (value && value->quant) print_quant(p, value);
    }
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) print_quants(p, body);
    }
}

static void print_alias(printer *p, const char *name, const tare_alias *alias) {
    tare_text_puts(p->text, alias->target ? "# alias " : "# gone ");
    print_name(p, name);
    if (!alias->target) {
        tare_text_printf(p->text, ": %s\n", alias->reason);
        return;
    }
    tare_text_puts(p->text, " = ");
    if (alias->factor != 1) tare_text_printf(p->text, "%.9g * ", alias->factor);
    print_name(p, alias->target);
    if (alias->offset != 0) tare_text_printf(p->text, " + %.9g", alias->offset);
    if (alias->has_permutation) {
        tare_text_puts(p->text, " permuted");
        for (int i = 0; i < TARE_RANK_MAX; i++) tare_text_printf(p->text, " %d", alias->permutation[i]);
    }
    tare_text_puts(p->text, "\n");
}

static void print_aliases(printer *p) {
    for (size_t i = 0; i < p->model->aliases.entries.count; i++) {
        const tare_map_entry *entry = &p->model->aliases.entries.at[i];
        if (entry->value) print_alias(p, entry->key, entry->value);
    }
}

/* Domains other than ONNX's own, each once, with version 1: a node does not say another. Depth: as above. */
static void print_domains(printer *p, const tare_graph *graph, tare_map *seen) {
    tare_for_nodes (node, graph) {
        if (*node->domain && !tare_map_get(seen, node->domain)) {
            if (!tare_map_put(seen, node->domain, p->text)) p->text->failed = true;
            tare_text_puts(p->text, ", ");
            print_quoted(p, node->domain);
            tare_text_puts(p->text, " : 1");
        }
        const tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) print_domains(p, body, seen);
    }
}

void tare_model_print(tare_text *text, const tare_model *model, size_t elements) {
    printer p = { .text = text, .model = model, .elements = elements };
    tare_map seen;
    tare_map_init(&seen, text->arena);
    tare_text_printf(text, "<ir_version: %" PRId64 ", opset_import: [\"\" : %" PRId64, model->ir_version, model->opset);
    print_domains(&p, model->graph, &seen);
    tare_text_puts(text, "]>\n");
    print_graph(&p, model->graph);
    print_quants(&p, model->graph);
    print_aliases(&p);
}

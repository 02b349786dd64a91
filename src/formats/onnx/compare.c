/* Writing ONNX: is what was read back what was to be written? Everything but documentation is compared: nodes in order with
 * names, attributes and links, constants byte by byte, declared types. */
#include <string.h>

#include "formats/onnx/writer.h"

static tare_status differ(tare_error *err, const char *what, const char *name) {
    return tare_fail(err, TARE_E_BUG, "%s of '%s'", what, name);
}

static bool texts_equal(const char *a, const char *b) { return !strcmp(a ? a : "", b ? b : ""); }

/* ---- values ---- */

static bool tensors_equal(const tare_tensor *a, const tare_tensor *b) {
    if (!a || !b) return a == b;
    if (a->dtype != b->dtype || a->size != b->size || !tare_shape_equal(&a->shape, &b->shape)) return false;
    if (a->dtype != TARE_STRING) return !a->size || !memcmp(a->data, b->data, a->size);
    const char *const *x = a->data, *const *y = b->data;
    for (size_t i = 0; i < a->size / sizeof *x; i++)
        if (strcmp(x[i], y[i]) != 0) return false;
    return true;
}

static bool dims_equal(const tare_model *a, int64_t x, const tare_model *b, int64_t y) {
    if (x >= TARE_DIM_UNKNOWN || y >= TARE_DIM_UNKNOWN) return x == y;
    return !strcmp(a->symbols.at[-2 - x], b->symbols.at[-2 - y]);
}

static bool shapes_equal(const tare_model *a, const tare_shape *x, const tare_model *b, const tare_shape *y) {
    if (x->rank != y->rank) return false;
    for (int i = 0; i < x->rank; i++)
        if (!dims_equal(a, x->dim[i], b, y->dim[i])) return false;
    return true;
}

static tare_status compare_value(const tare_value *want, const tare_value *got, tare_error *err) {
    const tare_model *a = want->graph->model, *b = got->graph->model;
    if (want->dtype != got->dtype) return differ(err, "type", want->name);
    /* A shape is written with its type or not at all. */
    if (want->dtype && !shapes_equal(a, &want->shape, b, &got->shape)) return differ(err, "shape", want->name);
    if (want->is_input != got->is_input || want->is_output != got->is_output)
        return differ(err, "place in the interface", want->name);
    if (!tensors_equal(want->producer ? NULL : want->constant, got->constant))
        return differ(err, "contents", want->name);
    return TARE_OK;
}

static tare_status compare_values(const tare_onnx_writing *writing, const tare_graph *want, const tare_graph *got,
                                  tare_error *err) {
    for (size_t i = 0; i < want->values.entries.count; i++) {
        const tare_value *value = want->values.entries.at[i].value;
        if (!value || !(value->producer || value->is_input || tare_onnx_is_initializer(writing, value))) continue;
        const tare_value *other = tare_map_get(&got->values, value->name);
        if (!other) return differ(err, "absence", value->name);
        TARE_TRY(compare_value(value, other, err));
    }
    if (want->inputs.count != got->inputs.count || want->outputs.count != got->outputs.count)
        return differ(err, "numbers of inputs and outputs", want->name);
    for (size_t i = 0; i < want->inputs.count; i++)
        if (strcmp(want->inputs.at[i]->name, got->inputs.at[i]->name) != 0)
            return differ(err, "order of inputs", want->inputs.at[i]->name);
    for (size_t i = 0; i < want->outputs.count; i++)
        if (strcmp(want->outputs.at[i]->name, got->outputs.at[i]->name) != 0)
            return differ(err, "order of outputs", want->outputs.at[i]->name);
    return TARE_OK;
}

/* ---- nodes ---- */

static tare_status compare_graph(const tare_onnx_writing *writing, const tare_graph *want, const tare_graph *got,
                                 tare_error *err);

static bool fields_equal(const tare_field *field, const void *want, const void *got) {
    const tare_field alone[] = { *field, { .type = TARE_FIELD_END } };
    return tare_fields_equal(alone, want, got);
}

static tare_status compare_field(const tare_onnx_writing *writing, const tare_field *field, const tare_node *want,
                                 const tare_node *got, tare_error *err) {
    const void *x = tare_field_get(field, want->attrs), *y = tare_field_get(field, got->attrs);
    bool same;
    if (field->type == TARE_FIELD_TENSOR) {
        same = tensors_equal(*(const tare_tensor *const *)x, *(const tare_tensor *const *)y);
    } else if (field->type == TARE_FIELD_GRAPH) {
        const tare_graph *inner = *(tare_graph *const *)x, *other = *(tare_graph *const *)y;
        same = !inner == !other;
        if (inner && other) TARE_TRY(compare_graph(writing, inner, other, err));
    } else {
        same = fields_equal(field, want->attrs, got->attrs);
    }
    return same ? TARE_OK : differ(err, "attributes", want->name);
}

static bool are_linked_alike(const tare_value *want, const tare_value *got) {
    if (!want || !got) return want == got;
    return !strcmp(want->name, got->name);
}

/* An input that is an attribute in the file was read back as a constant of another name. */
static tare_status compare_links(const tare_onnx_writing *writing, const tare_node *want, const tare_node *got,
                                 tare_error *err) {
    int count = want->input_count > got->input_count ? want->input_count : got->input_count;
    for (int i = 0; i < count; i++) {
        const tare_value *x = tare_node_input(want, i), *y = tare_node_input(got, i);
        bool is_dual = x && tare_onnx_dual_of(want, i, writing->model->opset);
        bool same = is_dual ? y && tensors_equal(x->constant, y->constant) : are_linked_alike(x, y);
        if (!same) return differ(err, "inputs", want->name);
    }
    if (want->output_count != got->output_count) return differ(err, "number of outputs", want->name);
    for (int i = 0; i < want->output_count; i++)
        if (!are_linked_alike(want->outputs[i], got->outputs[i])) return differ(err, "outputs", want->name);
    return TARE_OK;
}

static bool raws_equal(const tare_onnx_writing *writing, const tare_node *want, const tare_node *got) {
    const tare_onnx_node *x = writing->extra ? want->extra : NULL, *y = got->extra;
    size_t wanted = x ? x->raw.count : 0, found = y ? y->raw.count : 0;
    if (wanted != found) return false;
    for (size_t i = 0; i < wanted; i++)
        if (strcmp(x->raw.at[i].name, y->raw.at[i].name) != 0) return false;
    return true;
}

/* What the file's opset calls by this name: it may be an older form of the op, whose attributes are other ones. */
static const tare_op *read_as(const tare_onnx_writing *writing, const tare_node *node) {
    return node->op && !*node->domain ? tare_op_find(node->domain, node->type, writing->model->opset) : node->op;
}

static tare_status compare_node(const tare_onnx_writing *writing, const tare_node *want, const tare_node *got,
                                tare_error *err) {
    if (strcmp(want->type, got->type) != 0 || strcmp(want->domain, got->domain) != 0 ||
        (want->op != got->op && read_as(writing, want) != got->op))
        return differ(err, "operator", want->name);
    if (want->generated_name != got->generated_name || (!want->generated_name && strcmp(want->name, got->name) != 0))
        return differ(err, "name", want->name);
    TARE_TRY(compare_links(writing, want, got, err));
    if (!want->op) return raws_equal(writing, want, got) ? TARE_OK : differ(err, "attributes", want->name);
    if (want->op != got->op) return TARE_OK;
    for (const tare_field *field = want->op->attrs; field && field->type != TARE_FIELD_END; field++)
        TARE_TRY(compare_field(writing, field, want, got, err));
    return TARE_OK;
}

/* Graphs nest at most 32 deep. */
static tare_status compare_graph(const tare_onnx_writing *writing, const tare_graph *want, const tare_graph *got,
                                 tare_error *err) {
    TARE_TRY(compare_values(writing, want, got, err));
    const tare_node *other = got->first;
    tare_for_nodes (node, want) {
        if (!other) return differ(err, "nodes past the end", want->name);
        TARE_TRY(compare_node(writing, node, other, err));
        other = other->next;
    }
    return other ? differ(err, "too many nodes", want->name) : TARE_OK;
}

static bool are_properties_equal(const tare_model *want, const tare_model *got) {
    if (want->properties.count != got->properties.count) return false;
    for (size_t i = 0; i < want->properties.count; i++) {
        const tare_property *a = &want->properties.at[i], *b = &got->properties.at[i];
        if (strcmp(a->key, b->key) != 0 || strcmp(a->value, b->value) != 0) return false;
    }
    return true;
}

tare_status tare_onnx_compare(const tare_onnx_writing *writing, const tare_model *got, tare_error *err) {
    const tare_model *want = writing->model;
    if (want->opset != got->opset || want->ir_version != got->ir_version)
        return tare_fail(err, TARE_E_BUG, "opset %lld and IR version %lld, want %lld and %lld", (long long)got->opset,
                         (long long)got->ir_version, (long long)want->opset, (long long)want->ir_version);
    if (!texts_equal(want->producer_name, got->producer_name) || !are_properties_equal(want, got))
        return tare_fail(err, TARE_E_BUG, "the model's properties");
    return compare_graph(writing, want->graph, got->graph, err);
}

/* Graphs of few nodes in the text form, and what must come of them (examples.h). */
#include "ops/support/examples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/text_form.h"
#include "ops/op.h"

static tare_model *parse(const char *inputs, const char *constants, const char *node) {
    char text[4096];
    tare_model *model;
    tare_error err = { 0 };
    int length = snprintf(text, sizeof text,
                          "<ir_version: 10, opset_import: [\"\" : 23, \"qonnx.custom_op.general\" : 1]> "
                          "g (%s) => (y) <%s> { %s }",
                          inputs, constants, node);
    assert_in_range(length, 1, sizeof text - 1);
    if (tare_model_parse(&model, text, (size_t)length, &err) != TARE_OK) fail_msg("%s: %s", text, err.text);
    return model;
}

static tare_status infer(const test_example *e, char *got, size_t size, tare_error *err) {
    tare_model *model = parse(e->inputs, e->constants, e->node);
    tare_status status = tare_graph_infer(model->graph, err);
    const tare_node *node = model->graph->last;
    size_t used = 0;
    for (int i = 0; status == TARE_OK && i < node->output_count; i++) {
        char shape[128];
        const tare_value *value = node->outputs[i];
        tare_shape_print(shape, sizeof shape, &value->shape, model->symbols.at);
        used +=
            (size_t)snprintf(got + used, size - used, "%s%s %s", i ? ", " : "", tare_dtype_name(value->dtype), shape);
    }
    tare_model_free(model);
    return status;
}

void test_check_inference(const test_example *examples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const test_example *e = &examples[i];
        char got[512] = "";
        tare_error err = { 0 };
        tare_status status = infer(e, got, sizeof got, &err);
        if (status != e->status) fail_msg("%s: status %d (%s), want %d", e->node, status, err.text, e->status);
        const char *text = status == TARE_OK ? got : err.text;
        if (status == TARE_OK ? strcmp(got, e->want) != 0 : !strstr(err.text, e->want))
            fail_msg("%s (%s) <%s>: got '%s', want '%s'", e->node, e->inputs, e->constants, text, e->want);
    }
}

static double number_at(const tare_tensor *tensor, size_t i) {
    switch (tensor->dtype) {
    case TARE_F32: return (double)((const float *)tensor->data)[i];
    case TARE_F64: return ((const double *)tensor->data)[i];
    case TARE_F16: return (double)tare_f16_to_f32(((const uint16_t *)tensor->data)[i]);
    case TARE_BF16: return (double)tare_bf16_to_f32(((const uint16_t *)tensor->data)[i]);
    case TARE_S4:
    case TARE_S8: return ((const int8_t *)tensor->data)[i];
    case TARE_U4:
    case TARE_U8:
    case TARE_BOOL: return ((const uint8_t *)tensor->data)[i];
    case TARE_S16: return ((const int16_t *)tensor->data)[i];
    case TARE_U16: return ((const uint16_t *)tensor->data)[i];
    case TARE_S32: return ((const int32_t *)tensor->data)[i];
    case TARE_U32: return ((const uint32_t *)tensor->data)[i];
    case TARE_S64: return (double)((const int64_t *)tensor->data)[i];
    default: return (double)((const uint64_t *)tensor->data)[i];
    }
}

size_t test_evaluate(const char *constants, const char *node, double *numbers, size_t capacity) {
    tare_model *model = parse("", constants, node);
    tare_error err = { 0 };
    bool done = true;
    tare_for_nodes (each, model->graph) {
        if (tare_node_infer(each, &err) != TARE_OK || tare_node_evaluate(each, &done, &err) != TARE_OK)
            fail_msg("%s <%s>: %s", node, constants, err.text);
        if (!done) fail_msg("%s: not evaluated", each->type);
    }
    const tare_tensor *tensor = model->graph->last->outputs[0]->constant;
    size_t count = tensor->size / tare_dtype_size(tensor->dtype);
    assert_in_range(count, 0, capacity);
    for (size_t i = 0; i < count; i++) numbers[i] = number_at(tensor, i);
    tare_model_free(model);
    return count;
}

void test_check_numbers(const char *constants, const char *node, const double *wanted, size_t count, double tolerance) {
    double got[64], largest = 0;
    size_t got_count = test_evaluate(constants, node, got, sizeof got / sizeof *got);
    if (got_count != count) fail_msg("%s <%s>: %zu numbers, want %zu", node, constants, got_count, count);
    for (size_t i = 0; i < count; i++)
        if (isfinite(wanted[i]) && fabs(wanted[i]) > largest) largest = fabs(wanted[i]);
    for (size_t i = 0; i < count; i++) {
        bool same = isnan(wanted[i])   ? isnan(got[i])
                    : isinf(wanted[i]) ? got[i] == wanted[i]
                                       : fabs(got[i] - wanted[i]) <= tolerance * largest;
        if (!same) fail_msg("%s <%s>: number %zu is %.9g, want %.9g", node, constants, i, got[i], wanted[i]);
    }
}

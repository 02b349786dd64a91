/* Which outputs are scores of classes, so that the largest number means something. A softmax says so. Else it is one vector a
 * sample that a product makes, with nothing behind it that changes the order: features end in an activation, boxes in their
 * decoding, and a matrix with rows of its own is no vector. A box's four numbers straight from a product cannot be told
 * from four classes, nor an embedding without an activation from its length of classes. */
#include <string.h>

#include "compare/compare.h"

enum { STEPS_MOST = 16 /* from an output back to the product */ };

static bool is_one_of(const tare_node *node, const char *const *types) {
    for (; *types; types++)
        if (tare_node_is(node, *types)) return true;
    return false;
}

/* exp(x) / sum: a softmax that was spelled out. */
static bool is_softmax(const tare_node *node) {
    if (tare_node_is(node, "Softmax") || tare_node_is(node, "LogSoftmax")) return true;
    return tare_node_is(node, "Div") && node->inputs[0] && tare_node_is(node->inputs[0]->producer, "Exp");
}

/* The only input that is no constant; NULL: there are others. */
static const tare_value *only_input(const tare_node *node) {
    const tare_value *found = NULL;
    for (int i = 0; i < node->input_count; i++) {
        const tare_value *input = node->inputs[i];
        if (!input || tare_value_is_constant(input)) continue;
        if (found) return NULL;
        found = input;
    }
    return found;
}

static bool comes_from_product(const tare_node *node) {
    static const char *const products[] = { "Gemm", "MatMul", "Conv", "MatMulInteger", "ConvInteger", NULL };
    static const char *const keeping[] = { "Add",
                                           "Sub",
                                           "Mul",
                                           "Div",
                                           "BatchNormalization",
                                           "Sigmoid",
                                           "Identity",
                                           "Reshape",
                                           "Flatten",
                                           "Squeeze",
                                           "Cast",
                                           "Unsqueeze",
                                           "Transpose",
                                           "Dropout",
                                           "GlobalAveragePool",
                                           "Quant",
                                           "AveragePool",
                                           "ReduceMean",
                                           "QuantizeLinear",
                                           "DequantizeLinear",
                                           NULL };
    for (int step = 0; node && step < STEPS_MOST; step++) {
        if (is_one_of(node, products)) return true;
        if (!is_one_of(node, keeping)) return false;
        const tare_value *input = only_input(node);
        node = input ? input->producer : NULL;
    }
    return false;
}

/* Has an input the same first dimension, that of the samples? */
static bool is_of_samples(const tare_graph *graph, int64_t dim) {
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const tare_shape *shape = &graph->inputs.at[i]->shape;
        if (shape->rank > 0 && shape->dim[0] == dim) return true;
    }
    return false;
}

/* One vector a sample: the last of one or two dimensions, or the channels of one pixel. */
static bool is_vector(const tare_shape *shape) {
    if (shape->rank == 1 || shape->rank == 2) return shape->dim[shape->rank - 1] > 1;
    return shape->rank == 4 && shape->dim[1] > 1 && shape->dim[2] == 1 && shape->dim[3] == 1;
}

/* By what the model declares: are the rows samples, not boxes, and a single dimension not samples itself? */
static bool rows_are_samples(const tare_value *value) {
    const tare_shape *shape = &value->shape;
    if (shape->rank < 1) return true;
    const int64_t first = shape->dim[0];
    if (shape->rank == 1) return first >= 0 && !is_of_samples(value->graph, first);
    return first <= 1 || is_of_samples(value->graph, first);
}

tare_class tare_output_class(const tare_value *value) {
    if (!value || !value->producer) return TARE_CLASS_BY_SHAPE;
    if (is_softmax(value->producer)) return TARE_CLASS_YES;
    return comes_from_product(value->producer) && rows_are_samples(value) ? TARE_CLASS_BY_SHAPE : TARE_CLASS_NO;
}

bool tare_output_is_class(tare_class class, const tare_shape *shape) {
    return class == TARE_CLASS_YES || (class == TARE_CLASS_BY_SHAPE && is_vector(shape));
}

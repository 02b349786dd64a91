/* What other rooms may know of an op: its name, attribute table, arity, part in quantization. */
#include "ops/attr.h"
#include "ops/op.h"

const char *tare_op_name(const tare_op *op) { return op->name; }

const char *tare_op_domain(const tare_op *op) { return op->domain ? op->domain : ""; }

const tare_field *tare_op_attrs(const tare_op *op, size_t *size) {
    *size = op->attrs_size;
    return op->attrs;
}

void tare_op_arity(const tare_op *op, int inputs[2], int outputs[2]) {
    for (int i = 0; i < 2; i++) inputs[i] = op->inputs[i], outputs[i] = op->outputs[i];
}

tare_quant_kind tare_node_quant_kind(const tare_node *node) {
    if (!node->op) return TARE_QUANT_KEEP_FLOAT;
    const tare_quant_rule *rule = &node->op->quant;
    return rule->kind_of ? rule->kind_of(node) : rule->kind;
}

bool tare_node_input_is_data(const tare_node *node, int index) {
    if (!node->op) return false;
    unsigned inputs = node->op->quant.data_inputs;
    return inputs ? index < 32 && (inputs >> index & 1u) : index == 0;
}

bool tare_node_is_depthwise(const tare_node *node) {
    const tare_value *weight = node->op && node->op->quant.has_weight ? tare_node_input(node, 1) : NULL;
    return weight && weight->shape.rank > 2 && weight->shape.dim[1] == 1 && weight->shape.dim[0] > 1 &&
           tare_attr_int(node, "group", 1) > 1;
}

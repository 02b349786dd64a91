/* What graph/ may know of an op: its name, attribute table and arity. */
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

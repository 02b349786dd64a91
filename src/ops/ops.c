/* The registry of operators: the list ops.def as a table, and what attributes call the element types. */
#include <string.h>

#include "ops/op.h"

static const tare_op *const ops[] = {
#define OP(x) &tare_op_##x,
#include "ops/ops.def"
#undef OP
    NULL /* ends the table; a list may be empty */
};

size_t tare_op_count(void) { return sizeof ops / sizeof *ops - 1; }

const tare_op *tare_op_at(size_t index) { return ops[index]; }

/* Of the descriptors that read this opset, the one that ends first: the canonical form has no end. */
const tare_op *tare_op_find(const char *domain, const char *name, int64_t opset) {
    const char *wanted = domain ? domain : "";
    bool is_main = !*wanted;
    const tare_op *best = NULL;
    for (size_t i = 0; i < tare_op_count(); i++) {
        const tare_op *op = ops[i];
        if (strcmp(op->name, name) != 0 || strcmp(op->domain ? op->domain : "", wanted) != 0) continue;
        if (is_main && op->until && opset > op->until) continue;
        if (!best || (op->until && (!best->until || op->until < best->until))) best = op;
    }
    return best;
}

/* ORDER: TensorProto.DataType of onnx.proto; complex numbers (14, 15) and the 8- and 4-bit floats have no entry */
static const tare_dtype onnx_types[] = {
    [1] = TARE_F32,  [2] = TARE_U8,     [3] = TARE_S8,   [4] = TARE_U16,  [5] = TARE_S16,  [6] = TARE_S32,
    [7] = TARE_S64,  [8] = TARE_STRING, [9] = TARE_BOOL, [10] = TARE_F16, [11] = TARE_F64, [12] = TARE_U32,
    [13] = TARE_U64, [16] = TARE_BF16,  [21] = TARE_U4,  [22] = TARE_S4,
};
enum { ONNX_TYPE_COUNT = sizeof onnx_types / sizeof *onnx_types };

tare_dtype tare_dtype_from_onnx(int64_t number) {
    return number > 0 && number < ONNX_TYPE_COUNT ? onnx_types[number] : TARE_DTYPE_NONE;
}

int64_t tare_dtype_to_onnx(tare_dtype dtype) {
    for (int64_t number = 1; number < ONNX_TYPE_COUNT; number++)
        if (onnx_types[number] == dtype) return number;
    return 0;
}

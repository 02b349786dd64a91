/* EyeLike: ones on a diagonal, in the shape of the input. */
#include <string.h>

#include "ops/numbers.h"
#include "ops/op.h"

typedef struct attributes {
    int64_t dtype, k;
} attributes;

static const tare_field fields[] = {
    { .name = "dtype", .type = TARE_FIELD_INT, .offset = offsetof(attributes, dtype) },
    { .name = "k", .type = TARE_FIELD_INT, .offset = offsetof(attributes, k) },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape shape = tare_input_shape(node, 0);
    tare_dtype dtype = tare_input_dtype(node, 0);
    TARE_TRY(tare_infer_rank(node, 0, 2, err));
    if (attrs->dtype) {
        dtype = tare_dtype_from_onnx(attrs->dtype);
        if (!dtype || dtype == TARE_STRING)
            return tare_fail(err, TARE_E_UNSUPPORTED, "attribute 'dtype' is %lld, an element type tare does not have",
                             (long long)attrs->dtype);
    } else if (dtype == TARE_STRING) {
        return tare_fail(err, TARE_E_MALFORMED, "input 0 is string, want numbers");
    }
    return tare_infer_set(node, 0, dtype, &shape, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    const attributes *attrs = call->attrs;
    tare_tensor *to = call->outputs[0];
    int64_t rows = to->shape.dim[0], columns = to->shape.dim[1];
    size_t size = tare_dtype_size(to->dtype);
    const float one = 1;
    memset(to->data, 0, to->size);
    if (attrs->k >= columns || attrs->k <= -rows) return TARE_OK;
    for (int64_t row = attrs->k < 0 ? -attrs->k : 0; row < rows && row + attrs->k < columns; row++) {
        char *at = (char *)to->data + (size_t)(row * columns + row + attrs->k) * size;
        tare_numbers_from_f32(to->dtype, at, 0, &one, 1);
    }
    return TARE_OK;
}

const tare_op tare_op_eye_like = {
    .name = "EyeLike",
    .since = 9,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_READS_SHAPE,
    .infer = infer,
    .run = run,
};

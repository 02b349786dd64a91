/* Tensors: room for them, and constants read as numbers whatever their type. */
#include <string.h>

#include "base/size.h"
#include "graph/graph.h"

bool tare_tensor_size(tare_dtype dtype, const tare_shape *shape, size_t *size) {
    int64_t count;
    return tare_shape_is_static(shape) && tare_shape_count(shape, &count) &&
           tare_size_mul((size_t)count, tare_dtype_size(dtype), size);
}

tare_status tare_tensor_new(tare_arena *arena, tare_dtype dtype, const tare_shape *shape, tare_tensor **out,
                            tare_error *err) {
    char text[128];
    size_t size;
    if (!tare_tensor_size(dtype, shape, &size)) {
        tare_shape_print(text, sizeof text, shape, NULL);
        return tare_fail(err, TARE_E_LIMIT, "tensor of shape %s is too large, at most 2^40 elements are allowed", text);
    }
    tare_tensor *tensor = tare_arena_alloc(arena, 1, sizeof *tensor);
    void *data = tensor ? tare_arena_alloc_raw(arena, size ? size : 1, 1) : NULL;
    if (!data) return tare_fail_memory(err, size);
    *tensor = (tare_tensor){ .dtype = dtype, .shape = *shape, .data = data, .size = size };
    *out = tensor;
    return TARE_OK;
}

bool tare_value_read_s64(const tare_value *value, int64_t *numbers, size_t capacity, size_t *count) {
    if (!tare_value_is_constant(value)) return false;
    const tare_tensor *tensor = value->constant;
    if (!tare_dtype_is_integer(tensor->dtype) && tensor->dtype != TARE_BOOL) return false;
    *count = tensor->size / tare_dtype_size(tensor->dtype);
    if (*count > capacity) return false;
    for (size_t i = 0; i < *count; i++) numbers[i] = tare_dtype_s64_at(tensor->dtype, tensor->data, i);
    return true;
}

/* Which scale element i has: the channel along quant->axis, or its block. */
static size_t scale_index(const tare_quant *quant, const tare_shape *shape, size_t i) {
    if (quant->axis < 0 || quant->count <= 1) return 0;
    size_t inner = (size_t)tare_shape_product(shape, quant->axis + 1, shape->rank);
    size_t length = (size_t)shape->dim[quant->axis], channel = i / inner % length;
    if (!quant->block) return channel;
    size_t blocks = (length + (size_t)quant->block - 1) / (size_t)quant->block;
    return (i / inner / length * blocks + channel / (size_t)quant->block) * inner + i % inner;
}

static double dequantized(const tare_value *value, size_t i) {
    const tare_tensor *tensor = value->constant;
    const tare_quant *quant = value->quant;
    if (!quant || tare_dtype_is_float(tensor->dtype)) return tare_dtype_f64_at(tensor->dtype, tensor->data, i);
    size_t k = scale_index(quant, &tensor->shape, i);
    /* DequantizeLinear: the difference is exact in int32 and rounds once to f32, then one product (onnxruntime.md §2). */
    float steps = (float)(int32_t)(tare_dtype_s64_at(tensor->dtype, tensor->data, i) - quant->zero_point[k]);
    float real = steps * quant->scale[k];
    return (double)real;
}

bool tare_value_read_scalar(const tare_value *value, double *number) {
    if (!tare_value_is_constant(value) || value->constant->dtype == TARE_STRING) return false;
    size_t count = value->constant->size / tare_dtype_size(value->constant->dtype);
    if (!count) return false;
    *number = dequantized(value, 0);
    for (size_t i = 1; i < count; i++) {
        double other = dequantized(value, i);
        if (memcmp(&other, number, sizeof other)) return false;
    }
    return true;
}

static bool read_meaning(const tare_node *node, double *scale, double *zero_point) {
    const tare_value *zero = tare_node_input(node, 2);
    *zero_point = 0;
    return tare_node_input(node, 1) && tare_value_read_scalar(node->inputs[1], scale) &&
           (!zero || tare_value_read_scalar(zero, zero_point));
}

bool tare_value_read_meaning(const tare_value *codes, double *scale, double *zero_point) {
    if (tare_node_is(codes->producer, "QuantizeLinear")) return read_meaning(codes->producer, scale, zero_point);
    for (size_t i = 0; i < codes->uses.count; i++)
        if (codes->uses.at[i].index == 0 && tare_node_is(codes->uses.at[i].node, "DequantizeLinear"))
            return read_meaning(codes->uses.at[i].node, scale, zero_point);
    return false;
}

tare_status tare_value_read_f32(const tare_value *value, tare_arena *arena, const float **numbers, size_t *count,
                                tare_error *err) {
    if (!tare_value_is_constant(value))
        return tare_fail(err, TARE_E_UNSUPPORTED, "value '%s' is computed, a constant is needed", value->name);
    const tare_tensor *tensor = value->constant;
    if (tensor->dtype == TARE_STRING)
        return tare_fail(err, TARE_E_MALFORMED, "value '%s' holds strings, numbers are needed", value->name);
    *count = tensor->size / tare_dtype_size(tensor->dtype);
    if (tensor->dtype == TARE_F32) {
        *numbers = tensor->data;
        return TARE_OK;
    }
    float *copy = tare_arena_alloc_raw(arena, *count ? *count : 1, sizeof *copy);
    if (!copy) return tare_fail_memory(err, *count * sizeof *copy);
    for (size_t i = 0; i < *count; i++) copy[i] = (float)dequantized(value, i);
    *numbers = copy;
    return TARE_OK;
}

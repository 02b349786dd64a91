/* IsNaN and IsInf: bool from floats. */
#include <math.h>
#include <stddef.h>

#include "ops/elementwise.h"

typedef struct isinf_attrs {
    bool detect_negative, detect_positive;
} isinf_attrs;

static const tare_field isinf_fields[] = {
    { "detect_negative", TARE_FIELD_BOOL, offsetof(isinf_attrs, detect_negative), .fallback.i = 1 },
    { "detect_positive", TARE_FIELD_BOOL, offsetof(isinf_attrs, detect_positive), .fallback.i = 1 },
    { 0 },
};

static bool is_nan(const void *attrs, double x) { return (void)attrs, isnan(x); }

static bool is_inf(const void *attrs, double x) {
    const isinf_attrs *wanted = attrs;
    return isinf(x) && (x < 0 ? wanted->detect_negative : wanted->detect_positive);
}

struct test {
    const tare_call *call;
    bool (*is_true)(const void *attrs, double x);
};

static void range(void *context, int64_t first, int64_t last) {
    const struct test *test = context;
    const tare_tensor *from = test->call->inputs[0];
    uint8_t *to = test->call->outputs[0]->data;
    tare_numbers chunk;
    bool is_double = from->dtype == TARE_F64;
    for (int64_t at = first; at < last; at += TARE_NUMBERS_CHUNK) {
        int64_t part = last - at < TARE_NUMBERS_CHUNK ? last - at : TARE_NUMBERS_CHUNK;
        tare_numbers_load(&chunk, from->dtype, from->data, at, (size_t)part);
        for (int64_t i = 0; i < part; i++)
            to[at + i] = test->is_true(test->call->attrs, is_double ? chunk.f64[i] : (double)chunk.f32[i]);
    }
}

static tare_status run(const tare_call *call, bool (*is_true)(const void *attrs, double x)) {
    struct test test = { call, is_true };
    tare_ranges_run(call->pool, tare_shape_elements(&call->outputs[0]->shape), 1, range, &test);
    return TARE_OK;
}

static tare_status run_isinf(const tare_call *call, tare_error *err) { return (void)err, run(call, is_inf); }
static tare_status run_isnan(const tare_call *call, tare_error *err) { return (void)err, run(call, is_nan); }

static tare_status infer(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, TARE_TYPES_FLOAT, TARE_BOOL, err);
}

const tare_op tare_op_isinf = {
    .name = "IsInf",
    .since = 10,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = isinf_fields,
    .attrs_size = sizeof(isinf_attrs),
    .flags = TARE_OP_ELEMENTWISE,
    .layout = TARE_LAYOUT_EITHER,
    .infer = infer,
    .run = run_isinf,
};

const tare_op tare_op_isnan = {
    .name = "IsNaN",
    .since = 9,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_ELEMENTWISE,
    .layout = TARE_LAYOUT_EITHER,
    .infer = infer,
    .run = run_isnan,
};

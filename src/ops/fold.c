/* Max, Min, Sum, Mean of any number of inputs: a chain of binary steps from the left. NaN wins in Max and Min. */
#include <math.h>

#include "ops/elementwise.h"

#define KERNEL_LOOP(slot)                                                                                              \
    static void loop_##slot(const tare_call *call, void *to, const void *a, size_t a_stride, const void *b,            \
                            size_t b_stride, size_t count) {                                                           \
        call->kernels->slot(to, a, a_stride, b, b_stride, count);                                                      \
    }
KERNEL_LOOP(max_f32)
KERNEL_LOOP(min_f32)

TARE_LOOP(max_f64, double, double, isnan(x) || x > y ? x : y)
TARE_LOOP(max_s64, int64_t, int64_t, x > y ? x : y)
TARE_LOOP(max_u64, uint64_t, uint64_t, x > y ? x : y)
TARE_LOOP(min_f64, double, double, isnan(x) || x < y ? x : y)
TARE_LOOP(min_s64, int64_t, int64_t, x < y ? x : y)
TARE_LOOP(min_u64, uint64_t, uint64_t, x < y ? x : y)

static const tare_binary maximum = { { loop_max_f32, max_f64, max_s64, max_u64 }, .to_bool = false };
static const tare_binary minimum = { { loop_min_f32, min_f64, min_s64, min_u64 }, .to_bool = false };

static tare_status infer_number(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, TARE_DTYPE_NONE, err);
}

static tare_status infer_real(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, TARE_TYPES_FLOAT, TARE_DTYPE_NONE, err);
}

static tare_status run_max(const tare_call *call, tare_error *err) {
    return (void)err, tare_binary_fold(call, &maximum);
}
static tare_status run_min(const tare_call *call, tare_error *err) {
    return (void)err, tare_binary_fold(call, &minimum);
}
static tare_status run_sum(const tare_call *call, tare_error *err) {
    return (void)err, tare_binary_fold(call, &tare_binary_add);
}

static tare_status run_mean(const tare_call *call, tare_error *err) {
    TARE_TRY(tare_binary_fold(call, &tare_binary_add));
    double room;
    float count = (float)call->input_count;
    tare_tensor divisor = { .dtype = call->outputs[0]->dtype, .data = &room };
    tare_numbers_from_f32(divisor.dtype, &room, 0, &count, 1);
    tare_binary_apply(call, &tare_binary_div, call->outputs[0], call->outputs[0], &divisor);
    return (void)err, TARE_OK;
}

#define OP(op, symbol, infer_rule, run_function, quant_kind, more_flags)                                               \
    const tare_op tare_op_##symbol = {                                                                                 \
        .name = #op,                                                                                                   \
        .since = 8,                                                                                                    \
        .inputs = { 1, -1 },                                                                                           \
        .outputs = { 1, 1 },                                                                                           \
        .flags = TARE_OP_ELEMENTWISE | (more_flags),                                                                   \
        .layout = TARE_LAYOUT_EITHER,                                                                                  \
        .quant = { .kind = quant_kind, .data_inputs = ~0u },                                                           \
        .infer = infer_rule,                                                                                           \
        .run = run_function,                                                                                           \
    };
OP(Max, max, infer_number, run_max, TARE_QUANT_SAME, TARE_OP_COMMUTES)
OP(Min, min, infer_number, run_min, TARE_QUANT_SAME, TARE_OP_COMMUTES)
OP(Sum, sum, infer_real, run_sum, TARE_QUANT_OBSERVE, TARE_OP_COMMUTES)
OP(Mean, mean, infer_real, run_mean, TARE_QUANT_OBSERVE, TARE_OP_COMMUTES)

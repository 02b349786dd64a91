/* Add, Sub, Mul, Div on all numbers. Integers wrap; their division goes towards zero, and by zero is an error. */
#include "ops/elementwise.h"

#define KERNEL_LOOP(slot)                                                                                              \
    static void loop_##slot(const tare_call *call, void *to, const void *a, size_t a_stride, const void *b,            \
                            size_t b_stride, size_t count) {                                                           \
        call->kernels->slot(to, a, a_stride, b, b_stride, count);                                                      \
    }
KERNEL_LOOP(add_f32)
KERNEL_LOOP(sub_f32)
KERNEL_LOOP(mul_f32)
KERNEL_LOOP(div_f32)

/* On the same 64 bits, signed and unsigned sums and products are the same. */
TARE_LOOP(add_f64, double, double, x + y)
TARE_LOOP(add_u64, uint64_t, uint64_t, x + y)
TARE_LOOP(sub_f64, double, double, x - y)
TARE_LOOP(sub_u64, uint64_t, uint64_t, x - y)
TARE_LOOP(mul_f64, double, double, x *y)
TARE_LOOP(mul_u64, uint64_t, uint64_t, x *y)
TARE_LOOP(div_f64, double, double, x / y)
TARE_LOOP(div_s64, int64_t, int64_t, y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y)
TARE_LOOP(div_u64, uint64_t, uint64_t, x / y)

const tare_binary tare_binary_add = { { loop_add_f32, add_f64, add_u64, add_u64 }, .to_bool = false };
static const tare_binary sub = { { loop_sub_f32, sub_f64, sub_u64, sub_u64 }, .to_bool = false };
const tare_binary tare_binary_mul = { { loop_mul_f32, mul_f64, mul_u64, mul_u64 }, .to_bool = false };
const tare_binary tare_binary_div = { { loop_div_f32, div_f64, div_s64, div_u64 }, .to_bool = false };

static tare_status infer(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, TARE_DTYPE_NONE, err);
}

static tare_status run_add(const tare_call *call, tare_error *err) {
    return (void)err, tare_binary_run(call, &tare_binary_add);
}
static tare_status run_sub(const tare_call *call, tare_error *err) { return (void)err, tare_binary_run(call, &sub); }
static tare_status run_mul(const tare_call *call, tare_error *err) {
    return (void)err, tare_binary_run(call, &tare_binary_mul);
}
static tare_status run_div(const tare_call *call, tare_error *err) {
    TARE_TRY(tare_check_divisor(call->inputs[1], err));
    return tare_binary_run(call, &tare_binary_div);
}

#define OP(op, symbol, run_function, more_flags)                                                                       \
    const tare_op tare_op_##symbol = {                                                                                 \
        .name = #op,                                                                                                   \
        .since = 7,                                                                                                    \
        .inputs = { 2, 2 },                                                                                            \
        .outputs = { 1, 1 },                                                                                           \
        .flags = TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE | TARE_OP_FUSES_CLAMP | (more_flags),                          \
        .layout = TARE_LAYOUT_EITHER,                                                                                  \
        .quant = { .kind = TARE_QUANT_OBSERVE, .data_inputs = 3 },                                                     \
        .infer = infer,                                                                                                \
        .prepare = tare_binary_prepare,                                                                                \
        .run = run_function,                                                                                           \
    };
OP(Add, add, run_add, TARE_OP_COMMUTES)
OP(Sub, sub, run_sub, 0)
OP(Mul, mul, run_mul, TARE_OP_COMMUTES)
OP(Div, div, run_div, 0)

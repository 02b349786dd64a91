/* Equal, Greater, GreaterOrEqual, Less, LessOrEqual: bool from two numbers (Equal also of bools). NaN equals nothing. */
#include "ops/elementwise.h"

#define LOOPS(name, sign)                                                                                              \
    TARE_LOOP(name##_f32, float, uint8_t, x sign y)                                                                    \
    TARE_LOOP(name##_f64, double, uint8_t, x sign y)                                                                   \
    TARE_LOOP(name##_s64, int64_t, uint8_t, x sign y)                                                                  \
    TARE_LOOP(name##_u64, uint64_t, uint8_t, x sign y)                                                                 \
    static tare_status run_##name(const tare_call *call, tare_error *err) {                                            \
        static const tare_binary loops = { { name##_f32, name##_f64, name##_s64, name##_u64 }, .to_bool = true };      \
        return (void)err, tare_binary_run(call, &loops);                                                               \
    }
LOOPS(equal, ==)
LOOPS(greater, >)
LOOPS(greater_or_equal, >=)
LOOPS(less, <)
LOOPS(less_or_equal, <=)

static tare_status infer(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, TARE_BOOL, err);
}

static tare_status infer_equal(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER | 1u << TARE_BOOL, TARE_BOOL, err);
}

#define OP(op, symbol, first_opset, infer_rule, run_function, more_flags)                                              \
    const tare_op tare_op_##symbol = {                                                                                 \
        .name = #op,                                                                                                   \
        .since = first_opset,                                                                                          \
        .inputs = { 2, 2 },                                                                                            \
        .outputs = { 1, 1 },                                                                                           \
        .flags = TARE_OP_ELEMENTWISE | (more_flags),                                                                   \
        .layout = TARE_LAYOUT_EITHER,                                                                                  \
        .infer = infer_rule,                                                                                           \
        .run = run_function,                                                                                           \
    };
OP(Equal, equal, 7, infer_equal, run_equal, TARE_OP_COMMUTES)
OP(Greater, greater, 7, infer, run_greater, 0)
OP(GreaterOrEqual, greater_or_equal, 12, infer, run_greater_or_equal, 0)
OP(Less, less, 7, infer, run_less, 0)
OP(LessOrEqual, less_or_equal, 12, infer, run_less_or_equal, 0)

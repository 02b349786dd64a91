/* And, Or, Xor, Not on bools, and what Bitwise… and BitShift do to the bits of integers. */
#include <stddef.h>

#include "ops/elementwise.h"

typedef struct shift_attrs {
    int direction;
} shift_attrs;

enum { SHIFT_LEFT, SHIFT_RIGHT, SHIFT_NOT_GIVEN };
static const char *const directions[] = { "LEFT", "RIGHT", NULL };
static const tare_field shift_fields[] = {
    { "direction", TARE_FIELD_ENUM, offsetof(shift_attrs, direction), .flags = TARE_FIELD_REQUIRED,
      .fallback.i = SHIFT_NOT_GIVEN, .names = directions },
    { 0 },
};

/* Bits that are shifted out are gone, however far: small types lose theirs when they are stored. */
static uint64_t shift(const tare_call *call, uint64_t x, uint64_t by) {
    if (by >= 64) return 0;
    return ((const shift_attrs *)call->attrs)->direction == SHIFT_LEFT ? x << by : x >> by;
}

TARE_LOOP(and_u64, uint64_t, uint64_t, x &y)
TARE_LOOP(or_u64, uint64_t, uint64_t, x | y)
TARE_LOOP(xor_u64, uint64_t, uint64_t, x ^ y)
TARE_LOOP(shift_u64, uint64_t, uint64_t, shift(call, x, y))

#define RUN(name)                                                                                                      \
    static tare_status run_##name(const tare_call *call, tare_error *err) {                                            \
        static const tare_binary loops = { { NULL, NULL, name##_u64, name##_u64 }, .to_bool = false };                 \
        return (void)err, tare_binary_run(call, &loops);                                                               \
    }
RUN(and)
RUN(or)
RUN(xor)
RUN(shift)

static int64_t not_bool(const void *attrs, int64_t x) { return (void)attrs, !x; }
static int64_t not_s64(const void *attrs, int64_t x) { return (void)attrs, ~x; }
static uint64_t not_u64(const void *attrs, uint64_t x) { return (void)attrs, ~x; }

static tare_status run_not(const tare_call *call, tare_error *err) {
    return (void)err, tare_unary_run(call, &(const tare_unary){ .s64 = not_bool });
}
static tare_status run_bitwise_not(const tare_call *call, tare_error *err) {
    return (void)err, tare_unary_run(call, &(const tare_unary){ .s64 = not_s64, .u64 = not_u64 });
}

static tare_status infer_bool(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, 1u << TARE_BOOL, TARE_DTYPE_NONE, err);
}
static tare_status infer_bits(tare_node *node, tare_error *err) {
    return tare_infer_elementwise(node, TARE_TYPES_INTEGER, TARE_DTYPE_NONE, err);
}
static tare_status infer_shift(tare_node *node, tare_error *err) {
    if (((const shift_attrs *)node->attrs)->direction == SHIFT_NOT_GIVEN)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'direction' is missing, want LEFT or RIGHT");
    unsigned types = 1u << TARE_U8 | 1u << TARE_U16 | 1u << TARE_U32 | 1u << TARE_U64;
    return tare_infer_elementwise(node, types, TARE_DTYPE_NONE, err);
}

#define PLAIN (TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE)
#define OP(op, symbol, first_opset, count, infer_rule, run_function, ...)                                              \
    const tare_op tare_op_##symbol = { .name = #op,                                                                    \
                                       .since = first_opset,                                                           \
                                       .inputs = { count, count },                                                     \
                                       .outputs = { 1, 1 },                                                            \
                                       .layout = TARE_LAYOUT_EITHER,                                                   \
                                       .infer = infer_rule,                                                            \
                                       .run = run_function,                                                            \
                                       __VA_ARGS__ };
OP(And, and, 7, 2, infer_bool, run_and, .flags = PLAIN | TARE_OP_COMMUTES)
OP(BitShift, bit_shift, 11, 2, infer_shift, run_shift, .flags = PLAIN, .attrs = shift_fields,
   .attrs_size = sizeof(shift_attrs))
OP(BitwiseAnd, bitwise_and, 18, 2, infer_bits, run_and, .flags = PLAIN | TARE_OP_COMMUTES)
OP(BitwiseNot, bitwise_not, 18, 1, infer_bits, run_bitwise_not, .flags = PLAIN)
OP(BitwiseOr, bitwise_or, 18, 2, infer_bits, run_or, .flags = PLAIN | TARE_OP_COMMUTES)
OP(BitwiseXor, bitwise_xor, 18, 2, infer_bits, run_xor, .flags = PLAIN | TARE_OP_COMMUTES)
OP(Not, not, 1, 1, infer_bool, run_not, .flags = PLAIN)
OP(Or, or, 7, 2, infer_bool, run_or, .flags = PLAIN | TARE_OP_COMMUTES)
OP(Xor, xor, 7, 2, infer_bool, run_xor, .flags = PLAIN | TARE_OP_COMMUTES)

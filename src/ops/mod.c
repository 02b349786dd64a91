/* Mod: the remainder with the divisor's sign, or with fmod=1 that of C, with the dividend's. Both are exact. */
#include <math.h>
#include <stddef.h>

#include "ops/elementwise.h"

typedef struct mod_attrs {
    int64_t fmod;
} mod_attrs;

static const tare_field attrs[] = { { "fmod", TARE_FIELD_INT, offsetof(mod_attrs, fmod), .hi = 1 }, { 0 } };

static int64_t remainder_s64(int64_t x, int64_t y, bool truncated) {
    if (y == -1) return 0;
    int64_t rest = x % y;
    return rest && !truncated && (rest < 0) != (y < 0) ? rest + y : rest;
}

TARE_LOOP(mod_f32, float, float, fmodf(x, y))
TARE_LOOP(mod_f64, double, double, fmod(x, y))
TARE_LOOP(mod_s64, int64_t, int64_t, remainder_s64(x, y, ((const mod_attrs *)call->attrs)->fmod != 0))
TARE_LOOP(mod_u64, uint64_t, uint64_t, x % y)
static const tare_binary mod = { { mod_f32, mod_f64, mod_s64, mod_u64 }, .to_bool = false };

static tare_status infer(tare_node *node, tare_error *err) {
    if (tare_dtype_is_float(tare_input_dtype(node, 0)) && !((const mod_attrs *)node->attrs)->fmod)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'fmod' is 0, but must be 1 for %s",
                         tare_dtype_name(tare_input_dtype(node, 0)));
    return tare_infer_elementwise(node, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, TARE_DTYPE_NONE, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    TARE_TRY(tare_check_divisor(call->inputs[1], err));
    return tare_binary_run(call, &mod);
}

const tare_op tare_op_mod = {
    .name = "Mod",
    .since = 10,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = attrs,
    .attrs_size = sizeof(mod_attrs),
    .flags = TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE,
    .layout = TARE_LAYOUT_EITHER,
    .infer = infer,
    .run = run,
};

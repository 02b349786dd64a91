/* PRelu: x >= 0 ? x : slope x, the slope broadcast to x. */
#include "ops/elementwise.h"

TARE_LOOP(loop_f32, float, float, x >= 0 ? x : y * x)
TARE_LOOP(loop_f64, double, double, x >= 0 ? x : y * x)
TARE_LOOP(loop_s64, int64_t, int64_t, x >= 0 ? x : (int64_t)((uint64_t)x * (uint64_t)y))
TARE_LOOP(loop_u64, uint64_t, uint64_t, ((void)y, x))
static const tare_binary prelu = { { loop_f32, loop_f64, loop_s64, loop_u64 }, .to_bool = false };

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape x = tare_input_shape(node, 0), slope = tare_input_shape(node, 1), all;
    tare_dtype dtype;
    unsigned types = TARE_TYPES_FLOAT | 1u << TARE_S32 | 1u << TARE_U32 | 1u << TARE_S64 | 1u << TARE_U64;
    TARE_TRY(tare_infer_check(node, 0, types, err));
    TARE_TRY(tare_infer_broadcast_shape(node, &dtype, &all, err));
    bool grows = x.rank >= 0 && slope.rank > x.rank;
    for (int i = 0; !grows && all.rank >= 0 && i < x.rank; i++) grows = x.dim[i] >= 0 && all.dim[i] > x.dim[i];
    if (grows) {
        char got[128], want[128];
        tare_shape_print(got, sizeof got, &slope, NULL);
        tare_shape_print(want, sizeof want, &x, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "the slope of shape %s does not broadcast to the input's %s", got,
                         want);
    }
    return tare_infer_set(node, 0, dtype, &x, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    return tare_binary_run(call, &prelu);
}

const tare_op tare_op_prelu = {
    .name = "PRelu",
    .since = 7,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE,
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer,
    .run = run,
};

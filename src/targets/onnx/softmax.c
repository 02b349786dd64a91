/* Softmax on ONNX Runtime's codes (QLinearSoftmax): a table of exponentials for the distances to the row's largest code.
 *   b = max(0, f32(log(f32(FLT_MAX / D))) - 5) / s_x, T[i] = f32(exp((i - 255 + b) s_x)), D the length of a row
 *   e_k = T[x_k + 255 - max], sum = Σ e_k in f32 in the order of k, S = floor(1 / s_y)
 *   y_k = clamp(rne(e_k S / sum) + z_y), in f64: ties to even. The input's zero point cancels.
 * Source: qlinear_softmax.cc; checked against ONNX Runtime 1.32.0. */
#include <float.h>
#include <math.h>
#include <sleef.h>

#include "ops/attr.h"
#include "targets/codes.h"

typedef struct state {
    float table[256];
    tare_dtype code;
    double steps; /* S */
    int32_t zero_point, lo, hi;
} state;

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    const tare_shape *shape = &n->node->inputs[0]->shape;
    const double scale = (double)n->inputs[0]->scale[0];
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    int64_t axis = tare_attr_int(n->node, "axis", -1);
    if (axis < 0) axis += shape->rank;
    const float room = FLT_MAX / (float)shape->dim[axis];
    const double base = fmax(0, (double)(float)Sleef_cinz_logd1_u10purec((double)room) - 5) / scale;
    for (int i = 0; i < 256; i++) s->table[i] = (float)Sleef_cinz_expd1_u10purec((i - 255 + base) * scale);
    s->code = n->inputs[0]->code;
    s->steps = (double)floorf(1 / n->output->scale[0]);
    s->zero_point = n->output->zero_point[0];
    s->lo = tare_quant_lowest(n->output);
    s->hi = tare_dtype_highest(n->output->code);
    p->state = s;
    return TARE_OK;
}

static void row(const void *state_, uint8_t *to, const uint8_t *from, int64_t count, int64_t stride) {
    const state *s = state_;
    int32_t largest = INT32_MIN;
    float sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t x = tare_code_of(s->code, from[i * stride]);
        largest = x > largest ? x : largest;
    }
    const int32_t top = 255 - largest;
    for (int64_t i = 0; i < count; i++) sum += s->table[tare_code_of(s->code, from[i * stride]) + top];
    for (int64_t i = 0; i < count; i++) {
        const double e = (double)s->table[tare_code_of(s->code, from[i * stride]) + top];
        const double v = rint(e * s->steps / (double)sum) + s->zero_point;
        to[i * stride] = (uint8_t)(int32_t)(v > s->hi ? s->hi : v > s->lo ? v : s->lo);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_code_rows_run(call, row);
    return TARE_OK;
}

const tare_int_row tare_onnx_softmax = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .prepare = prepare, .run = run
};

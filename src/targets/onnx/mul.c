/* Mul on ONNX Runtime's codes (QLinearMul): an exact integer product, then f32 rounded twice, without fma:
 *   r = (s_a s_b) / s_y, v = f32((a - z_a) (b - z_b)) r + z_y, y = clamp(rne(v)): ties to even, the zero point inside.
 * Source: qlmul.cpp; checked against ONNX Runtime 1.32.0. */
#include <math.h>

#include "targets/codes.h"

typedef struct state {
    int32_t a[256], b[256]; /* code less zero point, by byte */
    float ratio, zero_point, lo, hi;
} state;

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    const tare_quant *a = n->inputs[0], *b = n->inputs[1], *y = n->output;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    for (int i = 0; i < 256; i++) {
        s->a[i] = tare_code_of(a->code, (uint8_t)i) - a->zero_point[0];
        s->b[i] = tare_code_of(b->code, (uint8_t)i) - b->zero_point[0];
    }
    s->ratio = a->scale[0] * b->scale[0] / y->scale[0];
    s->zero_point = (float)y->zero_point[0];
    s->lo = (float)tare_quant_lowest(y);
    s->hi = (float)tare_dtype_highest(y->code);
    p->state = s;
    return TARE_OK;
}

static void span(void *context, int64_t to_at, const int64_t *at, size_t count) {
    const tare_pair_job *j = context;
    const state *s = j->call->state;
    const size_t a_step = tare_spans_stride(j->spans, 0), b_step = tare_spans_stride(j->spans, 1);
    const uint8_t *a = (const uint8_t *)j->call->inputs[0]->data + at[0];
    const uint8_t *b = (const uint8_t *)j->call->inputs[1]->data + at[1];
    uint8_t *to = (uint8_t *)j->call->outputs[0]->data + to_at;
    for (size_t i = 0; i < count; i++) {
        float v = rintf((float)(s->a[a[i * a_step]] * s->b[b[i * b_step]]) * s->ratio + s->zero_point);
        v = v > s->lo ? v : s->lo;
        to[i] = (uint8_t)(int32_t)(v < s->hi ? v : s->hi);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_pair_codes_run(call, span);
    return TARE_OK;
}

const tare_int_row tare_onnx_mul = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .prepare = prepare, .run = run
};

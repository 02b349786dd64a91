/* Add on ONNX Runtime's codes (QLinearAdd), all in f32:
 *   r_a = s_a / s_y, r_b = s_b / s_y, fixed = z_y - fma(r_a, z_a, r_b z_b)
 *   v = fma(a, r_a, fma(b, r_b, fixed)), y = clamp(rne(v)): ties to even, the zero point inside the sum.
 * Where a is one element for a whole innermost span, the two change places.
 * Source: qladd_avx2.cpp and quant_binary_op; checked against ONNX Runtime 1.32.0 with AVX2 or better (its SSE2 kernel has
 * no fma). */
#include <math.h>

#include "targets/codes.h"

typedef struct state {
    float ratio;       /* of the operand that is multiplied last */
    float inner[256];  /* fma(b, r_b, fixed), by the other operand's byte */
    int32_t code[256]; /* of the first operand's byte */
    int first;         /* which input that is */
    float lo, hi;
} state;

/* Does ONNX Runtime take `a` for one element of its innermost span? It looks at the innermost dimension that is not 1 in both, or
 * the outermost one that both have; of a scalar's partner at the last one alone (Broadcaster of element_wise_ops.h). */
static bool is_first_repeated(const tare_node *node) {
    const tare_shape *a = &node->inputs[0]->shape, *b = &node->inputs[1]->shape;
    const int common = a->rank < b->rank ? a->rank : b->rank;
    if (a->rank == 0) return true;
    if (b->rank == 0) return a->dim[a->rank - 1] == 1;
    int i = 1;
    while (i < common && a->dim[a->rank - i] == 1 && b->dim[b->rank - i] == 1) i++;
    return a->dim[a->rank - i] == 1;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    s->first = is_first_repeated(n->node) ? 1 : 0;
    const tare_quant *a = n->inputs[s->first], *b = n->inputs[1 - s->first], *y = n->output;
    const float other = b->scale[0] / y->scale[0];
    s->ratio = a->scale[0] / y->scale[0];
    const float fixed =
        (float)y->zero_point[0] - fmaf(s->ratio, (float)a->zero_point[0], other * (float)b->zero_point[0]);
    for (int i = 0; i < 256; i++) {
        s->inner[i] = fmaf((float)tare_code_of(b->code, (uint8_t)i), other, fixed);
        s->code[i] = tare_code_of(a->code, (uint8_t)i);
    }
    s->lo = (float)tare_quant_lowest(y);
    s->hi = (float)tare_dtype_highest(y->code);
    p->state = s;
    return TARE_OK;
}

static void span(void *context, int64_t to_at, const int64_t *at, size_t count) {
    const tare_pair_job *j = context;
    const state *s = j->call->state;
    const int first = s->first, second = 1 - first;
    const size_t a_step = tare_spans_stride(j->spans, first), b_step = tare_spans_stride(j->spans, second);
    const uint8_t *a = (const uint8_t *)j->call->inputs[first]->data + at[first];
    const uint8_t *b = (const uint8_t *)j->call->inputs[second]->data + at[second];
    uint8_t *to = (uint8_t *)j->call->outputs[0]->data + to_at;
    for (size_t i = 0; i < count; i++) {
        float v = rintf(fmaf((float)s->code[a[i * a_step]], s->ratio, s->inner[b[i * b_step]]));
        v = v > s->lo ? v : s->lo;
        to[i] = (uint8_t)(int32_t)(v < s->hi ? v : s->hi);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_pair_codes_run(call, span);
    return TARE_OK;
}

const tare_int_row tare_onnx_add = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .prepare = prepare, .run = run
};

/* Where on ONNX Runtime's codes (QLinearWhere): each branch goes through a table of Q(DQ(code)), or is copied where its codes
 * are the output's.
 * Source: where_op's quantized form; checked against ONNX Runtime 1.32.0. */
#include "targets/codes.h"

enum { BRANCHES = 2 };

typedef struct state {
    uint8_t table[BRANCHES][256];
} state;

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    for (int k = 0; k < BRANCHES; k++) {
        tare_requantize_bytes(s->table[k], n->inputs[1 + k], n->output, p->kernels);
        for (int i = 0; i < 256 && tare_codes_are_alike(n->inputs[1 + k], n->output); i++) s->table[k][i] = (uint8_t)i;
    }
    p->state = s;
    return TARE_OK;
}

typedef struct job {
    const tare_call *call;
    tare_spans spans;
} job;

static void span(void *context, int64_t to_at, const int64_t *at, size_t count) {
    const job *j = context;
    const state *s = j->call->state;
    const size_t step[] = { tare_spans_stride(&j->spans, 0), tare_spans_stride(&j->spans, 1),
                            tare_spans_stride(&j->spans, 2) };
    const uint8_t *condition = (const uint8_t *)j->call->inputs[0]->data + at[0];
    const uint8_t *a = (const uint8_t *)j->call->inputs[1]->data + at[1];
    const uint8_t *b = (const uint8_t *)j->call->inputs[2]->data + at[2];
    uint8_t *to = (uint8_t *)j->call->outputs[0]->data + to_at;
    for (size_t i = 0; i < count; i++)
        to[i] = condition[i * step[0]] ? s->table[0][a[i * step[1]]] : s->table[1][b[i * step[2]]];
}

static tare_status run(const tare_call *call, tare_error *err) {
    const tare_shape *shapes[] = { &call->inputs[0]->shape, &call->inputs[1]->shape, &call->inputs[2]->shape };
    job j = { .call = call };
    (void)err;
    tare_spans_init(&j.spans, &call->outputs[0]->shape, shapes, 3);
    tare_spans_run(&j.spans, call->pool, span, &j);
    return TARE_OK;
}

const tare_int_row tare_onnx_where = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .prepare = prepare, .run = run
};

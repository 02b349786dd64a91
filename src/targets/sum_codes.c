/* Add on codes for targets whose sum is one of integers: a table for each operand, and a requantization. */
#include "targets/codes.h"

enum { CHUNK = 256 };

void tare_pair_codes_run(const tare_call *call, tare_span_work *work) {
    tare_spans spans;
    const tare_shape *shapes[] = { &call->inputs[0]->shape, &call->inputs[1]->shape };
    tare_spans_init(&spans, &call->outputs[0]->shape, shapes, 2);
    tare_spans_run(&spans, call->pool, work, &(tare_pair_job){ call, &spans });
}

tare_status tare_sum_codes_prepare(tare_sum_codes **out, tare_requant_kind kind, const tare_int_node *n,
                                   tare_prepare *p, tare_error *err) {
    tare_sum_codes *sum = tare_arena_alloc(p->arena, 1, sizeof *sum);
    if (!sum) return tare_fail_memory(err, sizeof *sum);
    tare_requant_start(&sum->requant, kind, n->output, p->clamp_lo, p->clamp_hi);
    TARE_TRY(tare_requant_alloc(&sum->requant, 1, p->arena, err));
    sum->requant.step = 0;
    p->state = *out = sum;
    return TARE_OK;
}

static void span(void *context, int64_t to_at, const int64_t *at, size_t count) {
    const tare_pair_job *j = context;
    const tare_sum_codes *sum = j->call->state;
    const size_t a_step = tare_spans_stride(j->spans, 0), b_step = tare_spans_stride(j->spans, 1);
    const uint8_t *a = (const uint8_t *)j->call->inputs[0]->data + at[0];
    const uint8_t *b = (const uint8_t *)j->call->inputs[1]->data + at[1];
    uint8_t *to = (uint8_t *)j->call->outputs[0]->data + to_at;
    int32_t sums[CHUNK];
    for (size_t done = 0, part; done < count; done += part, to += part) {
        part = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < part; i++)
            sums[i] = (int32_t)((uint32_t)sum->a[a[(done + i) * a_step]] + (uint32_t)sum->b[b[(done + i) * b_step]]);
        tare_requantize(&sum->requant, to, sums, 0, part);
    }
}

tare_status tare_sum_codes_run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_pair_codes_run(call, span);
    return TARE_OK;
}

/* Where: one of two broadcast tensors, element by element. */
#include <string.h>

#include "ops/move.h"
#include "ops/spans.h"

static tare_status infer(tare_node *node, tare_error *err) {
    tare_dtype dtype;
    TARE_TRY(tare_infer_check(node, 0, 1u << TARE_BOOL, err));
    TARE_TRY(tare_infer_one_type(node, 6, &dtype, err));
    tare_shape all = tare_input_shape(node, 0);
    for (int i = 1; i < 3; i++) {
        tare_shape before = all, shape = tare_input_shape(node, i);
        if (tare_shape_broadcast(&all, &before, &shape)) continue;
        char got[128], want[128];
        tare_shape_print(got, sizeof got, &shape, NULL);
        tare_shape_print(want, sizeof want, &before, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') of shape %s does not broadcast with %s", i,
                         node->inputs[i]->name, got, want);
    }
    return tare_infer_set(node, 0, dtype, &all, err);
}

typedef struct chooser {
    char *to;
    const uint8_t *condition;
    const char *a, *b;
    size_t size;
    size_t step[3];
} chooser;

/* The element size is a constant where this is called. */
static inline void choose(char *to, const uint8_t *condition, size_t step, const char *a, size_t a_step, const char *b,
                          size_t b_step, size_t count, size_t size) {
    for (size_t i = 0; i < count; i++)
        memcpy(to + i * size, condition[i * step] ? a + i * a_step * size : b + i * b_step * size, size);
}

static void choose_span(void *context, int64_t to, const int64_t *at, size_t count) {
    const chooser *c = context;
    size_t size = c->size;
    char *out = c->to + (size_t)to * size;
    const uint8_t *condition = c->condition + at[0];
    const char *a = c->a + (size_t)at[1] * size, *b = c->b + (size_t)at[2] * size;
    switch (size) {
    case 1: choose(out, condition, c->step[0], a, c->step[1], b, c->step[2], count, 1); break;
    case 2: choose(out, condition, c->step[0], a, c->step[1], b, c->step[2], count, 2); break;
    case 4: choose(out, condition, c->step[0], a, c->step[1], b, c->step[2], count, 4); break;
    default: choose(out, condition, c->step[0], a, c->step[1], b, c->step[2], count, 8); break;
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_tensor *to = call->outputs[0];
    const tare_shape *shapes[3];
    tare_spans spans;
    for (int i = 0; i < 3; i++) shapes[i] = &call->inputs[i]->shape;
    tare_spans_init(&spans, &to->shape, shapes, 3);
    chooser choice = { .to = to->data,
                       .condition = call->inputs[0]->data,
                       .a = call->inputs[1]->data,
                       .b = call->inputs[2]->data,
                       .size = tare_dtype_size(to->dtype) };
    for (int i = 0; i < 3; i++) choice.step[i] = tare_spans_stride(&spans, i);
    if (to->size) tare_spans_run(&spans, call->pool, choose_span, &choice);
    return TARE_OK;
}

const tare_op tare_op_where = {
    .name = "Where",
    .since = 9,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_ELEMENTWISE,
    .quant = { .kind = TARE_QUANT_SAME, .data_inputs = 6 },
    .infer = infer,
    .run = run,
};

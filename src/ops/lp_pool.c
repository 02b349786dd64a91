/* LpPool, GlobalLpPool: y = (Σ |x|^p)^(1/p) over each window, padding counting 0, or over the whole image. Run
 * channels-last; the sum runs over the window in order. */
#include <math.h>
#include <stddef.h>

#include "ops/as_f32.h"
#include "ops/window.h"

typedef struct attributes {
    tare_window_attrs window;
    bool ceil_mode;
    int64_t p;
} attributes;

#define POWER                                                                                                          \
    { .name = "p", .type = TARE_FIELD_INT, .offset = offsetof(attributes, p), .fallback.i = 2, .lo = 1, .hi = 1000 }

static const tare_field fields[] = {
    TARE_WINDOW_FIELDS(attributes, window),
    { .name = "ceil_mode", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, ceil_mode) },
    POWER,
    { .type = TARE_FIELD_END },
};

static const tare_field global_fields[] = { POWER, { .type = TARE_FIELD_END } };

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    return tare_window_infer(node, &attrs->window, attrs->ceil_mode, TARE_TYPES_FLOAT, err);
}

static tare_status infer_global(tare_node *node, tare_error *err) {
    return tare_window_infer_global(node, TARE_TYPES_FLOAT, err);
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    return attrs->ceil_mode || attrs->window.dilations.count ? 18 : 2;
}

typedef struct state {
    tare_window window;
    size_t channels;
    int64_t lines;
} state;

static tare_status make_state(tare_prepare *p, state **out, tare_error *err) {
    const tare_shape *x = &p->inputs[0]->shape;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    s->channels = (size_t)x->dim[x->rank - 1];
    *out = p->state = s;
    return tare_as_f32_prepare(p, err);
}

static tare_status prepare(tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    state *s = NULL;
    TARE_TRY(make_state(p, &s, err));
    tare_window_of(&s->window, &attrs->window, attrs->ceil_mode, &p->inputs[0]->shape);
    s->lines = p->inputs[0]->shape.dim[0] * tare_window_outputs(&s->window, s->window.rank - 1);
    return TARE_OK;
}

/* The whole image is one window. */
static tare_status prepare_global(tare_prepare *p, tare_error *err) {
    const tare_shape *x = &p->inputs[0]->shape;
    state *s = NULL;
    TARE_TRY(make_state(p, &s, err));
    s->window.rank = x->rank - 2;
    for (int i = 0; i < s->window.rank; i++)
        s->window.axis[i] =
            (tare_window_axis){ .in = x->dim[i + 1], .out = 1, .kernel = x->dim[i + 1], .stride = 1, .dilation = 1 };
    s->lines = x->dim[0];
    return TARE_OK;
}

typedef struct job {
    const tare_call *call;
    const state *state;
} job;

/* y += |x|^p */
static void add_powers(const job *j, float *y, const float *x, size_t count) {
    int64_t p = ((const attributes *)j->call->attrs)->p;
    float power = (float)p, value;
    for (size_t i = 0; i < count; i++) {
        value = fabsf(x[i]);
        if (p == 2) value *= value;
        if (p > 2) j->call->kernels->pow_f32(&value, &value, 0, &power, 0, 1);
        y[i] += value;
    }
}

static void take_roots(const job *j, float *y, size_t count) {
    int64_t p = ((const attributes *)j->call->attrs)->p;
    float root = 1 / (float)p;
    for (size_t i = 0; i < count && p == 2; i++) y[i] = sqrtf(y[i]);
    if (p > 2) j->call->kernels->pow_f32(y, y, 1, &root, 0, count);
}

static void pool_line(void *context, size_t index, size_t thread) {
    const job *j = context;
    const state *s = j->state;
    const tare_window_axis *axis = &s->window.axis[s->window.rank - 1];
    const float *x = j->call->inputs[0]->data;
    size_t channels = s->channels, length = (size_t)axis->out * channels;
    float *y = (float *)j->call->outputs[0]->data + index * length;
    int64_t outer = tare_window_taps(&s->window, s->window.rank - 1), begin, end;
    (void)thread;
    for (size_t i = 0; i < length; i++) y[i] = 0;
    for (int64_t tap = 0; tap < outer; tap++) {
        int64_t input = tare_window_line(&s->window, (int64_t)index, tap);
        for (int64_t k = 0; k < axis->kernel && input >= 0; k++) {
            int64_t at = tare_window_meet(axis, k, 0, axis->out, &begin, &end);
            for (int64_t o = begin; o < end; o++, at += axis->stride)
                add_powers(j, y + (size_t)o * channels, x + (size_t)(input * axis->in + at) * channels, channels);
        }
    }
    take_roots(j, y, length);
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    (void)err;
    tare_pool_run(call->pool, (size_t)s->lines, pool_line, &(job){ call, s });
    return TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) { return tare_as_f32_run(call, 0, run_f32, err); }

const tare_op tare_op_lp_pool = {
    .name = "LpPool",
    .since = 2,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .layout = TARE_LAYOUT_LAST_ONLY,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .needs = needs,
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

const tare_op tare_op_global_lp_pool = {
    .name = "GlobalLpPool",
    .since = 2,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = global_fields,
    .attrs_size = sizeof(attributes),
    .layout = TARE_LAYOUT_LAST_ONLY,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer_global,
    .prepare = prepare_global,
    .run = run,
};

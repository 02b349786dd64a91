/* AveragePool: the mean of each window, y = Σ x / n. Runs channels-last; the sum runs over the window in order. n counts
 * the elements that are there, with count_include_pad also those of padding, but not what sticks out behind it by
 * ceil_mode (as ONNX Runtime's float operator has it). */
#include <math.h>
#include <stddef.h>

#include "base/size.h"
#include "ops/as_f32.h"
#include "ops/window.h"

typedef struct attributes {
    tare_window_attrs window;
    bool ceil_mode, count_include_pad;
} attributes;

static const tare_field fields[] = {
    TARE_WINDOW_FIELDS(attributes, window),
    { .name = "ceil_mode", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, ceil_mode) },
    { .name = "count_include_pad", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, count_include_pad) },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    return tare_window_infer(node, &attrs->window, attrs->ceil_mode, TARE_TYPES_FLOAT, err);
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    if (attrs->window.dilations.count) return 19;
    return attrs->ceil_mode ? 10 : attrs->count_include_pad ? 7 : 1;
}

enum { GRAIN = 1 << 15 /* elements that are worth a thread's waking */, ALIGNMENT = 64 };

typedef struct state {
    tare_window window;
    int64_t lines, pieces;
    size_t channels, taps_size; /* bytes of a thread's list of taps */
    const float *ones;
    size_t scratch;
} state;

static tare_status prepare(tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    const tare_shape *x = &p->inputs[0]->shape;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    tare_window_of(&s->window, &attrs->window, attrs->ceil_mode, x);
    s->channels = (size_t)x->dim[x->rank - 1];
    s->lines = x->dim[0] * tare_window_outputs(&s->window, s->window.rank - 1);
    int64_t taps = tare_window_taps(&s->window, s->window.rank);
    int64_t cost = s->window.axis[s->window.rank - 1].out * (int64_t)s->channels * taps;
    int64_t per_piece = cost < GRAIN ? GRAIN / (cost + 1) + 1 : 1;
    s->pieces = (s->lines + per_piece - 1) / per_piece;
    float *ones = tare_arena_alloc_raw(p->arena, s->channels, sizeof *ones);
    if (!ones) return tare_fail_memory(err, s->channels * sizeof *ones);
    for (size_t i = 0; i < s->channels; i++) ones[i] = 1;
    s->ones = ones;
    if (!tare_size_mul((size_t)taps, sizeof(tare_depthwise_tap), &s->taps_size) ||
        !tare_size_align(s->taps_size, ALIGNMENT, &s->taps_size) ||
        !tare_size_mul(s->taps_size, p->threads, &s->scratch))
        return tare_fail_memory(err, SIZE_MAX);
    p->state = s;
    p->scratch_size = s->scratch;
    return tare_as_f32_prepare(p, err);
}

typedef struct job {
    const tare_call *call;
    const state *state;
} job;

/* What an output's window counts along one axis. */
static int64_t count_along(const tare_window_axis *axis, int64_t o, bool include_pad) {
    int64_t count = 0, lo = include_pad ? -axis->before : 0, hi = axis->in + (include_pad ? axis->after : 0);
    int64_t at = o * axis->stride - axis->before;
    for (int64_t k = 0; k < axis->kernel; k++, at += axis->dilation) count += at >= lo && at < hi;
    return count;
}

/* Divides the sums of a line: pixels that count the same together. */
static void divide(const job *j, float *y, int64_t line) {
    const state *s = j->state;
    const tare_window_axis *axis = &s->window.axis[s->window.rank - 1];
    bool include_pad = ((const attributes *)j->call->attrs)->count_include_pad;
    int64_t outer = 1;
    for (int i = s->window.rank - 2; i >= 0; i--) {
        outer *= count_along(&s->window.axis[i], line % s->window.axis[i].out, include_pad);
        line /= s->window.axis[i].out;
    }
    for (int64_t o = 0, next; o < axis->out; o = next) {
        int64_t count = count_along(axis, o, include_pad);
        for (next = o + 1; next < axis->out && count_along(axis, next, include_pad) == count;) next++;
        float n = (float)(outer * count), *from = y + (size_t)o * s->channels;
        if (n > 0) j->call->kernels->div_f32(from, from, 1, &n, 0, (size_t)(next - o) * s->channels);
    }
}

static void pool_lines(void *context, size_t index, size_t thread) {
    const job *j = context;
    const state *s = j->state;
    const tare_window_axis *axis = &s->window.axis[s->window.rank - 1];
    tare_depthwise_tap *taps = (tare_depthwise_tap *)(void *)((char *)j->call->scratch + thread * s->taps_size);
    int64_t end = tare_piece(s->lines, (int64_t)index + 1, s->pieces);
    for (int64_t line = tare_piece(s->lines, (int64_t)index, s->pieces); line < end; line++) {
        float *y = (float *)j->call->outputs[0]->data + (size_t)(line * axis->out) * s->channels;
        j->call->kernels->depthwise_f32(&(tare_depthwise_f32_args){
            .pixels = (size_t)axis->out,
            .channels = s->channels,
            .taps = tare_window_list(&s->window, line, j->call->inputs[0]->data, s->channels, s->ones, 0, taps),
            .tap = taps,
            .a_step = (size_t)axis->stride * s->channels,
            .c = y,
            .c_stride = s->channels,
            .lo = -INFINITY,
            .hi = INFINITY });
        divide(j, y, line);
    }
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    (void)err;
    tare_pool_run(call->pool, (size_t)s->pieces, pool_lines, &(job){ call, s });
    return TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, ((const state *)call->state)->scratch, run_f32, err);
}

const tare_op tare_op_average_pool = {
    .name = "AveragePool",
    .since = 1,
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

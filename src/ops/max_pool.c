/* MaxPool: the largest element of each window, and where it lies. Runs channels-last. The elements of padding are not
 * there (a window without any gives the lowest number); of several equal ones the first counts. */
#include <math.h>
#include <stddef.h>

#include "base/size.h"
#include "ops/as_f32.h"
#include "ops/window.h"

typedef struct attributes {
    tare_window_attrs window;
    bool ceil_mode, column_major;
} attributes;

static const tare_field fields[] = {
    TARE_WINDOW_FIELDS(attributes, window),
    { .name = "ceil_mode", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, ceil_mode) },
    { .name = "storage_order", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, column_major) },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    TARE_TRY(tare_window_infer(node, &attrs->window, attrs->ceil_mode, TARE_TYPES_FLOAT | 1u << TARE_S8 | 1u << TARE_U8,
                               err));
    return tare_infer_set(node, 1, TARE_S64, NULL, err);
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    tare_dtype dtype = tare_input_dtype(node, 0);
    if (dtype == TARE_S8 || dtype == TARE_U8) return 12;
    if (attrs->ceil_mode || attrs->window.dilations.count) return 10;
    return attrs->column_major || tare_node_output(node, 1) ? 8 : 1;
}

enum { GRAIN = 1 << 15 /* elements that are worth a thread's waking */, ALIGNMENT = 64 };

typedef struct state {
    tare_window window;
    int64_t lines, pieces;
    size_t channels, line_size; /* bytes of a line of inputs */
    size_t scratch;
} state;

static bool is_fast(const tare_prepare *p) { return p->output_count < 2 || !p->outputs[1]; }

static tare_status prepare(tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    const tare_shape *x = &p->inputs[0]->shape;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    tare_window_of(&s->window, &attrs->window, attrs->ceil_mode, x);
    const tare_window_axis *last = &s->window.axis[s->window.rank - 1];
    s->channels = (size_t)x->dim[x->rank - 1];
    s->lines = x->dim[0] * tare_window_outputs(&s->window, s->window.rank - 1);
    int64_t cost = last->out * (int64_t)s->channels * tare_window_taps(&s->window, s->window.rank - 1);
    int64_t per_piece = cost < GRAIN ? GRAIN / (cost + 1) + 1 : 1;
    s->pieces = (s->lines + per_piece - 1) / per_piece;
    if (!tare_size_align((size_t)last->in * s->channels * sizeof(float), ALIGNMENT, &s->line_size) ||
        (is_fast(p) && !tare_size_mul(s->line_size, p->threads, &s->scratch)))
        return tare_fail_memory(err, SIZE_MAX);
    p->state = s;
    p->scratch_size = s->scratch;
    return p->inputs[0]->dtype == TARE_F64 ? TARE_OK : tare_as_f32_prepare(p, err);
}

typedef struct job {
    const tare_call *call;
    const state *state;
} job;

/* The maxima of the lines that a line of outputs meets, element by element; NULL: it meets none. */
static const float *join_lines(const job *j, float *room, int64_t line) {
    const state *s = j->state;
    const float *x = j->call->inputs[0]->data, *joined = NULL;
    size_t length = (size_t)s->window.axis[s->window.rank - 1].in * s->channels;
    int64_t outer = tare_window_taps(&s->window, s->window.rank - 1);
    for (int64_t tap = 0; tap < outer; tap++) {
        int64_t input = tare_window_line(&s->window, line, tap);
        if (input < 0) continue;
        const float *from = x + (size_t)input * length;
        if (joined) j->call->kernels->max_f32(room, joined, 1, from, 1, length);
        joined = joined ? room : from;
    }
    return joined;
}

static void pool_line(const job *j, float *room, int64_t line) {
    const state *s = j->state;
    const tare_window_axis *axis = &s->window.axis[s->window.rank - 1];
    size_t channels = s->channels, length = (size_t)axis->out * channels, step = (size_t)axis->stride * channels;
    float *y = (float *)j->call->outputs[0]->data + (size_t)line * length;
    const float *joined = join_lines(j, room, line);
    for (size_t i = 0; i < length; i++) y[i] = -INFINITY;
    for (int64_t k = 0; joined && k < axis->kernel; k++) {
        int64_t begin, end, at = tare_window_meet(axis, k, 0, axis->out, &begin, &end);
        float *to = y + (size_t)begin * channels;
        const float *from = joined + (size_t)at * channels;
        size_t run = axis->stride == 1 ? (size_t)(end - begin) * channels : channels;
        for (int64_t i = begin; i < end; i += axis->stride == 1 ? end - begin : 1, to += channels, from += step)
            j->call->kernels->max_f32(to, from, 1, to, 1, run);
    }
}

static void pool_lines(void *context, size_t index, size_t thread) {
    const job *j = context;
    const state *s = j->state;
    float *room = (float *)(void *)((char *)j->call->scratch + thread * s->line_size);
    int64_t end = tare_piece(s->lines, (int64_t)index + 1, s->pieces);
    for (int64_t line = tare_piece(s->lines, (int64_t)index, s->pieces); line < end; line++) pool_line(j, room, line);
}

/* ---- plainly: other types, and places ---- */

/* The place of an input element as the Indices output counts: in ONNX's order of dimensions; by columns, the spatial ones
 * in reverse. */
static int64_t place_of(const state *s, bool column_major, int64_t image, int64_t channel, const int64_t *at) {
    int64_t place = 0, pitch = 1, size = 1;
    for (int i = 0; i < s->window.rank; i++) size *= s->window.axis[i].in;
    for (int i = 0; i < s->window.rank; i++) {
        int axis = column_major ? i : s->window.rank - 1 - i;
        place += at[axis] * pitch;
        pitch *= s->window.axis[axis].in;
    }
    return (image * (int64_t)s->channels + channel) * size + place;
}

/* The input pixel that tap `tap` of output pixel o meets, counted within the image; -1: padding. at: its coordinates. */
static int64_t find_pixel(const tare_window *window, const int64_t *o, int64_t tap, int64_t *at) {
    int64_t pixel = 0;
    for (int i = window->rank - 1; i >= 0; i--) {
        const tare_window_axis *axis = &window->axis[i];
        at[i] = o[i] * axis->stride + tap % axis->kernel * axis->dilation - axis->before;
        tap /= axis->kernel;
        if (at[i] < 0 || at[i] >= axis->in) return -1;
    }
    for (int i = 0; i < window->rank; i++) pixel = pixel * window->axis[i].in + at[i];
    return pixel;
}

/* All channels of one output pixel. */
#define PLAIN(name, type, lowest)                                                                                      \
    static void pool_pixel_##name(const job *j, int64_t image, const int64_t *o, int64_t output) {                     \
        const state *s = j->state;                                                                                     \
        const tare_call *call = j->call;                                                                               \
        bool column_major = ((const attributes *)call->attrs)->column_major;                                           \
        int64_t taps = tare_window_taps(&s->window, s->window.rank), size = 1, at[TARE_SPATIAL_MAX];                   \
        for (int i = 0; i < s->window.rank; i++) size *= s->window.axis[i].in;                                         \
        size_t channels = s->channels, first = (size_t)output * channels;                                              \
        type *y = (type *)call->outputs[0]->data + first;                                                              \
        int64_t *places = call->output_count > 1 && call->outputs[1] ? call->outputs[1]->data : NULL;                  \
        bool is_first = true;                                                                                          \
        for (size_t c = 0; c < channels; c++) y[c] = lowest;                                                           \
        for (int64_t tap = 0; tap < taps; tap++) {                                                                     \
            int64_t pixel = find_pixel(&s->window, o, tap, at);                                                        \
            if (pixel < 0) continue;                                                                                   \
            const type *x = (const type *)call->inputs[0]->data + (size_t)(image * size + pixel) * channels;           \
            for (size_t c = 0; c < channels; c++) {                                                                    \
                if (!is_first && !(x[c] > y[c]) && x[c] == x[c]) continue;                                             \
                if (!is_first && y[c] != y[c]) continue;                                                               \
                y[c] = x[c];                                                                                           \
                if (places) places[first + c] = place_of(s, column_major, image, (int64_t)c, at);                      \
            }                                                                                                          \
            is_first = false;                                                                                          \
        }                                                                                                              \
    }
PLAIN(f32, float, -INFINITY)
PLAIN(f64, double, (double)-INFINITY)
PLAIN(s8, int8_t, INT8_MIN)
PLAIN(u8, uint8_t, 0)

static void pool_pixels(void *context, size_t index, size_t thread) {
    const job *j = context;
    const state *s = j->state;
    int64_t width = s->window.axis[s->window.rank - 1].out, o[TARE_SPATIAL_MAX];
    int64_t end = tare_piece(s->lines, (int64_t)index + 1, s->pieces) * width;
    (void)thread;
    for (int64_t output = tare_piece(s->lines, (int64_t)index, s->pieces) * width; output < end; output++) {
        int64_t image = output;
        for (int i = s->window.rank - 1; i >= 0; i--) {
            o[i] = image % s->window.axis[i].out;
            image /= s->window.axis[i].out;
        }
        switch (j->call->inputs[0]->dtype) {
        case TARE_F64: pool_pixel_f64(j, image, o, output); break;
        case TARE_S8: pool_pixel_s8(j, image, o, output); break;
        case TARE_U8: pool_pixel_u8(j, image, o, output); break;
        default: pool_pixel_f32(j, image, o, output); break;
        }
    }
}

static tare_status run_plain(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    (void)err;
    tare_pool_run(call->pool, (size_t)s->pieces, pool_pixels, &(job){ call, s });
    return TARE_OK;
}

static tare_status run_fast(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    (void)err;
    tare_pool_run(call->pool, (size_t)s->pieces, pool_lines, &(job){ call, s });
    return TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) {
    tare_dtype dtype = call->inputs[0]->dtype;
    bool has_places = call->output_count > 1 && call->outputs[1];
    if (dtype == TARE_F64 || dtype == TARE_S8 || dtype == TARE_U8) return run_plain(call, err);
    return tare_as_f32_run(call, ((const state *)call->state)->scratch, has_places ? run_plain : run_fast, err);
}

const tare_op tare_op_max_pool = {
    .name = "MaxPool",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 2 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES,
    .layout = TARE_LAYOUT_LAST_ONLY,
    .quant = { .kind = TARE_QUANT_PASS },
    .needs = needs,
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

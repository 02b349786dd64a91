/* AveragePool on ONNX Runtime's codes (QLinearAveragePool), in f32:
 *   y = clamp(rne((Σ DQ(x)) / n / s_y + z_y)): the sum over the window in order, ties to even, the zero point inside.
 * n counts the elements inside the image; with count_include_pad the whole kernel, also of windows that ceil_mode lets stick out
 * (where the float operator counts what is inside the pads). A window as large as the image is a GlobalAveragePool.
 * Source: qlinear_pool.cc; checked against ONNX Runtime 1.32.0, which refuses models with dilations here. */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "ops/attr.h"
#include "targets/codes.h"

enum { ALIGNMENT = 64 };

typedef struct state {
    tare_window window;
    bool include_pad;
    size_t channels, sums; /* bytes of a thread's sums */
    float numbers[256];    /* by byte */
    float scale, zero_point, lo, hi;
} state;

static const char *refuses(const tare_int_node *n) {
    const tare_ints dilations = tare_attr_ints(n->node, "dilations");
    for (size_t i = 0; i < dilations.count; i++)
        if (dilations.at[i] != 1) return "its window has dilations";
    return NULL;
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    const tare_shape *x = &p->inputs[0]->shape;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    tare_window_of(&s->window, n->node->attrs, tare_attr_int(n->node, "ceil_mode", 0) != 0, x); /* they come first */
    s->include_pad = tare_attr_int(n->node, "count_include_pad", 0) != 0;
    s->channels = (size_t)x->dim[x->rank - 1];
    tare_dequantize_bytes(s->numbers, n->inputs[0], p->kernels);
    s->scale = n->output->scale[0];
    s->zero_point = (float)n->output->zero_point[0];
    s->lo = (float)tare_quant_lowest(n->output);
    s->hi = (float)tare_dtype_highest(n->output->code);
    if (!tare_size_mul(s->channels, sizeof(float), &s->sums) || !tare_size_align(s->sums, ALIGNMENT, &s->sums) ||
        !tare_size_mul(s->sums, p->threads, &p->scratch_size))
        return tare_fail_memory(err, SIZE_MAX);
    p->state = s;
    return TARE_OK;
}

/* Adds what an output pixel sees to the sums; returns how many elements that are. */
static int64_t add_window(const state *s, float *sums, const uint8_t *x, int64_t pixel) {
    const tare_window_axis *axis = &s->window.axis[s->window.rank - 1];
    const int64_t lines = tare_window_taps(&s->window, s->window.rank - 1);
    int64_t count = 0;
    for (int64_t tap = 0; tap < lines; tap++) {
        const int64_t line = tare_window_line(&s->window, pixel / axis->out, tap);
        for (int64_t k = 0; line >= 0 && k < axis->kernel; k++) {
            const int64_t at = pixel % axis->out * axis->stride + k - axis->before;
            if (at < 0 || at >= axis->in) continue;
            const uint8_t *from = x + (size_t)(line * axis->in + at) * s->channels;
            for (size_t c = 0; c < s->channels; c++) sums[c] += s->numbers[from[c]];
            count++;
        }
    }
    return count;
}

static void pool_pixels(void *context, size_t index, size_t thread) {
    const tare_call *call = context;
    const state *s = call->state;
    const tare_window_axis *axis = &s->window.axis[s->window.rank - 1];
    float *sums = (float *)(void *)((char *)call->scratch + thread * s->sums);
    for (int64_t o = 0; o < axis->out; o++) {
        const int64_t pixel = (int64_t)index * axis->out + o;
        uint8_t *y = (uint8_t *)call->outputs[0]->data + (size_t)pixel * s->channels;
        memset(sums, 0, s->channels * sizeof *sums);
        const int64_t inside = add_window(s, sums, call->inputs[0]->data, pixel);
        const float n = (float)(s->include_pad ? tare_window_taps(&s->window, s->window.rank) : inside);
        for (size_t c = 0; c < s->channels; c++) {
            float v = rintf(sums[c] / n / s->scale + s->zero_point);
            v = v > s->lo ? v : s->lo;
            y[c] = (uint8_t)(int32_t)(v < s->hi ? v : s->hi);
        }
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    const int64_t lines = call->inputs[0]->shape.dim[0] * tare_window_outputs(&s->window, s->window.rank - 1);
    tare_call own = *call;
    (void)err;
    tare_pool_run(call->pool, (size_t)lines, pool_pixels, &own);
    return TARE_OK;
}

const tare_int_row tare_onnx_average_pool = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .refuses = refuses, .prepare = prepare, .run = run
};

/* GlobalAveragePool on ONNX Runtime's codes (QLinearGlobalAveragePool): an exact sum, then f32:
 *   scale = s_x / (s_y n), y = rne(clamp((float)(Σ x - z_x n) · scale)) + z_y: ties to even, the zero point in integers.
 * Source: qlgavgpool.cpp; checked against ONNX Runtime 1.32.0, which fails at n >= 2^24 and scales outside 2^-32 … 256. */
#include "ops/attr.h"
#include "targets/codes.h"

enum { PART = 64 /* channels that are done at once: what a thread takes */ };

typedef struct state {
    tare_requant requant;
    tare_dtype code;
    int32_t zero_point;
} state;

static float scale_of(const tare_int_node *n) {
    const tare_shape *x = &n->node->inputs[0]->shape;
    return n->inputs[0]->scale[0] / (n->output->scale[0] * (float)tare_shape_product(x, 2, x->rank));
}

/* Is this AveragePool's window the whole image, without padding? */
static bool is_whole(const tare_node *node) {
    const tare_shape *x = &node->inputs[0]->shape;
    const tare_ints kernel = tare_attr_ints(node, "kernel_shape"), pads = tare_attr_ints(node, "pads");
    if (!tare_attr_is(node, "auto_pad", "NOTSET", "NOTSET") && !tare_attr_is(node, "auto_pad", "VALID", "NOTSET"))
        return false; /* SAME may pad */
    for (size_t i = 0; i < kernel.count; i++)
        if (kernel.at[i] != x->dim[2 + i]) return false;
    for (size_t i = 0; i < pads.count; i++)
        if (pads.at[i]) return false;
    return true;
}

static const char *refuses(const tare_int_node *n) {
    if (tare_node_is(n->node, "AveragePool") && !is_whole(n->node)) return "its window is not the whole image";
    const tare_shape *x = &n->node->inputs[0]->shape;
    const int64_t pixels = tare_shape_product(x, 2, x->rank);
    if (pixels < 1 || pixels >= 1 << 24) return "its image has no pixels, or 2^24 or more";
    const float scale = scale_of(n);
    return scale >= 0x1p-32f && scale < 256 ? NULL : "its scales are out of proportion";
}

static tare_status prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    s->code = n->inputs[0]->code;
    s->zero_point = n->inputs[0]->zero_point[0];
    tare_requant_start(&s->requant, TARE_REQUANT_FLOAT_RNE, n->output, p->clamp_lo, p->clamp_hi);
    TARE_TRY(tare_requant_alloc(&s->requant, 1, p->arena, err));
    s->requant.step = 0;
    tare_requant_set(&s->requant, 0, (double)scale_of(n));
    p->state = s;
    return TARE_OK;
}

typedef struct job {
    const tare_call *call;
    size_t channels, pixels, parts;
} job;

static void pool_part(void *context, size_t index, size_t thread) {
    const job *j = context;
    const state *s = j->call->state;
    const size_t image = index / j->parts, first = index % j->parts * PART;
    const size_t width = j->channels - first < PART ? j->channels - first : PART;
    const uint8_t *x = (const uint8_t *)j->call->inputs[0]->data + image * j->pixels * j->channels + first;
    uint8_t *y = (uint8_t *)j->call->outputs[0]->data + image * j->channels + first;
    int32_t sums[PART];
    (void)thread;
    for (size_t c = 0; c < width; c++) sums[c] = -s->zero_point * (int32_t)j->pixels;
    for (size_t pixel = 0; pixel < j->pixels; pixel++, x += j->channels)
        for (size_t c = 0; c < width; c++) sums[c] += tare_code_of(s->code, x[c]);
    tare_requantize(&s->requant, y, sums, 0, width);
}

static tare_status run(const tare_call *call, tare_error *err) {
    const tare_shape *x = &call->inputs[0]->shape; /* channels-last */
    job j = { .call = call,
              .channels = (size_t)x->dim[x->rank - 1],
              .pixels = (size_t)tare_shape_product(x, 1, x->rank - 1) };
    (void)err;
    j.parts = (j.channels + PART - 1) / PART;
    tare_pool_run(call->pool, (size_t)x->dim[0] * j.parts, pool_part, &j);
    return TARE_OK;
}

const tare_int_row tare_onnx_global_average_pool = {
    .profiles = 1, .codes = 1u << TARE_U8 | 1u << TARE_S8, .refuses = refuses, .prepare = prepare, .run = run
};

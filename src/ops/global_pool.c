/* GlobalAveragePool, GlobalMaxPool: one number for each channel of an image. Run channels-last. The sum runs over the
 * pixels in order, in blocks of TARE_TAP_BLOCK whose sums are added in order. */
#include <math.h>
#include <string.h>

#include "ops/as_f32.h"
#include "ops/window.h"

static tare_status infer(tare_node *node, tare_error *err) {
    return tare_window_infer_global(node, TARE_TYPES_FLOAT, err);
}

enum { PART = 64 /* channels that are done at once: what a thread takes */ };

static tare_status prepare(tare_prepare *p, tare_error *err) { return tare_as_f32_prepare(p, err); }

typedef struct job {
    const tare_call *call;
    size_t channels, pixels, parts;
} job;

static job measure(const tare_call *call) {
    const tare_shape *x = &call->inputs[0]->shape;
    size_t channels = (size_t)x->dim[x->rank - 1];
    return (job){ call, channels, (size_t)tare_shape_product(x, 1, x->rank - 1), (channels + PART - 1) / PART };
}

/* Part `index` of the channels of all images: where it starts in the input and in the output. */
static size_t find_part(const job *j, size_t index, const float **x, float **y) {
    size_t image = index / j->parts, channel = index % j->parts * PART, left = j->channels - channel;
    *x = (const float *)j->call->inputs[0]->data + image * j->pixels * j->channels + channel;
    *y = (float *)j->call->outputs[0]->data + image * j->channels + channel;
    return left < PART ? left : PART;
}

static void average(void *context, size_t index, size_t thread) {
    const job *j = context;
    const tare_kernels *k = j->call->kernels;
    tare_depthwise_tap taps[TARE_TAP_BLOCK];
    float ones[PART], block[PART], *y, n = (float)j->pixels;
    const float *x;
    size_t width = find_part(j, index, &x, &y);
    (void)thread;
    for (size_t i = 0; i < PART; i++) ones[i] = 1;
    for (size_t pixel = 0, count; pixel < j->pixels; pixel += count) {
        count = j->pixels - pixel < TARE_TAP_BLOCK ? j->pixels - pixel : TARE_TAP_BLOCK;
        for (size_t i = 0; i < count; i++) taps[i] = (tare_depthwise_tap){ x + (pixel + i) * j->channels, ones, 0, 1 };
        k->depthwise_f32(&(tare_depthwise_f32_args){ .pixels = 1,
                                                     .channels = width,
                                                     .taps = count,
                                                     .tap = taps,
                                                     .c = pixel == 0 ? y : block,
                                                     .lo = -INFINITY,
                                                     .hi = INFINITY });
        if (pixel > 0) k->add_f32(y, y, 1, block, 1, width);
    }
    k->div_f32(y, y, 1, &n, 0, width);
}

static void maximum(void *context, size_t index, size_t thread) {
    const job *j = context;
    const float *x;
    float *y;
    size_t width = find_part(j, index, &x, &y);
    (void)thread;
    memcpy(y, x, width * sizeof *y);
    for (size_t pixel = 1; pixel < j->pixels; pixel++)
        j->call->kernels->max_f32(y, x + pixel * j->channels, 1, y, 1, width);
}

static tare_status average_f32(const tare_call *call, tare_error *err) {
    job j = measure(call);
    (void)err;
    tare_pool_run(call->pool, (size_t)call->inputs[0]->shape.dim[0] * j.parts, average, &j);
    return TARE_OK;
}

static tare_status maximum_f32(const tare_call *call, tare_error *err) {
    job j = measure(call);
    (void)err;
    tare_pool_run(call->pool, (size_t)call->inputs[0]->shape.dim[0] * j.parts, maximum, &j);
    return TARE_OK;
}

static tare_status run_average(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, average_f32, err);
}

static tare_status run_maximum(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, maximum_f32, err);
}

#define GLOBAL_POOL(symbol, op, rule, ...)                                                                             \
    const tare_op tare_op_##symbol = { .name = op,                                                                     \
                                       .since = 1,                                                                     \
                                       .inputs = { 1, 1 },                                                             \
                                       .outputs = { 1, 1 },                                                            \
                                       .layout = TARE_LAYOUT_LAST_ONLY,                                                \
                                       .quant = { .kind = rule },                                                      \
                                       .infer = infer,                                                                 \
                                       .prepare = prepare,                                                             \
                                       .run = __VA_ARGS__ };
GLOBAL_POOL(global_average_pool, "GlobalAveragePool", TARE_QUANT_OBSERVE, run_average)
GLOBAL_POOL(global_max_pool, "GlobalMaxPool", TARE_QUANT_PASS, run_maximum)

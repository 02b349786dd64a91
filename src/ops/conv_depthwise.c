/* Conv channel by channel: each group has one input channel. Where it has several outputs, the input is copied with each
 * channel as often, so that channels lie side by side again. */
#include "base/size.h"
#include "ops/conv.h"

enum {
    GRAIN = 1 << 15, /* products that are worth a thread's waking */
    COPY_GRAIN = 1 << 14,
    ALIGNMENT = 64
};

typedef struct plan {
    size_t taps, repeats; /* repeats: outputs of a group */
    int64_t lines, pieces;
    int64_t pixels;              /* of the input */
    size_t copy_size, taps_size; /* bytes: of the copy, of a thread's list of taps */
} plan;

static tare_status make_plan(tare_conv *conv, tare_arena *arena, size_t *scratch, tare_error *err) {
    plan *p = tare_arena_alloc(arena, 1, sizeof *p);
    if (!p) return tare_fail_memory(err, sizeof *p);
    const tare_window *window = &conv->window;
    int64_t out = window->axis[window->rank - 1].out;
    p->taps = (size_t)tare_window_taps(window, window->rank);
    p->repeats = (size_t)(conv->outputs / conv->group);
    p->lines = conv->batch * tare_window_outputs(window, window->rank - 1);
    int64_t cost = out * conv->outputs * (int64_t)p->taps, per_piece = cost < GRAIN ? GRAIN / (cost + 1) + 1 : 1;
    p->pieces = (p->lines + per_piece - 1) / per_piece;
    conv->weights_size = p->taps * (size_t)conv->outputs;
    conv->bias_size = (size_t)conv->outputs;
    conv->plan = p;
    p->pixels = conv->batch;
    for (int i = 0; i < window->rank; i++) p->pixels *= window->axis[i].in;
    size_t all;
    if (p->repeats > 1 && (!tare_size_mul((size_t)p->pixels, (size_t)conv->outputs, &p->copy_size) ||
                           !tare_size_mul(p->copy_size, sizeof(float), &p->copy_size)))
        return tare_fail_memory(err, SIZE_MAX);
    if (!tare_size_align(p->copy_size, ALIGNMENT, &p->copy_size) ||
        !tare_size_align(p->taps * sizeof(tare_depthwise_tap), ALIGNMENT, &p->taps_size) ||
        !tare_size_mul(p->taps_size, conv->threads, &all) || !tare_size_add(*scratch, all, scratch) ||
        !tare_size_add(*scratch, p->copy_size, scratch))
        return tare_fail_memory(err, SIZE_MAX);
    return TARE_OK;
}

static void pack(const tare_conv *conv, float *weights, const float *from) {
    const plan *p = conv->plan;
    size_t channels = (size_t)conv->outputs;
    for (size_t c = 0; c < channels; c++)
        for (size_t t = 0; t < p->taps; t++) weights[t * channels + c] = from[c * p->taps + t];
}

static void pack_bias(const tare_conv *conv, float *bias, const float *from) {
    for (size_t c = 0; c < (size_t)conv->outputs; c++) bias[c] = from[c];
}

typedef struct job {
    const tare_conv_run *run;
    const tare_conv *conv;
    const plan *plan;
    const float *x;
    float *copy;
    char *taps;
    int64_t copy_pieces;
} job;

static void copy_pixels(void *context, size_t index, size_t thread) {
    const job *j = context;
    size_t channels = (size_t)j->conv->channels, repeats = j->plan->repeats;
    size_t first = (size_t)tare_piece(j->plan->pixels, (int64_t)index, j->copy_pieces) * channels;
    size_t end = (size_t)tare_piece(j->plan->pixels, (int64_t)index + 1, j->copy_pieces) * channels;
    (void)thread;
    for (size_t i = first; i < end; i++)
        for (size_t r = 0; r < repeats; r++) j->copy[i * repeats + r] = j->run->x[i];
}

static void convolve(void *context, size_t index, size_t thread) {
    const job *j = context;
    const tare_conv *conv = j->conv;
    const tare_window_axis *axis = &conv->window.axis[conv->window.rank - 1];
    size_t channels = (size_t)conv->outputs;
    tare_depthwise_tap *taps = (tare_depthwise_tap *)(void *)(j->taps + thread * j->plan->taps_size);
    int64_t end = tare_piece(j->plan->lines, (int64_t)index + 1, j->plan->pieces);
    for (int64_t line = tare_piece(j->plan->lines, (int64_t)index, j->plan->pieces); line < end; line++) {
        j->run->kernels->depthwise_f32(&(tare_depthwise_f32_args){
            .pixels = (size_t)axis->out,
            .channels = channels,
            .taps = tare_window_list(&conv->window, line, j->x, channels, j->run->weights, channels, taps),
            .tap = taps,
            .a_step = (size_t)axis->stride * channels,
            .bias = j->run->bias,
            .c = j->run->y + (size_t)(line * axis->out) * channels,
            .c_stride = channels,
            .lo = conv->lo,
            .hi = conv->hi });
    }
}

static void run(const tare_conv_run *run) {
    const plan *p = run->conv->plan;
    job j = { .run = run, .conv = run->conv, .plan = p, .x = run->x, .taps = run->scratch + p->copy_size };
    if (p->repeats > 1) {
        j.x = j.copy = (float *)(void *)run->scratch;
        j.copy_pieces = p->pixels * run->conv->outputs / COPY_GRAIN + 1;
        tare_pool_run(run->pool, (size_t)j.copy_pieces, copy_pixels, &j);
    }
    tare_pool_run(run->pool, (size_t)p->pieces, convolve, &j);
}

const tare_conv_way tare_conv_depthwise = { make_plan, pack, pack_bias, run };

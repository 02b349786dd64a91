/* Conv as matrix products: a row of A is what an output pixel sees, tap by tap, through pointers to the input's pixels.
 * Where pixels have few channels, the taps along a line are taken as one, since they lie together in memory: in a copy
 * of the input that has the padding along the line. */
#include <string.h>

#include "base/size.h"
#include "ops/conv.h"

enum {
    TILE_ROWS = 192,       /* output pixels that are worked on at once: a piece of A stays in the L2 cache */
    TILE_ROWS_LEAST = 48,  /* what the kernel takes at once */
    TILE_COLUMNS = 64,     /* output channels that are worth a thread */
    TILE_POINTERS = 16384, /* pointers of a tile at most: they share the cache with what they point at */
    FEW_CHANNELS = 16,     /* up to here lines are copied */
    COPY_GRAIN = 1 << 14,  /* floats that are worth a thread's waking */
    ALIGNMENT = 64
};

typedef struct plan {
    tare_window window;                                  /* along a line that is copied it has one tap and no padding */
    size_t depth, taps, in_group, out_group, group_size; /* group_size: floats that a group's weights take */
    size_t pixel;                                        /* floats from one input pixel to the next */
    bool is_copied;
    int64_t lines, line; /* of the copy: their number, and pixels in each */
    int64_t pixels, tiles, parts;
    size_t pointers_size; /* bytes: of a thread's pointers */
} plan;

/* Taps along a line of a copied input are one. */
static void merge_taps(plan *p, const tare_conv *conv) {
    tare_window_axis *axis = &p->window.axis[conv->window.rank - 1];
    p->is_copied = axis->before > 0 || axis->after > 0;
    p->depth = (size_t)(conv->channels * axis->kernel);
    p->lines = conv->batch;
    for (int i = 0; i < conv->window.rank - 1; i++) p->lines *= conv->window.axis[i].in;
    p->line = axis->in + axis->before + axis->after;
    axis->in = p->line - axis->kernel + 1;
    axis->kernel = 1;
    axis->before = axis->after = 0;
}

/* Output pixels are cut into tiles and, when they are few, output channels into parts for the threads. How has no
 * influence on the results. */
static void cut(plan *p, int64_t threads, int64_t group) {
    int64_t rows = TILE_POINTERS / (int64_t)p->taps, parts = ((int64_t)p->out_group + TILE_COLUMNS - 1) / TILE_COLUMNS;
    rows = rows > TILE_ROWS ? TILE_ROWS : rows < 1 ? 1 : rows;
    p->tiles = (p->pixels + rows - 1) / rows;
    p->parts = 1;
    if (threads == 1) return;
    int64_t most = (p->pixels + TILE_ROWS_LEAST - 1) / TILE_ROWS_LEAST, wanted = 4 * threads;
    if (p->tiles < wanted) p->tiles = most > wanted ? wanted : most > p->tiles ? most : p->tiles;
    if (group == 1 && p->tiles > 0 && p->tiles < 2 * threads) p->parts = (2 * threads + p->tiles - 1) / p->tiles;
    if (p->parts > parts) p->parts = parts;
}

static tare_status make_plan(tare_conv *conv, tare_arena *arena, size_t *scratch, tare_error *err) {
    plan *p = tare_arena_alloc(arena, 1, sizeof *p);
    if (!p) return tare_fail_memory(err, sizeof *p);
    const tare_window_axis *last = &conv->window.axis[conv->window.rank - 1];
    p->window = conv->window;
    p->in_group = p->depth = (size_t)(conv->channels / conv->group);
    p->out_group = (size_t)(conv->outputs / conv->group);
    p->pixel = (size_t)conv->channels;
    p->pixels = conv->batch * tare_window_outputs(&conv->window, conv->window.rank);
    if (conv->group == 1 && conv->channels <= FEW_CHANNELS && last->dilation == 1 && last->kernel > 1)
        merge_taps(p, conv);
    p->taps = (size_t)tare_window_taps(&p->window, p->window.rank);
    cut(p, (int64_t)conv->threads, conv->group);

    p->group_size = tare_packed_f32_size(p->taps * p->depth, p->out_group);
    conv->weights_size = p->group_size * (size_t)conv->group;
    conv->bias_size = tare_packed_f32_size(1, p->out_group) * (size_t)conv->group;
    size_t rows = p->tiles ? (size_t)((p->pixels + p->tiles - 1) / p->tiles) : 0, copy = 0, pointers;
    if (p->is_copied && (!tare_size_mul((size_t)p->lines, (size_t)p->line, &copy) ||
                         !tare_size_mul(copy, p->pixel * sizeof(float), &copy)))
        return tare_fail_memory(err, SIZE_MAX);
    p->pointers_size = rows * p->taps * sizeof(const float *);
    if (!tare_size_align(p->pointers_size, ALIGNMENT, &p->pointers_size) || !tare_size_align(copy, ALIGNMENT, &copy) ||
        !tare_size_mul(p->pointers_size, conv->threads, &pointers) || !tare_size_add(*scratch, copy, scratch) ||
        !tare_size_add(*scratch, pointers, scratch))
        return tare_fail_memory(err, SIZE_MAX);
    float *zeros = tare_arena_alloc(arena, p->in_group * (size_t)conv->group * (p->depth / p->in_group), sizeof *zeros);
    if (!zeros) return tare_fail_memory(err, p->pixel * sizeof *zeros);
    conv->zeros = zeros;
    conv->plan = p;
    return TARE_OK;
}

/* Taps along a line that are taken as one are the same k's in the same order. */
static void pack(const tare_conv *conv, float *weights, const float *from) {
    const plan *p = conv->plan;
    size_t taps = p->taps * p->depth / p->in_group, total = taps * p->in_group;
    for (size_t g = 0; g < (size_t)conv->group; g++, from += p->out_group * total, weights += p->group_size)
        for (size_t t = 0; t < taps; t++)
            tare_pack_f32(weights + t * p->in_group * TARE_PANEL, total, from + t, p->in_group, p->out_group, taps,
                          total);
}

static void pack_bias(const tare_conv *conv, float *bias, const float *from) {
    const plan *p = conv->plan;
    size_t padded = tare_packed_f32_size(1, p->out_group);
    for (size_t g = 0; g < (size_t)conv->group; g++)
        tare_pack_f32(bias + g * padded, 1, from + g * p->out_group, 1, p->out_group, 1, 1);
}

typedef struct job {
    const tare_conv_run *run;
    const tare_conv *conv;
    const plan *plan;
    const float *x; /* what pointers point into */
    float *copy;
    char *pointers;
    int64_t copy_pieces;
} job;

static void copy_lines(void *context, size_t index, size_t thread) {
    const job *j = context;
    const plan *p = j->plan;
    const tare_window_axis *axis = &j->conv->window.axis[j->conv->window.rank - 1];
    size_t before = (size_t)axis->before * p->pixel, in = (size_t)axis->in * p->pixel;
    size_t line = (size_t)p->line * p->pixel;
    int64_t end = tare_piece(p->lines, (int64_t)index + 1, j->copy_pieces);
    (void)thread;
    for (int64_t i = tare_piece(p->lines, (int64_t)index, j->copy_pieces); i < end; i++) {
        float *to = j->copy + (size_t)i * line;
        memset(to, 0, before * sizeof *to);
        memcpy(to + before, j->run->x + (size_t)i * in, in * sizeof *to);
        memset(to + before + in, 0, (line - before - in) * sizeof *to);
    }
}

/* The pointers of one tap for `count` outputs of a line from output `first` on. line: of inputs, NULL: all padding. */
static void point_tap(const job *j, const float **a, const float *line, int64_t k, int64_t first, int64_t count) {
    const tare_window_axis *axis = &j->plan->window.axis[j->plan->window.rank - 1];
    int64_t begin = 0, end = 0, at = 0;
    if (line) at = tare_window_meet(axis, k, first, count, &begin, &end);
    for (int64_t i = 0; i < begin; i++) a[i] = j->conv->zeros;
    size_t offset = (size_t)at * j->plan->pixel, step = (size_t)axis->stride * j->plan->pixel;
    for (int64_t i = begin; i < end; i++, offset += step) a[i] = line + offset;
    for (int64_t i = end; i < count; i++) a[i] = j->conv->zeros;
}

/* The pointers of `rows` output pixels from pixel `first` on: a[tap * rows + row]. */
static void point(const job *j, const float **a, int64_t first, int64_t rows) {
    const tare_window *window = &j->plan->window;
    const tare_window_axis *axis = &window->axis[window->rank - 1];
    int64_t outer = tare_window_taps(window, window->rank - 1), length = axis->in;
    size_t pitch = (size_t)(j->plan->line ? j->plan->line : length) * j->plan->pixel;
    for (int64_t row = 0, count; row < rows; row += count) {
        int64_t line = (first + row) / axis->out, output = (first + row) % axis->out;
        count = axis->out - output < rows - row ? axis->out - output : rows - row;
        for (int64_t tap = 0; tap < outer; tap++) {
            int64_t input = tare_window_line(window, line, tap);
            for (int64_t k = 0; k < axis->kernel; k++)
                point_tap(j, a + (tap * axis->kernel + k) * rows + row, input < 0 ? NULL : j->x + (size_t)input * pitch,
                          k, output, count);
        }
    }
}

static void multiply(void *context, size_t index, size_t thread) {
    const job *j = context;
    const plan *p = j->plan;
    const tare_conv *conv = j->conv;
    int64_t tile = (int64_t)index / p->parts, part = (int64_t)index % p->parts;
    int64_t first = tare_piece(p->pixels, tile, p->tiles), rows = tare_piece(p->pixels, tile + 1, p->tiles) - first;
    int64_t panels = ((int64_t)p->out_group + TARE_PANEL - 1) / TARE_PANEL;
    size_t column = (size_t)tare_piece(panels, part, p->parts) * TARE_PANEL;
    size_t end = (size_t)tare_piece(panels, part + 1, p->parts) * TARE_PANEL;
    const float **a = (const float **)(void *)(j->pointers + thread * p->pointers_size);
    point(j, a, first, rows);
    tare_gemm_f32_args args = { .rows = (size_t)rows,
                                .columns = (end < p->out_group ? end : p->out_group) - column,
                                .taps = p->taps,
                                .depth = p->depth,
                                .a = a,
                                .b = j->run->weights + column * p->taps * p->depth,
                                .bias = j->run->bias ? j->run->bias + column : NULL,
                                .c = j->run->y + (size_t)(first * conv->outputs) + column,
                                .c_stride = (size_t)conv->outputs,
                                .lo = conv->lo,
                                .hi = conv->hi };
    for (int64_t g = 0; g < conv->group; g++) {
        j->run->kernels->gemm_f32(&args);
        args.a_offset += p->in_group;
        args.b += p->group_size;
        args.c += p->out_group;
        if (args.bias) args.bias += tare_packed_f32_size(1, p->out_group);
    }
}

static void run(const tare_conv_run *run) {
    const tare_conv *conv = run->conv;
    const plan *p = conv->plan;
    job j = { .run = run, .conv = conv, .plan = p, .x = run->x, .pointers = run->scratch };
    if (!p->pixels) return; /* an empty batch */
    if (p->is_copied) {
        j.x = j.copy = (float *)(void *)(run->scratch + p->pointers_size * conv->threads);
        j.copy_pieces = p->lines * p->line * (int64_t)p->pixel / COPY_GRAIN + 1;
        if (j.copy_pieces > p->lines) j.copy_pieces = p->lines;
        tare_pool_run(run->pool, (size_t)j.copy_pieces, copy_lines, &j);
    }
    tare_pool_run(run->pool, (size_t)(p->tiles * p->parts), multiply, &j);
}

const tare_conv_way tare_conv_product = { make_plan, pack, pack_bias, run };

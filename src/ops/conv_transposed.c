/* ConvTranspose as matrix products. Outputs whose coordinates leave the same rests by the strides meet the same taps: for
 * those of a line it is a product over the input pixels that the taps lead back to, k = (taps met in order, c). */
#include "base/size.h"
#include "ops/conv.h"

enum { TILE_ROWS = 192, TILE_POINTERS = 16384, GRAIN = 1 << 16, ALIGNMENT = 64 };

/* The taps that outputs o with o % stride = rest meet, in order: k[first[rest]] … k[first[rest + 1] - 1]. */
typedef struct rests {
    int64_t count; /* of rests that occur: outputs may be fewer than the stride */
    size_t *first;
    int64_t *k;
} rests;

typedef struct plan {
    rests rests[TARE_SPATIAL_MAX];
    size_t *taps_before; /* by combination of rests, the last axis' fastest: taps whose weights lie before its own */
    size_t in_group, out_group, taps, rows_most;
    int64_t lines, pieces;
    size_t pointers_size; /* bytes: of a thread's pointers */
} plan;

static tare_status list_rests(rests *r, const tare_window_axis *axis, tare_arena *arena, tare_error *err) {
    r->count = axis->stride < axis->out ? axis->stride : axis->out;
    r->first = tare_arena_alloc(arena, (size_t)r->count + 2, sizeof *r->first);
    r->k = tare_arena_alloc(arena, (size_t)axis->kernel, sizeof *r->k);
    if (!r->first || !r->k) return tare_fail_memory(err, 0);
    for (int pass = 0; pass < 2; pass++) { /* counts them, then puts them in their places */
        for (int64_t k = 0; k < axis->kernel; k++) {
            int64_t rest = (k * axis->dilation - axis->before) % axis->stride;
            if (rest < 0) rest += axis->stride;
            if (rest >= r->count) continue;
            if (pass == 0)
                r->first[rest + 2]++;
            else
                r->k[r->first[rest + 1]++] = k;
        }
        for (int64_t i = 2; i < r->count + 2 && pass == 0; i++) r->first[i] += r->first[i - 1];
    }
    return TARE_OK;
}

/* The taps of a combination of rests: their number along each axis, and in all. */
static size_t taps_of(const plan *p, int rank, const int64_t *rest, size_t *count) {
    size_t all = 1;
    for (int i = 0; i < rank; i++) {
        count[i] = p->rests[i].first[rest[i] + 1] - p->rests[i].first[rest[i]];
        all *= count[i];
    }
    return all;
}

/* The next combination; false after the last. */
static bool next_rests(const plan *p, int rank, int64_t *rest) {
    for (int i = rank - 1; i >= 0; i--) {
        if (++rest[i] < p->rests[i].count) return true;
        rest[i] = 0;
    }
    return false;
}

/* Where each combination's weights lie. Every tap belongs to one combination at most. */
static tare_status place_weights(plan *p, int rank, tare_arena *arena, size_t *taps_most, tare_error *err) {
    size_t combinations = 1, i = 0, count[TARE_SPATIAL_MAX];
    int64_t rest[TARE_SPATIAL_MAX] = { 0 };
    for (int axis = 0; axis < rank; axis++) combinations *= (size_t)p->rests[axis].count; /* outputs at most */
    p->taps_before = tare_arena_alloc(arena, combinations, sizeof *p->taps_before);
    if (!p->taps_before) return tare_fail_memory(err, combinations * sizeof *p->taps_before);
    do {
        p->taps_before[i++] = p->taps;
        size_t taps = taps_of(p, rank, rest, count);
        p->taps += taps;
        if (taps > *taps_most) *taps_most = taps;
    } while (next_rests(p, rank, rest));
    return TARE_OK;
}

static tare_status make_plan(tare_conv *conv, tare_arena *arena, size_t *scratch, tare_error *err) {
    plan *p = tare_arena_alloc(arena, 1, sizeof *p);
    if (!p) return tare_fail_memory(err, sizeof *p);
    const tare_window *window = &conv->window;
    const tare_window_axis *last = &window->axis[window->rank - 1];
    size_t taps_most = 1, pointers;
    for (int i = 0; i < window->rank; i++) TARE_TRY(list_rests(&p->rests[i], &window->axis[i], arena, err));
    TARE_TRY(place_weights(p, window->rank, arena, &taps_most, err));
    p->in_group = (size_t)(conv->channels / conv->group);
    p->out_group = (size_t)(conv->outputs / conv->group);
    p->rows_most = taps_most < TILE_POINTERS ? TILE_POINTERS / taps_most : 1;
    if (p->rows_most > TILE_ROWS) p->rows_most = TILE_ROWS;
    p->lines = conv->batch * tare_window_outputs(window, window->rank - 1);
    int64_t cost = last->out * conv->outputs * (int64_t)(p->in_group * taps_most);
    int64_t per_piece = cost < GRAIN ? GRAIN / (cost + 1) + 1 : 1;
    p->pieces = (p->lines + per_piece - 1) / per_piece;
    conv->weights_size = tare_packed_f32_size(p->taps * p->in_group, p->out_group) * (size_t)conv->group;
    conv->bias_size = tare_packed_f32_size(1, p->out_group) * (size_t)conv->group;
    float *zeros = tare_arena_alloc(arena, (size_t)conv->channels, sizeof *zeros);
    if (!zeros) return tare_fail_memory(err, (size_t)conv->channels * sizeof *zeros);
    conv->zeros = zeros;
    conv->plan = p;
    if (!tare_size_align(p->rows_most * taps_most * sizeof(const float *), ALIGNMENT, &p->pointers_size) ||
        !tare_size_mul(p->pointers_size, conv->threads, &pointers) || !tare_size_add(*scratch, pointers, scratch))
        return tare_fail_memory(err, SIZE_MAX);
    return TARE_OK;
}

/* Tap `index` of a combination: its numbers along the axes. */
static void find_tap(const plan *p, int rank, const int64_t *rest, const size_t *count, size_t index, int64_t *k) {
    for (int i = rank - 1; i >= 0; i--) {
        k[i] = p->rests[i].k[p->rests[i].first[rest[i]] + index % count[i]];
        index /= count[i];
    }
}

/* Combination by combination, in it group by group, in it tap by tap. ONNX has (c, m, taps…). */
static void pack(const tare_conv *conv, float *weights, const float *from) {
    const plan *p = conv->plan;
    int rank = conv->window.rank;
    size_t all = (size_t)tare_window_taps(&conv->window, rank), count[TARE_SPATIAL_MAX];
    int64_t rest[TARE_SPATIAL_MAX] = { 0 }, k[TARE_SPATIAL_MAX];
    do {
        size_t taps = taps_of(p, rank, rest, count), depth = taps * p->in_group;
        for (size_t g = 0; g < (size_t)conv->group; g++, weights += tare_packed_f32_size(depth, p->out_group)) {
            for (size_t t = 0; t < taps; t++) {
                size_t at = 0;
                find_tap(p, rank, rest, count, t, k);
                for (int i = 0; i < rank; i++) at = at * (size_t)conv->window.axis[i].kernel + (size_t)k[i];
                tare_pack_f32(weights + t * p->in_group * TARE_PANEL, depth,
                              from + g * p->in_group * p->out_group * all + at, p->in_group, p->out_group,
                              p->out_group * all, all);
            }
        }
    } while (next_rests(p, rank, rest));
}

static void pack_bias(const tare_conv *conv, float *bias, const float *from) {
    const plan *p = conv->plan;
    for (size_t g = 0; g < (size_t)conv->group; g++)
        tare_pack_f32(bias + g * tare_packed_f32_size(1, p->out_group), 1, from + g * p->out_group, 1, p->out_group, 1,
                      1);
}

typedef struct job {
    const tare_conv_run *run;
    const tare_conv *conv;
    const plan *plan;
} job;

/* Outputs of one line with one rest: rest, rest + stride, …; number j of them meets by tap t the input element
 * at[t] + j of the line line[t]. */
typedef struct strand {
    int64_t o[TARE_SPATIAL_MAX]; /* the first one's coordinates */
    int64_t image, rest[TARE_SPATIAL_MAX];
    size_t taps, count[TARE_SPATIAL_MAX];
} strand;

/* The input pixel of number 0 by a tap; true: it lies in a line of the input. */
static bool find_source(const job *j, const strand *s, size_t tap, int64_t *line, int64_t *at) {
    const tare_window *window = &j->conv->window;
    int64_t k[TARE_SPATIAL_MAX];
    find_tap(j->plan, window->rank, s->rest, s->count, tap, k);
    *line = s->image;
    for (int i = 0; i < window->rank; i++) {
        const tare_window_axis *axis = &window->axis[i];
        int64_t element = (s->o[i] + axis->before - k[i] * axis->dilation) / axis->stride; /* divides evenly */
        if (i == window->rank - 1) {
            *at = element;
            return true;
        }
        if (element < 0 || element >= axis->in) return false;
        *line = *line * axis->in + element;
    }
    return false;
}

/* The pointers of numbers first … first + rows - 1. */
static void point(const job *j, const strand *s, const float **a, int64_t first, int64_t rows) {
    const tare_window_axis *axis = &j->conv->window.axis[j->conv->window.rank - 1];
    int64_t channels = j->conv->channels;
    for (size_t t = 0; t < s->taps; t++, a += rows) {
        int64_t line, at;
        bool is_inside = find_source(j, s, t, &line, &at);
        for (int64_t row = 0; row < rows; row++) {
            int64_t element = is_inside ? at + first + row : -1;
            bool is_there = element >= 0 && element < axis->in;
            a[row] = is_there ? j->run->x + (size_t)((line * axis->in + element) * channels) : j->conv->zeros;
        }
    }
}

static void multiply(const job *j, const strand *s, const float **a, size_t combination) {
    const tare_conv *conv = j->conv;
    const plan *p = j->plan;
    const tare_window_axis *axis = &conv->window.axis[conv->window.rank - 1];
    int64_t pixel = s->image, last = s->o[conv->window.rank - 1], numbers = (axis->out - 1 - last) / axis->stride + 1;
    for (int i = 0; i < conv->window.rank; i++) pixel = pixel * conv->window.axis[i].out + s->o[i];
    size_t panels = tare_packed_f32_size(p->in_group, p->out_group);
    for (int64_t first = 0, rows; first < numbers; first += rows) {
        rows = numbers - first < (int64_t)p->rows_most ? numbers - first : (int64_t)p->rows_most;
        point(j, s, a, first, rows);
        tare_gemm_f32_args args = {
            .rows = (size_t)rows,
            .columns = p->out_group,
            .taps = s->taps,
            .depth = p->in_group,
            .a = a,
            .b = j->run->weights + p->taps_before[combination] * panels * (size_t)conv->group,
            .bias = j->run->bias,
            .c = j->run->y + (size_t)((pixel + first * axis->stride) * conv->outputs),
            .c_stride = (size_t)(axis->stride * conv->outputs),
            .lo = conv->lo,
            .hi = conv->hi,
        };
        for (int64_t g = 0; g < conv->group; g++) {
            j->run->kernels->gemm_f32(&args);
            args.a_offset += p->in_group;
            args.b += s->taps * panels;
            args.c += p->out_group;
            if (args.bias) args.bias += tare_packed_f32_size(1, p->out_group);
        }
    }
}

static void run_lines(void *context, size_t index, size_t thread) {
    const job *j = context;
    const plan *p = j->plan;
    const tare_window *window = &j->conv->window;
    int last = window->rank - 1;
    const float **a = (const float **)(void *)(j->run->scratch + thread * p->pointers_size);
    int64_t end = tare_piece(p->lines, (int64_t)index + 1, p->pieces);
    for (int64_t line = tare_piece(p->lines, (int64_t)index, p->pieces); line < end; line++) {
        strand s = { .image = line };
        size_t combination = 0;
        for (int i = last - 1; i >= 0; i--) {
            s.o[i] = s.image % window->axis[i].out;
            s.image /= window->axis[i].out;
        }
        for (int i = 0; i < last; i++) {
            s.rest[i] = s.o[i] % window->axis[i].stride;
            combination = combination * (size_t)p->rests[i].count + (size_t)s.rest[i];
        }
        combination *= (size_t)p->rests[last].count;
        for (int64_t rest = 0; rest < p->rests[last].count; rest++) {
            s.o[last] = s.rest[last] = rest;
            s.taps = taps_of(p, window->rank, s.rest, s.count);
            multiply(j, &s, a, combination + (size_t)rest);
        }
    }
}

static void run(const tare_conv_run *run) {
    const plan *p = run->conv->plan;
    tare_pool_run(run->pool, (size_t)p->pieces, run_lines, &(job){ .run = run, .conv = run->conv, .plan = p });
}

const tare_conv_way tare_conv_transposed = { make_plan, pack, pack_bias, run };

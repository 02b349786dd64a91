/* The walk over time that LSTM, GRU and RNN share. For each direction x W^T of all steps is one product; each step then
 * adds h R^T. Rows whose sequence has ended keep their state and give 0. */
#include "ops/recurrent.h"

#include <math.h>
#include <string.h>

#include "ops/product.h"
#include "ops/recurrent_function.h"

enum { X, W, R, B, LENGTHS, H0, C0, PEEPHOLE };
enum { FUNCTIONS_MAX = 6 };

typedef struct sizes {
    size_t steps, batch, input, hidden, directions, gates;
} sizes;

/* Packed weights; from the plan when they are constant, else made in scratch by each run. */
typedef struct state {
    sizes size;
    /* W of all directions, then R, R of the hidden gate alone (GRU's second product), the biases, the hidden gate's; NULL: made
     * in each run. */
    const float *packed;
    size_t r_at, r_hidden_at, bias_at, hidden_bias_at, packed_size; /* floats */
    tare_recurrent_function functions[FUNCTIONS_MAX];
    float clip;
    size_t w_size, r_size, r_hidden_size; /* floats of one direction */
} state;

static int direction_count(const tare_recurrent_attrs *attrs) {
    return strcmp(attrs->direction, "bidirectional") ? 1 : 2;
}

/* ---- attributes and shapes ---- */

static tare_status choose_functions(const tare_recurrent_cell *cell, const tare_recurrent_attrs *attrs, state *s,
                                    tare_error *err) {
    const int count = cell->functions * direction_count(attrs);
    size_t alpha = 0, beta = 0;
    if (attrs->activations.count && attrs->activations.count != (size_t)count)
        return tare_fail(err, TARE_E_MALFORMED, "%zu activations, want %d", attrs->activations.count, count);
    for (int i = 0; i < count; i++) {
        const char *name = attrs->activations.count ? attrs->activations.at[i] : cell->defaults[i % cell->functions];
        const bool has_alpha = tare_recurrent_function_takes(name, false) && alpha < attrs->activation_alpha.count;
        const bool has_beta = tare_recurrent_function_takes(name, true) && beta < attrs->activation_beta.count;
        TARE_TRY(tare_recurrent_function_find(&s->functions[i], name,
                                              has_alpha ? attrs->activation_alpha.at[alpha++] : NAN,
                                              has_beta ? attrs->activation_beta.at[beta++] : NAN, err));
    }
    return TARE_OK;
}

static tare_shape shape_of(const tare_node *node, int input) {
    const tare_value *value = tare_node_input(node, input);
    return value ? value->shape : tare_shape_unknown();
}

static tare_status want(const tare_node *node, int input, int rank, int at, int64_t dim, tare_error *err) {
    tare_shape shape = shape_of(node, input);
    if (shape.rank < 0) return TARE_OK;
    if (shape.rank != rank)
        return tare_fail(err, TARE_E_MALFORMED, "input %d has rank %d, want %d", input, shape.rank, rank);
    if (at >= 0 && dim >= 0 && shape.dim[at] >= 0 && shape.dim[at] != dim)
        return tare_fail(err, TARE_E_MALFORMED, "dimension %d of input %d is %lld, want %lld", at, input,
                         (long long)shape.dim[at], (long long)dim);
    return TARE_OK;
}

/* hidden: R's; negative: not known. */
static tare_status check_hidden(const tare_recurrent_attrs *attrs, int64_t hidden, tare_error *err) {
    const bool is_given = attrs->hidden_size != TARE_RECURRENT_NO_SIZE;
    if (is_given && (attrs->hidden_size < 1 || attrs->hidden_size > INT32_MAX))
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'hidden_size' is %lld, want 1 to %d",
                         (long long)attrs->hidden_size, INT32_MAX);
    if (hidden == 0) return tare_fail(err, TARE_E_MALFORMED, "R has rows of 0 numbers: there is no hidden state");
    if (is_given && hidden >= 0 && attrs->hidden_size != hidden)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'hidden_size' is %lld, but R says %lld",
                         (long long)attrs->hidden_size, (long long)hidden);
    return TARE_OK;
}

static tare_status check(const tare_recurrent_cell *cell, const tare_node *node, int64_t hidden, tare_error *err) {
    const tare_recurrent_attrs *attrs = node->attrs;
    const int64_t directions = direction_count(attrs);
    state unused;
    if (strcmp(attrs->direction, "forward") && strcmp(attrs->direction, "reverse") && directions == 1)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'direction' is '%.32s'", attrs->direction);
    TARE_TRY(choose_functions(cell, attrs, &unused, err));
    TARE_TRY(check_hidden(attrs, hidden, err));
    if (attrs->clip.count && !(attrs->clip.at[0] > 0))
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'clip' is %g, want more than 0", (double)attrs->clip.at[0]);
    TARE_TRY(want(node, X, 3, 2, shape_of(node, W).rank == 3 ? shape_of(node, W).dim[2] : -1, err));
    const int64_t rows = hidden < 0 ? -1 : hidden * cell->gates,
                  batch = shape_of(node, X).rank == 3 ? shape_of(node, X).dim[attrs->layout ? 0 : 1] : -1;
    for (int i = W; i <= R; i++) {
        TARE_TRY(want(node, i, 3, 0, directions, err));
        TARE_TRY(want(node, i, 3, 1, rows, err));
    }
    TARE_TRY(want(node, B, 2, 0, directions, err));
    TARE_TRY(want(node, B, 2, 1, rows < 0 ? -1 : 2 * rows, err));
    TARE_TRY(want(node, LENGTHS, 1, 0, batch, err));
    for (int i = H0; i <= (cell->has_c ? C0 : H0); i++) {
        TARE_TRY(want(node, i, 3, attrs->layout ? 1 : 0, directions, err));
        TARE_TRY(want(node, i, 3, attrs->layout ? 0 : 1, batch, err));
        TARE_TRY(want(node, i, 3, 2, hidden, err));
    }
    if (!cell->has_c) return TARE_OK;
    TARE_TRY(want(node, PEEPHOLE, 2, 0, directions, err));
    return want(node, PEEPHOLE, 2, 1, hidden < 0 ? -1 : 3 * hidden, err);
}

tare_status tare_recurrent_infer(const tare_recurrent_cell *cell, tare_node *node, tare_error *err) {
    const tare_recurrent_attrs *attrs = node->attrs;
    for (int i = X; i <= R; i++) TARE_TRY(tare_infer_check(node, i, 1u << TARE_F32, err));
    TARE_TRY(tare_infer_check(node, LENGTHS, 1u << TARE_S32, err));
    const tare_shape x = shape_of(node, X), r = shape_of(node, R);
    const int64_t given = attrs->hidden_size == TARE_RECURRENT_NO_SIZE ? TARE_DIM_UNKNOWN : attrs->hidden_size;
    TARE_TRY(check(cell, node, r.rank == 3 ? r.dim[2] : TARE_DIM_UNKNOWN, err));
    const int64_t hidden = r.rank == 3 ? r.dim[2] : given;
    const int64_t directions = direction_count(attrs);
    const int64_t batch = x.rank == 3 ? x.dim[attrs->layout ? 0 : 1] : TARE_DIM_UNKNOWN;
    const int64_t steps = x.rank == 3 ? x.dim[attrs->layout ? 1 : 0] : TARE_DIM_UNKNOWN;
    const tare_shape y = attrs->layout ? (tare_shape){ 4, { batch, steps, directions, hidden } }
                                       : (tare_shape){ 4, { steps, directions, batch, hidden } };
    const tare_shape h = attrs->layout ? (tare_shape){ 3, { batch, directions, hidden } }
                                       : (tare_shape){ 3, { directions, batch, hidden } };
    for (int i = 0; i < node->output_count; i++) TARE_TRY(tare_infer_set(node, i, TARE_F32, i ? &h : &y, err));
    return TARE_OK;
}

/* ---- weights ---- */

static size_t padded(size_t count) { return (count + TARE_PANEL - 1) / TARE_PANEL * TARE_PANEL; }

/* Does the hidden gate multiply r * h by R by itself? */
static bool multiplies_twice(const tare_recurrent_cell *cell, const tare_recurrent_attrs *attrs) {
    return cell->reset && !attrs->linear_before_reset;
}

/* Is the hidden gate's R bias added to h R^T instead of to x W^T? */
static bool keeps_hidden_bias(const tare_recurrent_cell *cell, const tare_recurrent_attrs *attrs) {
    return cell->reset && attrs->linear_before_reset;
}

static void set_sizes(const tare_recurrent_cell *cell, const tare_recurrent_attrs *attrs, const tare_tensor *x,
                      const tare_tensor *r, state *s) {
    s->size = (sizes){ .steps = (size_t)x->shape.dim[attrs->layout ? 1 : 0],
                       .batch = (size_t)x->shape.dim[attrs->layout ? 0 : 1],
                       .input = (size_t)x->shape.dim[2],
                       .hidden = (size_t)r->shape.dim[2],
                       .directions = (size_t)direction_count(attrs),
                       .gates = (size_t)cell->gates };
    s->w_size = tare_packed_f32_size(s->size.input, s->size.gates * s->size.hidden);
    s->r_size = tare_packed_f32_size(s->size.hidden, s->size.gates * s->size.hidden);
    s->r_hidden_size = tare_packed_f32_size(s->size.hidden, s->size.hidden);
    s->r_at = s->size.directions * s->w_size;
    s->r_hidden_at = s->r_at + s->size.directions * s->r_size;
    s->bias_at = s->r_hidden_at + s->size.directions * s->r_hidden_size;
    s->hidden_bias_at = s->bias_at + s->size.directions * padded(s->size.gates * s->size.hidden);
    s->packed_size = 2 * s->hidden_bias_at - s->bias_at;
    s->clip = attrs->clip.count ? attrs->clip.at[0] : INFINITY;
}

static void pack(const tare_recurrent_cell *cell, const tare_recurrent_attrs *attrs, const state *s, float *room,
                 const float *w, const float *r, const float *b, tare_pool *pool) {
    const sizes *z = &s->size;
    const size_t columns = z->gates * z->hidden, wide = padded(columns);
    float *bias = room + s->bias_at, *hidden_bias = room + s->hidden_bias_at;
    memset(bias, 0, 2 * wide * z->directions * sizeof(float));
    for (size_t d = 0; d < z->directions; d++) {
        tare_product_pack(room + d * s->w_size, w + d * columns * z->input, 1, z->input, columns, 1, z->input, pool);
        tare_product_pack(room + s->r_at + d * s->r_size, r + d * columns * z->hidden, 1, z->hidden, columns, 1,
                          z->hidden, pool);
        tare_product_pack(room + s->r_hidden_at + d * s->r_hidden_size,
                          r + (d * columns + columns - z->hidden) * z->hidden, 1, z->hidden, z->hidden, 1, z->hidden,
                          pool);
        for (size_t i = 0; b && i < columns; i++) {
            const float wb = b[d * 2 * columns + i], rb = b[(d * 2 + 1) * columns + i];
            const bool apart = keeps_hidden_bias(cell, attrs) && i >= columns - z->hidden;
            bias[d * wide + i] = apart ? wb : wb + rb;
            hidden_bias[d * wide + i] = apart ? rb : 0;
        }
    }
}

static bool is_known(const tare_prepare *p, int input) {
    return input >= p->input_count || !p->inputs[input] || p->inputs[input]->data;
}

static size_t run_floats(const state *s) {
    const sizes *z = &s->size;
    const size_t gates = z->gates * z->hidden;
    return z->steps * z->batch * gates + z->batch * (gates + 4 * z->hidden) + 16;
}

tare_status tare_recurrent_prepare(const tare_recurrent_cell *cell, tare_prepare *prepare, tare_error *err) {
    const tare_recurrent_attrs *attrs = prepare->attrs;
    state *s = tare_arena_alloc(prepare->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    set_sizes(cell, attrs, prepare->inputs[X], prepare->inputs[R], s);
    TARE_TRY(choose_functions(cell, attrs, s, err));
    prepare->state = s;
    prepare->scratch_size = run_floats(s) * sizeof(float);
    const tare_tensor *b = prepare->input_count > B ? prepare->inputs[B] : NULL;
    if (!is_known(prepare, W) || !is_known(prepare, R) || !is_known(prepare, B)) {
        prepare->scratch_size += s->packed_size * sizeof(float);
        return TARE_OK;
    }
    float *room = tare_room_new(prepare->kept, s->packed_size * sizeof *room);
    if (!room) return tare_fail_memory(err, s->packed_size * sizeof *room);
    pack(cell, attrs, s, room, prepare->inputs[W]->data, prepare->inputs[R]->data, b ? b->data : NULL, NULL);
    prepare->taken |= 1u << W | 1u << R | 1u << B;
    s->packed = tare_keep(prepare->kept, room, s->packed_size * sizeof *room);
    return s->packed ? TARE_OK : tare_fail_memory(err, s->packed_size * sizeof *room);
}

/* ---- running ---- */

typedef struct walk {
    const tare_recurrent_cell *cell;
    const tare_call *call;
    const tare_recurrent_attrs *attrs;
    const state *s;
    size_t direction;
    bool reverse;
    float *x, *r, *h, *c, *t; /* scratch: gates of all steps, of one; states */
} walk;

static const tare_tensor *input(const tare_call *call, int i) { return i < call->input_count ? call->inputs[i] : NULL; }
static tare_tensor *output(const tare_call *call, int i) { return i < call->output_count ? call->outputs[i] : NULL; }

static size_t length_of(const walk *w, size_t row) {
    const tare_tensor *lengths = input(w->call, LENGTHS);
    return lengths ? (size_t)((const int32_t *)lengths->data)[row] : w->s->size.steps;
}

/* Index of (direction, row) in initial_h, Y_h … by layout. */
static size_t state_index(const walk *w, size_t row) {
    const sizes *z = &w->s->size;
    return (w->attrs->layout ? row * z->directions + w->direction : w->direction * z->batch + row) * z->hidden;
}

static void load_state(const walk *w, float *to, const tare_tensor *from) {
    const size_t hidden = w->s->size.hidden;
    for (size_t b = 0; b < w->s->size.batch; b++) {
        if (from)
            memcpy(to + b * hidden, (const float *)from->data + state_index(w, b), hidden * sizeof *to);
        else
            memset(to + b * hidden, 0, hidden * sizeof *to);
    }
}

static void store_state(const walk *w, tare_tensor *to, const float *from) {
    const size_t hidden = w->s->size.hidden;
    for (size_t b = 0; to && b < w->s->size.batch; b++)
        memcpy((float *)to->data + state_index(w, b), from + b * hidden, hidden * sizeof *from);
}

static void multiply(const walk *w, const float *a, const float *b, size_t rows, size_t columns, size_t depth,
                     const float *bias, float *c) {
    const tare_product product = { .rows = rows,
                                   .columns = columns,
                                   .depth = depth,
                                   .a = a,
                                   .b = b,
                                   .bias = bias,
                                   .c = c,
                                   .lo = -INFINITY,
                                   .hi = INFINITY };
    tare_product_run(&product, w->call->kernels, w->call->pool);
}

static void begin_row(const walk *w, size_t step, size_t b, tare_recurrent_row *row) {
    const sizes *z = &w->s->size;
    const size_t gates = z->gates * z->hidden, at = w->reverse ? length_of(w, b) - 1 - step : step;
    const size_t x_row = w->attrs->layout ? b * z->steps + at : at * z->batch + b;
    const tare_tensor *peephole = w->cell->has_c ? input(w->call, PEEPHOLE) : NULL;
    *row = (tare_recurrent_row){ .kernels = w->call->kernels,
                                 .attrs = w->attrs,
                                 .hidden = z->hidden,
                                 .clip = w->s->clip,
                                 .f = w->s->functions + (size_t)w->cell->functions * w->direction,
                                 .x = w->x + x_row * gates,
                                 .r = w->r + b * gates,
                                 .h = w->h + b * z->hidden,
                                 .c = w->c + b * z->hidden,
                                 .t = w->t + b * z->hidden,
                                 .peephole =
                                     peephole ? (const float *)peephole->data + w->direction * 3 * z->hidden : NULL };
}

static void store_y(const walk *w, size_t step, size_t b) {
    tare_tensor *y = output(w->call, 0);
    const sizes *z = &w->s->size;
    if (!y) return;
    const size_t at = w->reverse ? length_of(w, b) - 1 - step : step;
    const size_t index = w->attrs->layout ? (b * z->steps + at) * z->directions + w->direction
                                          : (at * z->directions + w->direction) * z->batch + b;
    memcpy((float *)y->data + index * z->hidden, w->h + b * z->hidden, z->hidden * sizeof(float));
}

static void take_step(const walk *w, size_t step) {
    const sizes *z = &w->s->size;
    const size_t gates = z->gates * z->hidden, wide = padded(gates);
    const bool twice = multiplies_twice(w->cell, w->attrs);
    tare_recurrent_row row;
    multiply(w, w->h, w->s->packed + w->s->r_at + w->direction * w->s->r_size, z->batch, gates, z->hidden,
             w->s->packed + w->s->hidden_bias_at + w->direction * wide, w->r);
    for (size_t b = 0; twice && b < z->batch; b++) {
        if (step >= length_of(w, b)) continue;
        begin_row(w, step, b, &row);
        w->cell->reset(&row);
    }
    if (twice) { /* (r * h) R_h^T, into the place of the last gate: row by row, for rows of w->r are wider */
        for (size_t b = 0; b < z->batch; b++)
            multiply(w, w->t + b * z->hidden, w->s->packed + w->s->r_hidden_at + w->direction * w->s->r_hidden_size, 1,
                     z->hidden, z->hidden, NULL, w->r + b * gates + gates - z->hidden);
    }
    for (size_t b = 0; b < z->batch; b++) {
        if (step >= length_of(w, b)) continue;
        begin_row(w, step, b, &row);
        w->cell->step(&row);
        store_y(w, step, b);
    }
}

static void walk_direction(walk *w) {
    const sizes *z = &w->s->size;
    const size_t gates = z->gates * z->hidden;
    multiply(w, input(w->call, X)->data, w->s->packed + w->direction * w->s->w_size, z->steps * z->batch, gates,
             z->input, w->s->packed + w->s->bias_at + w->direction * padded(gates), w->x);
    load_state(w, w->h, input(w->call, H0));
    load_state(w, w->c, w->cell->has_c ? input(w->call, C0) : NULL);
    for (size_t step = 0; step < z->steps; step++) take_step(w, step);
    store_state(w, output(w->call, 1), w->h);
    if (w->cell->has_c) store_state(w, output(w->call, 2), w->c);
}

static tare_status check_lengths(const walk *w, tare_error *err) {
    const tare_tensor *lengths = input(w->call, LENGTHS);
    for (size_t b = 0; lengths && b < w->s->size.batch; b++) {
        const int32_t length = ((const int32_t *)lengths->data)[b];
        if (length < 0 || (size_t)length > w->s->size.steps)
            return tare_fail(err, TARE_E_MALFORMED, "sequence_lens[%zu] is %d, want 0 to %zu", b, length,
                             w->s->size.steps);
    }
    return TARE_OK;
}

tare_status tare_recurrent_run(const tare_recurrent_cell *cell, const tare_call *call, tare_error *err) {
    state own = *(const state *)call->state;
    walk w = { .cell = cell, .call = call, .attrs = call->attrs, .s = &own };
    const sizes *z = &own.size;
    const size_t gates = z->gates * z->hidden;
    TARE_TRY(check_lengths(&w, err));
    float *at = call->scratch;
    w.x = at, at += z->steps * z->batch * gates;
    w.r = at, at += z->batch * gates;
    w.h = at, at += z->batch * z->hidden;
    w.c = at, at += z->batch * z->hidden;
    w.t = at, at += z->batch * z->hidden;
    if (!own.packed) {
        float *room = (float *)call->scratch + run_floats(&own);
        pack(cell, call->attrs, &own, room, call->inputs[W]->data, call->inputs[R]->data,
             input(call, B) ? input(call, B)->data : NULL, call->pool);
        own.packed = room;
    }
    if (output(call, 0)) memset(output(call, 0)->data, 0, output(call, 0)->size);
    for (w.direction = 0; w.direction < z->directions; w.direction++) {
        w.reverse = w.direction == 1 || !strcmp(w.attrs->direction, "reverse");
        walk_direction(&w);
    }
    return TARE_OK;
}

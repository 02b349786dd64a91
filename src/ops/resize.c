/* Resize: nearest, linear, cubic along any axes.  ONNX 11, 13, 18, 19; 10 is read as asymmetric.
 * Linear over two neighbouring axes sums as ONNX Runtime does, weights multiplied first (onnxruntime.md §8); all else
 * runs axis by axis. */
#include "ops/resize.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "ops/attr.h"

typedef struct attributes {
    int mode, coordinate, nearest, policy;
    int64_t antialias, exclude_outside;
    float cubic_a, extrapolation;
    tare_ints axes;
} attributes;

/* ORDER: resize.h */
static const char *const modes[] = { "nearest", "linear", "cubic", NULL };
static const char *const coordinates[] = { "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                           "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize", NULL };
static const char *const nearests[] = { "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL };
static const char *const policies[] = { "stretch", "not_larger", "not_smaller", NULL };

#define FIELD(text, kind, member) .name = text, .type = kind, .offset = offsetof(attributes, member)
static const tare_field fields[] = {
    { FIELD("mode", TARE_FIELD_ENUM, mode), .names = modes },
    { FIELD("coordinate_transformation_mode", TARE_FIELD_ENUM, coordinate), .names = coordinates },
    { FIELD("nearest_mode", TARE_FIELD_ENUM, nearest), .names = nearests },
    { FIELD("keep_aspect_ratio_policy", TARE_FIELD_ENUM, policy), .names = policies },
    { FIELD("antialias", TARE_FIELD_INT, antialias), .hi = 1 },
    { FIELD("exclude_outside", TARE_FIELD_INT, exclude_outside), .hi = 1 },
    { FIELD("cubic_coeff_a", TARE_FIELD_FLOAT, cubic_a), .fallback.f = -0.75 },
    { FIELD("extrapolation_value", TARE_FIELD_FLOAT, extrapolation), .flags = TARE_FIELD_ANY_REAL },
    { FIELD("axes", TARE_FIELD_INTS, axes), .flags = TARE_FIELD_AXIS },
    { .type = TARE_FIELD_END },
};

enum { X, ROI, SCALES, SIZES };

/* ---- what the inputs say ---- */

typedef struct request {
    int rank, count; /* of the axes named */
    int axis[TARE_RANK_MAX];
    bool has_scales;
    float scale[TARE_RANK_MAX]; /* by position among the axes */
    int64_t size[TARE_RANK_MAX];
} request;

/* An input that is there and not empty: old files leave inputs out by giving none of a list. */
static const tare_value *given(const tare_node *node, int input) {
    const tare_value *value = tare_node_input(node, input);
    return value && !(value->shape.rank == 1 && value->shape.dim[0] == 0) ? value : NULL;
}

static tare_status read_axes(const attributes *attrs, request *r, tare_error *err) {
    unsigned seen = 0;
    r->count = attrs->axes.at ? (int)attrs->axes.count : r->rank;
    if (r->count > r->rank) return tare_fail(err, TARE_E_MALFORMED, "%d axes for rank %d", r->count, r->rank);
    for (int i = 0; i < r->count; i++) {
        int64_t axis = attrs->axes.at ? attrs->axes.at[i] : i;
        if (!tare_axis_normalize(&axis, r->rank) || (seen >> axis & 1))
            return tare_fail(err, TARE_E_MALFORMED, "axis %lld of rank %d is outside or stands twice", (long long)axis,
                             r->rank);
        seen |= 1u << axis;
        r->axis[i] = (int)axis;
    }
    return TARE_OK;
}

/* The numbers of scales or sizes, where they are known: `numbers` is NULL where they are not. */
static tare_status read_numbers(const tare_tensor *numbers, request *r, tare_error *err) {
    const char *what = r->has_scales ? "scales" : "sizes";
    const size_t count = numbers->size / tare_dtype_size(numbers->dtype);
    if (count != (size_t)r->count) return tare_fail(err, TARE_E_MALFORMED, "%zu %s for %d axes", count, what, r->count);
    if (numbers->dtype != (r->has_scales ? TARE_F32 : TARE_S64))
        return tare_fail(err, TARE_E_MALFORMED, "%s are %s, want %s", what, tare_dtype_name(numbers->dtype),
                         r->has_scales ? "f32" : "s64");
    for (int i = 0; i < r->count; i++) {
        const double number = tare_dtype_f64_at(numbers->dtype, numbers->data, (size_t)i);
        if (r->has_scales ? !(number > 0 && number < INFINITY) : number < 0)
            return tare_fail(err, TARE_E_MALFORMED, "%s: number %d is %.9g, want %s", what, i, number,
                             r->has_scales ? "a finite one above 0" : "0 at least");
        if (number > INT32_MAX)
            return tare_fail(err, TARE_E_LIMIT, "%s: number %d is %.9g, more than %d", what, i, number, INT32_MAX);
        if (r->has_scales)
            r->scale[i] = (float)number;
        else
            r->size[i] = (int64_t)number;
    }
    return TARE_OK;
}

/* Which of the two inputs asks; -1: none, or both. */
static int asking_input(const tare_node *node) {
    const bool scales = given(node, SCALES), sizes = given(node, SIZES);
    return scales == sizes ? -1 : scales ? SCALES : SIZES;
}

/* Sizes that keep the aspect: one scale for all axes, the least or the greatest that is asked for. */
static void keep_aspect(const attributes *attrs, const tare_shape *x, request *r) {
    if (r->has_scales || !attrs->policy) return;
    float scale = attrs->policy == 1 ? INFINITY : 0;
    for (int i = 0; i < r->count; i++) {
        float one = (float)r->size[i] / (float)x->dim[r->axis[i]];
        if (attrs->policy == 1 ? one < scale : one > scale) scale = one;
    }
    for (int i = 0; i < r->count; i++) {
        r->size[i] = (int64_t)floorf(scale * (float)x->dim[r->axis[i]] + 0.5f);
        r->scale[i] = scale;
    }
}

static tare_status out_dim(const request *r, int i, int64_t in, int64_t *out, tare_error *err) {
    double size = r->has_scales ? floor((double)(r->scale[i] * (float)in)) : (double)r->size[i];
    if (size > (double)INT32_MAX)
        return tare_fail(err, TARE_E_LIMIT, "axis %d would have %.0f elements", r->axis[i], size);
    *out = (int64_t)size;
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    const tare_value *x = node->inputs[X];
    if (attrs->mode != TARE_RESIZE_NEAREST) TARE_TRY(tare_infer_check(node, X, 1u << TARE_F32, err));
    if (x->shape.rank < 0) return tare_infer_set(node, 0, x->dtype, NULL, err);
    request r = { .rank = x->shape.rank };
    TARE_TRY(read_axes(attrs, &r, err));
    const int input = asking_input(node);
    if (input < 0) return tare_fail(err, TARE_E_MALFORMED, "wants either scales or sizes");
    r.has_scales = input == SCALES;
    const bool known = tare_value_is_constant(node->inputs[input]);
    if (known) TARE_TRY(read_numbers(node->inputs[input]->constant, &r, err));
    tare_shape y = x->shape;
    for (int i = 0; i < r.count; i++) {
        const bool fixed = known && (x->shape.dim[r.axis[i]] >= 0 || (!r.has_scales && !attrs->policy));
        if (!fixed && known && r.has_scales && r.scale[i] == 1) continue; /* whatever it is, it stays */
        y.dim[r.axis[i]] = TARE_DIM_UNKNOWN;
    }
    if (known && tare_shape_is_static(&x->shape)) keep_aspect(attrs, &x->shape, &r);
    for (int i = 0; known && i < r.count; i++) {
        const int64_t in = x->shape.dim[r.axis[i]];
        if (in >= 0 || (!r.has_scales && !attrs->policy)) TARE_TRY(out_dim(&r, i, in, &y.dim[r.axis[i]], err));
    }
    return tare_infer_set(node, 0, x->dtype, &y, err);
}

/* What old files had to give and nobody reads is left out: an roi without cropping, an empty list of scales or sizes. (ONNX
 * Runtime's layout optimizer permutes whatever stands there, and fails on an empty roi.) */
static tare_status leave_out(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const attributes *attrs = node->attrs;
    for (int i = ROI; i < node->input_count; i++) {
        const bool unused = i == ROI && attrs->coordinate != TARE_RESIZE_CROP;
        if (node->inputs[i] && (unused || !given(node, i))) TARE_TRY(tare_node_set_input(node, i, NULL, err));
    }
    tare_node_trim(node);
    return TARE_OK;
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    if (attrs->coordinate == TARE_RESIZE_HALF_PIXEL_SYMMETRIC) return 19;
    if (attrs->axes.at || attrs->antialias || attrs->policy) return 18;
    return tare_node_input(node, ROI) ? 11 : 13;
}

static tare_quant_kind kind_of(const tare_node *node) {
    const attributes *attrs = node->attrs;
    return attrs->mode == TARE_RESIZE_NEAREST && attrs->coordinate != TARE_RESIZE_CROP ? TARE_QUANT_PASS
                                                                                       : TARE_QUANT_OBSERVE;
}

/* ---- running ---- */

typedef struct step {
    int axis; /* as it lies in memory */
    size_t outer, in, out, inner;
    tare_resize_taps taps;
} step;

typedef struct state {
    int count;
    step steps[TARE_RANK_MAX];
    bool bilinear; /* two steps that are one: rows, then columns of the same planes */
    size_t buffer; /* bytes of each of two */
    float extrapolation;
} state;

/* All that the steps depend on. They are made when the plan is, or by each run when scales, sizes or roi are its data. */
typedef struct setting {
    const tare_node *node;
    const attributes *attrs;
    tare_layout layout;
    const tare_tensor *numbers, *roi; /* NULL: not known, or not wanted */
    const tare_tensor *x, *y;
    tare_arena *arena;
} setting;

static tare_status axis_of(const setting *p, const request *r, int i, tare_resize_axis *axis, tare_error *err) {
    const attributes *attrs = p->attrs;
    const int at = tare_layout_axis(p->layout, r->axis[i], r->rank);
    *axis = (tare_resize_axis){ .mode = attrs->mode,
                                .coordinate = attrs->coordinate,
                                .nearest = attrs->nearest,
                                .exclude_outside = attrs->exclude_outside != 0,
                                .antialias = attrs->antialias != 0,
                                .cubic_a = attrs->cubic_a,
                                .extrapolation = attrs->extrapolation,
                                .in = p->x->shape.dim[at],
                                .out = p->y->shape.dim[at] };
    axis->scale = r->has_scales || attrs->policy ? r->scale[i] : (float)axis->out / (float)axis->in;
    if (attrs->coordinate != TARE_RESIZE_CROP) return TARE_OK;
    const tare_tensor *t = p->roi;
    if (!t || t->dtype != TARE_F32 || t->size != (size_t)r->count * 2 * sizeof(float))
        return tare_fail(err, TARE_E_UNSUPPORTED, "tf_crop_and_resize wants an f32 roi of %d numbers", 2 * r->count);
    axis->roi_start = ((const float *)t->data)[i];
    axis->roi_end = ((const float *)t->data)[r->count + i];
    return TARE_OK;
}

static bool changes(const tare_resize_axis *a) {
    return a->in != a->out || a->scale != 1 || a->coordinate == TARE_RESIZE_CROP;
}

static tare_status add_step(const setting *p, const request *r, int i, tare_shape *now, state *s, tare_error *err) {
    tare_resize_axis axis;
    TARE_TRY(axis_of(p, r, i, &axis, err));
    if (!changes(&axis)) return TARE_OK;
    if (axis.in == 0 && axis.out > 0)
        return tare_fail(err, TARE_E_MALFORMED, "axis %d has no elements to make %lld of", r->axis[i],
                         (long long)axis.out);
    const int at = tare_layout_axis(p->layout, r->axis[i], r->rank);
    step *t = &s->steps[s->count++];
    *t = (step){ .axis = at,
                 .in = (size_t)axis.in,
                 .out = (size_t)axis.out,
                 .outer = (size_t)tare_shape_product(now, 0, at),
                 .inner = (size_t)tare_shape_product(now, at + 1, r->rank) };
    now->dim[at] = axis.out;
    size_t size;
    if (!tare_tensor_size(p->y->dtype, now, &size)) return tare_fail(err, TARE_E_LIMIT, "too large");
    if (size > s->buffer) s->buffer = size;
    return tare_resize_make_taps(&axis, p->arena, &t->taps, err);
}

/* The shape in ONNX's order of what lies in the node's layout. */
static tare_shape onnx_shape(const tare_tensor *tensor, tare_layout layout) {
    tare_shape shape = tensor->shape;
    for (int i = 0; i < shape.rank; i++) shape.dim[i] = tensor->shape.dim[tare_layout_axis(layout, i, shape.rank)];
    return shape;
}

static tare_status make_steps(const setting *p, state *s, tare_error *err) {
    request r = { .rank = p->x->shape.rank, .has_scales = asking_input(p->node) == SCALES };
    TARE_TRY(read_axes(p->attrs, &r, err));
    TARE_TRY(read_numbers(p->numbers, &r, err));
    tare_shape now = p->x->shape, onnx = onnx_shape(p->x, p->layout);
    if (p->attrs->policy) keep_aspect(p->attrs, &onnx, &r);
    s->extrapolation = p->attrs->extrapolation;
    for (int i = 0; i < r.count; i++) TARE_TRY(add_step(p, &r, i, &now, s, err));
    if (!tare_shape_equal(&now, &p->y->shape))
        return tare_fail(err, TARE_E_MALFORMED, "scales or sizes ask for another shape than was planned");
    s->buffer = (s->buffer + 63) / 64 * 64;
    s->bilinear = p->attrs->mode == TARE_RESIZE_LINEAR && s->count == 2 && s->steps[1].axis == s->steps[0].axis + 1 &&
                  s->steps[0].taps.taps == 2 && s->steps[1].taps.taps == 2 && p->attrs->coordinate != TARE_RESIZE_CROP;
    return TARE_OK;
}

static size_t scratch_of(const state *s) { return s->count > 1 && !s->bilinear ? 2 * s->buffer : 0; }

static tare_status prepare(tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    const tare_tensor *roi = p->input_count > ROI ? p->inputs[ROI] : NULL;
    const setting now = { p->node, attrs,        p->layout,     p->inputs[asking_input(p->node)],
                          roi,     p->inputs[X], p->outputs[0], p->arena };
    p->state = NULL;
    if (!now.numbers->data || (attrs->coordinate == TARE_RESIZE_CROP && roi && !roi->data)) return TARE_OK;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    TARE_TRY(make_steps(&now, s, err));
    p->state = s;
    p->scratch_size = scratch_of(s);
    return TARE_OK;
}

typedef struct job {
    const state *s;
    const step *t;
    const char *from;
    char *to;
    size_t size; /* of an element */
} job;

static void copy_rows(void *context, size_t o, size_t thread) {
    const job *j = context;
    const size_t row = j->t->inner * j->size;
    (void)thread;
    for (size_t k = 0; k < j->t->out; k++) {
        char *to = j->to + (o * j->t->out + k) * row;
        const float fill = j->s->extrapolation;
        if (j->t->taps.outside && j->t->taps.outside[k] && j->size == sizeof fill)
            for (size_t i = 0; i < j->t->inner; i++) memcpy(to + i * sizeof fill, &fill, sizeof fill);
        else if (row == 4)
            memcpy(to, j->from + (o * j->t->in + (size_t)j->t->taps.index[k]) * 4, 4);
        else
            memcpy(to, j->from + (o * j->t->in + (size_t)j->t->taps.index[k]) * row, row);
    }
}

static void mix_rows(void *context, size_t o, size_t thread) {
    const job *j = context;
    const tare_resize_taps *taps = &j->t->taps;
    const size_t inner = j->t->inner;
    const float *from = (const float *)(const void *)j->from + o * j->t->in * inner;
    (void)thread;
    for (size_t k = 0; k < j->t->out; k++) {
        float *to = (float *)(void *)j->to + (o * j->t->out + k) * inner;
        const bool outside = taps->outside && taps->outside[k];
        for (size_t i = 0; i < inner; i++) {
            float sum = outside ? j->s->extrapolation : 0;
            for (size_t t = 0; t < taps->taps && !outside; t++)
                sum += taps->weight[k * taps->taps + t] * from[(size_t)taps->index[k * taps->taps + t] * inner + i];
            to[i] = sum;
        }
    }
}

/* One plane of rows × columns × inner: ((w2·v2 A + w1·v2 B) + w2·v1 C) + w1·v1 D, no fused multiply-add. */
static void mix_planes(void *context, size_t plane, size_t thread) {
    const job *j = context;
    const step *y = &j->t[0], *x = &j->t[1];
    const size_t inner = x->inner;
    const float *from = (const float *)(const void *)j->from + plane * y->in * x->in * inner;
    float *to = (float *)(void *)j->to + plane * y->out * x->out * inner;
    (void)thread;
    for (size_t r = 0; r < y->out; r++) {
        const float *upper = from + (size_t)y->taps.index[2 * r] * x->in * inner,
                    *lower = from + (size_t)y->taps.index[2 * r + 1] * x->in * inner;
        const float v0 = y->taps.weight[2 * r], v1 = y->taps.weight[2 * r + 1];
        for (size_t k = 0; k < x->out; k++, to += inner) {
            const size_t left = (size_t)x->taps.index[2 * k] * inner, right = (size_t)x->taps.index[2 * k + 1] * inner;
            const float w0 = x->taps.weight[2 * k], w1 = x->taps.weight[2 * k + 1];
            const float a = w0 * v0, b = w1 * v0, c = w0 * v1, d = w1 * v1;
            for (size_t i = 0; i < inner; i++)
                to[i] = ((a * upper[left + i] + b * upper[right + i]) + c * lower[left + i]) + d * lower[right + i];
        }
    }
}

static void take_steps(const tare_call *call, const state *s, char *scratch) {
    const attributes *attrs = call->attrs;
    const tare_tensor *x = call->inputs[X];
    tare_tensor *y = call->outputs[0];
    job j = { .s = s, .t = s->steps, .from = x->data, .to = y->data, .size = tare_dtype_size(y->dtype) };
    if (!y->size) return; /* rows of nothing may be many */
    if (!s->count) {
        memcpy(y->data, x->data, y->size);
    } else if (s->bilinear) {
        tare_pool_run(call->pool, s->steps[0].outer, mix_planes, &j);
    } else {
        for (int i = 0; i < s->count; i++, j.t++, j.from = j.to) {
            j.to = i + 1 == s->count ? y->data : scratch + (size_t)(i % 2) * s->buffer;
            tare_pool_run(call->pool, j.t->outer, attrs->mode == TARE_RESIZE_NEAREST ? copy_rows : mix_rows, &j);
        }
    }
}

static tare_status run_on_data(const tare_call *call, tare_arena *arena, tare_error *err) {
    const setting now = { call->node,
                          call->attrs,
                          call->layout,
                          call->inputs[asking_input(call->node)],
                          call->input_count > ROI ? call->inputs[ROI] : NULL,
                          call->inputs[X],
                          call->outputs[0],
                          arena };
    state s = { 0 };
    TARE_TRY(make_steps(&now, &s, err));
    char *scratch = tare_arena_alloc_raw(arena, scratch_of(&s) + 1, 1);
    if (!scratch) return tare_fail_memory(err, scratch_of(&s));
    take_steps(call, &s, scratch);
    return TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) {
    if (call->state) {
        take_steps(call, call->state, call->scratch);
        return TARE_OK;
    }
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = run_on_data(call, arena, err);
    tare_arena_free(arena);
    return status;
}

const tare_op tare_op_resize = {
    .name = "Resize",
    .since = 11,
    .inputs = { 1, 4 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .layout = TARE_LAYOUT_EITHER,
    .layout_inputs = 1,
    .quant = { .kind = TARE_QUANT_OBSERVE, .kind_of = kind_of },
    .upgrade = leave_out,
    .needs = needs,
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

/* ---- opset 10: X, scales; asymmetric, floor ---- */

static const tare_field fields_10[] = {
    { FIELD("mode", TARE_FIELD_ENUM, mode), .names = modes },
    { .type = TARE_FIELD_END },
};

static tare_status upgrade_10(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const int mode = ((const attributes *)node->attrs)->mode;
    tare_value *scales = node->inputs[1];
    TARE_TRY(tare_node_resize_inputs(node, 3, err));
    TARE_TRY(tare_node_set_input(node, 2, scales, err));
    TARE_TRY(tare_node_set_input(node, 1, NULL, err));
    TARE_TRY(tare_node_become(node, &tare_op_resize, err));
    attributes *attrs = node->attrs;
    attrs->mode = mode;
    attrs->coordinate = TARE_RESIZE_ASYMMETRIC;
    attrs->nearest = TARE_RESIZE_FLOOR;
    return TARE_OK;
}

static tare_status infer_10(tare_node *node, tare_error *err) {
    return tare_infer_set(node, 0, node->inputs[0]->dtype, NULL, err);
}

const tare_op tare_op_resize_10 = {
    .name = "Resize",
    .since = 10,
    .until = 10,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields_10,
    .attrs_size = sizeof(attributes),
    .upgrade = upgrade_10,
    .infer = infer_10,
};

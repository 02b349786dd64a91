/* LpNormalization: x / (Σ |x|^p)^(1/p) along one axis, p 1 or 2; where the norm is 0 the result is 0.
 * MeanVarianceNormalization: (x - mean) / (sqrt(var) + 1e-9) over some axes. */
#include <math.h>
#include <stddef.h>

#include "ops/as_f32.h"
#include "ops/moments.h"
#include "ops/spans.h"

typedef struct norm_attrs {
    int64_t axis, p;
    tare_ints axes;
} norm_attrs;

static const tare_field lp_fields[] = {
    { "axis", TARE_FIELD_INT, offsetof(norm_attrs, axis), .flags = TARE_FIELD_AXIS, .fallback.i = -1 },
    { "p", TARE_FIELD_INT, offsetof(norm_attrs, p), .fallback.i = 2, .lo = 1, .hi = 2 },
    { 0 },
};
static const tare_field mvn_fields[] = {
    { "axes", TARE_FIELD_INTS, offsetof(norm_attrs, axes), .flags = TARE_FIELD_AXIS },
    { 0 },
};

static tare_status lp_axes(const norm_attrs *attrs, int rank, unsigned *bits, tare_error *err) {
    int axis;
    TARE_TRY(tare_infer_axis(attrs->axis, rank, &axis, err));
    *bits = 1u << axis;
    return TARE_OK;
}

static tare_status mvn_axes(const norm_attrs *attrs, int rank, unsigned *bits, tare_error *err) {
    static const int64_t usual[] = { 0, 2, 3 };
    const int64_t *axes = attrs->axes.at ? attrs->axes.at : usual;
    size_t count = attrs->axes.at ? attrs->axes.count : sizeof usual / sizeof *usual;
    *bits = 0;
    for (size_t i = 0; i < count; i++) {
        int axis;
        TARE_TRY(tare_infer_axis(axes[i], rank, &axis, err));
        *bits |= 1u << axis;
    }
    return TARE_OK;
}

typedef tare_status axes_fn(const norm_attrs *attrs, int rank, unsigned *bits, tare_error *err);

static tare_status infer(tare_node *node, axes_fn *axes, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0);
    unsigned bits;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    if (shape.rank >= 0) TARE_TRY(axes(node->attrs, shape.rank, &bits, err));
    return tare_infer_same(node, err);
}

static tare_status infer_lp(tare_node *node, tare_error *err) { return infer(node, lp_axes, err); }
static tare_status infer_mvn(tare_node *node, tare_error *err) { return infer(node, mvn_axes, err); }

enum { BLOCK = TARE_MOMENTS_BLOCK };

struct job {
    const tare_call *call;
    tare_rows rows;
    void (*block)(const struct job *job, float *to, const float *from, size_t count);
};

/* to = from · factor, along rows side by side. */
static void scale_rows(const struct job *job, float *to, const float *from, const float *factor, size_t count) {
    tare_row_walk walk;
    tare_row_begin(&walk, &job->rows);
    for (int64_t k = 0; k < job->rows.length; k++, tare_row_next(&walk))
        job->call->kernels->mul_f32(to + walk.at, from + walk.at, 1, factor, 1, count);
}

static void lp_block(const struct job *job, float *to, const float *from, size_t count) {
    const tare_kernels *kernels = job->call->kernels;
    float lanes[TARE_LANES][BLOCK] = { { 0 } }, part[BLOCK];
    bool is_square = ((const norm_attrs *)job->call->attrs)->p == 2;
    tare_row_walk walk;
    tare_row_begin(&walk, &job->rows);
    for (int64_t k = 0; k < job->rows.length; k++, tare_row_next(&walk)) {
        for (size_t c = 0; c < count; c++) {
            float x = from[walk.at + (int64_t)c];
            part[c] = is_square ? x * x : fabsf(x);
        }
        kernels->add_f32(lanes[k % TARE_LANES], lanes[k % TARE_LANES], 1, part, 1, count);
    }
    tare_lanes_tree(lanes[0], BLOCK, count, kernels->add_f32);
    for (size_t c = 0; c < count; c++) {
        float norm = is_square ? sqrtf(lanes[0][c]) : lanes[0][c];
        part[c] = norm == 0 ? 0 : 1 / norm;
    }
    scale_rows(job, to, from, part, count);
}

static void mvn_block(const struct job *job, float *to, const float *from, size_t count) {
    float mean[BLOCK], factor[BLOCK];
    tare_moments_block(job->call->kernels, &job->rows, to, from, count, mean, factor);
    for (size_t c = 0; c < count; c++) factor[c] = 1 / (sqrtf(factor[c]) + 1e-9f);
    scale_rows(job, to, to, factor, count);
}

static void blocks(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const float *input = job->call->inputs[0]->data;
    float *output = job->call->outputs[0]->data;
    int64_t inner = job->rows.inner, per_group = (inner + BLOCK - 1) / BLOCK, from, to;
    for (int64_t i = first; i < last; i++) {
        int64_t c = i % per_group * BLOCK, count = inner - c < BLOCK ? inner - c : BLOCK;
        tare_rows_start(&job->rows, i / per_group, &from, &to);
        job->block(job, output + from + c, input + from + c, (size_t)count);
    }
}

static tare_status run(struct job *job, axes_fn *axes, tare_error *err) {
    const tare_call *call = job->call;
    const tare_shape *shape = &call->inputs[0]->shape;
    unsigned bits;
    TARE_TRY(axes(call->attrs, shape->rank, &bits, err));
    tare_rows_init(&job->rows, shape, call->layout, bits, true);
    if (!job->rows.length) return TARE_OK;
    int64_t wide = job->rows.inner < BLOCK ? job->rows.inner : BLOCK;
    tare_ranges_run(call->pool, job->rows.outer * ((job->rows.inner + BLOCK - 1) / BLOCK), job->rows.length * wide,
                    blocks, job);
    return TARE_OK;
}

static tare_status lp_f32(const tare_call *call, tare_error *err) {
    return run(&(struct job){ .call = call, .block = lp_block }, lp_axes, err);
}
static tare_status mvn_f32(const tare_call *call, tare_error *err) {
    return run(&(struct job){ .call = call, .block = mvn_block }, mvn_axes, err);
}
static tare_status run_lp(const tare_call *call, tare_error *err) { return tare_as_f32_run(call, 0, lp_f32, err); }
static tare_status run_mvn(const tare_call *call, tare_error *err) { return tare_as_f32_run(call, 0, mvn_f32, err); }

const tare_op tare_op_lp_normalization = {
    .name = "LpNormalization",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = lp_fields,
    .attrs_size = sizeof(norm_attrs),
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_FIXED, .lo = -1, .hi = 1 },
    .infer = infer_lp,
    .prepare = tare_as_f32_prepare,
    .run = run_lp,
};

const tare_op tare_op_mean_variance_normalization = {
    .name = "MeanVarianceNormalization",
    .since = 9,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = mvn_fields,
    .attrs_size = sizeof(norm_attrs),
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer_mvn,
    .prepare = tare_as_f32_prepare,
    .run = run_mvn,
};

/* LRN: y = x / (bias + alpha / size Σ x²)^beta, the sum over `size` channels around x's, in order. */
#include <stddef.h>

#include "ops/as_f32.h"
#include "ops/spans.h"

typedef struct lrn_attrs {
    float alpha, beta, bias;
    int64_t size;
} lrn_attrs;

static const tare_field fields[] = {
    { "alpha", TARE_FIELD_FLOAT, offsetof(lrn_attrs, alpha), .fallback.f = 0.0001 },
    { "beta", TARE_FIELD_FLOAT, offsetof(lrn_attrs, beta), .fallback.f = 0.75 },
    { "bias", TARE_FIELD_FLOAT, offsetof(lrn_attrs, bias), .fallback.f = 1 },
    { "size", TARE_FIELD_INT, offsetof(lrn_attrs, size), .flags = TARE_FIELD_REQUIRED, .lo = 1, .hi = INT32_MAX },
    { 0 },
};

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0);
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    if (shape.rank >= 0 && shape.rank < 2)
        return tare_fail(err, TARE_E_MALFORMED, "the input has rank %d, want 2 at least", shape.rank);
    return tare_infer_same(node, err);
}

enum { BLOCK = 256 /* numbers side by side, of one channel or of many */ };

struct job {
    const tare_call *call;
    int64_t channels, spatial; /* spatial: how far channels lie apart, 1 when they are last */
};

/* y from x and the sums. */
static void finish(const struct job *job, float *to, const float *from, float *sums, size_t count) {
    const lrn_attrs *attrs = job->call->attrs;
    const tare_kernels *kernels = job->call->kernels;
    float factor = attrs->alpha / (float)attrs->size;
    for (size_t i = 0; i < count; i++) sums[i] = attrs->bias + factor * sums[i];
    kernels->pow_f32(sums, sums, 1, &attrs->beta, 0, count);
    kernels->div_f32(to, from, 1, sums, 1, count);
}

/* The channels whose squares count for channel c. */
static void window(const struct job *job, int64_t c, int64_t *first, int64_t *last) {
    int64_t size = ((const lrn_attrs *)job->call->attrs)->size, before = (size - 1) / 2;
    *first = c > before ? c - before : 0;
    *last = job->channels - c < size - before ? job->channels : c + size - before;
}

/* A block of pixels of one sample, channels first: vectors go over the pixels. */
static void blocks_first(void *context, int64_t begin, int64_t end) {
    const struct job *job = context;
    const tare_kernels *kernels = job->call->kernels;
    int64_t blocks = (job->spatial + BLOCK - 1) / BLOCK;
    for (int64_t i = begin; i < end; i++) {
        int64_t pixel = i % blocks * BLOCK, start = i / blocks * job->channels * job->spatial + pixel, first, last;
        size_t count = (size_t)(job->spatial - pixel < BLOCK ? job->spatial - pixel : BLOCK);
        const float *from = (const float *)job->call->inputs[0]->data + start;
        float *to = (float *)job->call->outputs[0]->data + start;
        for (int64_t c = 0; c < job->channels; c++) {
            float sums[BLOCK] = { 0 }, square[BLOCK];
            window(job, c, &first, &last);
            for (int64_t k = first; k < last; k++) {
                kernels->mul_f32(square, from + k * job->spatial, 1, from + k * job->spatial, 1, count);
                kernels->add_f32(sums, sums, 1, square, 1, count);
            }
            finish(job, to + c * job->spatial, from + c * job->spatial, sums, count);
        }
    }
}

/* The channels of pixels, channels last. */
static void pixels_last(void *context, int64_t begin, int64_t end) {
    const struct job *job = context;
    int64_t first, last;
    for (int64_t pixel = begin; pixel < end; pixel++) {
        const float *from = (const float *)job->call->inputs[0]->data + pixel * job->channels;
        float *to = (float *)job->call->outputs[0]->data + pixel * job->channels;
        for (int64_t c = 0; c < job->channels; c += BLOCK) {
            int64_t count = job->channels - c < BLOCK ? job->channels - c : BLOCK;
            float sums[BLOCK];
            for (int64_t i = 0; i < count; i++) {
                window(job, c + i, &first, &last);
                sums[i] = 0;
                for (int64_t k = first; k < last; k++) sums[i] += from[k] * from[k];
            }
            finish(job, to + c, from + c, sums, (size_t)count);
        }
    }
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    (void)err;
    const tare_shape *shape = &call->inputs[0]->shape;
    struct job job = { .call = call,
                       .channels = shape->dim[tare_layout_axis(call->layout, 1, shape->rank)],
                       .spatial = 1 };
    for (int i = 2; i < shape->rank; i++) job.spatial *= shape->dim[tare_layout_axis(call->layout, i, shape->rank)];
    if (!job.channels || !job.spatial) return TARE_OK;
    if (call->layout == TARE_LAYOUT_LAST && shape->rank > 2)
        tare_ranges_run(call->pool, shape->dim[0] * job.spatial, job.channels * 4, pixels_last, &job);
    else
        tare_ranges_run(call->pool, shape->dim[0] * ((job.spatial + BLOCK - 1) / BLOCK), job.channels * BLOCK * 4,
                        blocks_first, &job);
    return TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) { return tare_as_f32_run(call, 0, run_f32, err); }

const tare_op tare_op_lrn = {
    .name = "LRN",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(lrn_attrs),
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer,
    .prepare = tare_as_f32_prepare,
    .run = run,
};

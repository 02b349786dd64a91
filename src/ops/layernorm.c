/* LayerNormalization: (x - mean) / sqrt(var + epsilon) scale + B over the dimensions from `axis` on; RMSNormalization:
 * x / sqrt(mean(x²) + epsilon) scale. scale and B broadcast to the input. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "ops/as_f32.h"
#include "ops/elementwise.h"
#include "ops/moments.h"
#include "ops/spell.h"

typedef struct layernorm_attrs {
    int64_t axis, stash_type;
    float epsilon;
} layernorm_attrs;

static const tare_field fields[] = {
    { "axis", TARE_FIELD_INT, offsetof(layernorm_attrs, axis), .flags = TARE_FIELD_AXIS, .fallback.i = -1 },
    { "epsilon", TARE_FIELD_FLOAT, offsetof(layernorm_attrs, epsilon), .fallback.f = 1e-5, .lo = 0, .hi = 1e30 },
    { "stash_type", TARE_FIELD_INT, offsetof(layernorm_attrs, stash_type), .fallback.i = 1 },
    { 0 },
};

static const int first_statistic = 1; /* output 1: Mean, output 2: InvStdDev */

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0), all = shape, statistics = shape;
    int axis = 0;
    for (int i = 0; i < node->input_count; i++) TARE_TRY(tare_infer_check(node, i, TARE_TYPES_FLOAT, err));
    if (shape.rank >= 0)
        TARE_TRY(tare_infer_axis(((const layernorm_attrs *)node->attrs)->axis, shape.rank, &axis, err));
    for (int i = 1; i < node->input_count; i++) {
        tare_shape other = tare_input_shape(node, i), before = shape;
        if (!node->inputs[i] || shape.rank < 0 || other.rank < 0) continue;
        bool fits = other.rank <= shape.rank && tare_shape_broadcast(&all, &before, &other);
        for (int d = 0; fits && d < shape.rank; d++) fits = shape.dim[d] < 0 || all.dim[d] == shape.dim[d];
        if (fits) continue;
        char got[128], want[128];
        tare_shape_print(got, sizeof got, &other, NULL);
        tare_shape_print(want, sizeof want, &shape, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') of shape %s does not broadcast to the input's %s", i,
                         node->inputs[i]->name, got, want);
    }
    for (int d = axis; d < statistics.rank; d++) statistics.dim[d] = 1;
    for (int i = first_statistic; i < node->output_count; i++)
        TARE_TRY(tare_infer_set(node, i, TARE_F32, &statistics, err));
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &shape, err);
}

struct job {
    const tare_call *call;
    size_t length; /* of a row */
    bool center;
    const float *scale, *bias; /* a row of numbers each; NULL: applied later, or none */
    float *mean, *deviation;   /* NULL: not wanted */
};

static void rows(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const tare_kernels *kernels = job->call->kernels;
    float epsilon = ((const layernorm_attrs *)job->call->attrs)->epsilon;
    for (int64_t row = first; row < last; row++) {
        const float *from = (const float *)job->call->inputs[0]->data + (size_t)row * job->length;
        float *to = (float *)job->call->outputs[0]->data + (size_t)row * job->length, mean;
        float variance = tare_moments_row(kernels, to, from, job->length, job->center, &mean);
        float factor = 1 / sqrtf(variance + epsilon);
        kernels->mul_f32(to, to, 1, &factor, 0, job->length);
        if (job->scale) kernels->mul_f32(to, to, 1, job->scale, 1, job->length);
        if (job->bias) kernels->add_f32(to, to, 1, job->bias, 1, job->length);
        if (job->mean) job->mean[row] = mean;
        if (job->deviation) job->deviation[row] = factor;
    }
}

/* scale and B are mostly rows of numbers themselves; if not, they are broadcast afterwards. */
static tare_status run_f32(const tare_call *call, bool center) {
    const tare_tensor *from = call->inputs[0], *scale = call->inputs[1];
    const tare_tensor *bias = call->input_count > 2 ? call->inputs[2] : NULL;
    int64_t axis = ((const layernorm_attrs *)call->attrs)->axis;
    tare_axis_normalize(&axis, from->shape.rank);
    int64_t length = tare_shape_product(&from->shape, (int)axis, from->shape.rank);
    if (!length) return TARE_OK;
    bool in_rows = tare_shape_elements(&scale->shape) == length;
    in_rows = in_rows && (!bias || tare_shape_elements(&bias->shape) == length);
    struct job job = { .call = call, .length = (size_t)length, .center = center };
    if (in_rows) job.scale = scale->data;
    if (in_rows && bias) job.bias = bias->data;
    if (call->output_count > 1 && call->outputs[1]) job.mean = call->outputs[1]->data;
    if (call->output_count > 2 && call->outputs[2]) job.deviation = call->outputs[2]->data;
    tare_ranges_run(call->pool, tare_shape_product(&from->shape, 0, (int)axis), length, rows, &job);
    if (in_rows) return TARE_OK;
    tare_binary_apply(call, &tare_binary_mul, call->outputs[0], call->outputs[0], scale);
    if (bias) tare_binary_apply(call, &tare_binary_add, call->outputs[0], call->outputs[0], bias);
    return TARE_OK;
}

static tare_status layernorm(const tare_call *call, tare_error *err) { return (void)err, run_f32(call, true); }
static tare_status rmsnorm(const tare_call *call, tare_error *err) { return (void)err, run_f32(call, false); }
static tare_status run_layernorm(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, layernorm, err);
}
static tare_status run_rmsnorm(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, rmsnorm, err);
}

const tare_op tare_op_layer_normalization = {
    .name = "LayerNormalization",
    .since = 17,
    .inputs = { 2, 3 },
    .outputs = { 1, 3 },
    .attrs = fields,
    .attrs_size = sizeof(layernorm_attrs),
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .expand = tare_spell_layer_normalization,
    .needs = tare_spell_layer_normalization_needs,
    .infer = infer,
    .prepare = tare_as_f32_prepare,
    .run = run_layernorm,
};

const tare_op tare_op_rms_normalization = {
    .name = "RMSNormalization",
    .since = 23,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(layernorm_attrs),
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer,
    .prepare = tare_as_f32_prepare,
    .run = run_rmsnorm,
};

/* BatchNormalization of a trained model: y = x k + (b - mean k), k = (1 / sqrt(var + epsilon)) scale, each step rounded,
 * as ONNX Runtime has it. */
#include <math.h>
#include <stddef.h>

#include "ops/as_f32.h"
#include "ops/attr.h"
#include "ops/spans.h"
#include "ops/upgrade.h"

typedef struct batchnorm_attrs {
    float epsilon, momentum;
    int64_t spatial, training_mode;
} batchnorm_attrs;

#define COMMON                                                                                                         \
    { "epsilon", TARE_FIELD_FLOAT, offsetof(batchnorm_attrs, epsilon), .fallback.f = 1e-5, .lo = 0, .hi = 1e30 }, {    \
        "momentum", TARE_FIELD_FLOAT, offsetof(batchnorm_attrs, momentum), .fallback.f = 0.9                           \
    }

static const tare_field fields[] = {
    COMMON,
    { "training_mode", TARE_FIELD_INT, offsetof(batchnorm_attrs, training_mode), .hi = 1 },
    { 0 },
};
static const tare_field fields_7[] = {
    COMMON,
    { "spatial", TARE_FIELD_INT, offsetof(batchnorm_attrs, spatial), .fallback.i = 1, .hi = 1 },
    { 0 },
};

static const char *const parameters[] = { "X", "scale", "B", "mean", "var" };

/* Each parameter has as many numbers as the input has channels. */
static tare_status check_parameter(const tare_node *node, int input, int64_t channels, tare_error *err) {
    TARE_TRY(tare_infer_check(node, input, TARE_TYPES_FLOAT, err));
    TARE_TRY(tare_infer_rank(node, input, 1, err));
    int64_t count = tare_input_shape(node, input).rank < 0 ? TARE_DIM_UNKNOWN : tare_input_shape(node, input).dim[0];
    if (channels >= 0 && count >= 0 && count != channels)
        return tare_fail(err, TARE_E_MALFORMED, "%s ('%s') has %lld numbers for %lld channels", parameters[input],
                         node->inputs[input]->name, (long long)count, (long long)channels);
    return TARE_OK;
}

static tare_status check_variance(const tare_node *node, tare_error *err) {
    const tare_tensor *var = node->inputs[4]->constant;
    float epsilon = ((const batchnorm_attrs *)node->attrs)->epsilon;
    if (!var || var->dtype != TARE_F32) return TARE_OK;
    const float *numbers = var->data;
    for (size_t i = 0; i < var->size / sizeof *numbers; i++)
        if (numbers[i] + epsilon < 0)
            return tare_fail(err, TARE_E_MALFORMED, "the variance of channel %zu is %g", i, (double)numbers[i]);
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const batchnorm_attrs *attrs = node->attrs;
    tare_shape shape = tare_input_shape(node, 0);
    if (attrs->training_mode)
        return tare_fail(err, TARE_E_UNSUPPORTED, "attribute 'training_mode' is 1: export the model for inference");
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    if (shape.rank == 0) return tare_fail(err, TARE_E_MALFORMED, "the input is a scalar, want channels");
    int64_t channels = shape.rank < 0 ? TARE_DIM_UNKNOWN : shape.rank == 1 ? 1 : shape.dim[1];
    for (int i = 1; i < 5; i++) TARE_TRY(check_parameter(node, i, channels, err));
    TARE_TRY(check_variance(node, err));
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &shape, err);
}

struct job {
    const tare_call *call;
    const tare_spans *spans;
    const float *factor, *offset;
};

static void span(void *context, int64_t to, const int64_t *at, size_t count) {
    const struct job *job = context;
    const tare_kernels *kernels = job->call->kernels;
    const float *from = (const float *)job->call->inputs[0]->data + at[0];
    const float *factor = job->factor + at[1], *offset = job->offset + at[1];
    float *target = (float *)job->call->outputs[0]->data + to;
    size_t stride = tare_spans_stride(job->spans, 1);
    enum { CHUNK = 2048 }; /* both steps on what is in L1 */
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t part = count - i < CHUNK ? count - i : CHUNK;
        kernels->mul_f32(target + i, from + i, 1, factor + i * stride, stride, part);
        kernels->add_f32(target + i, target + i, 1, offset + i * stride, stride, part);
    }
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    (void)err;
    const tare_shape *shape = &call->inputs[0]->shape;
    int64_t channels = tare_shape_elements(&call->inputs[1]->shape);
    const float *scale = call->inputs[1]->data, *bias = call->inputs[2]->data;
    const float *mean = call->inputs[3]->data, *var = call->inputs[4]->data;
    float *factor = call->scratch, *offset = factor + channels;
    float epsilon = ((const batchnorm_attrs *)call->attrs)->epsilon;
    for (int64_t c = 0; c < channels; c++) {
        factor[c] = 1 / sqrtf(var[c] + epsilon) * scale[c];
        offset[c] = bias[c] - mean[c] * factor[c];
    }
    tare_shape per_channel = *shape;
    for (int i = 0; i < shape->rank; i++)
        if (shape->rank == 1 || i != tare_layout_axis(call->layout, 1, shape->rank)) per_channel.dim[i] = 1;
    tare_spans spans;
    tare_spans_init(&spans, shape, (const tare_shape *const[]){ shape, &per_channel }, 2);
    struct job job = { call, &spans, factor, offset };
    tare_spans_run(&spans, call->pool, span, &job);
    return TARE_OK;
}

static size_t own_scratch(const tare_tensor *scale) {
    return 2 * sizeof(float) * (size_t)tare_shape_elements(&scale->shape);
}

static tare_status prepare(tare_prepare *prepare, tare_error *err) {
    prepare->scratch_size = own_scratch(prepare->inputs[1]);
    return tare_as_f32_prepare(prepare, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, own_scratch(call->inputs[1]), run_f32, err);
}

/* Before opset 14 training's outputs may be named in a trained model too: they go when nobody reads them. */
static tare_status drop_outputs(tare_node *node, tare_error *err) {
    for (int i = 1; i < node->output_count; i++) {
        tare_value *value = node->outputs[i];
        if (!value) continue;
        if (value->uses.count || value->is_output)
            return tare_fail(err, TARE_E_UNSUPPORTED, "output '%s' is used, and only training gives it", value->name);
        tare_value_set_producer(value, NULL, 0);
        tare_value_remove(value);
    }
    node->output_count = 1;
    return TARE_OK;
}

static tare_status upgrade_9(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const float epsilon = ((const batchnorm_attrs *)node->attrs)->epsilon;
    TARE_TRY(drop_outputs(node, err));
    TARE_TRY(tare_node_become(node, &tare_op_batch_normalization, err));
    ((batchnorm_attrs *)node->attrs)->epsilon = epsilon;
    return TARE_OK;
}

/* Opset 7 and 8 could have statistics for each element of a sample (spatial=0):
 *   (x - mean) / sqrt(var + epsilon) * scale + B, all of them broadcast over the batch. */
static tare_status upgrade_7(tare_graph *graph, tare_node *node, tare_error *err) {
    const batchnorm_attrs old = *(const batchnorm_attrs *)node->attrs;
    if (old.spatial) return upgrade_9(graph, node, err);
    TARE_TRY(drop_outputs(node, err));
    tare_value *in[5], *epsilon, *variance, *deviation, *centred, *links[2];
    tare_node *added;
    for (int i = 0; i < 5; i++) in[i] = node->inputs[i];
    TARE_TRY(tare_graph_add_f32(graph, "epsilon", old.epsilon, &epsilon, err));
    TARE_TRY(tare_insert_node(node, &tare_op_add, node->name, (tare_value *[]){ in[4], epsilon }, 2, &variance, &added,
                              err));
    TARE_TRY(tare_insert_node(node, &tare_op_sqrt, node->name, &variance, 1, &deviation, &added, err));
    TARE_TRY(
        tare_insert_node(node, &tare_op_sub, node->name, (tare_value *[]){ in[0], in[3] }, 2, &centred, &added, err));
    TARE_TRY(tare_node_become(node, &tare_op_div, err));
    TARE_TRY(tare_node_resize_inputs(node, 2, err));
    TARE_TRY(tare_node_set_input(node, 0, centred, err));
    TARE_TRY(tare_node_set_input(node, 1, deviation, err));
    links[1] = in[2];
    TARE_TRY(tare_append_node(node, &tare_op_add, links, 2, &added, err));
    links[1] = in[1];
    return tare_append_node(node, &tare_op_mul, links, 2, &added, err);
}

static tare_status infer_old(tare_node *node, tare_error *err) {
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    tare_shape shape = tare_input_shape(node, 0);
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &shape, err);
}

const tare_op tare_op_batch_normalization = {
    .name = "BatchNormalization",
    .since = 9,
    .inputs = { 5, 5 },
    .outputs = { 1, 3 },
    .attrs = fields,
    .attrs_size = sizeof(batchnorm_attrs),
    .flags = TARE_OP_IN_PLACE,
    .layout = TARE_LAYOUT_EITHER,
    .layout_inputs = 1,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

const tare_op tare_op_batch_normalization_9 = {
    .name = "BatchNormalization",
    .since = 9,
    .until = 13,
    .inputs = { 5, 5 },
    .outputs = { 1, 5 },
    .attrs = fields,
    .attrs_size = sizeof(batchnorm_attrs),
    .upgrade = upgrade_9,
    .infer = infer_old,
};

const tare_op tare_op_batch_normalization_7 = {
    .name = "BatchNormalization",
    .since = 7,
    .until = 8,
    .inputs = { 5, 5 },
    .outputs = { 1, 5 },
    .attrs = fields_7,
    .attrs_size = sizeof(batchnorm_attrs),
    .upgrade = upgrade_7,
    .infer = infer_old,
};

/* InstanceNormalization: (x - mean) / sqrt(var + epsilon) scale + B over the spatial dimensions of each channel;
 * GroupNormalization: over the channels of a group and the spatial dimensions. */
#include <math.h>
#include <stddef.h>

#include "ops/as_f32.h"
#include "ops/moments.h"
#include "ops/spans.h"
#include "ops/upgrade.h"

typedef struct instancenorm_attrs {
    float epsilon;
    int64_t num_groups, stash_type;
} instancenorm_attrs;

#define EPSILON                                                                                                        \
    { "epsilon", TARE_FIELD_FLOAT, offsetof(instancenorm_attrs, epsilon), .fallback.f = 1e-5, .lo = 0, .hi = 1e30 }

static const tare_field instance_fields[] = { EPSILON, { 0 } };
static const tare_field group_fields[] = {
    EPSILON,
    { "num_groups", TARE_FIELD_INT, offsetof(instancenorm_attrs, num_groups), .flags = TARE_FIELD_REQUIRED },
    { "stash_type", TARE_FIELD_INT, offsetof(instancenorm_attrs, stash_type), .fallback.i = 1 },
    { 0 },
};

static tare_status check_parameter(const tare_node *node, int input, int64_t want, tare_error *err) {
    TARE_TRY(tare_infer_check(node, input, TARE_TYPES_FLOAT, err));
    TARE_TRY(tare_infer_rank(node, input, 1, err));
    tare_shape shape = tare_input_shape(node, input);
    if (shape.rank != 1 || shape.dim[0] < 0 || want < 0 || shape.dim[0] == want) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') has %lld numbers, want %lld", input,
                     node->inputs[input]->name, (long long)shape.dim[0], (long long)want);
}

static tare_status infer_shape(tare_node *node, tare_shape *shape, tare_error *err) {
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    *shape = tare_input_shape(node, 0);
    if (shape->rank >= 0 && shape->rank < 2)
        return tare_fail(err, TARE_E_MALFORMED, "the input has rank %d, want 2 at least", shape->rank);
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), shape, err);
}

static tare_status infer_instance(tare_node *node, tare_error *err) {
    tare_shape shape;
    TARE_TRY(infer_shape(node, &shape, err));
    for (int i = 1; i < 3; i++)
        TARE_TRY(check_parameter(node, i, shape.rank < 0 ? TARE_DIM_UNKNOWN : shape.dim[1], err));
    return TARE_OK;
}

static tare_status check_groups(const tare_node *node, const tare_shape *shape, tare_error *err) {
    int64_t groups = ((const instancenorm_attrs *)node->attrs)->num_groups;
    if (groups < 1) return tare_fail(err, TARE_E_MALFORMED, "attribute 'num_groups' is %lld", (long long)groups);
    if (shape->rank < 0 || shape->dim[1] < 0 || shape->dim[1] % groups == 0) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "attribute 'num_groups' is %lld, and does not divide %lld channels",
                     (long long)groups, (long long)shape->dim[1]);
}

static tare_status infer_group(tare_node *node, tare_error *err) {
    tare_shape shape;
    TARE_TRY(infer_shape(node, &shape, err));
    TARE_TRY(check_groups(node, &shape, err));
    for (int i = 1; i < 3; i++)
        TARE_TRY(check_parameter(node, i, shape.rank < 0 ? TARE_DIM_UNKNOWN : shape.dim[1], err));
    return TARE_OK;
}

static tare_status infer_group_18(tare_node *node, tare_error *err) {
    tare_shape shape;
    TARE_TRY(infer_shape(node, &shape, err));
    TARE_TRY(check_groups(node, &shape, err));
    for (int i = 1; i < 3; i++)
        TARE_TRY(check_parameter(node, i, ((const instancenorm_attrs *)node->attrs)->num_groups, err));
    return TARE_OK;
}

struct job {
    const tare_call *call;
    tare_rows rows;
    int64_t channels, group; /* channels in all, and in a group */
    int64_t spatial;         /* numbers of a channel in a sample */
};

static float epsilon_of(const struct job *job) { return ((const instancenorm_attrs *)job->call->attrs)->epsilon; }

/* Groups whose numbers lie together, channels first. */
static void groups_first(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const tare_kernels *kernels = job->call->kernels;
    const float *scale = job->call->inputs[1]->data, *bias = job->call->inputs[2]->data;
    int64_t length = job->group * job->spatial, groups = job->channels / job->group;
    for (int64_t i = first; i < last; i++) {
        const float *from = (const float *)job->call->inputs[0]->data + i * length;
        float *to = (float *)job->call->outputs[0]->data + i * length;
        float factor = 1 / sqrtf(tare_moments_row(kernels, to, from, (size_t)length, true, NULL) + epsilon_of(job));
        for (int64_t c = 0; c < job->group; c++, to += job->spatial) {
            int64_t channel = i % groups * job->group + c;
            float gain = factor * scale[channel];
            kernels->mul_f32(to, to, 1, &gain, 0, (size_t)job->spatial);
            kernels->add_f32(to, to, 1, bias + channel, 0, (size_t)job->spatial);
        }
    }
}

/* Channels side by side, channels last. */
static void channels_last(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const tare_kernels *kernels = job->call->kernels;
    const float *scale = job->call->inputs[1]->data, *bias = job->call->inputs[2]->data;
    int64_t blocks = (job->channels + TARE_MOMENTS_BLOCK - 1) / TARE_MOMENTS_BLOCK;
    for (int64_t i = first; i < last; i++) {
        float mean[TARE_MOMENTS_BLOCK], gain[TARE_MOMENTS_BLOCK];
        int64_t c = i % blocks * TARE_MOMENTS_BLOCK, start = i / blocks * job->spatial * job->channels + c;
        size_t count = (size_t)(job->channels - c < TARE_MOMENTS_BLOCK ? job->channels - c : TARE_MOMENTS_BLOCK);
        const float *from = (const float *)job->call->inputs[0]->data + start;
        float *to = (float *)job->call->outputs[0]->data + start;
        tare_moments_block(kernels, &job->rows, to, from, count, mean, gain);
        for (size_t j = 0; j < count; j++) gain[j] = 1 / sqrtf(gain[j] + epsilon_of(job)) * scale[c + (int64_t)j];
        for (int64_t k = 0; k < job->spatial; k++, to += job->channels) {
            kernels->mul_f32(to, to, 1, gain, 1, count);
            kernels->add_f32(to, to, 1, bias + c, 1, count);
        }
    }
}

static tare_status normalize(const tare_call *call, int64_t groups) {
    const tare_shape *shape = &call->inputs[0]->shape;
    struct job job = { .call = call,
                       .channels = shape->dim[tare_layout_axis(call->layout, 1, shape->rank)],
                       .spatial = 1 };
    for (int i = 2; i < shape->rank; i++) job.spatial *= shape->dim[tare_layout_axis(call->layout, i, shape->rank)];
    if (!job.channels || !job.spatial) return TARE_OK;
    job.group = job.channels / (groups ? groups : job.channels);
    if (call->layout == TARE_LAYOUT_FIRST || shape->rank < 3) {
        tare_ranges_run(call->pool, shape->dim[0] * job.channels / job.group, job.group * job.spatial, groups_first,
                        &job);
        return TARE_OK;
    }
    tare_rows_init(&job.rows, shape, call->layout, (1u << shape->rank) - 4, true);
    int64_t blocks = (job.channels + TARE_MOMENTS_BLOCK - 1) / TARE_MOMENTS_BLOCK;
    tare_ranges_run(call->pool, shape->dim[0] * blocks, job.spatial * TARE_MOMENTS_BLOCK, channels_last, &job);
    return TARE_OK;
}

static tare_status instance_f32(const tare_call *call, tare_error *err) { return (void)err, normalize(call, 0); }
static tare_status group_f32(const tare_call *call, tare_error *err) {
    return (void)err, normalize(call, ((const instancenorm_attrs *)call->attrs)->num_groups);
}
static tare_status run_instance(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, instance_f32, err);
}
static tare_status run_group(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, group_f32, err);
}

/* Opset 18 had a scale and a bias for each group: each is repeated for the group's channels, by
 * Reshape to [groups, 1] → Expand to [groups, channels / groups] → Reshape to [channels]. */
static tare_status repeat_parameter(tare_node *node, int input, int64_t groups, int64_t each, tare_error *err) {
    tare_graph *graph = node->graph;
    const int64_t column[] = { groups, 1 }, matrix[] = { groups, each }, row[] = { -1 };
    tare_value *links[2] = { node->inputs[input] }, *out;
    tare_node *added;
    TARE_TRY(tare_graph_add_s64(graph, "groups", column, 2, false, &links[1], err));
    TARE_TRY(tare_insert_node(node, &tare_op_reshape, links[0]->name, links, 2, &out, &added, err));
    links[0] = out;
    TARE_TRY(tare_graph_add_s64(graph, "groups", matrix, 2, false, &links[1], err));
    TARE_TRY(tare_insert_node(node, &tare_op_expand, links[0]->name, links, 2, &out, &added, err));
    links[0] = out;
    TARE_TRY(tare_graph_add_s64(graph, "channels", row, 1, false, &links[1], err));
    TARE_TRY(tare_insert_node(node, &tare_op_reshape, links[0]->name, links, 2, &out, &added, err));
    return tare_node_set_input(node, input, out, err);
}

static tare_status upgrade_group_18(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const instancenorm_attrs old = *(const instancenorm_attrs *)node->attrs;
    const tare_shape shape = node->inputs[0]->shape;
    if (shape.rank < 2 || shape.dim[1] < 0)
        return tare_fail(err, TARE_E_UNSUPPORTED, "the count of channels is not known");
    for (int i = 1; i < 3; i++) TARE_TRY(repeat_parameter(node, i, old.num_groups, shape.dim[1] / old.num_groups, err));
    TARE_TRY(tare_node_become(node, &tare_op_group_normalization, err));
    *(instancenorm_attrs *)node->attrs = old;
    return TARE_OK;
}

const tare_op tare_op_instance_normalization = {
    .name = "InstanceNormalization",
    .since = 6,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .attrs = instance_fields,
    .attrs_size = sizeof(instancenorm_attrs),
    .layout = TARE_LAYOUT_EITHER,
    .layout_inputs = 1,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer_instance,
    .prepare = tare_as_f32_prepare,
    .run = run_instance,
};

const tare_op tare_op_group_normalization = {
    .name = "GroupNormalization",
    .since = 21,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .attrs = group_fields,
    .attrs_size = sizeof(instancenorm_attrs),
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer_group,
    .prepare = tare_as_f32_prepare,
    .run = run_group,
};

const tare_op tare_op_group_normalization_18 = {
    .name = "GroupNormalization",
    .since = 18,
    .until = 20,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .attrs = group_fields,
    .attrs_size = sizeof(instancenorm_attrs),
    .upgrade = upgrade_group_18,
    .infer = infer_group_18,
};

/* Before:  y = BatchNormalization(Conv(x, W, b), s, t, m, v)
 * After:   y = Conv(x, W', b')     g = s / √(v + ε)   W'[c] = W[c]·g[c]   b'[c] = (b[c] - m[c])·g[c] + t[c]
 * Before:  y = Conv(BatchNormalization(x, s, t, m, v), W, b)
 * After:   y = Conv(x, W', b')     W'[o,i] = W[o,i]·g[i]   b'[o] = b[o] + Σ W[o,i]·(t[i] - m[i]·g[i])
 * When:    inference mode, all parameters are float constants, nothing else reads what is between, nothing is quantized
 *          there. Also for ConvTranspose, Gemm and MatMul. BN before: only without padding, which BN would have shifted.
 * In double, rounded once. */
#include <math.h>
#include <string.h>

#include "ops/attr.h"
#include "passes/linear.h"
#include "passes/rewrite.h"

static bool is_padded(const tare_node *node) {
    if (tare_node_is(node, "ConvTranspose")) return true; /* its border sees fewer weights */
    if (!tare_node_is(node, "Conv")) return false;
    if (!tare_attr_is(node, "auto_pad", "NOTSET", "NOTSET") && !tare_attr_is(node, "auto_pad", "VALID", "NOTSET"))
        return true;
    tare_ints pads = tare_attr_ints(node, "pads");
    for (size_t i = 0; i < pads.count; i++)
        if (pads.at[i]) return true;
    return false;
}

/* gain and shift per channel, or NULL: parameters that are no float vectors of `channels`. */
static double *read_bn(const tare_node *node, int64_t channels) {
    const float *at[4];
    double epsilon = (double)tare_attr_float(node, "epsilon", 1e-5f);
    for (int i = 0; i < 4; i++) {
        const tare_value *value = tare_node_input(node, i + 1);
        if (!value || !value->constant || value->quant || value->constant->dtype != TARE_F32 ||
            value->constant->size != (size_t)channels * sizeof(float))
            return NULL;
        at[i] = value->constant->data;
    }
    double *numbers = tare_arena_alloc(node->graph->model->arena, (size_t)channels * 2, sizeof *numbers);
    for (int64_t c = 0; numbers && c < channels; c++) {
        double gain = (double)at[0][c] / sqrt((double)at[3][c] + epsilon);
        numbers[c] = gain;
        numbers[channels + c] = (double)at[1][c] - (double)at[2][c] * gain;
    }
    return numbers;
}

static tare_status fold_behind(tare_pass_context *context, tare_node *bn, tare_linear *linear, bool *done,
                               tare_error *err) {
    const tare_value *between = bn->inputs[0];
    int rank = between->shape.rank;
    /* BN's channels are dimension 1; a matrix product has its own in the last. */
    if (!tare_rewrite_is_inner(between) || (linear->axis < 0 && rank != 2)) return TARE_OK;
    const double *numbers = read_bn(bn, linear->channels);
    if (!numbers) return TARE_OK;
    TARE_TRY(tare_linear_scale_output(context, linear, numbers, numbers + linear->channels, done, err));
    if (!*done) return TARE_OK;
    tare_pass_changed(context, "node '%s' (BatchNormalization) folded into '%s' (%s)", bn->name, linear->node->name,
                      linear->node->type);
    return tare_rewrite_take_output(linear->node, bn, NULL, err);
}

static tare_status fold_before(tare_pass_context *context, tare_node *bn, tare_linear *linear, tare_error *err) {
    tare_value *output = bn->outputs[0];
    if (linear->axis < 0 && output->shape.rank != 2) return TARE_OK;
    const double *numbers = read_bn(bn, linear->inputs);
    bool shifts = false, done;
    for (int64_t c = 0; numbers && c < linear->inputs; c++) shifts |= numbers[linear->inputs + c] != 0;
    if (!numbers || (shifts && is_padded(linear->node))) return TARE_OK;
    TARE_TRY(tare_linear_scale_input(context, linear, numbers, shifts ? numbers + linear->inputs : NULL, &done, err));
    if (!done) return TARE_OK;
    tare_pass_changed(context, "node '%s' (BatchNormalization) folded into '%s' (%s) behind it", bn->name,
                      linear->node->name, linear->node->type);
    TARE_TRY(tare_node_set_input(linear->node, 0, bn->inputs[0], err));
    return tare_rewrite_remove(&bn, 1, linear->node, err);
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_linear linear;
    bool done = false;
    if (node->output_count != 1 || tare_attr_int(node, "training_mode", 0)) return TARE_OK;
    tare_value *output = node->outputs[0];
    tare_node *producer = node->inputs[0]->producer;
    if (tare_linear_read(producer, &linear) && producer->graph == node->graph)
        TARE_TRY(fold_behind(context, node, &linear, &done, err));
    if (done || !output || !tare_rewrite_is_inner(output) || output->uses.at[0].index != 0) return TARE_OK;
    if (!tare_linear_read(output->uses.at[0].node, &linear)) return TARE_OK;
    return fold_before(context, node, &linear, err);
}

const tare_pass tare_pass_fuse_bn_into_conv = {
    .name = "fuse-bn-into-conv",
    .help = "BatchNormalization into the Conv, ConvTranspose, Gemm or MatMul before it, or behind it when nothing pads",
    .roots = (const char *const[]){ "BatchNormalization", NULL },
    .rewrite = rewrite,
};

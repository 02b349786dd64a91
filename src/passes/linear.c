/* Linear nodes, and what folds into them. */
#include "passes/linear.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/attr.h"
#include "passes/rewrite.h"

/* A folded channel this much above the median of all deserves a warning: one scale for all channels would lose the
 * others (cases.md W3). */
static const double outlier_ratio = 64;

static const tare_tensor *float_constant(const tare_value *value) {
    if (!value || !value->constant || value->quant || value->constant->dtype != TARE_F32) return NULL;
    return value->constant;
}

static bool read_conv(tare_linear *l, bool transposed) {
    const tare_shape *shape = &l->weight->shape;
    int64_t group = tare_attr_int(l->node, "group", 1);
    if (shape->rank < 3 || group < 1) return false;
    l->kind = transposed ? TARE_LINEAR_TRANSPOSED : TARE_LINEAR_CONV;
    l->axis = 1;
    l->groups = group;
    l->channels = transposed ? shape->dim[1] * group : shape->dim[0];
    l->inputs = transposed ? shape->dim[0] : shape->dim[1] * group;
    l->inner = tare_shape_product(shape, 2, shape->rank);
    if (l->channels < 1 || l->channels % group || l->inputs % group || l->inner < 1) return false;
    return !l->bias || (l->bias->shape.rank == 1 && l->bias->shape.dim[0] == l->channels);
}

static bool read_matrix(tare_linear *l, bool gemm) {
    const tare_shape *shape = &l->weight->shape;
    if (shape->rank < 2 || (gemm && shape->rank != 2)) return false;
    l->kind = gemm ? TARE_LINEAR_GEMM : TARE_LINEAR_MATMUL;
    l->axis = -1;
    l->is_column_major = gemm && tare_attr_int(l->node, "transB", 0);
    l->channels = shape->dim[shape->rank - (l->is_column_major ? 2 : 1)];
    l->inputs = shape->dim[shape->rank - (l->is_column_major ? 1 : 2)];
    l->groups = l->inner = 1;
    if (gemm) l->bias_factor = (double)tare_attr_float(l->node, "beta", 1);
    return l->channels > 0 && l->inputs > 0;
}

static bool read_kind(tare_linear *l) {
    if (tare_node_is(l->node, "Conv")) return read_conv(l, false);
    if (tare_node_is(l->node, "ConvTranspose")) return read_conv(l, true);
    if (tare_node_is(l->node, "Gemm")) return read_matrix(l, true);
    return tare_node_is(l->node, "MatMul") && read_matrix(l, false);
}

/* The dimension of the weight that counts output channels. */
static int weight_axis(const tare_linear *l) {
    if (l->kind == TARE_LINEAR_CONV) return 0;
    return l->kind == TARE_LINEAR_TRANSPOSED ? 1 : l->weight->shape.rank - (l->is_column_major ? 2 : 1);
}

/* Codes around 0 with scales that factors per output channel can go into. */
static bool is_symmetric(const tare_linear *l) {
    const tare_quant *quant = l->quant;
    if (quant->code != TARE_S8 || quant->block || (quant->axis >= 0 && quant->axis != weight_axis(l)) ||
        (l->kind == TARE_LINEAR_TRANSPOSED && l->groups > 1))
        return false;
    for (size_t i = 0; i < quant->count; i++)
        if (quant->zero_point[i]) return false;
    return true;
}

bool tare_linear_read(tare_node *node, tare_linear *out) {
    if (!node || node->output_count != 1 || !node->outputs[0]) return false;
    const tare_value *weight = tare_node_input(node, 1), *bias = tare_node_input(node, 2);
    *out =
        (tare_linear){ .node = node, .weight = float_constant(weight), .bias = float_constant(bias), .bias_factor = 1 };
    if (bias && !out->bias) return false;
    if (out->weight) return read_kind(out);
    if (!tare_value_is_constant(weight) || !weight->quant || weight->constant->dtype != TARE_S8) return false;
    out->weight = weight->constant;
    out->quant = weight->quant;
    return read_kind(out) && is_symmetric(out);
}

/* The output and input channel that weight i joins. */
static void channels_of(const tare_linear *l, int64_t i, int64_t *output, int64_t *input) {
    int64_t per_group = l->channels / l->groups, inputs_per_group = l->inputs / l->groups, pair = i / l->inner;
    switch (l->kind) {
    case TARE_LINEAR_CONV: /* [outputs, inputs / groups, …] */
        *output = pair / inputs_per_group;
        *input = *output / per_group * inputs_per_group + pair % inputs_per_group;
        return;
    case TARE_LINEAR_TRANSPOSED: /* [inputs, outputs / groups, …] */
        *input = pair / per_group;
        *output = *input / inputs_per_group * per_group + pair % per_group;
        return;
    case TARE_LINEAR_GEMM:
    case TARE_LINEAR_MATMUL: break;
    }
    /* [inputs, outputs], or turned */
    *output = l->is_column_major ? pair / l->inputs % l->channels : pair % l->channels;
    *input = l->is_column_major ? pair % l->inputs : pair / l->channels % l->inputs;
}

/* ---- constants per channel ---- */

const double *tare_linear_per_channel(const tare_value *constant, const tare_shape *shape, int axis, int64_t channels,
                                      tare_arena *arena) {
    const tare_tensor *tensor = float_constant(constant);
    if (!tensor || shape->rank < 1 || tensor->shape.rank > shape->rank) return NULL;
    int place = axis < 0 ? shape->rank - 1 : axis, lead = shape->rank - tensor->shape.rank;
    int64_t count = 1;
    for (int i = 0; i < tensor->shape.rank; i++) {
        count *= tensor->shape.dim[i];
        if (tensor->shape.dim[i] != 1 && (i + lead != place || tensor->shape.dim[i] != channels)) return NULL;
    }
    double *numbers = tare_arena_alloc(arena, (size_t)channels, sizeof *numbers);
    const float *data = tensor->data;
    for (int64_t c = 0; numbers && c < channels; c++) numbers[c] = (double)data[count == 1 ? 0 : c];
    return numbers;
}

/* Gemm's bias may be a scalar, a row, a column or a matrix: as a row, or false. */
static bool read_bias(const tare_linear *l, double *bias) {
    for (int64_t c = 0; c < l->channels; c++) bias[c] = 0;
    if (!l->bias) return true;
    const tare_shape *shape = &l->bias->shape;
    int64_t last = shape->rank ? shape->dim[shape->rank - 1] : 1;
    if (shape->rank > 2 || (shape->rank == 2 && shape->dim[0] != 1) || (last != 1 && last != l->channels)) return false;
    const float *data = l->bias->data;
    for (int64_t c = 0; c < l->channels; c++) bias[c] = (double)data[last == 1 ? 0 : c] * l->bias_factor;
    return true;
}

/* ---- folding ---- */

static int compare_f64(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Channels of next to nothing, a 2^-24 of the largest, are dead: they do not count for the median. */
static double median_of_living(double *sorted, int64_t count) {
    int64_t dead = 0;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_f64);
    while (dead < count && sorted[dead] <= sorted[count - 1] * 0x1p-24) dead++;
    return dead < count ? sorted[dead + (count - dead) / 2] : 0;
}

static void warn_of_outliers(tare_pass_context *context, const tare_linear *l, const float *weight, int64_t count,
                             double *work) {
    double *most = work, *sorted = work + l->channels;
    for (int64_t c = 0; c < l->channels; c++) most[c] = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t output, input;
        channels_of(l, i, &output, &input);
        most[output] = fmax(most[output], fabs((double)weight[i]));
    }
    memcpy(sorted, most, (size_t)l->channels * sizeof *most);
    double median = median_of_living(sorted, l->channels);
    int64_t worst = 0;
    for (int64_t c = 1; c < l->channels; c++)
        if (most[c] > most[worst]) worst = c;
    if (median > 0 && most[worst] > outlier_ratio * median)
        tare_log_warn(context->log,
                      "node '%s' (%s): the folded weights of channel %lld reach %.3g, %.0f times the median of all "
                      "channels; quantize them per channel",
                      l->node->name, l->node->type, (long long)worst, most[worst], most[worst] / median);
}

static bool all_finite(const float *numbers, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return false;
    return true;
}

static bool has_place_for_bias(const tare_linear *l) {
    const tare_value *data = tare_node_input(l->node, 0);
    return l->kind != TARE_LINEAR_MATMUL || (l->weight->shape.rank == 2 && data && data->shape.rank == 2);
}

static tare_status set_bias(const tare_linear *l, const tare_tensor *bias, tare_error *err) {
    tare_node *node = l->node;
    if (l->bias) return tare_rewrite_constant(node, 2, bias, err);
    tare_value *fresh;
    const char *name = tare_arena_printf(node->graph->model->arena, "%s_bias", node->inputs[1]->name);
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_constant(node->graph, name, bias, NULL, true, &fresh, err));
    if (l->kind == TARE_LINEAR_MATMUL) TARE_TRY(tare_node_become(node, tare_rewrite_op("Gemm"), err));
    TARE_TRY(tare_node_resize_inputs(node, 3, err));
    return tare_node_set_input(node, 2, fresh, err);
}

/* ---- codes ---- */

/* scale' = scale·|gain|, and codes of the other sign where gain is negative; where that leaves nothing of a channel, codes
 * of 0. *done is false when a scale would not be finite, or a code has no opposite. */
static tare_status scale_codes(const tare_linear *l, const double *gain, bool *done, tare_error *err) {
    tare_arena *arena = l->node->graph->model->arena;
    int64_t count = tare_shape_elements(&l->weight->shape);
    tare_quant *quant = tare_arena_alloc(arena, 1, sizeof *quant);
    float *scale = tare_arena_alloc(arena, (size_t)l->channels, sizeof *scale);
    int32_t *zero_point = tare_arena_alloc(arena, (size_t)l->channels, sizeof *zero_point);
    tare_tensor *codes;
    if (!quant || !scale || !zero_point) return tare_fail_memory(err, (size_t)l->channels * sizeof *scale);
    bool is_uniform = l->quant->axis < 0;
    for (int64_t c = 0; c < l->channels; c++) is_uniform &= fabs(gain[c]) == fabs(gain[0]);
    *quant = *l->quant;
    quant->axis = is_uniform ? -1 : weight_axis(l);
    quant->count = is_uniform ? 1 : (size_t)l->channels;
    quant->scale = scale;
    quant->zero_point = zero_point;
    quant->origin.was = "the weight's own before folding";
    for (int64_t c = 0; c < l->channels; c++) {
        scale[c] = (float)((double)l->quant->scale[l->quant->axis < 0 ? 0 : c] * fabs(gain[c]));
        if (!isfinite(scale[c])) return TARE_OK;
        if (scale[c] < FLT_MIN) scale[c] = 0;
    }
    TARE_TRY(tare_tensor_new(arena, TARE_S8, &l->weight->shape, &codes, err));
    for (int64_t i = 0; i < count; i++) {
        int64_t output, input;
        int8_t code = ((const int8_t *)l->weight->data)[i];
        channels_of(l, i, &output, &input);
        if (gain[output] < 0 && code == INT8_MIN) return TARE_OK;
        ((int8_t *)codes->data)[i] = (int8_t)(scale[output] == 0 ? 0 : gain[output] < 0 ? -code : code);
    }
    for (int64_t c = 0; c < l->channels; c++)
        if (scale[c] == 0) scale[c] = 1;
    *done = true;
    return tare_rewrite_codes(l->node, 1, codes, quant, err);
}

/* Both ways of folding, once w' is known per weight and b' per channel. */
typedef struct folded {
    tare_tensor *weight, *bias; /* NULL: as it was */
} folded;

static tare_status apply(tare_pass_context *context, const tare_linear *l, const folded *f, double *work, bool *done,
                         tare_error *err) {
    int64_t count = tare_shape_elements(&l->weight->shape);
    *done = false;
    if (f->weight && !all_finite(f->weight->data, count)) return TARE_OK;
    if (f->bias && !all_finite(f->bias->data, l->channels)) return TARE_OK;
    if (f->weight) {
        warn_of_outliers(context, l, f->weight->data, count, work);
        TARE_TRY(tare_rewrite_constant(l->node, 1, f->weight, err));
    }
    if (f->bias) {
        TARE_TRY(set_bias(l, f->bias, err));
        if (l->kind == TARE_LINEAR_GEMM) tare_attr_set_float(l->node, "beta", 1);
    }
    *done = true;
    return TARE_OK;
}

static tare_status new_tensors(const tare_linear *l, bool weight, bool bias, folded *f, tare_error *err) {
    tare_arena *arena = l->node->graph->model->arena;
    const tare_shape row = tare_shape_of(1, &l->channels);
    *f = (folded){ 0 };
    if (weight) TARE_TRY(tare_tensor_new(arena, TARE_F32, &l->weight->shape, &f->weight, err));
    if (bias) TARE_TRY(tare_tensor_new(arena, TARE_F32, &row, &f->bias, err));
    return TARE_OK;
}

tare_status tare_linear_scale_output(tare_pass_context *context, const tare_linear *l, const double *gain,
                                     const double *shift, bool *done, tare_error *err) {
    tare_arena *arena = l->node->graph->model->arena;
    double *work = tare_arena_alloc(arena, (size_t)l->channels * 2, sizeof *work);
    *done = false;
    if (!work) return tare_fail_memory(err, (size_t)l->channels * 2 * sizeof *work);
    if (!read_bias(l, work) || (shift && !has_place_for_bias(l))) return TARE_OK;
    folded f;
    TARE_TRY(new_tensors(l, gain && !l->quant, shift || (gain && l->bias), &f, err));
    for (int64_t c = 0; f.bias && c < l->channels; c++)
        ((float *)f.bias->data)[c] = (float)(work[c] * (gain ? gain[c] : 1) + (shift ? shift[c] : 0));
    if (f.bias && !all_finite(f.bias->data, l->channels)) return TARE_OK;
    if (l->quant && gain) {
        bool fits = false;
        TARE_TRY(scale_codes(l, gain, &fits, err));
        if (!fits) return TARE_OK;
    }
    int64_t count = f.weight ? tare_shape_elements(&l->weight->shape) : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t output, input;
        channels_of(l, i, &output, &input);
        ((float *)f.weight->data)[i] = (float)((double)((const float *)l->weight->data)[i] * gain[output]);
    }
    return apply(context, l, &f, work, done, err);
}

tare_status tare_linear_scale_input(tare_pass_context *context, const tare_linear *l, const double *gain,
                                    const double *shift, bool *done, tare_error *err) {
    tare_arena *arena = l->node->graph->model->arena;
    double *work = tare_arena_alloc(arena, (size_t)l->channels * 2, sizeof *work);
    *done = false;
    if (!work) return tare_fail_memory(err, (size_t)l->channels * 2 * sizeof *work);
    if (l->quant || !read_bias(l, work) || (shift && !has_place_for_bias(l))) return TARE_OK;
    folded f;
    TARE_TRY(new_tensors(l, gain, shift, &f, err));
    double alpha = l->kind == TARE_LINEAR_GEMM ? (double)tare_attr_float(l->node, "alpha", 1) : 1;
    const float *weight = l->weight->data;
    int64_t count = tare_shape_elements(&l->weight->shape);
    for (int64_t i = 0; i < count; i++) {
        int64_t output, input;
        channels_of(l, i, &output, &input);
        if (gain) ((float *)f.weight->data)[i] = (float)((double)weight[i] * gain[input]);
        if (shift) work[output] += alpha * (double)weight[i] * shift[input];
    }
    for (int64_t c = 0; f.bias && c < l->channels; c++) ((float *)f.bias->data)[c] = (float)work[c];
    return apply(context, l, &f, work, done, err);
}

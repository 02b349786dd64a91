/* ConvTranspose: y[n, m, i stride + k dilation - pad] += x[n, c, i] w[c, m, k], plus b[m], with the channels in groups.
 * Runs channels-last. */
#include <stddef.h>

#include "ops/conv.h"

typedef struct attributes {
    tare_window_attrs window;
    int64_t group;
    tare_ints output_padding, output_shape;
} attributes;

static const tare_field fields[] = {
    TARE_WINDOW_FIELDS(attributes, window),
    { .name = "group",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, group),
      .fallback.i = 1,
      .lo = 1,
      .hi = INT32_MAX },
    { .name = "output_padding",
      .type = TARE_FIELD_INTS,
      .offset = offsetof(attributes, output_padding),
      .flags = TARE_FIELD_SPATIAL },
    { .name = "output_shape",
      .type = TARE_FIELD_INTS,
      .offset = offsetof(attributes, output_shape),
      .flags = TARE_FIELD_SPATIAL },
    { .type = TARE_FIELD_END },
};

/* ---- shapes ---- */

/* Of one axis: whole is what strides and taps reach. SAME takes pads off until in * stride are left, output_shape until it
 * is met (behind a smaller whole there is only bias); the odd pad lies at the end for SAME_UPPER, else at the beginning. */
static void fit_axis(tare_window_axis *axis, const attributes *attrs, int i, int64_t in) {
    int64_t padding = attrs->output_padding.count ? attrs->output_padding.at[i] : 0;
    int64_t whole = (in - 1) * axis->stride + (axis->kernel - 1) * axis->dilation + 1 + padding;
    int auto_pad = attrs->window.auto_pad;
    bool is_same = auto_pad == TARE_AUTO_PAD_SAME_UPPER || auto_pad == TARE_AUTO_PAD_SAME_LOWER;
    axis->in = in;
    axis->out = whole - axis->before - axis->after;
    if (!attrs->output_shape.count && !is_same) return;
    int64_t wanted = attrs->output_shape.count ? attrs->output_shape.at[i] : in * axis->stride;
    int64_t total = whole > wanted ? whole - wanted : 0;
    axis->out = attrs->output_shape.count ? wanted : whole - total;
    axis->before = auto_pad == TARE_AUTO_PAD_SAME_UPPER ? total / 2 : total - total / 2;
    axis->after = total - axis->before;
}

/* More would be a whole step. */
static tare_status check_output_padding(const tare_ints *padding, const tare_window *window, tare_error *err) {
    TARE_TRY(tare_window_check_list("output_padding", padding, (size_t)window->rank, 0, err));
    for (size_t i = 0; i < padding->count; i++) {
        const tare_window_axis *axis = &window->axis[i];
        const int64_t step = axis->stride > axis->dilation ? axis->stride : axis->dilation;
        if (padding->at[i] >= step)
            return tare_fail(err, TARE_E_MALFORMED,
                             "attribute 'output_padding' has %lld, want less than the stride or dilation %lld",
                             (long long)padding->at[i], (long long)step);
    }
    return TARE_OK;
}

/* in[i] < 0: not known; then out is not either, unless output_shape says it. */
static tare_status fit(tare_window *window, const attributes *attrs, const int64_t *in, tare_error *err) {
    TARE_TRY(check_output_padding(&attrs->output_padding, window, err));
    TARE_TRY(tare_window_check_list("output_shape", &attrs->output_shape, (size_t)window->rank, 1, err));
    for (int i = 0; i < window->rank; i++) {
        tare_window_axis *axis = &window->axis[i];
        if (in[i] < 0 || axis->kernel < 0) {
            axis->out = attrs->output_shape.count ? attrs->output_shape.at[i] : TARE_DIM_UNKNOWN;
            continue;
        }
        if (in[i] == 0) return tare_fail(err, TARE_E_MALFORMED, "spatial dimension %d of the input is empty", i);
        fit_axis(axis, attrs, i, in[i]);
        if (axis->out < 1)
            return tare_fail(err, TARE_E_MALFORMED, "pads %lld and %lld leave nothing of spatial dimension %d",
                             (long long)axis->before, (long long)axis->after, i);
    }
    return TARE_OK;
}

static tare_status check_channels(const tare_node *node, const tare_shape *x, const tare_shape *w, tare_error *err) {
    int64_t group = ((const attributes *)node->attrs)->group;
    if (w->dim[0] >= 0 && (w->dim[0] == 0 || w->dim[0] % group != 0))
        return tare_fail(err, TARE_E_MALFORMED, "the weight has %lld input channels, want a multiple of group %lld",
                         (long long)w->dim[0], (long long)group);
    if (w->dim[1] == 0) return tare_fail(err, TARE_E_MALFORMED, "the weight makes no channels");
    if (x->dim[1] >= 0 && w->dim[0] >= 0 && x->dim[1] != w->dim[0])
        return tare_fail(err, TARE_E_MALFORMED, "the input has %lld channels, the weight wants %lld",
                         (long long)x->dim[1], (long long)w->dim[0]);
    return tare_conv_check_bias(node, w->dim[1] < 0 ? w->dim[1] : w->dim[1] * group, err);
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape x, w;
    tare_dtype dtype;
    tare_window window;
    TARE_TRY(tare_conv_infer(node, &dtype, &x, &w, err));
    if (x.rank < 0) return TARE_OK;
    TARE_TRY(check_channels(node, &x, &w, err));
    TARE_TRY(tare_window_read(&window, &attrs->window, x.rank - 2, w.dim + 2, err));
    TARE_TRY(fit(&window, attrs, x.dim + 2, err));
    tare_shape y = { .rank = x.rank, .dim = { x.dim[0], w.dim[1] < 0 ? TARE_DIM_UNKNOWN : w.dim[1] * attrs->group } };
    for (int i = 2; i < x.rank; i++) y.dim[i] = window.axis[i - 2].out;
    return tare_infer_set(node, 0, dtype, &y, err);
}

/* With groups, an output channel's place in the weight is not one of this axis alone: its numbers are shared by them. */
static int weight_axis(const tare_node *node) { return (void)node, 1; }

static uint64_t macs(const tare_node *node) {
    tare_shape w = tare_input_shape(node, 1), x = tare_input_shape(node, 0);
    if (!tare_shape_is_static(&w) || !tare_shape_is_static(&x)) return 0;
    return (uint64_t)tare_shape_elements(&x) * (uint64_t)tare_shape_product(&w, 1, w.rank);
}

static tare_status prepare(tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    const tare_shape *x = &p->inputs[0]->shape, *w = &p->inputs[1]->shape;
    tare_conv conv = { .outputs = w->dim[1] * attrs->group, .group = attrs->group };
    TARE_TRY(tare_window_read(&conv.window, &attrs->window, x->rank - 2, w->dim + 2, err));
    TARE_TRY(fit(&conv.window, attrs, x->dim + 1, err));
    return tare_conv_prepare(p, &conv, &tare_conv_transposed, err);
}

const tare_op tare_op_conv_transpose = {
    .name = "ConvTranspose",
    .since = 1,
    .inputs = { 2, 3 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_FUSES_CLAMP,
    .layout = TARE_LAYOUT_LAST_ONLY,
    .quant = { .kind = TARE_QUANT_OBSERVE, .has_weight = true, .weight_axis = weight_axis },
    .infer = infer,
    .prepare = prepare,
    .macs = macs,
    .run = tare_conv_call,
};

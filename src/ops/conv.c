/* Conv: y[n, m, o] = b[m] + Σ_k Σ_c w[m, c, k] x[n, g C/group + c, o stride + k dilation - pad], g the group of output
 * channel m. Any number of spatial dimensions up to six. Runs channels-last; the sum runs over k, then c. */
#include "ops/conv.h"

#include <stddef.h>

typedef struct attributes {
    tare_window_attrs window;
    int64_t group;
} attributes;

static const tare_field fields[] = {
    TARE_WINDOW_FIELDS(attributes, window),
    { .name = "group",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, group),
      .fallback.i = 1,
      .lo = 1,
      .hi = INT32_MAX },
    { .type = TARE_FIELD_END },
};

/* ---- shapes ---- */

static tare_status check_channels(const tare_node *node, const tare_shape *x, const tare_shape *w, tare_error *err) {
    int64_t group = ((const attributes *)node->attrs)->group;
    if (w->dim[0] >= 0 && (w->dim[0] == 0 || w->dim[0] % group != 0))
        return tare_fail(err, TARE_E_MALFORMED, "the weight makes %lld channels, want a multiple of group %lld",
                         (long long)w->dim[0], (long long)group);
    if (w->dim[1] == 0) return tare_fail(err, TARE_E_MALFORMED, "the weight has no input channels");
    if (x->dim[1] >= 0 && w->dim[1] >= 0 && (x->dim[1] % group != 0 || x->dim[1] / group != w->dim[1]))
        return tare_fail(err, TARE_E_MALFORMED, "the input has %lld channels, the weight wants %lld in %lld groups",
                         (long long)x->dim[1], (long long)w->dim[1], (long long)group);
    return tare_conv_check_bias(node, w->dim[0], err);
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
    TARE_TRY(tare_window_fit(&window, attrs->window.auto_pad, false, x.dim + 2, err));
    tare_shape y = { .rank = x.rank, .dim = { x.dim[0], w.dim[0] } };
    for (int i = 2; i < x.rank; i++) y.dim[i] = window.axis[i - 2].out;
    return tare_infer_set(node, 0, dtype, &y, err);
}

static int weight_axis(const tare_node *node) { return (void)node, 0; }

static bool tap_shares(const tare_node *node, double *shares) {
    const tare_window_attrs *attrs = &((const attributes *)node->attrs)->window;
    const tare_shape x = tare_input_shape(node, 0), w = tare_input_shape(node, 1);
    tare_window window;
    tare_error err;
    if (x.rank < 3 || tare_window_read(&window, attrs, x.rank - 2, w.dim + 2, &err) != TARE_OK ||
        tare_window_fit(&window, attrs->auto_pad, false, x.dim + 2, &err) != TARE_OK)
        return false;
    tare_window_shares(&window, shares);
    return true;
}

static uint64_t macs(const tare_node *node) {
    tare_shape w = tare_input_shape(node, 1), y = node->outputs[0]->shape;
    if (!tare_shape_is_static(&w) || !tare_shape_is_static(&y)) return 0;
    return (uint64_t)tare_shape_elements(&y) * (uint64_t)tare_shape_product(&w, 1, w.rank);
}

/* Channel by channel where groups have one; with many outputs each, copying the input costs too much. */
enum { DEPTHWISE_OUTPUTS = 8 };

static tare_status prepare(tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    const tare_shape *x = &p->inputs[0]->shape, *w = &p->inputs[1]->shape;
    tare_conv conv = { .outputs = w->dim[0], .group = attrs->group };
    TARE_TRY(tare_window_read(&conv.window, &attrs->window, x->rank - 2, w->dim + 2, err));
    TARE_TRY(tare_window_fit(&conv.window, attrs->window.auto_pad, false, x->dim + 1, err));
    bool is_depthwise = conv.group > 1 && w->dim[1] == 1 && conv.outputs <= DEPTHWISE_OUTPUTS * conv.group;
    return tare_conv_prepare(p, &conv, is_depthwise ? &tare_conv_depthwise : &tare_conv_product, err);
}

const tare_op tare_op_conv = {
    .name = "Conv",
    .since = 1,
    .inputs = { 2, 3 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_FUSES_CLAMP,
    .layout = TARE_LAYOUT_LAST_ONLY,
    .quant = { .kind = TARE_QUANT_OBSERVE, .has_weight = true, .weight_axis = weight_axis, .tap_shares = tap_shares },
    .infer = infer,
    .prepare = prepare,
    .macs = macs,
    .run = tare_conv_call,
};

/* The geometry of windows (window.h). */
#include "ops/window.h"

#include <assert.h>

#include "base/size.h"

const char *const tare_auto_pad_names[] = { "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL };

/* Attributes count to this at most, so that sums and products of two of them fit. */
static const int64_t limit = INT32_MAX;

tare_status tare_window_check_list(const char *name, const tare_ints *list, size_t want, int64_t least,
                                   tare_error *err) {
    if (list->count == 0) return TARE_OK;
    if (list->count != want)
        return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' has %zu numbers, want %zu", name, list->count, want);
    for (size_t i = 0; i < want; i++) {
        const long long number = list->at[i];
        if (number < least)
            return tare_fail(err, TARE_E_MALFORMED, "attribute '%s' has %lld, want %lld at least", name, number,
                             (long long)least);
        if (number > limit)
            return tare_fail(err, TARE_E_LIMIT, "attribute '%s' has %lld, more than the limit of %lld", name, number,
                             (long long)limit);
    }
    return TARE_OK;
}

/* Pads beside a rule that makes them; zeros say nothing. */
static tare_status check_auto_pad(const tare_window_attrs *attrs, tare_error *err) {
    for (size_t i = 0; attrs->auto_pad != TARE_AUTO_PAD_NOTSET && i < attrs->pads.count; i++)
        if (attrs->pads.at[i])
            return tare_fail(err, TARE_E_MALFORMED, "attribute 'pads' has %lld, but 'auto_pad' is %s",
                             (long long)attrs->pads.at[i], tare_auto_pad_names[attrs->auto_pad]);
    return TARE_OK;
}

static int64_t entry(const tare_ints *list, int i, int64_t fallback) { return list->count ? list->at[i] : fallback; }

tare_status tare_window_read(tare_window *window, const tare_window_attrs *attrs, int rank, const int64_t *kernel,
                             tare_error *err) {
    assert(rank > 0 && rank <= TARE_SPATIAL_MAX);
    size_t count = (size_t)rank;
    TARE_TRY(tare_window_check_list("kernel_shape", &attrs->kernel_shape, count, 1, err));
    TARE_TRY(tare_window_check_list("strides", &attrs->strides, count, 1, err));
    TARE_TRY(tare_window_check_list("dilations", &attrs->dilations, count, 1, err));
    TARE_TRY(check_auto_pad(attrs, err));
    if (attrs->auto_pad == TARE_AUTO_PAD_NOTSET)
        TARE_TRY(tare_window_check_list("pads", &attrs->pads, 2 * count, 0, err));
    if (!kernel && !attrs->kernel_shape.count)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'kernel_shape' is missing");
    *window = (tare_window){ .rank = rank };
    for (int i = 0; i < rank; i++) {
        int64_t size = kernel && kernel[i] >= 0 ? kernel[i] : entry(&attrs->kernel_shape, i, TARE_DIM_UNKNOWN);
        if (size != entry(&attrs->kernel_shape, i, size))
            return tare_fail(err, TARE_E_MALFORMED, "attribute 'kernel_shape' has %lld, but the weight has %lld",
                             (long long)attrs->kernel_shape.at[i], (long long)size);
        if (size == 0) return tare_fail(err, TARE_E_MALFORMED, "the window is empty along spatial dimension %d", i);
        bool has_pads = attrs->auto_pad == TARE_AUTO_PAD_NOTSET && attrs->pads.count;
        window->axis[i] = (tare_window_axis){ .in = TARE_DIM_UNKNOWN,
                                              .out = TARE_DIM_UNKNOWN,
                                              .kernel = size,
                                              .stride = entry(&attrs->strides, i, 1),
                                              .dilation = entry(&attrs->dilations, i, 1),
                                              .before = has_pads ? attrs->pads.at[i] : 0,
                                              .after = has_pads ? attrs->pads.at[rank + i] : 0 };
    }
    return TARE_OK;
}

/* SAME: as many outputs as strides begin in the input; the pads that asks for are halved, the odd one at the end (UPPER)
 * or the beginning (LOWER). */
static void pad_same(tare_window_axis *axis, bool is_lower, int64_t reach) {
    int64_t outputs = (axis->in + axis->stride - 1) / axis->stride;
    int64_t total = (outputs - 1) * axis->stride + reach - axis->in;
    if (total < 0) total = 0;
    axis->before = is_lower ? total - total / 2 : total / 2;
    axis->after = total - axis->before;
}

static int64_t reach_of(const tare_window_axis *axis) { return (axis->kernel - 1) * axis->dilation + 1; }
static int64_t whole_windows(const tare_window_axis *axis, int64_t room) {
    return room < 0 ? 0 : room / axis->stride + 1;
}

tare_status tare_window_fit(tare_window *window, int auto_pad, bool ceil, const int64_t *in, tare_error *err) {
    for (int i = 0; i < window->rank; i++) {
        tare_window_axis *axis = &window->axis[i];
        axis->in = in[i];
        axis->out = TARE_DIM_UNKNOWN;
        if (in[i] < 0 || axis->kernel < 0) continue;
        const int64_t reach = reach_of(axis);
        if (auto_pad == TARE_AUTO_PAD_SAME_UPPER || auto_pad == TARE_AUTO_PAD_SAME_LOWER)
            pad_same(axis, auto_pad == TARE_AUTO_PAD_SAME_LOWER, reach);
        int64_t room = in[i] + axis->before + axis->after - reach;
        bool sticks_out = ceil && room % axis->stride != 0;
        if (room < 0 && !(sticks_out && room > -axis->stride))
            return tare_fail(err, TARE_E_MALFORMED,
                             "a window of %lld does not fit into spatial dimension %d: %lld with pads %lld and %lld",
                             (long long)reach, i, (long long)in[i], (long long)axis->before, (long long)axis->after);
        axis->out = whole_windows(axis, room);
        if (sticks_out && axis->out * axis->stride < in[i] + axis->before) axis->out++;
    }
    return TARE_OK;
}

int64_t tare_window_meet(const tare_window_axis *axis, int64_t k, int64_t first, int64_t count, int64_t *begin,
                         int64_t *end) {
    int64_t at = first * axis->stride + k * axis->dilation - axis->before; /* of output `first` */
    *begin = at >= 0 ? 0 : (-at + axis->stride - 1) / axis->stride;
    *end = at >= axis->in ? 0 : (axis->in - 1 - at) / axis->stride + 1;
    if (*end > count) *end = count;
    if (*begin > *end) *begin = *end;
    return at + *begin * axis->stride;
}

void tare_window_shares(const tare_window *window, double *shares) {
    const int64_t taps = tare_window_taps(window, window->rank);
    for (int64_t tap = 0; tap < taps; tap++) {
        shares[tap] = 1;
        int64_t left = tap, begin, end;
        for (int i = window->rank - 1; i >= 0; left /= window->axis[i--].kernel) {
            const tare_window_axis *axis = &window->axis[i];
            if (axis->in <= 0 || axis->out <= 0) continue;
            tare_window_meet(axis, left % axis->kernel, 0, axis->out, &begin, &end);
            shares[tap] *= (double)(end - begin) / (double)axis->out;
        }
    }
}

int64_t tare_window_outputs(const tare_window *window, int axes) {
    int64_t product = 1;
    for (int i = 0; i < axes; i++) product *= window->axis[i].out;
    return product;
}

int64_t tare_window_taps(const tare_window *window, int axes) {
    int64_t product = 1;
    for (int i = 0; i < axes; i++) product *= window->axis[i].kernel;
    return product;
}

int64_t tare_window_line(const tare_window *window, int64_t line, int64_t tap) {
    int64_t at = 0, pitch = 1;
    for (int i = window->rank - 2; i >= 0; i--) {
        const tare_window_axis *axis = &window->axis[i];
        int64_t element = line % axis->out * axis->stride + tap % axis->kernel * axis->dilation - axis->before;
        if (element < 0 || element >= axis->in) return -1;
        at += element * pitch;
        pitch *= axis->in;
        line /= axis->out;
        tap /= axis->kernel;
    }
    return line * pitch + at;
}

size_t tare_window_list(const tare_window *window, int64_t line, const float *x, size_t channels, const float *w,
                        size_t w_step, tare_depthwise_tap *taps) {
    const tare_window_axis *axis = &window->axis[window->rank - 1];
    int64_t outer = tare_window_taps(window, window->rank - 1), begin, end;
    size_t count = 0;
    for (int64_t tap = 0; tap < outer; tap++) {
        int64_t input = tare_window_line(window, line, tap);
        for (int64_t k = 0; k < axis->kernel && input >= 0; k++) {
            int64_t at = tare_window_meet(axis, k, 0, axis->out, &begin, &end);
            if (begin == end) continue;
            taps[count++] = (tare_depthwise_tap){ .a = x + (size_t)(input * axis->in + at) * channels,
                                                  .w = w + (size_t)(tap * axis->kernel + k) * w_step,
                                                  .first = (size_t)begin,
                                                  .last = (size_t)end };
        }
    }
    return count;
}

static tare_status check_pooled(const tare_node *node, unsigned types, tare_error *err) {
    int rank = tare_input_shape(node, 0).rank;
    TARE_TRY(tare_infer_check(node, 0, types, err));
    if (rank < 0 || rank >= 3) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "the input has rank %d, want 3 at least: there is no spatial dimension",
                     rank);
}

static tare_status set_outputs(tare_node *node, const tare_shape *shape, tare_error *err) {
    TARE_TRY(tare_infer_set(node, 0, tare_input_dtype(node, 0), shape, err));
    for (int i = 1; i < node->output_count; i++) TARE_TRY(tare_infer_set(node, i, TARE_DTYPE_NONE, shape, err));
    return TARE_OK;
}

static void forget_outputs(tare_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] && !node->outputs[i]->constant) node->outputs[i]->shape = tare_shape_unknown();
}

static void forget_from(tare_node *node) {
    for (tare_graph *body; node; node = node->next) {
        for (int i = 0; (body = tare_node_body(node, i)); i++) forget_from(body->first);
        forget_outputs(node);
    }
}

/* Of ceil_mode: one window more sticks out, which begins in the padding. */
static bool leaves_one_out(const tare_window_axis *axis) {
    const int64_t room = axis->in + axis->before + axis->after - reach_of(axis);
    return room % axis->stride != 0 && axis->out == whole_windows(axis, room);
}

/* Before opset 22 onnx's own inference counts a window that begins in the padding, which the operator leaves out. What the
 * operator gives holds then, here and for all behind, whose declared shapes follow from that count. */
static void forgive_declared(tare_node *node, const tare_window *window, const tare_shape *shape) {
    const tare_value *y = tare_node_output(node, 0);
    bool is_more = false;
    if (!y || !node->graph || y->shape.rank != shape->rank) return;
    for (int i = 0; i < shape->rank; i++) {
        const int64_t declared = y->shape.dim[i], inferred = shape->dim[i];
        if (declared < 0 || inferred < 0 || declared == inferred) continue;
        if (i < 2 || declared != inferred + 1 || !leaves_one_out(&window->axis[i - 2])) return;
        is_more = true;
    }
    if (!is_more) return;
    for (; node; node = node->graph->owner) {
        forget_outputs(node);
        forget_from(node->next);
    }
}

/* A pad as large as the window would make windows that see nothing. */
tare_status tare_window_infer(tare_node *node, const tare_window_attrs *attrs, bool ceil, unsigned types,
                              tare_error *err) {
    tare_shape x = tare_input_shape(node, 0);
    tare_window window;
    TARE_TRY(check_pooled(node, types, err));
    if (x.rank < 0) return set_outputs(node, NULL, err);
    TARE_TRY(tare_window_read(&window, attrs, x.rank - 2, NULL, err));
    for (int i = 0; i < window.rank; i++) {
        const tare_window_axis *axis = &window.axis[i];
        if (axis->before < axis->kernel * axis->dilation && axis->after < axis->kernel * axis->dilation) continue;
        return tare_fail(err, TARE_E_MALFORMED, "pads %lld and %lld are not smaller than the window of %lld",
                         (long long)axis->before, (long long)axis->after, (long long)(axis->kernel * axis->dilation));
    }
    TARE_TRY(tare_window_fit(&window, attrs->auto_pad, ceil, x.dim + 2, err));
    for (int i = 0; i < window.rank; i++) x.dim[i + 2] = window.axis[i].out;
    if (ceil) forgive_declared(node, &window, &x);
    return set_outputs(node, &x, err);
}

void tare_window_of(tare_window *window, const tare_window_attrs *attrs, bool ceil, const tare_shape *x) {
    tare_error err = { 0 };
    tare_status status = tare_window_read(window, attrs, x->rank - 2, NULL, &err);
    assert(status == TARE_OK); /* infer() let it by */
    status = tare_window_fit(window, attrs->auto_pad, ceil, x->dim + 1, &err);
    assert(status == TARE_OK);
    (void)status;
}

tare_status tare_window_infer_global(tare_node *node, unsigned types, tare_error *err) {
    tare_shape x = tare_input_shape(node, 0);
    TARE_TRY(check_pooled(node, types, err));
    for (int i = 2; i < x.rank; i++) {
        if (x.dim[i] == 0) return tare_fail(err, TARE_E_MALFORMED, "spatial dimension %d of the input is empty", i - 2);
        x.dim[i] = 1;
    }
    return set_outputs(node, &x, err);
}

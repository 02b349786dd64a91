/* ConvInteger: y[n, m, o] = Σ (x[…] - x_zero_point) (w[m, …] - w_zero_point[m]) in s32, which wraps; what lies in the padding
 * is 0. A plain loop: models that are meant to be fast say QLinearConv. */
#include <stddef.h>

#include "ops/numbers.h"
#include "ops/spans.h"
#include "ops/window.h"

typedef struct attributes {
    tare_window_attrs window;
    int64_t group;
} attributes;

static const tare_field fields[] = {
    TARE_WINDOW_FIELDS(attributes, window),
    { "group", TARE_FIELD_INT, offsetof(attributes, group), .fallback.i = 1, .lo = 1, .hi = INT32_MAX },
    { 0 },
};

enum { CODES = 1u << TARE_S8 | 1u << TARE_U8 };

static tare_status check_channels(const tare_node *node, const tare_shape *x, const tare_shape *w, tare_error *err) {
    int64_t group = ((const attributes *)node->attrs)->group;
    if (w->dim[0] >= 0 && w->dim[0] % group != 0)
        return tare_fail(err, TARE_E_MALFORMED, "the weight makes %lld channels, want a multiple of group %lld",
                         (long long)w->dim[0], (long long)group);
    if (x->dim[1] >= 0 && w->dim[1] >= 0 && (x->dim[1] % group != 0 || x->dim[1] / group != w->dim[1]))
        return tare_fail(err, TARE_E_MALFORMED, "the input has %lld channels, the weight wants %lld in %lld groups",
                         (long long)x->dim[1], (long long)w->dim[1], (long long)group);
    tare_shape zero = tare_input_shape(node, 3);
    if (zero.rank == 1 && zero.dim[0] > 1 && w->dim[0] >= 0 && zero.dim[0] != w->dim[0])
        return tare_fail(err, TARE_E_MALFORMED, "there are %lld zero points of the weight, want %lld",
                         (long long)zero.dim[0], (long long)w->dim[0]);
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape x = tare_input_shape(node, 0), w = tare_input_shape(node, 1);
    tare_window window;
    tare_dtype dtype;
    for (int i = 0; i < 2; i++) {
        TARE_TRY(tare_infer_check(node, i, CODES, err));
        TARE_TRY(tare_infer_one_type(node, 1u << i | 4u << i, &dtype, err));
    }
    if (x.rank < 0 || w.rank < 0) return tare_infer_set(node, 0, TARE_S32, NULL, err);
    if (x.rank < 3 || w.rank != x.rank)
        return tare_fail(err, TARE_E_MALFORMED, "the input has rank %d and the weight %d, want both 3 at least", x.rank,
                         w.rank);
    TARE_TRY(check_channels(node, &x, &w, err));
    TARE_TRY(tare_window_read(&window, &attrs->window, x.rank - 2, w.dim + 2, err));
    TARE_TRY(tare_window_fit(&window, attrs->window.auto_pad, false, x.dim + 2, err));
    tare_shape y = { .rank = x.rank, .dim = { x.dim[0], w.dim[0] } };
    for (int i = 2; i < x.rank; i++) y.dim[i] = window.axis[i - 2].out;
    return tare_infer_set(node, 0, TARE_S32, &y, err);
}

struct job {
    const tare_call *call;
    tare_window window;
    int64_t channels, outputs, group;
    int64_t in_size, out_size, taps; /* elements of a channel's image, and of a window */
};

static int64_t code_at(const tare_tensor *tensor, int64_t at) {
    int64_t code;
    tare_numbers_load(&code, tensor->dtype, tensor->data, at, 1);
    return code;
}

static int64_t zero_at(const tare_call *call, int input, int64_t at) {
    const tare_tensor *zero = call->input_count > input ? call->inputs[input] : NULL;
    return zero ? code_at(zero, tare_shape_elements(&zero->shape) == 1 ? 0 : at) : 0;
}

/* Where tap `tap` of output pixel `pixel` lies in a channel's image; -1: in the padding. */
static int64_t tap_at(const tare_window *window, int64_t pixel, int64_t tap) {
    int64_t at = 0, stride = 1;
    for (int i = window->rank - 1; i >= 0; i--) {
        const tare_window_axis *axis = &window->axis[i];
        int64_t place = pixel % axis->out * axis->stride + tap % axis->kernel * axis->dilation - axis->before;
        if (place < 0 || place >= axis->in) return -1;
        at += place * stride;
        stride *= axis->in;
        pixel /= axis->out;
        tap /= axis->kernel;
    }
    return at;
}

/* Images of output channels: first … last - 1 of all batches' channels. */
static void images(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const tare_tensor *x = job->call->inputs[0], *w = job->call->inputs[1];
    int64_t group_in = job->channels / job->group, group_out = job->outputs / job->group;
    int64_t x_zero = zero_at(job->call, 2, 0);
    for (int64_t image = first; image < last; image++) {
        int64_t batch = image / job->outputs, m = image % job->outputs, w_zero = zero_at(job->call, 3, m);
        int64_t channel = batch * job->channels + m / group_out * group_in;
        int32_t *to = (int32_t *)job->call->outputs[0]->data + image * job->out_size;
        for (int64_t pixel = 0; pixel < job->out_size; pixel++) {
            uint32_t sum = 0;
            for (int64_t tap = 0; tap < job->taps; tap++) {
                int64_t at = tap_at(&job->window, pixel, tap);
                for (int64_t c = 0; at >= 0 && c < group_in; c++) {
                    int64_t a = code_at(x, (channel + c) * job->in_size + at) - x_zero;
                    int64_t b = code_at(w, (m * group_in + c) * job->taps + tap) - w_zero;
                    sum += (uint32_t)(a * b);
                }
            }
            to[pixel] = (int32_t)sum;
        }
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    const attributes *attrs = call->attrs;
    const tare_shape *x = &call->inputs[0]->shape, *w = &call->inputs[1]->shape, *y = &call->outputs[0]->shape;
    struct job job = { .call = call, .channels = x->dim[1], .outputs = w->dim[0], .group = attrs->group };
    TARE_TRY(tare_window_read(&job.window, &attrs->window, x->rank - 2, w->dim + 2, err));
    TARE_TRY(tare_window_fit(&job.window, attrs->window.auto_pad, false, x->dim + 2, err));
    job.in_size = tare_shape_product(x, 2, x->rank);
    job.out_size = tare_shape_product(y, 2, y->rank);
    job.taps = tare_shape_product(w, 2, w->rank);
    tare_ranges_run(call->pool, x->dim[0] * job.outputs, job.out_size * job.taps * w->dim[1], images, &job);
    return TARE_OK;
}

static uint64_t macs(const tare_node *node) {
    tare_shape w = tare_input_shape(node, 1), y = node->outputs[0]->shape;
    if (!tare_shape_is_static(&w) || !tare_shape_is_static(&y)) return 0;
    return (uint64_t)tare_shape_elements(&y) * (uint64_t)tare_shape_product(&w, 1, w.rank);
}

const tare_op tare_op_conv_integer = {
    .name = "ConvInteger",
    .since = 10,
    .inputs = { 2, 4 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .infer = infer,
    .macs = macs,
    .run = run,
};

/* GridSample: output pixel p of sample n reads x[n, c] at the place that grid[n, p] names, its last coordinate first, -1 to
 * 1 over the input: nearest (ties to even), linear, or cubic with a = -0.75, over two or three spatial dimensions.
 *   place = (g + 1) / 2 (size - 1) with align_corners, else ((g + 1) size - 1) / 2. */
#include <math.h>
#include <stddef.h>

#include "ops/as_f32.h"
#include "ops/spans.h"
#include "ops/upgrade.h"

typedef struct attributes {
    int mode, padding_mode;
    bool align_corners;
} attributes;

enum { LINEAR, NEAREST, CUBIC };
enum { ZEROS, BORDER, REFLECTION };
static const char *const modes[] = { "linear", "nearest", "cubic", NULL };
static const char *const modes_16[] = { "bilinear", "nearest", "bicubic", NULL }; /* ORDER: as above */
static const char *const padding_modes[] = { "zeros", "border", "reflection", NULL };

#define FIELDS(words)                                                                                                  \
    { .name = "align_corners", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, align_corners) },               \
        { .name = "mode", .type = TARE_FIELD_ENUM, .offset = offsetof(attributes, mode), .names = words }, {           \
        .name = "padding_mode", .type = TARE_FIELD_ENUM, .offset = offsetof(attributes, padding_mode),                 \
        .names = padding_modes                                                                                         \
    }
static const tare_field fields[] = { FIELDS(modes), { 0 } };
static const tare_field fields_16[] = { FIELDS(modes_16), { 0 } };

enum { AXES_MAX = 3, TAPS = 4, PIXEL_TAPS_MAX = 64 };

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape x = tare_input_shape(node, 0), grid = tare_input_shape(node, 1);
    for (int i = 0; i < 2; i++) TARE_TRY(tare_infer_check(node, i, TARE_TYPES_FLOAT, err));
    if (x.rank < 0 || grid.rank < 0) return tare_infer_set(node, 0, tare_input_dtype(node, 0), NULL, err);
    if (x.rank < 4 || x.rank > 2 + AXES_MAX || grid.rank != x.rank)
        return tare_fail(err, TARE_E_MALFORMED, "the input has rank %d and the grid %d, want both 4 or 5", x.rank,
                         grid.rank);
    int64_t axes = grid.dim[grid.rank - 1];
    if (axes >= 0 && axes != x.rank - 2)
        return tare_fail(err, TARE_E_MALFORMED, "the grid has %lld coordinates, want %d", (long long)axes, x.rank - 2);
    if (x.dim[0] >= 0 && grid.dim[0] >= 0 && x.dim[0] != grid.dim[0])
        return tare_fail(err, TARE_E_MALFORMED, "the grid is for %lld samples, the input has %lld",
                         (long long)grid.dim[0], (long long)x.dim[0]);
    tare_shape y = { .rank = x.rank, .dim = { x.dim[0] >= 0 ? x.dim[0] : grid.dim[0], x.dim[1] } };
    for (int i = 2; i < x.rank; i++) {
        if (x.dim[i] == 0) return tare_fail(err, TARE_E_MALFORMED, "dimension %d of the input is 0", i);
        y.dim[i] = grid.dim[i - 1];
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &y, err);
}

struct job {
    const tare_call *call;
    int axes, mode, padding;
    bool align;
    int64_t size[AXES_MAX], stride[AXES_MAX]; /* of the input's spatial dimensions */
    int64_t channels, in_size, out_size;
};

/* Mirrored at lo and hi until it lies between. */
static float reflect(float place, float lo, float hi) {
    float range = hi - lo;
    if (!(range > 0)) return lo;
    bool is_below = place < lo;
    float past = is_below ? lo - place : place - hi;
    if (!(past > 0)) return place;
    float times = floorf(past / range), rest = past - times * range;
    bool is_even = fmodf(times, 2) == 0;
    return is_below == is_even ? lo + rest : hi - rest;
}

/* The place along an axis, brought into the input as the padding mode says; NaN counts as far below. */
static float place_of(const struct job *job, float g, int64_t size) {
    static const float far = 0x1p30f; /* beyond any size, and still an int64 */
    float length = (float)size, lo = job->align ? 0 : -0.5f, hi = job->align ? length - 1 : length - 0.5f;
    float place = job->align ? (g + 1) / 2 * (length - 1) : ((g + 1) * length - 1) / 2;
    place = place > -far ? place : -far;
    place = place < far ? place : far;
    if (job->mode == NEAREST) place = rintf(place);
    /* Cubic's neighbours are brought in one by one, as torch and ONNX Runtime have it. */
    if ((place >= lo && place <= hi) || job->mode == CUBIC) return place;
    if (job->padding == BORDER) return place < 0 ? 0 : place > length - 1 ? length - 1 : place;
    return job->padding == REFLECTION ? reflect(place, lo, hi) : place;
}

/* The element that index i of an axis reads; -1: a zero. */
static int64_t element_of(const struct job *job, int64_t i, int64_t size) {
    if (i >= 0 && i < size) return i;
    if (job->padding == ZEROS) return -1;
    float length = (float)size;
    if (job->padding == REFLECTION)
        i = (int64_t)reflect((float)i, job->align ? 0 : -0.5f, job->align ? length - 1 : length - 0.5f);
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

/* Keys' cubic: the weights of the four neighbours at distance 1 + t, t, 1 - t, 2 - t. */
static void cubic_weights(float t, float weight[TAPS]) {
    static const float a = -0.75f;
    float u = 1 + t, v = 1 - t, w = 2 - t;
    weight[0] = ((a * u - 5 * a) * u + 8 * a) * u - 4 * a;
    weight[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
    weight[2] = ((a + 2) * v - (a + 3)) * v * v + 1;
    weight[3] = ((a * w - 5 * a) * w + 8 * a) * w - 4 * a;
}

/* The elements (in steps of the axis; -1: a zero) and weights along one axis; their number. */
static int axis_taps(const struct job *job, float g, int axis, int64_t at[TAPS], float weight[TAPS]) {
    int64_t size = job->size[axis];
    float place = place_of(job, g, size), base = floorf(place), t = place - base;
    int64_t first = (int64_t)base;
    int count = job->mode == NEAREST ? 1 : job->mode == LINEAR ? 2 : TAPS;
    if (job->mode == NEAREST) {
        first = (int64_t)place;
        weight[0] = 1;
    } else if (job->mode == LINEAR) {
        weight[0] = 1 - t;
        weight[1] = t;
    } else {
        first--;
        cubic_weights(t, weight);
    }
    for (int k = 0; k < count; k++) {
        int64_t element = element_of(job, first + k, size);
        at[k] = element < 0 ? -1 : element * job->stride[axis];
    }
    return count;
}

/* All elements and weights of a pixel: the products over the axes; zeros are left out. */
static int pixel_taps(const struct job *job, const float *grid, int64_t *at, float *weight) {
    int64_t axis_at[AXES_MAX][TAPS];
    float axis_weight[AXES_MAX][TAPS];
    int per_axis = 0, all = 1, count = 0;
    for (int i = 0; i < job->axes; i++) {
        per_axis = axis_taps(job, grid[job->axes - 1 - i], i, axis_at[i], axis_weight[i]);
        all *= per_axis;
    }
    for (int k = 0; k < all; k++) {
        int64_t element = 0;
        float product = 1;
        bool is_inside = true;
        for (int i = job->axes - 1, rest = k; i >= 0; i--, rest /= per_axis) {
            int tap = rest % per_axis;
            is_inside = is_inside && axis_at[i][tap] >= 0;
            element += axis_at[i][tap];
            product *= axis_weight[i][tap];
        }
        if (!is_inside) continue;
        at[count] = element;
        weight[count++] = product;
    }
    return count;
}

static void pixels(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    for (int64_t pixel = first; pixel < last; pixel++) {
        int64_t at[PIXEL_TAPS_MAX], sample = pixel / job->out_size;
        float weight[PIXEL_TAPS_MAX];
        int count = pixel_taps(job, (const float *)job->call->inputs[1]->data + pixel * job->axes, at, weight);
        const float *from = (const float *)job->call->inputs[0]->data + sample * job->channels * job->in_size;
        float *to = (float *)job->call->outputs[0]->data + sample * job->channels * job->out_size;
        to += pixel % job->out_size;
        for (int64_t c = 0; c < job->channels; c++, from += job->in_size, to += job->out_size) {
            float sum = 0;
            for (int k = 0; k < count; k++) sum += weight[k] * from[at[k]];
            *to = sum;
        }
    }
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    (void)err;
    const attributes *attrs = call->attrs;
    const tare_shape *x = &call->inputs[0]->shape, *y = &call->outputs[0]->shape;
    struct job job = { .call = call,
                       .axes = x->rank - 2,
                       .mode = attrs->mode,
                       .padding = attrs->padding_mode,
                       .align = attrs->align_corners,
                       .channels = x->dim[1],
                       .in_size = tare_shape_product(x, 2, x->rank),
                       .out_size = tare_shape_product(y, 2, y->rank) };
    for (int i = 0; i < job.axes; i++) {
        job.size[i] = x->dim[2 + i];
        job.stride[i] = tare_shape_product(x, 3 + i, x->rank);
    }
    tare_ranges_run(call->pool, x->dim[0] * job.out_size, job.channels * 8, pixels, &job);
    return TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) { return tare_as_f32_run(call, 0, run_f32, err); }

/* Before opset 20 the modes had other names. */
static tare_status upgrade_16(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const attributes old = *(const attributes *)node->attrs;
    TARE_TRY(tare_node_become(node, &tare_op_grid_sample, err));
    *(attributes *)node->attrs = old;
    return TARE_OK;
}

const tare_op tare_op_grid_sample = {
    .name = "GridSample",
    .since = 20,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer,
    .prepare = tare_as_f32_prepare,
    .run = run,
};

const tare_op tare_op_grid_sample_16 = {
    .name = "GridSample",
    .since = 16,
    .until = 19,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = fields_16,
    .attrs_size = sizeof(attributes),
    .upgrade = upgrade_16,
    .infer = infer,
};

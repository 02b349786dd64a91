/* The numbers along one axis that each output of Resize reads, and their weights. Positions are f32 as ONNX Runtime has
 * them (onnxruntime.md §8): p = (i + .5) / s - .5 and so on. */
#include <math.h>

#include "ops/resize.h"

static float position(const tare_resize_axis *a, int64_t i) {
    const float x = (float)i, s = a->scale, in = (float)a->in, out = (float)a->out;
    switch (a->coordinate) {
    case TARE_RESIZE_PYTORCH_HALF_PIXEL: return a->out > 1 ? (x + 0.5f) / s - 0.5f : 0;
    case TARE_RESIZE_ALIGN_CORNERS: return a->out > 1 ? x * (in - 1) / (out - 1) : 0;
    case TARE_RESIZE_ASYMMETRIC: return x / s;
    case TARE_RESIZE_TF_HALF_PIXEL_FOR_NN: return (x + 0.5f) / s;
    case TARE_RESIZE_CROP:
        return a->out > 1 ? a->roi_start * (in - 1) + x * (a->roi_end - a->roi_start) * (in - 1) / (out - 1)
                          : 0.5f * (a->roi_start + a->roi_end) * (in - 1);
    case TARE_RESIZE_HALF_PIXEL_SYMMETRIC: {
        const float adjust = out / (s * in), centre = in / 2;
        return centre * (1 - adjust) + (x + 0.5f) / s - 0.5f;
    }
    default: return (x + 0.5f) / s - 0.5f;
    }
}

static int64_t clamp(int64_t i, int64_t count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

static int64_t nearest(const tare_resize_axis *a, float p) {
    switch (a->nearest) {
    case TARE_RESIZE_ROUND_PREFER_CEIL: return (int64_t)floorf(p + 0.5f);
    case TARE_RESIZE_FLOOR: return (int64_t)floorf(p);
    case TARE_RESIZE_CEIL: return (int64_t)ceilf(p);
    default: return (int64_t)ceilf(p - 0.5f); /* ties down */
    }
}

/* Keys' kernel with parameter c, of |distance|. */
static double cubic(double c, double x) {
    x = fabs(x);
    if (x < 1) return ((c + 2) * x - (c + 3)) * x * x + 1;
    if (x < 2) return ((c * x - 5 * c) * x + 8 * c) * x - 4 * c;
    return 0;
}

static double kernel(const tare_resize_axis *a, double x) {
    if (a->mode == TARE_RESIZE_CUBIC) return cubic((double)a->cubic_a, x);
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static void plain_linear(const tare_resize_axis *a, float p, int64_t *index, float *weight) {
    p = p < 0 ? 0 : p > (float)(a->in - 1) ? (float)(a->in - 1) : p;
    index[0] = (int64_t)floorf(p);
    index[1] = clamp(index[0] + 1, a->in);
    const float d1 = fabsf(p - (float)index[0]), d2 = fabsf(p - (float)index[1]);
    weight[0] = index[0] == index[1] ? 0.5f : d2;
    weight[1] = index[0] == index[1] ? 0.5f : d1;
}

/* Weights of the kernel around p; what lies outside is clamped to the edge, or left out and the rest made to sum to 1.
 * stretch > 1 widens the kernel when shrinking (antialias), which always makes them sum to 1. */
static void spread(const tare_resize_axis *a, float p, double stretch, size_t taps, int64_t *index, float *weight) {
    const int64_t first = (int64_t)floor((double)p) - (int64_t)(taps / 2) + 1;
    double sum = 0, at[2];
    for (size_t t = 0; t < taps; t++) {
        const int64_t i = first + (int64_t)t;
        at[0] = kernel(a, ((double)p - (double)i) / stretch);
        if (a->exclude_outside && (i < 0 || i >= a->in)) at[0] = 0;
        sum += at[0];
        index[t] = clamp(i, a->in);
        weight[t] = (float)at[0];
    }
    if (!a->exclude_outside && stretch <= 1) return;
    for (size_t t = 0; t < taps; t++) {
        const int64_t i = first + (int64_t)t;
        at[0] = a->exclude_outside && (i < 0 || i >= a->in) ? 0 : kernel(a, ((double)p - (double)i) / stretch);
        weight[t] = (float)(at[0] / sum);
    }
}

/* A position far outside reads what any outside does; NaN is far outside too. */
static float bounded(float p) {
    const float far = 4e9F;
    return p > far ? far : p >= -far ? p : -far;
}

tare_status tare_resize_make_taps(const tare_resize_axis *a, tare_arena *arena, tare_resize_taps *out,
                                  tare_error *err) {
    const double stretch = a->antialias && a->mode != TARE_RESIZE_NEAREST && a->scale < 1 ? 1 / (double)a->scale : 1;
    const double reach = (a->mode == TARE_RESIZE_CUBIC ? 2 : 1) * stretch;
    const size_t count = (size_t)a->out;
    if (!(reach < INT32_MAX))
        return tare_fail(err, TARE_E_LIMIT, "a scale of %.9g with antialias reads %.3g numbers for each it gives",
                         (double)a->scale, 2 * reach);
    out->taps = a->mode == TARE_RESIZE_NEAREST ? 1 : 2 * (size_t)ceil(reach);
    out->index = tare_arena_alloc(arena, count * out->taps + 1, sizeof *out->index);
    out->weight = tare_arena_alloc(arena, count * out->taps + 1, sizeof *out->weight);
    out->outside = a->coordinate == TARE_RESIZE_CROP ? tare_arena_alloc(arena, count + 1, sizeof(bool)) : NULL;
    if (!out->index || !out->weight || (a->coordinate == TARE_RESIZE_CROP && !out->outside))
        return tare_fail_memory(err, count * out->taps * sizeof *out->index);
    for (size_t j = 0; j < count; j++) {
        const float p = a->in == a->out && a->scale == 1 && a->coordinate != TARE_RESIZE_CROP
                            ? (float)j
                            : bounded(position(a, (int64_t)j));
        int64_t *index = out->index + j * out->taps;
        float *weight = out->weight + j * out->taps;
        if (out->outside) out->outside[j] = p < 0 || p > (float)(a->in - 1);
        if (a->mode == TARE_RESIZE_NEAREST)
            index[0] = clamp(nearest(a, p), a->in), weight[0] = 1;
        else if (a->mode == TARE_RESIZE_LINEAR && stretch <= 1)
            plain_linear(a, p, index, weight);
        else
            spread(a, p, stretch, out->taps, index, weight);
    }
    return TARE_OK;
}

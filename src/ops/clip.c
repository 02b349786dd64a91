/* Clip: max(min), then min(max), so that a min above max gives max. NaN stays; a NaN bound bounds nothing. */
#include <math.h>
#include <stdint.h>

#include "ops/elementwise.h"

static const tare_op_dual duals[] = { { "min", 1, 10, TARE_FIELD_FLOAT }, { "max", 2, 10, TARE_FIELD_FLOAT }, { 0 } };

static tare_status infer(tare_node *node, tare_error *err) {
    tare_dtype dtype;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT | TARE_TYPES_INTEGER, err));
    TARE_TRY(tare_infer_one_type(node, 7, &dtype, err));
    for (int i = 1; i < node->input_count; i++) {
        tare_shape shape = tare_input_shape(node, i);
        int64_t count;
        if (!tare_shape_is_static(&shape) || (tare_shape_count(&shape, &count) && count == 1)) continue;
        char got[128];
        tare_shape_print(got, sizeof got, &shape, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') has shape %s, want a single number", i,
                         node->inputs[i]->name, got);
    }
    tare_shape shape = tare_input_shape(node, 0);
    return tare_infer_set(node, 0, dtype, &shape, err);
}

struct clip {
    const tare_call *call;
    union {
        float f32;
        double f64;
        int64_t s64;
        uint64_t u64;
    } lo, hi;
};

#define CLAMP(type, member)                                                                                            \
    for (size_t i = 0; i < count; i++) {                                                                               \
        type x = ((const type *)from)[i];                                                                              \
        x = x < clip->lo.member ? clip->lo.member : x;                                                                 \
        ((type *)to)[i] = x > clip->hi.member ? clip->hi.member : x;                                                   \
    }

static void clamp(const struct clip *clip, tare_number number, void *to, const void *from, size_t count) {
    switch (number) {
    case TARE_NUMBER_F32: clip->call->kernels->clamp_f32(to, from, count, clip->lo.f32, clip->hi.f32); break;
    case TARE_NUMBER_F64: CLAMP(double, f64) break;
    case TARE_NUMBER_S64: CLAMP(int64_t, s64) break;
    default: CLAMP(uint64_t, u64)
    }
}

static void range(void *context, int64_t first, int64_t last) {
    const struct clip *clip = context;
    const tare_tensor *from = clip->call->inputs[0], *to = clip->call->outputs[0];
    tare_number number = tare_number_of(from->dtype);
    if (tare_number_is_own(from->dtype)) {
        clamp(clip, number, tare_element(to, first), tare_element(from, first), (size_t)(last - first));
        return;
    }
    tare_numbers chunk;
    for (int64_t at = first; at < last; at += TARE_NUMBERS_CHUNK) {
        size_t part = (size_t)(last - at < TARE_NUMBERS_CHUNK ? last - at : TARE_NUMBERS_CHUNK);
        tare_numbers_load(&chunk, from->dtype, from->data, at, part);
        clamp(clip, number, &chunk, &chunk, part);
        tare_numbers_store(to->dtype, to->data, at, &chunk, part);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_dtype dtype = call->inputs[0]->dtype;
    struct clip clip = { .call = call };
    switch (tare_number_of(dtype)) {
    case TARE_NUMBER_F32: clip.lo.f32 = -INFINITY, clip.hi.f32 = INFINITY; break;
    case TARE_NUMBER_F64: clip.lo.f64 = -(double)INFINITY, clip.hi.f64 = (double)INFINITY; break;
    case TARE_NUMBER_S64: clip.lo.s64 = INT64_MIN, clip.hi.s64 = INT64_MAX; break;
    default: clip.lo.u64 = 0, clip.hi.u64 = UINT64_MAX;
    }
    const tare_tensor *lo = call->input_count > 1 ? call->inputs[1] : NULL;
    const tare_tensor *hi = call->input_count > 2 ? call->inputs[2] : NULL;
    if (lo) tare_numbers_load(&clip.lo, dtype, lo->data, 0, 1);
    if (hi) tare_numbers_load(&clip.hi, dtype, hi->data, 0, 1);
    if (tare_number_of(dtype) == TARE_NUMBER_F32 && isnan(clip.lo.f32)) clip.lo.f32 = -INFINITY;
    if (tare_number_of(dtype) == TARE_NUMBER_F32 && isnan(clip.hi.f32)) clip.hi.f32 = INFINITY;
    tare_ranges_run(call->pool, tare_shape_elements(&call->outputs[0]->shape), 1, range, &clip);
    return TARE_OK;
}

const tare_op tare_op_clip = {
    .name = "Clip",
    .since = 6,
    .inputs = { 1, 3 },
    .outputs = { 1, 1 },
    .duals = duals,
    .flags = TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE | TARE_OP_IDEMPOTENT,
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer,
    .run = run,
};

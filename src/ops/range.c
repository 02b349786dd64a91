/* Range: start, start + delta, … up to but without limit. */
#include <math.h>

#include "ops/entries.h"
#include "ops/numbers.h"

/* Elements of the range; a status, since a hostile one has none or too many. */
static tare_status count_f64(double start, double limit, double delta, int64_t *count, tare_error *err) {
    if (!isfinite(start) || !isfinite(limit) || !isfinite(delta) || delta == 0)
        return tare_fail(err, TARE_E_MALFORMED, "goes from %g to %g by %g", start, limit, delta);
    double steps = ceil((limit - start) / delta);
    if (steps > (double)INT32_MAX)
        return tare_fail(err, TARE_E_LIMIT, "would have %.0f elements, %d are allowed", steps, INT32_MAX);
    *count = steps > 0 ? (int64_t)steps : 0;
    return TARE_OK;
}

static tare_status count_s64(int64_t start, int64_t limit, int64_t delta, int64_t *count, tare_error *err) {
    if (delta == 0)
        return tare_fail(err, TARE_E_MALFORMED, "goes from %lld to %lld by 0", (long long)start, (long long)limit);
    bool is_empty = delta > 0 ? limit <= start : limit >= start;
    /* The distance of two s64 always fits in u64, and so does -delta. */
    uint64_t distance = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t pace = delta > 0 ? (uint64_t)delta : -(uint64_t)delta;
    uint64_t steps = is_empty ? 0 : (distance - 1) / pace + 1;
    if (steps > INT32_MAX)
        return tare_fail(err, TARE_E_LIMIT, "would have %llu elements, %d are allowed", (unsigned long long)steps,
                         INT32_MAX);
    *count = (int64_t)steps;
    return TARE_OK;
}

/* start, limit, delta as one type of numbers. */
typedef union span {
    double f64[3];
    int64_t s64[3];
} span;

static tare_status read_bounds(const tare_tensor *const inputs[3], span *out, int64_t *count, tare_error *err) {
    tare_dtype dtype = inputs[0]->dtype;
    for (int i = 0; i < 3; i++) {
        if (inputs[i]->size != tare_dtype_size(dtype))
            return tare_fail(err, TARE_E_MALFORMED, "input %d has %zu bytes, want one element", i, inputs[i]->size);
        tare_numbers number;
        tare_numbers_load(&number, dtype, inputs[i]->data, 0, 1);
        switch (tare_number_of(dtype)) {
        case TARE_NUMBER_F32: out->f64[i] = (double)number.f32[0]; break;
        case TARE_NUMBER_F64: out->f64[i] = number.f64[0]; break;
        default: out->s64[i] = number.s64[0]; break;
        }
    }
    if (tare_dtype_is_float(dtype)) return count_f64(out->f64[0], out->f64[1], out->f64[2], count, err);
    return count_s64(out->s64[0], out->s64[1], out->s64[2], count, err);
}

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape shape = { .rank = 1, .dim = { TARE_DIM_UNKNOWN } };
    const tare_tensor *inputs[3];
    tare_dtype dtype;
    bool known = true;
    TARE_TRY(tare_infer_one_type(node, 7, &dtype, err));
    for (int i = 0; i < 3; i++) {
        TARE_TRY(tare_infer_check(node, i, TARE_TYPES_FLOAT | 1u << TARE_S16 | 1u << TARE_S32 | 1u << TARE_S64, err));
        inputs[i] = node->inputs[i]->constant;
        known = known && inputs[i] && inputs[i]->dtype == dtype;
    }
    span bounds;
    if (known) TARE_TRY(read_bounds(inputs, &bounds, &shape.dim[0], err));
    return tare_infer_set(node, 0, dtype, &shape, err);
}

/* Each element is start + i * delta, rounded once: nothing adds up. */
static tare_status run(const tare_call *call, tare_error *err) {
    const tare_tensor *inputs[3] = { call->inputs[0], call->inputs[1], call->inputs[2] };
    tare_tensor *to = call->outputs[0];
    tare_shape want = { .rank = 1 };
    span b;
    TARE_TRY(read_bounds(inputs, &b, &want.dim[0], err));
    TARE_TRY(tare_run_check_shape(to, &want, err));
    tare_number number = tare_number_of(to->dtype);
    for (int64_t i = 0; i < want.dim[0]; i++) {
        tare_numbers one;
        if (number == TARE_NUMBER_F32)
            one.f32[0] = (float)(b.f64[0] + (double)i * b.f64[2]);
        else if (number == TARE_NUMBER_F64)
            one.f64[0] = b.f64[0] + (double)i * b.f64[2];
        else
            one.s64[0] = (int64_t)((uint64_t)b.s64[0] + (uint64_t)i * (uint64_t)b.s64[2]);
        tare_numbers_store(to->dtype, to->data, i, &one, 1);
    }
    return TARE_OK;
}

const tare_op tare_op_range = {
    .name = "Range",
    .since = 11,
    .inputs = { 3, 3 },
    .outputs = { 1, 1 },
    .infer = infer,
    .run = run,
};

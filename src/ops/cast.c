/* Cast and CastLike: between any two of the number types. To a float: rounded once, to nearest, ties to even. Float to
 * integer: truncated, and where ONNX leaves it open, saturated, NaN gives 0. Integer to integer: the low bits. To bool:
 * what is not 0. */
#include <math.h>
#include <string.h>

#include "ops/move.h"
#include "ops/numbers.h"
#include "ops/spans.h"

typedef struct cast_attrs {
    int64_t to;
    bool saturate; /* of 8-bit floats, which tare does not have; kept for writing */
} cast_attrs;

static const tare_field cast_fields[] = {
    { .name = "to", .type = TARE_FIELD_INT, .offset = offsetof(cast_attrs, to), .flags = TARE_FIELD_REQUIRED },
    { .name = "saturate", .type = TARE_FIELD_BOOL, .offset = offsetof(cast_attrs, saturate), .fallback = { .i = 1 } },
    { .type = TARE_FIELD_END },
};

typedef struct like_attrs {
    bool saturate;
} like_attrs;

static const tare_field like_fields[] = {
    { .name = "saturate", .type = TARE_FIELD_BOOL, .offset = offsetof(like_attrs, saturate), .fallback = { .i = 1 } },
    { .type = TARE_FIELD_END },
};

/* The f32 next to `real` on zero's side, with its last bit set unless it is exact: rounding that once more, to fewer
 * bits, gives what rounding `real` at once would ("round to odd"). */
static float to_odd_f32(double real) {
    float near = (float)real;
    uint32_t bits;
    if (isnan(near) || (double)near == real) return near;
    memcpy(&bits, &near, sizeof bits);
    if (fabs((double)near) > fabs(real)) bits--;
    bits |= 1;
    memcpy(&near, &bits, sizeof near);
    return near;
}

/* The same from 64 bits to the 53 of f64. */
static double to_odd_f64(uint64_t number) {
    const uint64_t low = 0x7ff;
    if (number >> 53) number = (number & ~low) | (number & low ? low + 1 : 0);
    return (double)number;
}

static double s64_to_odd_f64(int64_t number) {
    return number < 0 ? -to_odd_f64(-(uint64_t)number) : to_odd_f64((uint64_t)number);
}

/* To the f32 numbers of a float type; `narrow`: they are rounded again when stored. */
static void to_f32(float *to, const tare_numbers *from, tare_number number, bool narrow, size_t count) {
    for (size_t i = 0; i < count; i++) {
        switch (number) {
        case TARE_NUMBER_F32: to[i] = from->f32[i]; break;
        case TARE_NUMBER_F64: to[i] = narrow ? to_odd_f32(from->f64[i]) : (float)from->f64[i]; break;
        case TARE_NUMBER_U64: to[i] = narrow ? to_odd_f32(to_odd_f64(from->u64[i])) : (float)from->u64[i]; break;
        default: to[i] = narrow ? to_odd_f32(s64_to_odd_f64(from->s64[i])) : (float)from->s64[i]; break;
        }
    }
}

static void to_f64(double *to, const tare_numbers *from, tare_number number, size_t count) {
    for (size_t i = 0; i < count; i++) {
        switch (number) {
        case TARE_NUMBER_F32: to[i] = (double)from->f32[i]; break;
        case TARE_NUMBER_F64: to[i] = from->f64[i]; break;
        case TARE_NUMBER_U64: to[i] = (double)from->u64[i]; break;
        default: to[i] = (double)from->s64[i]; break;
        }
    }
}

static uint64_t saturate_u64(double real) { return real >= 0x1p64 ? UINT64_MAX : real > 0 ? (uint64_t)real : 0; }

static int64_t saturate_s64(double real, tare_dtype dtype) {
    if (isnan(real)) return 0;
    if (dtype == TARE_S64) return real >= 0x1p63 ? INT64_MAX : real < -0x1p63 ? INT64_MIN : (int64_t)real;
    int64_t lo = dtype == TARE_U32 ? 0 : tare_dtype_lowest(dtype);
    int64_t hi = dtype == TARE_U32 ? (int64_t)UINT32_MAX : tare_dtype_highest(dtype);
    return real >= (double)hi ? hi : real <= (double)lo ? lo : (int64_t)real;
}

/* Four bits live in a byte that holds their value. */
static int64_t wrap_nibble(int64_t number, tare_dtype dtype) {
    int64_t low = number & 15;
    return dtype == TARE_S4 && low > 7 ? low - 16 : low;
}

static void to_integers(tare_numbers *to, tare_dtype dtype, const tare_numbers *from, tare_number number,
                        size_t count) {
    bool is_float = number == TARE_NUMBER_F32 || number == TARE_NUMBER_F64;
    for (size_t i = 0; i < count; i++) {
        double real = number == TARE_NUMBER_F32 ? (double)from->f32[i] : is_float ? from->f64[i] : 0;
        if (!is_float)
            to->u64[i] = from->u64[i]; /* s64 and u64: the same bits */
        else if (dtype == TARE_BOOL)
            to->s64[i] = real != 0;
        else if (dtype == TARE_U64)
            to->u64[i] = saturate_u64(real);
        else
            to->s64[i] = saturate_s64(real, dtype);
        if (dtype == TARE_S4 || dtype == TARE_U4) to->s64[i] = wrap_nibble(to->s64[i], dtype);
    }
}

typedef struct cast_job {
    const tare_tensor *from;
    tare_tensor *to;
} cast_job;

static void cast_range(void *context, int64_t first, int64_t last) {
    const cast_job *job = context;
    tare_dtype from = job->from->dtype, to = job->to->dtype;
    tare_number from_number = tare_number_of(from), to_number = tare_number_of(to);
    tare_numbers have, want;
    for (int64_t at = first; at < last; at += TARE_NUMBERS_CHUNK) {
        size_t count = (size_t)(last - at < TARE_NUMBERS_CHUNK ? last - at : TARE_NUMBERS_CHUNK);
        tare_numbers_load(&have, from, job->from->data, at, count);
        if (to_number == TARE_NUMBER_F32)
            to_f32(want.f32, &have, from_number, to != TARE_F32, count);
        else if (to_number == TARE_NUMBER_F64)
            to_f64(want.f64, &have, from_number, count);
        else
            to_integers(&want, to, &have, from_number, count);
        tare_numbers_store(to, job->to->data, at, &want, count);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    cast_job job = { .from = call->inputs[0], .to = call->outputs[0] };
    if (job.from->dtype == job.to->dtype) return tare_run_copy(call, err);
    tare_ranges_run(call->pool, tare_shape_elements(&job.from->shape), 1, cast_range, &job);
    return TARE_OK;
}

static tare_status set_cast(tare_node *node, tare_dtype to, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0);
    tare_dtype from = tare_input_dtype(node, 0);
    if (from && to && from != to && (from == TARE_STRING || to == TARE_STRING))
        return tare_fail(err, TARE_E_UNSUPPORTED, "casts %s to %s: strings are carried, not computed with",
                         tare_dtype_name(from), tare_dtype_name(to));
    return tare_infer_set(node, 0, to, &shape, err);
}

static tare_status cast_infer(tare_node *node, tare_error *err) {
    const cast_attrs *attrs = node->attrs;
    tare_dtype to = tare_dtype_from_onnx(attrs->to);
    if (!to)
        return tare_fail(err, TARE_E_UNSUPPORTED, "attribute 'to' is %lld, an element type tare does not have",
                         (long long)attrs->to);
    return set_cast(node, to, err);
}

static int cast_needs(const tare_node *node) {
    const cast_attrs *attrs = node->attrs;
    tare_dtype from = tare_input_dtype(node, 0), to = tare_dtype_from_onnx(attrs->to);
    if (from == TARE_S4 || from == TARE_U4 || to == TARE_S4 || to == TARE_U4) return 21;
    if (!attrs->saturate) return 19;
    return from == TARE_BF16 || to == TARE_BF16 ? 13 : 6;
}

const tare_op tare_op_cast = {
    .name = "Cast",
    .since = 19,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = cast_fields,
    .attrs_size = sizeof(cast_attrs),
    .flags = TARE_OP_ELEMENTWISE,
    .layout = TARE_LAYOUT_EITHER,
    .needs = cast_needs,
    .infer = cast_infer,
    .run = run,
};

static tare_status like_infer(tare_node *node, tare_error *err) {
    return set_cast(node, tare_input_dtype(node, 1), err);
}

static int like_needs(const tare_node *node) {
    const like_attrs *attrs = node->attrs;
    return attrs->saturate ? 15 : 19;
}

const tare_op tare_op_cast_like = {
    .name = "CastLike",
    .since = 19,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = like_fields,
    .attrs_size = sizeof(like_attrs),
    .needs = like_needs,
    .infer = like_infer,
    .run = run,
};

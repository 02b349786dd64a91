/* Pow: x to the struct power y, of x's type; y may have another. An f32 y of 1, 2 or 3 that all share is done by products, as
 * ONNX Runtime does; whole numbers to whole powers wrap, and a negative power of them is 1 / …, cut to a whole number. */
#include <math.h>
#include <sleef.h>

#include "ops/elementwise.h"

static tare_status infer(tare_node *node, tare_error *err) {
    unsigned types = TARE_TYPES_FLOAT | TARE_TYPES_INTEGER;
    TARE_TRY(tare_infer_check(node, 0, types, err));
    TARE_TRY(tare_infer_check(node, 1, types, err));
    tare_shape a = tare_input_shape(node, 0), b = tare_input_shape(node, 1), all;
    if (!tare_shape_broadcast(&all, &a, &b)) {
        char got[128], want[128];
        tare_shape_print(got, sizeof got, &b, NULL);
        tare_shape_print(want, sizeof want, &a, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "input 1 ('%s') of shape %s does not broadcast with %s",
                         node->inputs[1]->name, got, want);
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &all, err);
}

static int64_t whole_power(int64_t x, int64_t y) {
    if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)x;
    for (; y; y >>= 1, square *= square)
        if (y & 1) result *= square;
    return (int64_t)result;
}

/* Cut to a whole number, in s64's range; NaN gives 0. */
static int64_t cut(double real) {
    if (isnan(real)) return 0;
    return real >= 0x1p63 ? INT64_MAX : real < -0x1p63 ? INT64_MIN : (int64_t)real;
}

struct power {
    const tare_call *call;
    const tare_spans *spans;
};

static void powers_f32(const tare_kernels *kernels, float *to, const float *x, size_t x_stride, const float *y,
                       size_t y_stride, size_t count) {
    if (y_stride == 0 && *y == 1)
        kernels->mul_f32(to, x, x_stride, y, 0, count);
    else if (y_stride == 0 && (*y == 2 || *y == 3)) {
        float exponent = *y, copy[TARE_NUMBERS_CHUNK];
        for (size_t i = 0; i < count; i++) copy[i] = x[i * x_stride];
        kernels->mul_f32(to, copy, 1, copy, 1, count);
        if (exponent == 3) kernels->mul_f32(to, to, 1, copy, 1, count);
    } else
        kernels->pow_f32(to, x, x_stride, y, y_stride, count);
}

static double to_f64(const tare_numbers *numbers, tare_number number, size_t i) {
    switch (number) {
    case TARE_NUMBER_F32: return (double)numbers->f32[i];
    case TARE_NUMBER_F64: return numbers->f64[i];
    case TARE_NUMBER_S64: return (double)numbers->s64[i];
    default: return (double)numbers->u64[i];
    }
}

/* At most a chunk of elements. */
static void part(const struct power *power, int64_t to_at, int64_t x_at, int64_t y_at, size_t count) {
    const tare_tensor *to = power->call->outputs[0], *xs = power->call->inputs[0], *ys = power->call->inputs[1];
    size_t x_stride = tare_spans_stride(power->spans, 0), y_stride = tare_spans_stride(power->spans, 1);
    size_t x_count = x_stride ? count : 1, y_count = y_stride ? count : 1;
    tare_number base = tare_number_of(xs->dtype), exponent = tare_number_of(ys->dtype);
    tare_numbers x, y, result;
    tare_numbers_load(&x, xs->dtype, xs->data, x_at, x_count);
    if (base == TARE_NUMBER_F32) {
        tare_numbers_to_f32(y.f32, ys->dtype, ys->data, y_at, y_count);
        powers_f32(power->call->kernels, result.f32, x.f32, x_stride, y.f32, y_stride, count);
    } else {
        tare_numbers_load(&y, ys->dtype, ys->data, y_at, y_count);
        bool is_whole = base != TARE_NUMBER_F64 && exponent != TARE_NUMBER_F32 && exponent != TARE_NUMBER_F64;
        for (size_t i = 0; i < count; i++) {
            size_t j = i * x_stride, k = i * y_stride;
            if (is_whole) {
                result.s64[i] =
                    whole_power(x.s64[j], exponent == TARE_NUMBER_U64 && y.s64[k] < 0 ? INT64_MAX : y.s64[k]);
                continue;
            }
            double real = Sleef_cinz_powd1_u10purec(to_f64(&x, base, j), to_f64(&y, exponent, k));
            if (base == TARE_NUMBER_F64)
                result.f64[i] = real;
            else
                result.s64[i] = cut(real);
        }
    }
    tare_numbers_store(to->dtype, to->data, to_at, &result, count);
}

static void span(void *context, int64_t to, const int64_t *at, size_t count) {
    const struct power *power = context;
    int64_t x_stride = (int64_t)tare_spans_stride(power->spans, 0);
    int64_t y_stride = (int64_t)tare_spans_stride(power->spans, 1);
    for (size_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t rest = count - done, most = rest < TARE_NUMBERS_CHUNK ? rest : TARE_NUMBERS_CHUNK;
        int64_t i = (int64_t)done;
        part(power, to + i, at[0] + i * x_stride, at[1] + i * y_stride, most);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    tare_spans spans;
    tare_spans_init(&spans, &call->outputs[0]->shape,
                    (const tare_shape *const[]){ &call->inputs[0]->shape, &call->inputs[1]->shape }, 2);
    struct power power = { call, &spans };
    tare_spans_run(&spans, call->pool, span, &power);
    return TARE_OK;
}

const tare_op tare_op_pow = {
    .name = "Pow",
    .since = 7,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE,
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_OBSERVE },
    .infer = infer,
    .run = run,
};

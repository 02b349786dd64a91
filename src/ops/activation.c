/* The activations that are a formula of one number and a few attributes: Relu to Swish. f32 runs in chunks that stay in
 * L1, their elementary functions through the kernels; f64 through SLEEF's `cinz` functions. */
#include <math.h>
#include <sleef.h>
#include <stddef.h>
#include <string.h>

#include "ops/elementwise.h"
#include "ops/spell.h"

typedef struct activation {
    float alpha, beta, gamma; /* Shrink: bias is beta, lambd alpha */
    int approximate;
} activation;

enum { GELU_ERF, GELU_TANH };

#define ALPHA(value)                                                                                                   \
    { "alpha", TARE_FIELD_FLOAT, offsetof(activation, alpha), .fallback.f = value }

static const tare_field no_attrs[] = { { 0 } };
static const tare_field elu_attrs[] = { ALPHA(1), { 0 } };
static const tare_field leaky_attrs[] = { ALPHA(0.01), { 0 } };
static const tare_field selu_attrs[] = {
    ALPHA(1.67326319217681884765625),
    { "gamma", TARE_FIELD_FLOAT, offsetof(activation, gamma), .fallback.f = 1.05070102214813232421875 },
    { 0 },
};
static const tare_field hard_sigmoid_attrs[] = {
    ALPHA(0.2),
    { "beta", TARE_FIELD_FLOAT, offsetof(activation, beta), .fallback.f = 0.5 },
    { 0 },
};
static const tare_field shrink_attrs[] = {
    { "bias", TARE_FIELD_FLOAT, offsetof(activation, beta), .fallback.f = 0 },
    { "lambd", TARE_FIELD_FLOAT, offsetof(activation, alpha), .fallback.f = 0.5 },
    { 0 },
};
static const char *const gelu_names[] = { "none", "tanh", NULL };
static const tare_field gelu_attrs[] = {
    { "approximate", TARE_FIELD_ENUM, offsetof(activation, approximate), .names = gelu_names },
    { 0 },
};

static tare_status infer_celu(tare_node *node, tare_error *err) {
    if (((const activation *)node->attrs)->alpha == 0)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'alpha' is 0, and it divides");
    return tare_infer_real(node, err);
}

/* Spans on f32. `to` may be `from`, so what is needed twice goes through a buffer first. */
#define SPAN(name)   static void name##_f32(const tare_call *call, float *to, const float *from, size_t count)
#define DOUBLE(name) static double name##_f64(const void *attrs, double x)
#define ATTRS(from)  const activation *a = (from)->attrs

SPAN(relu) { call->kernels->clamp_f32(to, from, count, 0, INFINITY); }
DOUBLE(relu) { return (void)attrs, x < 0 ? 0 : x; }
static int64_t relu_s64(const void *attrs, int64_t x) { return (void)attrs, x < 0 ? 0 : x; }
static uint64_t relu_u64(const void *attrs, uint64_t x) { return (void)attrs, x; }

SPAN(leaky_relu) {
    ATTRS(call);
    for (size_t i = 0; i < count; i++) to[i] = from[i] >= 0 ? from[i] : a->alpha * from[i];
}
DOUBLE(leaky_relu) { return x >= 0 ? x : (double)((const activation *)attrs)->alpha * x; }

/* exp(min(x / divisor, 0)) - 1 */
static void negative_expm1(const tare_call *call, float *to, const float *from, size_t count, float divisor) {
    for (size_t i = 0; i < count; i++) {
        float x = from[i] / divisor;
        to[i] = x > 0 ? 0 : x;
    }
    call->kernels->expm1_f32(to, to, count);
}

SPAN(elu) {
    ATTRS(call);
    float e[TARE_NUMBERS_CHUNK] = { 0 };
    negative_expm1(call, e, from, count, 1);
    for (size_t i = 0; i < count; i++) to[i] = from[i] > 0 ? from[i] : a->alpha * e[i];
}
DOUBLE(elu) { return x > 0 ? x : (double)((const activation *)attrs)->alpha * Sleef_cinz_expm1d1_u10purec(x); }

SPAN(selu) {
    ATTRS(call);
    elu_f32(call, to, from, count);
    for (size_t i = 0; i < count; i++) to[i] *= a->gamma;
}
DOUBLE(selu) { return (double)((const activation *)attrs)->gamma * elu_f64(attrs, x); }

/* max(0, x) + min(0, alpha (exp(x / alpha) - 1)) */
SPAN(celu) {
    ATTRS(call);
    float e[TARE_NUMBERS_CHUNK] = { 0 };
    for (size_t i = 0; i < count; i++) e[i] = from[i] / a->alpha;
    call->kernels->expm1_f32(e, e, count);
    for (size_t i = 0; i < count; i++) {
        float low = a->alpha * e[i];
        to[i] = (from[i] > 0 ? from[i] : 0) + (low < 0 ? low : isnan(from[i]) ? from[i] : 0);
    }
}
DOUBLE(celu) {
    double alpha = (double)((const activation *)attrs)->alpha, low = alpha * Sleef_cinz_expm1d1_u10purec(x / alpha);
    return (x > 0 ? x : 0) + (low < 0 ? low : isnan(x) ? x : 0);
}

SPAN(thresholded_relu) {
    ATTRS(call);
    for (size_t i = 0; i < count; i++) to[i] = from[i] > a->alpha || isnan(from[i]) ? from[i] : 0;
}
DOUBLE(thresholded_relu) { return x > (double)((const activation *)attrs)->alpha || isnan(x) ? x : 0; }

SPAN(sigmoid) { call->kernels->sigmoid_f32(to, from, count); }
DOUBLE(sigmoid) { return (void)attrs, 1 / (1 + Sleef_cinz_expd1_u10purec(-x)); }

/* clamp(alpha x + beta, 0, 1), product and sum rounded each, as ONNX Runtime has it. */
SPAN(hard_sigmoid) {
    ATTRS(call);
    for (size_t i = 0; i < count; i++) to[i] = a->alpha * from[i] + a->beta;
    call->kernels->clamp_f32(to, to, count, 0, 1);
}
static double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
DOUBLE(hard_sigmoid) {
    const activation *a = attrs;
    return clamp01((double)a->alpha * x + (double)a->beta);
}

SPAN(hard_swish) {
    float gate[TARE_NUMBERS_CHUNK];
    for (size_t i = 0; i < count; i++) gate[i] = (1 / 6.0f) * from[i] + 0.5f;
    call->kernels->clamp_f32(gate, gate, count, 0, 1);
    call->kernels->mul_f32(to, gate, 1, from, 1, count);
}
DOUBLE(hard_swish) { return (void)attrs, x * clamp01(x / 6 + 0.5); }

SPAN(tanh) { call->kernels->tanh_f32(to, from, count); }
DOUBLE(tanh) { return (void)attrs, Sleef_cinz_tanhd1_u10purec(x); }

/* log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)) */
SPAN(softplus) {
    float e[TARE_NUMBERS_CHUNK] = { 0 };
    for (size_t i = 0; i < count; i++) e[i] = from[i] > 0 ? -from[i] : from[i];
    call->kernels->exp_f32(e, e, count);
    call->kernels->log1p_f32(e, e, count);
    for (size_t i = 0; i < count; i++) to[i] = (from[i] > 0 ? from[i] : 0) + e[i];
}
DOUBLE(softplus) {
    (void)attrs;
    return (x > 0 ? x : 0) + Sleef_cinz_log1pd1_u10purec(Sleef_cinz_expd1_u10purec(x > 0 ? -x : x));
}

SPAN(softsign) {
    (void)call;
    for (size_t i = 0; i < count; i++) to[i] = from[i] / (1 + fabsf(from[i]));
}
DOUBLE(softsign) { return (void)attrs, x / (1 + fabs(x)); }

/* x Φ(x): 0.5 x (1 + erf(x / √2)), or with tanh(√(2/π) (x + 0.044715 x³)) in erf's place. */
static const double root_half = 0.70710678118654752440, root_2_over_pi = 0.79788456080286535588;
SPAN(gelu) {
    ATTRS(call);
    float gate[TARE_NUMBERS_CHUNK];
    if (a->approximate == GELU_TANH) {
        for (size_t i = 0; i < count; i++) {
            float x = from[i];
            gate[i] = (float)root_2_over_pi * (x + 0.044715f * x * x * x);
        }
        call->kernels->tanh_f32(gate, gate, count);
    } else {
        for (size_t i = 0; i < count; i++) gate[i] = from[i] * (float)root_half;
        call->kernels->erf_f32(gate, gate, count);
    }
    for (size_t i = 0; i < count; i++) to[i] = 0.5f * from[i] * (1 + gate[i]);
}
DOUBLE(gelu) {
    if (((const activation *)attrs)->approximate == GELU_TANH)
        return 0.5 * x * (1 + Sleef_cinz_tanhd1_u10purec(root_2_over_pi * (x + 0.044715 * x * x * x)));
    return 0.5 * x * (1 + Sleef_cinz_erfd1_u10purec(x * root_half));
}

SPAN(mish) {
    float gate[TARE_NUMBERS_CHUNK];
    softplus_f32(call, gate, from, count);
    call->kernels->tanh_f32(gate, gate, count);
    call->kernels->mul_f32(to, gate, 1, from, 1, count);
}
DOUBLE(mish) { return x * Sleef_cinz_tanhd1_u10purec(softplus_f64(attrs, x)); }

SPAN(swish) {
    ATTRS(call);
    float gate[TARE_NUMBERS_CHUNK];
    if (a->alpha == 1) {
        call->kernels->swish_f32(to, from, count);
        return;
    }
    for (size_t i = 0; i < count; i++) gate[i] = a->alpha * from[i];
    call->kernels->sigmoid_f32(gate, gate, count);
    call->kernels->mul_f32(to, gate, 1, from, 1, count);
}
DOUBLE(swish) {
    double alpha = (double)((const activation *)attrs)->alpha;
    return x / (1 + Sleef_cinz_expd1_u10purec(-alpha * x));
}

/* x + bias below -lambd, x - bias above lambd, 0 between. */
SPAN(shrink) {
    ATTRS(call);
    for (size_t i = 0; i < count; i++) {
        float x = from[i];
        to[i] = x < -a->alpha ? x + a->beta : x > a->alpha ? x - a->beta : isnan(x) ? x : 0;
    }
}
DOUBLE(shrink) {
    const activation *a = attrs;
    double bias = (double)a->beta, lambd = (double)a->alpha;
    return x < -lambd ? x + bias : x > lambd ? x - bias : isnan(x) ? x : 0;
}
/* Attributes are real numbers; those of a hostile file are kept in the range that converts. */
static int64_t whole(float real) { return real > 1e9f ? 1000000000 : real < -1e9f ? -1000000000 : (int64_t)real; }
static int64_t shrink_s64(const void *attrs, int64_t x) {
    const activation *a = attrs;
    uint64_t bias = (uint64_t)whole(a->beta);
    return (double)x < -(double)a->alpha  ? (int64_t)((uint64_t)x + bias)
           : (double)x > (double)a->alpha ? (int64_t)((uint64_t)x - bias)
                                          : 0;
}
static uint64_t shrink_u64(const void *attrs, uint64_t x) {
    const activation *a = attrs;
    uint64_t bias = (uint64_t)whole(a->beta);
    return (double)x < -(double)a->alpha ? x + bias : (double)x > (double)a->alpha ? x - bias : 0;
}

#define OLDER(f)    .expand = tare_spell_##f, .needs = tare_spell_##f##_needs
#define NEWEST      .expand = NULL
#define OBSERVED    .kind = TARE_QUANT_OBSERVE
#define FIXED(a, b) .kind = TARE_QUANT_FIXED, .lo = a, .hi = b
#define REAL_ONLY(f)                                                                                                   \
    { .f32 = f##_f32, .f64 = f##_f64 }
#define ALL_NUMBERS(f)                                                                                                 \
    { .f32 = f##_f32, .f64 = f##_f64, .s64 = f##_s64, .u64 = f##_u64 }

/* X(op, first opset of its form, what it is before, attributes, functions, inference, quantization, more flags) */
#define ACTIVATIONS(X)                                                                                                 \
    X(Celu, celu, 12, NEWEST, elu_attrs, REAL_ONLY(celu), infer_celu, 0, OBSERVED)                                     \
    X(Elu, elu, 6, NEWEST, elu_attrs, REAL_ONLY(elu), tare_infer_real, 0, OBSERVED)                                    \
    X(Gelu, gelu, 20, OLDER(gelu), gelu_attrs, REAL_ONLY(gelu), tare_infer_real, 0, OBSERVED)                          \
    X(HardSigmoid, hard_sigmoid, 6, NEWEST, hard_sigmoid_attrs, REAL_ONLY(hard_sigmoid), tare_infer_real, 0,           \
      FIXED(0, 1))                                                                                                     \
    X(HardSwish, hard_swish, 14, OLDER(hard_swish), no_attrs, REAL_ONLY(hard_swish), tare_infer_real, 0, OBSERVED)     \
    X(LeakyRelu, leaky_relu, 6, NEWEST, leaky_attrs, REAL_ONLY(leaky_relu), tare_infer_real, 0, OBSERVED)              \
    X(Mish, mish, 18, NEWEST, no_attrs, REAL_ONLY(mish), tare_infer_real, 0, OBSERVED)                                 \
    X(Relu, relu, 6, NEWEST, no_attrs, ALL_NUMBERS(relu), tare_infer_number, TARE_OP_IDEMPOTENT, OBSERVED)             \
    X(Selu, selu, 6, NEWEST, selu_attrs, REAL_ONLY(selu), tare_infer_real, 0, OBSERVED)                                \
    X(Shrink, shrink, 9, NEWEST, shrink_attrs, ALL_NUMBERS(shrink), tare_infer_number, 0, OBSERVED)                    \
    X(Sigmoid, sigmoid, 6, NEWEST, no_attrs, REAL_ONLY(sigmoid), tare_infer_real, 0, FIXED(0, 1))                      \
    X(Softplus, softplus, 1, NEWEST, no_attrs, REAL_ONLY(softplus), tare_infer_real, 0, OBSERVED)                      \
    X(Softsign, softsign, 1, NEWEST, no_attrs, REAL_ONLY(softsign), tare_infer_real, 0, FIXED(-1, 1))                  \
    X(Swish, swish, 24, OLDER(swish), elu_attrs, REAL_ONLY(swish), tare_infer_real, 0, OBSERVED)                       \
    X(Tanh, tanh, 6, NEWEST, no_attrs, REAL_ONLY(tanh), tare_infer_real, 0, FIXED(-1, 1))                              \
    X(ThresholdedRelu, thresholded_relu, 10, NEWEST, elu_attrs, REAL_ONLY(thresholded_relu), tare_infer_real, 0,       \
      OBSERVED)

#define DEFINE(op, symbol, first_opset, older, fields, functions, infer_rule, more_flags, ...)                         \
    static tare_status symbol##_run(const tare_call *call, tare_error *err) {                                          \
        (void)err;                                                                                                     \
        return tare_unary_run(call, &(const tare_unary)functions);                                                     \
    }                                                                                                                  \
    const tare_op tare_op_##symbol = { .name = #op,                                                                    \
                                       .since = first_opset,                                                           \
                                       .inputs = { 1, 1 },                                                             \
                                       .outputs = { 1, 1 },                                                            \
                                       .attrs = fields,                                                                \
                                       .attrs_size = sizeof(activation),                                               \
                                       .flags = TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE | (more_flags),                 \
                                       .layout = TARE_LAYOUT_EITHER,                                                   \
                                       .quant = { __VA_ARGS__ },                                                       \
                                       .infer = infer_rule,                                                            \
                                       .curve = symbol##_f64,                                                          \
                                       older,                                                                          \
                                       .run = symbol##_run };
ACTIVATIONS(DEFINE)

/* QONNX's fake quantization: Quant (also IntQuant), BipolarQuant, Trunc, in the three domains that files have had.
 *   Quant: y = (round(clamp(x / scale + zero_point, lo, hi)) - zero_point) scale, lo and hi of `bitwidth` bits, signed or
 *   not, narrow or not; one signed bit is ±1. BipolarQuant: ±scale by the sign of x (0 is +). Trunc: the code of x without its lowest
 *   bits. Formulas after qonnx (custom_op/general/{quant,bipolar_quant,trunc}.py), all in f32. */
#include <math.h>
#include <stddef.h>

#include "ops/as_f32.h"
#include "ops/elementwise.h"
#include "ops/spell.h"
#include "ops/upgrade.h"

typedef struct quant_attrs {
    int64_t is_signed, narrow;
    int rounding_mode;
} quant_attrs;

/* ORDER: rounding (round_to) */
static const char *const roundings[] = { "ROUND", "HALF_EVEN",     "CEIL",    "FLOOR",     "UP",
                                         "DOWN",  "ROUND_TO_ZERO", "HALF_UP", "HALF_DOWN", NULL };

#define SIGNED_AND_NARROW(narrow_default)                                                                              \
    { "signed", TARE_FIELD_INT, offsetof(quant_attrs, is_signed), .fallback.i = 1, .hi = 1 }, {                        \
        "narrow", TARE_FIELD_INT, offsetof(quant_attrs, narrow), .fallback.i = narrow_default, .hi = 1                 \
    }
#define ROUNDING(word)                                                                                                 \
    { "rounding_mode", TARE_FIELD_ENUM, offsetof(quant_attrs, rounding_mode), .fallback.i = word, .names = roundings }

static const tare_field quant_fields[] = { SIGNED_AND_NARROW(1), ROUNDING(0), { 0 } };
static const tare_field trunc_fields[] = { SIGNED_AND_NARROW(0), ROUNDING(3), { 0 } };

static float round_to(int mode, float x) {
    switch (mode) {
    case 2: return ceilf(x);
    case 3: return floorf(x);
    case 4: return copysignf(ceilf(fabsf(x)), x);
    case 5:
    case 6: return truncf(x);
    case 7: return copysignf(floorf(fabsf(x) + 0.5f), x);
    case 8: return copysignf(ceilf(fabsf(x) - 0.5f), x);
    default: return rintf(x);
    }
}

/* The range of codes. */
static void code_range(const quant_attrs *attrs, float bits, float *lo, float *hi) {
    float top = ldexpf(1, (int)rintf(bits) - (attrs->is_signed ? 1 : 0));
    *lo = !attrs->is_signed ? 0 : attrs->narrow ? 1 - top : -top;
    *hi = top - 1 - (!attrs->is_signed && attrs->narrow ? 1 : 0);
}

/* ---- inference ---- */

static tare_status infer_x(tare_node *node, tare_error *err) {
    for (int i = 0; i < node->input_count; i++) TARE_TRY(tare_infer_check(node, i, TARE_TYPES_FLOAT, err));
    tare_shape x = tare_input_shape(node, 0), all = x;
    for (int i = 1; i < node->input_count; i++) {
        tare_shape other = tare_input_shape(node, i), before = all;
        if (x.rank < 0 || other.rank < 0) continue;
        bool fits = other.rank <= x.rank && tare_shape_broadcast(&all, &before, &other);
        for (int d = 0; fits && d < x.rank; d++) fits = x.dim[d] < 0 || all.dim[d] == x.dim[d];
        if (fits) continue;
        char got[128], want[128];
        tare_shape_print(got, sizeof got, &other, NULL);
        tare_shape_print(want, sizeof want, &x, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') of shape %s does not broadcast to the input's %s", i,
                         node->inputs[i]->name, got, want);
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &x, err);
}

/* A bit width from a file: 1 to 24, what f32 counts exactly. */
static tare_status check_bits(const tare_node *node, int input, tare_error *err) {
    const tare_value *value = tare_node_input(node, input);
    double bits;
    if (!tare_value_read_scalar(value, &bits)) return TARE_OK;
    if (bits >= 1 && bits <= 24 && bits == rint(bits)) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "the bit width is %g, want a whole number from 1 to 24", bits);
}

static tare_status infer_quant(tare_node *node, tare_error *err) {
    TARE_TRY(check_bits(node, 3, err));
    return infer_x(node, err);
}

static tare_status infer_trunc(tare_node *node, tare_error *err) {
    if (node->input_count == 6) return tare_fail(err, TARE_E_MALFORMED, "has 6 inputs, want 5 or 7");
    for (int i = 3; i < node->input_count; i += node->input_count == 5 ? 1 : 3) TARE_TRY(check_bits(node, i, err));
    return infer_x(node, err);
}

/* ---- formulas, on the k-th number of each input ---- */

typedef float formula_fn(const quant_attrs *attrs, const float *in);

static float quant(const quant_attrs *attrs, const float *in) {
    float scale = in[1], zero = in[2], lo, hi, code = in[0] / scale + zero;
    if (in[3] == 1 && attrs->is_signed)
        code = code >= 0 ? 1 : -1;
    else {
        code_range(attrs, in[3], &lo, &hi);
        code = code > hi ? hi : code;
        code = round_to(attrs->rounding_mode, code < lo ? lo : code);
    }
    return (code - zero) * scale;
}

static float bipolar(const quant_attrs *attrs, const float *in) {
    (void)attrs;
    return in[0] >= 0 ? in[1] : -in[1];
}

/* x, scale, zero point, bits before, bits after. */
static float trunc_5(const quant_attrs *attrs, const float *in) {
    float code = rintf(in[0] / in[1] + in[2]) / ldexpf(1, (int)rintf(in[3]) - (int)rintf(in[4]));
    return (round_to(attrs->rounding_mode, code) - in[2]) * in[1];
}

/* x, scale, zero point, bits before, scale after, zero point after (not used), bits after. The ratio of the scales is
 * taken as the nearest power of two. */
static float trunc_7(const quant_attrs *attrs, const float *in) {
    int exponent;
    float ratio = in[4] / in[1], mantissa = frexpf(ratio, &exponent), lo, hi;
    float step = isfinite(ratio) ? ldexpf(1, mantissa < 0.70710678f ? exponent - 1 : exponent) : ratio;
    float code = rintf(in[0] / in[1] + in[2]) / step;
    code_range(attrs, in[6], &lo, &hi);
    code = code > hi ? hi : code;
    code = round_to(attrs->rounding_mode, code < lo ? lo : code);
    return (code - in[2] / step) * in[4];
}

/* ---- run ---- */

enum { INPUTS_MAX = 7, PASS = 4 };

struct job {
    const tare_call *call;
    const tare_spans *spans;
    formula_fn *formula;
};

static void span(void *context, int64_t to, const int64_t *at, size_t count) {
    const struct job *job = context;
    const tare_call *call = job->call;
    const float *from[INPUTS_MAX];
    float in[INPUTS_MAX], *target = (float *)call->outputs[0]->data + to;
    /* Inputs past the fourth are single numbers (bit widths, scales of Trunc). */
    for (int k = 0; k < call->input_count; k++) {
        from[k] = (const float *)call->inputs[k]->data + (k < PASS ? at[k] : 0);
        in[k] = *from[k];
    }
    int moving = call->input_count < PASS
    ? call->input_count : PASS;
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < moving; k++) in[k] = from[k][i * tare_spans_stride(job->spans, k)];
        target[i] = job->formula(call->attrs, in);
    }
}

static tare_status run_formula(const tare_call *call, formula_fn *formula) {
    const tare_shape *shapes[INPUTS_MAX];
    tare_spans spans;
    for (int k = 0; k < call->input_count; k++) shapes[k] = &call->inputs[k]->shape;
    tare_spans_init(&spans, &call->outputs[0]->shape, shapes, call->input_count < PASS ? call->input_count : PASS);
    struct job job = { call, &spans, formula };
    tare_spans_run(&spans, call->pool, span, &job);
    return TARE_OK;
}

static tare_status quant_f32(const tare_call *call, tare_error *err) { return (void)err, run_formula(call, quant); }
static tare_status bipolar_f32(const tare_call *call, tare_error *err) { return (void)err, run_formula(call, bipolar); }
static tare_status trunc_f32(const tare_call *call, tare_error *err) {
    for (int i = PASS; i < call->input_count; i++)
        if (tare_shape_elements(&call->inputs[i]->shape) != 1)
            return tare_fail(err, TARE_E_UNSUPPORTED, "input %d of Trunc is no single number", i);
    return run_formula(call, call->input_count == 5 ? trunc_5 : trunc_7);
}

static tare_status run_quant(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, quant_f32, err);
}
static tare_status run_bipolar(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, bipolar_f32, err);
}
static tare_status run_trunc(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, 0, trunc_f32, err);
}

/* ---- the domains: qonnx.custom_op.general is the canonical one ---- */

static tare_status upgrade(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const quant_attrs old = *(const quant_attrs *)node->attrs;
    const tare_op *op = tare_op_find("qonnx.custom_op.general", node->op->name, 1);
    if (node->op == &tare_op_qonnx_int_quant) op = &tare_op_qonnx_quant;
    TARE_TRY(tare_node_become(node, op, err));
    *(quant_attrs *)node->attrs = old;
    return TARE_OK;
}

#define OP(prefix, op, symbol, op_domain, least, most, fields, infer_rule, run_function, ...)                          \
    const tare_op tare_op_##prefix##_##symbol = { .name = #op,                                                         \
                                                  .domain = op_domain,                                                 \
                                                  .since = 1,                                                          \
                                                  .inputs = { least, most },                                           \
                                                  .outputs = { 1, 1 },                                                 \
                                                  .attrs = fields,                                                     \
                                                  .attrs_size = sizeof(quant_attrs),                                   \
                                                  .flags = TARE_OP_ELEMENTWISE,                                        \
                                                  .layout = TARE_LAYOUT_EITHER,                                        \
                                                  .infer = infer_rule,                                                 \
                                                  .prepare = tare_as_f32_prepare,                                      \
                                                  .run = run_function,                                                 \
                                                  __VA_ARGS__ };
#define FAMILY(prefix, op_domain, ...)                                                                                 \
    OP(prefix, Quant, quant, op_domain, 4, 4, quant_fields, infer_quant, run_quant, __VA_ARGS__)                       \
    OP(prefix, BipolarQuant, bipolar_quant, op_domain, 2, 2, no_fields, infer_x, run_bipolar, __VA_ARGS__)             \
    OP(prefix, Trunc, trunc, op_domain, 5, 7, trunc_fields, infer_trunc, run_trunc, __VA_ARGS__)

static const tare_field no_fields[] = { { 0 } };
/* Only Quant and BipolarQuant can be spelled; Trunc's values are none that carry a grid. */
FAMILY(qonnx, "qonnx.custom_op.general", .expand = tare_spell_qonnx_quant)
FAMILY(brevitas, "onnx.brevitas", .upgrade = upgrade)
FAMILY(finn, "finn.custom_op.general", .upgrade = upgrade)
OP(qonnx, IntQuant, int_quant, "qonnx.custom_op.general", 4, 4, quant_fields, infer_quant, run_quant,
   .upgrade = upgrade)

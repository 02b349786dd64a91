/* The mathematical functions of one number: Abs to Tanh's relatives. Each is a line in one of two lists; f32 runs
 * through the kernels, which have one set of bits for all instruction sets, f64 through SLEEF's `cinz` functions. */
#include <math.h>
#include <sleef.h>

#include "ops/elementwise.h"

#define OBSERVED    .kind = TARE_QUANT_OBSERVE
#define FIXED(a, b) .kind = TARE_QUANT_FIXED, .lo = a, .hi = b
#define RATIOS      .kind = TARE_QUANT_OBSERVE, .reads_ratios = true
#define PLAIN       (TARE_OP_ELEMENTWISE | TARE_OP_IN_PLACE)

/* X(op, first opset of its form, the kernels' slot, the function on f64, what is known of its range) */
#define FUNCTIONS(X)                                                                                                   \
    X(Acos, acos, 7, acos_f32, Sleef_cinz_acosd1_u10purec, OBSERVED)                                                   \
    X(Acosh, acosh, 9, acosh_f32, Sleef_cinz_acoshd1_u10purec, OBSERVED)                                               \
    X(Asin, asin, 7, asin_f32, Sleef_cinz_asind1_u10purec, OBSERVED)                                                   \
    X(Asinh, asinh, 9, asinh_f32, Sleef_cinz_asinhd1_u10purec, OBSERVED)                                               \
    X(Atan, atan, 7, atan_f32, Sleef_cinz_atand1_u10purec, OBSERVED)                                                   \
    X(Atanh, atanh, 9, atanh_f32, Sleef_cinz_atanhd1_u10purec, OBSERVED)                                               \
    X(Cos, cos, 7, cos_f32, Sleef_cinz_cosd1_u10purec, FIXED(-1, 1))                                                   \
    X(Cosh, cosh, 9, cosh_f32, Sleef_cinz_coshd1_u10purec, OBSERVED)                                                   \
    X(Erf, erf, 9, erf_f32, Sleef_cinz_erfd1_u10purec, FIXED(-1, 1))                                                   \
    X(Exp, exp, 6, exp_f32, Sleef_cinz_expd1_u10purec, OBSERVED)                                                       \
    X(Log, log, 6, log_f32, Sleef_cinz_logd1_u10purec, RATIOS)                                                         \
    X(Sin, sin, 7, sin_f32, Sleef_cinz_sind1_u10purec, FIXED(-1, 1))                                                   \
    X(Sinh, sinh, 9, sinh_f32, Sleef_cinz_sinhd1_u10purec, OBSERVED)                                                   \
    X(Tan, tan, 7, tan_f32, Sleef_cinz_tand1_u10purec, OBSERVED)

#define DEFINE_FUNCTION(op, symbol, first_opset, slot, double_function, ...)                                           \
    static void symbol##_f32(const tare_call *call, float *to, const float *from, size_t count) {                      \
        call->kernels->slot(to, from, count);                                                                          \
    }                                                                                                                  \
    static double symbol##_f64(const void *attrs, double x) {                                                          \
        (void)attrs;                                                                                                   \
        return double_function(x);                                                                                     \
    }                                                                                                                  \
    static tare_status symbol##_run(const tare_call *call, tare_error *err) {                                          \
        (void)err;                                                                                                     \
        return tare_unary_run(call, &(const tare_unary){ .f32 = symbol##_f32, .f64 = symbol##_f64 });                  \
    }                                                                                                                  \
    const tare_op tare_op_##symbol = { .name = #op,                                                                    \
                                       .since = first_opset,                                                           \
                                       .inputs = { 1, 1 },                                                             \
                                       .outputs = { 1, 1 },                                                            \
                                       .flags = PLAIN,                                                                 \
                                       .layout = TARE_LAYOUT_EITHER,                                                   \
                                       .quant = { __VA_ARGS__ },                                                       \
                                       .infer = tare_infer_real,                                                       \
                                       .run = symbol##_run };
FUNCTIONS(DEFINE_FUNCTION)

static int64_t abs_s64(const void *attrs, int64_t x) { return (void)attrs, x < 0 ? (int64_t)(0 - (uint64_t)x) : x; }
static uint64_t abs_u64(const void *attrs, uint64_t x) { return (void)attrs, x; }
static int64_t neg_s64(const void *attrs, int64_t x) { return (void)attrs, (int64_t)(0 - (uint64_t)x); }
static uint64_t neg_u64(const void *attrs, uint64_t x) { return (void)attrs, 0 - x; }
static int64_t sign_s64(const void *attrs, int64_t x) { return (void)attrs, (x > 0) - (x < 0); }
static uint64_t sign_u64(const void *attrs, uint64_t x) { return (void)attrs, x > 0; }

/* X(op, first opset of its form, formula of x for both float types, functions on s64 and u64, inference, more flags).
 * Rounding is to nearest, ties to even; the sign of NaN is NaN. */
#define FORMULAS(X)                                                                                                    \
    X(Abs, abs, 6, x < 0 ? -x : x + 0, abs_s64, abs_u64, tare_infer_number, TARE_OP_IDEMPOTENT)                        \
    X(Ceil, ceil, 6, ceil(x), NULL, NULL, tare_infer_real, TARE_OP_IDEMPOTENT)                                         \
    X(Floor, floor, 6, floor(x), NULL, NULL, tare_infer_real, TARE_OP_IDEMPOTENT)                                      \
    X(Neg, neg, 6, -x, neg_s64, neg_u64, tare_infer_number, 0)                                                         \
    X(Reciprocal, reciprocal, 6, 1 / x, NULL, NULL, tare_infer_real, 0)                                                \
    X(Round, round, 11, rint(x), NULL, NULL, tare_infer_real, TARE_OP_IDEMPOTENT)                                      \
    X(Sqrt, sqrt, 6, sqrt(x), NULL, NULL, tare_infer_real, 0)                                                          \
    X(Sign, sign, 9, x > 0 ? 1 : x < 0 ? -1 : x + 0, sign_s64, sign_u64, tare_infer_number, TARE_OP_IDEMPOTENT)

/* On f32 the formulas are computed in f64: ceil, floor and rint are exact, and a quotient or root of f32 numbers rounded
 * to f64 and then to f32 is the one rounded to f32 at once. */
#define DEFINE_FORMULA(op, symbol, first_opset, formula, on_s64, on_u64, infer_rule, more_flags)                       \
    static void symbol##_f32(const tare_call *call, float *to, const float *from, size_t count) {                      \
        (void)call;                                                                                                    \
        for (size_t i = 0; i < count; i++) {                                                                           \
            double x = (double)from[i];                                                                                \
            to[i] = (float)(formula);                                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    static double symbol##_f64(const void *attrs, double x) {                                                          \
        (void)attrs;                                                                                                   \
        return formula;                                                                                                \
    }                                                                                                                  \
    static tare_status symbol##_run(const tare_call *call, tare_error *err) {                                          \
        (void)err;                                                                                                     \
        return tare_unary_run(                                                                                         \
            call, &(const tare_unary){ .f32 = symbol##_f32, .f64 = symbol##_f64, .s64 = on_s64, .u64 = on_u64 });      \
    }                                                                                                                  \
    const tare_op tare_op_##symbol = { .name = #op,                                                                    \
                                       .since = first_opset,                                                           \
                                       .inputs = { 1, 1 },                                                             \
                                       .outputs = { 1, 1 },                                                            \
                                       .flags = PLAIN | (more_flags),                                                  \
                                       .layout = TARE_LAYOUT_EITHER,                                                   \
                                       .quant = { OBSERVED },                                                          \
                                       .infer = infer_rule,                                                            \
                                       .run = symbol##_run };
FORMULAS(DEFINE_FORMULA)

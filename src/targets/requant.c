/* Filling requantizations: what targets have in common. */
#include <math.h>

#include "targets/codes.h"

/* In f32, as TFLite does it, then cut to s32. */
static int32_t bound(const tare_quant *output, float real) {
    const float steps = roundf(real / output->scale[0]);
    const double code = (double)steps + output->zero_point[0];
    return code < INT32_MIN ? INT32_MIN : code > INT32_MAX ? INT32_MAX : (int32_t)code;
}

void tare_requant_start(tare_requant *requant, tare_requant_kind kind, const tare_quant *output, float lo, float hi) {
    const int32_t low = bound(output, lo), high = bound(output, hi);
    *requant = (tare_requant){ .kind = kind,
                               .zero_point = output->zero_point[0],
                               .lo = tare_quant_lowest(output),
                               .hi = tare_dtype_highest(output->code) };
    if (low > requant->lo) requant->lo = low < requant->hi ? low : requant->hi;
    if (high < requant->hi) requant->hi = high > requant->lo ? high : requant->lo;
}

tare_status tare_requant_alloc(tare_requant *requant, size_t count, tare_arena *arena, tare_error *err) {
    const bool is_float = requant->kind == TARE_REQUANT_FLOAT_RNE;
    requant->step = 1;
    if (is_float) {
        requant->scale = tare_arena_alloc(arena, count + 1, sizeof(float));
    } else {
        requant->multiplier = tare_arena_alloc(arena, count + 1, sizeof(int32_t));
        requant->exponent = tare_arena_alloc(arena, count + 1, sizeof(int32_t));
    }
    if (is_float ? !requant->scale : !requant->multiplier || !requant->exponent)
        return tare_fail_memory(err, count * sizeof(int32_t));
    return TARE_OK;
}

void tare_requant_set(tare_requant *requant, size_t channel, double ratio) {
    int power;
    switch (requant->kind) {
    case TARE_REQUANT_FLOAT_RNE: requant->scale[channel] = (float)ratio; break;
    case TARE_REQUANT_SHIFT:
        frexp(ratio, &power);
        requant->exponent[channel] = 1 - power;
        break;
    default: tare_q31_from_real(ratio, &requant->multiplier[channel], &requant->exponent[channel]); break;
    }
}

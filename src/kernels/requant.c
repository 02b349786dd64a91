/* The epilogues of requant.h, a loop each. */
#include "kernels/requant.h"

#include <math.h>
#include <stdbool.h>

static uint8_t clamp(int64_t code, const tare_requant *r) {
    code = code < r->lo ? r->lo : code > r->hi ? r->hi : code;
    return (uint8_t)code;
}

static void float_rne(const tare_requant *r, uint8_t *to, const int32_t *from, size_t first, size_t count) {
    const float lo = (float)(r->lo - r->zero_point), hi = (float)(r->hi - r->zero_point);
    for (size_t i = 0; i < count; i++) {
        float v = (float)from[i] * r->scale[(first + i) * r->step];
        v = v < lo ? lo : v > hi ? hi : v;
        to[i] = clamp((int64_t)rintf(v) + r->zero_point, r);
    }
}

static void doubly_rounded(const tare_requant *r, uint8_t *to, const int32_t *from, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int64_t v =
            tare_q31_scale(from[i], r->multiplier[(first + i) * r->step], r->exponent[(first + i) * r->step]);
        to[i] = clamp(v + r->zero_point, r);
    }
}

static void half_up(const tare_requant *r, uint8_t *to, const int32_t *from, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int32_t shift = 31 - r->exponent[(first + i) * r->step];
        const int64_t v = (int64_t)from[i] * r->multiplier[(first + i) * r->step] + ((int64_t)1 << (shift - 1));
        to[i] = clamp((v >> shift) + r->zero_point, r);
    }
}

static void shift(const tare_requant *r, uint8_t *to, const int32_t *from, size_t first, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const int32_t n = r->exponent[(first + i) * r->step];
        const int64_t v = n > 0 ? (from[i] + ((int64_t)1 << (n - 1))) >> n : from[i] * ((int64_t)1 << -n);
        to[i] = clamp(v + r->zero_point, r);
    }
}

void tare_requantize(const tare_requant *requant, uint8_t *to, const int32_t *from, size_t first, size_t count) {
    switch (requant->kind) {
    case TARE_REQUANT_FLOAT_RNE: float_rne(requant, to, from, first, count); break;
    case TARE_REQUANT_DOUBLY_ROUNDED: doubly_rounded(requant, to, from, first, count); break;
    case TARE_REQUANT_HALF_UP: half_up(requant, to, from, first, count); break;
    case TARE_REQUANT_SHIFT: shift(requant, to, from, first, count); break;
    case TARE_REQUANT_COUNT: break;
    }
}

void tare_q31_from_real(double real, int32_t *multiplier, int32_t *exponent) {
    int power;
    const double mantissa = frexp(real, &power);
    int64_t q = (int64_t)round(mantissa * 2147483648.0);
    if (q == (int64_t)1 << 31) {
        q /= 2;
        power++;
    }
    const bool is_small = real == 0 || power < -31;
    *multiplier = is_small ? 0 : (int32_t)q;
    *exponent = is_small ? 0 : power;
}

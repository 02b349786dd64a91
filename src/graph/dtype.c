/* The table of element types and the two 16-bit floats. */
#include "graph/dtype.h"

#include <string.h>

/* ORDER: dtype */
static const struct {
    const char *name;
    size_t size;
    bool is_float, is_integer;
    int32_t lowest, highest;
} types[TARE_DTYPE_COUNT] = {
    [TARE_DTYPE_NONE] = { "?", 0, false, false, 0, 0 },
    [TARE_F32] = { "f32", 4, true, false, 0, 0 },
    [TARE_F16] = { "f16", 2, true, false, 0, 0 },
    [TARE_BF16] = { "bf16", 2, true, false, 0, 0 },
    [TARE_F64] = { "f64", 8, true, false, 0, 0 },
    [TARE_S8] = { "s8", 1, false, true, -128, 127 },
    [TARE_U8] = { "u8", 1, false, true, 0, 255 },
    [TARE_S16] = { "s16", 2, false, true, -32768, 32767 },
    [TARE_U16] = { "u16", 2, false, true, 0, 65535 },
    [TARE_S32] = { "s32", 4, false, true, INT32_MIN, INT32_MAX },
    [TARE_U32] = { "u32", 4, false, true, 0, INT32_MAX },
    [TARE_S64] = { "s64", 8, false, true, INT32_MIN, INT32_MAX },
    [TARE_U64] = { "u64", 8, false, true, 0, INT32_MAX },
    [TARE_BOOL] = { "bool", 1, false, false, 0, 1 },
    [TARE_S4] = { "s4", 1, false, true, -8, 7 },
    [TARE_U4] = { "u4", 1, false, true, 0, 15 },
    [TARE_STRING] = { "string", sizeof(char *), false, false, 0, 0 },
};

const char *tare_dtype_name(tare_dtype dtype) { return types[dtype].name; }

tare_dtype tare_dtype_find(const char *name) {
    for (int i = 1; i < TARE_DTYPE_COUNT; i++)
        if (!strcmp(types[i].name, name)) return (tare_dtype)i;
    return TARE_DTYPE_NONE;
}

size_t tare_dtype_size(tare_dtype dtype) { return types[dtype].size; }
bool tare_dtype_is_float(tare_dtype dtype) { return types[dtype].is_float; }
bool tare_dtype_is_integer(tare_dtype dtype) { return types[dtype].is_integer; }
int32_t tare_dtype_lowest(tare_dtype code) { return types[code].lowest; }
int32_t tare_dtype_highest(tare_dtype code) { return types[code].highest; }

#define READ(type, index) (((const type *)data)[index])

int64_t tare_dtype_s64_at(tare_dtype dtype, const void *data, size_t i) {
    switch (dtype) {
    case TARE_S8:
    case TARE_S4: return READ(int8_t, i);
    case TARE_U8:
    case TARE_U4:
    case TARE_BOOL: return READ(uint8_t, i);
    case TARE_S16: return READ(int16_t, i);
    case TARE_U16: return READ(uint16_t, i);
    case TARE_S32: return READ(int32_t, i);
    case TARE_U32: return READ(uint32_t, i);
    default: return READ(int64_t, i); /* s64, and u64 wrapped */
    }
}

double tare_dtype_f64_at(tare_dtype dtype, const void *data, size_t i) {
    switch (dtype) {
    case TARE_F32: return (double)READ(float, i);
    case TARE_F64: return READ(double, i);
    case TARE_F16: return (double)tare_f16_to_f32(READ(uint16_t, i));
    case TARE_BF16: return (double)tare_bf16_to_f32(READ(uint16_t, i));
    default: return (double)tare_dtype_s64_at(dtype, data, i);
    }
}

static float float_of(uint32_t bits) {
    float real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

static uint32_t bits_of(float real) {
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

float tare_f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, mantissa = bits & 0x3ffu;
    if (exponent == 31) return float_of(sign | 0x7f800000u | mantissa << 13);
    if (exponent) return float_of(sign | (exponent + 112) << 23 | mantissa << 13);
    float tiny = (float)mantissa * 0x1p-24f; /* exact: a subnormal half is a normal float */
    return sign ? -tiny : tiny;
}

uint16_t tare_f32_to_f16(float real) {
    uint32_t bits = bits_of(real), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u); /* 65520 and up round to infinity */
    if (magnitude < 0x38800000u) {                                   /* subnormal half: let the FPU round to 2^-24 */
        float shifted = float_of(magnitude) + 0.5f;                  /* ulp of 0.5…1 is 2^-24 */
        return (uint16_t)(sign | (bits_of(shifted) - bits_of(0.5f)));
    }
    uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return (uint16_t)(sign | ((rounded >> 13) - (112u << 10)));
}

float tare_bf16_to_f32(uint16_t bits) { return float_of((uint32_t)bits << 16); }

uint16_t tare_f32_to_bf16(float real) {
    uint32_t bits = bits_of(real);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(bits >> 16 | 0x40u); /* NaN stays NaN */
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

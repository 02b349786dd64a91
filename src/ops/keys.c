/* Sort keys of numbers; see keys.h. */
#include "ops/keys.h"

#include <math.h>
#include <string.h>

/* The bits of a float, read as an integer, go up with it when it is positive, and down when negative. */
static inline uint64_t key_f32(float real) {
    uint32_t bits;
    if (isnan(real)) return UINT64_MAX;
    real += 0.0f; /* -0 becomes +0 */
    memcpy(&bits, &real, sizeof bits);
    return bits >> 31 ? (uint32_t)~bits : bits | UINT32_C(1) << 31;
}

static inline uint64_t key_f64(double real) {
    uint64_t bits;
    if (isnan(real)) return UINT64_MAX;
    real += 0.0;
    memcpy(&bits, &real, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static inline uint64_t key_s64(int64_t number) { return (uint64_t)number ^ UINT64_C(1) << 63; }
static inline uint64_t key_u64(uint64_t number) { return number; }
static inline uint64_t key_f16(uint16_t bits) { return key_f32(tare_f16_to_f32(bits)); }
static inline uint64_t key_bf16(uint16_t bits) { return key_f32(tare_bf16_to_f32(bits)); }

#define LOAD(type, key)                                                                                                \
    do {                                                                                                               \
        const type *from = (const type *)data + at;                                                                    \
        for (int64_t i = 0; i < count; i++) keys[i] = key(from[i * step]);                                             \
    } while (0)

void tare_keys_load(uint64_t *keys, tare_dtype dtype, const void *data, int64_t at, int64_t step, int64_t count) {
    switch (dtype) {
    case TARE_F32: LOAD(float, key_f32); break;
    case TARE_F64: LOAD(double, key_f64); break;
    case TARE_F16: LOAD(uint16_t, key_f16); break;
    case TARE_BF16: LOAD(uint16_t, key_bf16); break;
    case TARE_S4:
    case TARE_S8: LOAD(int8_t, key_s64); break;
    case TARE_S16: LOAD(int16_t, key_s64); break;
    case TARE_S32: LOAD(int32_t, key_s64); break;
    case TARE_S64: LOAD(int64_t, key_s64); break;
    case TARE_U16: LOAD(uint16_t, key_u64); break;
    case TARE_U32: LOAD(uint32_t, key_u64); break;
    case TARE_U64: LOAD(uint64_t, key_u64); break;
    default: LOAD(uint8_t, key_u64); break;
    }
}

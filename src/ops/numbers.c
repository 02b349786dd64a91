/* Loading and storing the number types of arithmetic (numbers.h). */
#include "ops/numbers.h"

#include <assert.h>
#include <math.h>
#include <string.h>

tare_number tare_number_of(tare_dtype dtype) {
    if (dtype == TARE_F64) return TARE_NUMBER_F64;
    if (tare_dtype_is_float(dtype)) return TARE_NUMBER_F32;
    return dtype == TARE_U64 ? TARE_NUMBER_U64 : TARE_NUMBER_S64;
}

bool tare_number_is_own(tare_dtype dtype) {
    return dtype == TARE_F32 || dtype == TARE_F64 || dtype == TARE_S64 || dtype == TARE_U64;
}

#define LOAD(type, source, convert)                                                                                    \
    do {                                                                                                               \
        const source *source_ = (const source *)data + at;                                                             \
        type *to_ = to;                                                                                                \
        for (size_t i = 0; i < count; i++) to_[i] = (type)convert(source_[i]);                                         \
    } while (0)

void tare_numbers_load(void *to, tare_dtype dtype, const void *data, int64_t at, size_t count) {
    switch (dtype) {
    case TARE_F16: LOAD(float, uint16_t, tare_f16_to_f32); break;
    case TARE_BF16: LOAD(float, uint16_t, tare_bf16_to_f32); break;
    case TARE_S4:
    case TARE_S8: LOAD(int64_t, int8_t, ); break;
    case TARE_U4:
    case TARE_BOOL:
    case TARE_U8: LOAD(int64_t, uint8_t, ); break;
    case TARE_S16: LOAD(int64_t, int16_t, ); break;
    case TARE_U16: LOAD(int64_t, uint16_t, ); break;
    case TARE_S32: LOAD(int64_t, int32_t, ); break;
    case TARE_U32: LOAD(int64_t, uint32_t, ); break;
    default:
        assert(tare_number_is_own(dtype));
        size_t size = tare_dtype_size(dtype);
        memcpy(to, (const char *)data + (size_t)at * size, count * size);
    }
}

#define STORE(type, target, convert)                                                                                   \
    do {                                                                                                               \
        target *target_ = (target *)data + at;                                                                         \
        const type *from_ = from;                                                                                      \
        for (size_t i = 0; i < count; i++) target_[i] = (target)convert(from_[i]);                                     \
    } while (0)

void tare_numbers_store(tare_dtype dtype, void *data, int64_t at, const void *from, size_t count) {
    switch (dtype) {
    case TARE_F16: STORE(float, uint16_t, tare_f32_to_f16); break;
    case TARE_BF16: STORE(float, uint16_t, tare_f32_to_bf16); break;
    case TARE_S4:
    case TARE_S8: STORE(int64_t, int8_t, ); break;
    case TARE_BOOL: STORE(int64_t, uint8_t, !!); break;
    case TARE_U4:
    case TARE_U8: STORE(int64_t, uint8_t, ); break;
    case TARE_S16: STORE(int64_t, int16_t, ); break;
    case TARE_U16: STORE(int64_t, uint16_t, ); break;
    case TARE_S32: STORE(int64_t, int32_t, ); break;
    case TARE_U32: STORE(int64_t, uint32_t, ); break;
    default:
        assert(tare_number_is_own(dtype));
        size_t size = tare_dtype_size(dtype);
        memcpy((char *)data + (size_t)at * size, from, count * size);
    }
}

void tare_numbers_to_f32(float *to, tare_dtype dtype, const void *data, int64_t at, size_t count) {
    tare_number number = tare_number_of(dtype);
    if (number == TARE_NUMBER_F32) {
        tare_numbers_load(to, dtype, data, at, count);
        return;
    }
    tare_numbers chunk;
    for (size_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t part = count - done < TARE_NUMBERS_CHUNK ? count - done : TARE_NUMBERS_CHUNK;
        tare_numbers_load(&chunk, dtype, data, at + (int64_t)done, part);
        for (size_t i = 0; i < part; i++)
            to[done + i] = number == TARE_NUMBER_F64   ? (float)chunk.f64[i]
                           : number == TARE_NUMBER_S64 ? (float)chunk.s64[i]
                                                       : (float)chunk.u64[i];
    }
}

/* Truncated, in the type's range; NaN gives 0. The bounds are exact in f32 or the next number inside. */
static int64_t to_s64(tare_dtype dtype, float real) {
    if (isnan(real)) return 0;
    if (dtype == TARE_S64) return real >= 0x1p63f ? INT64_MAX : real < -0x1p63f ? INT64_MIN : (int64_t)real;
    int64_t lo = dtype == TARE_U32 || dtype == TARE_BOOL ? 0 : tare_dtype_lowest(dtype);
    int64_t hi = dtype == TARE_U32 ? (int64_t)UINT32_MAX : dtype == TARE_BOOL ? 1 : tare_dtype_highest(dtype);
    if (real >= (float)hi) return hi;
    return real <= (float)lo ? lo : (int64_t)real;
}

static uint64_t to_u64(float real) { return real >= 0x1p64f ? UINT64_MAX : real > 0 ? (uint64_t)real : 0; }

void tare_numbers_from_f32(tare_dtype dtype, void *data, int64_t at, const float *from, size_t count) {
    tare_number number = tare_number_of(dtype);
    if (number == TARE_NUMBER_F32) {
        tare_numbers_store(dtype, data, at, from, count);
        return;
    }
    tare_numbers chunk;
    for (size_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t part = count - done < TARE_NUMBERS_CHUNK ? count - done : TARE_NUMBERS_CHUNK;
        for (size_t i = 0; i < part; i++) {
            if (number == TARE_NUMBER_F64) chunk.f64[i] = (double)from[done + i];
            if (number == TARE_NUMBER_S64) chunk.s64[i] = to_s64(dtype, from[done + i]);
            if (number == TARE_NUMBER_U64) chunk.u64[i] = to_u64(from[done + i]);
        }
        tare_numbers_store(dtype, data, at + (int64_t)done, &chunk, part);
    }
}

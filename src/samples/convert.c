/* Element types between files and inputs: what keeps every number is done, what rounds is said, what would guess is
 * refused with the option that declares it. */
#include <math.h>
#include <string.h>

#include "samples/array.h"

float tare_normalize_one(const tare_normalize *normalize, float x, size_t channel) {
    if (normalize->unit) x = x / 255.0f;
    if (normalize->mean_count > 0) x = x - normalize->mean[normalize->mean_count > 1 ? channel : 0];
    if (normalize->std_count > 0) x = x / normalize->std[normalize->std_count > 1 ? channel : 0];
    if (normalize->scale != 0) x = x * normalize->scale;
    return x;
}

/* Bits of magnitude that every value of an integer type (or bool) fits in, and whether there are negative ones. */
static int magnitude_bits(tare_dtype dtype) {
    switch (dtype) {
    case TARE_BOOL: return 1;
    case TARE_S8: return 7;
    case TARE_U8: return 8;
    case TARE_S16: return 15;
    case TARE_U16: return 16;
    case TARE_S32: return 31;
    case TARE_U32: return 32;
    case TARE_S64: return 63;
    default: return 64;
    }
}

static bool is_signed(tare_dtype dtype) {
    return dtype == TARE_S8 || dtype == TARE_S16 || dtype == TARE_S32 || dtype == TARE_S64;
}

static bool is_whole(tare_dtype dtype) { return dtype == TARE_BOOL || tare_dtype_is_integer(dtype); }

static bool widens(tare_dtype from, tare_dtype to) {
    if (to == TARE_BOOL) return false;
    return magnitude_bits(from) <= magnitude_bits(to) && (!is_signed(from) || is_signed(to));
}

/* Digits of precision; the exponents of f16 and bf16 fit f32's and f64's. */
static int precision(tare_dtype dtype) {
    return dtype == TARE_F64 ? 53 : dtype == TARE_F32 ? 24 : dtype == TARE_F16 ? 11 : 8;
}

static bool keeps_reals(tare_dtype from, tare_dtype to) {
    return from == to || (to == TARE_F32 && precision(from) < 24) || to == TARE_F64;
}

tare_status tare_convert_check(tare_dtype from, tare_dtype to, bool declared, bool *rounds, tare_error *err) {
    const char *got = tare_dtype_name(from), *want = tare_dtype_name(to);
    *rounds = false;
    if (from == to || to == TARE_DTYPE_NONE) return TARE_OK;
    if (to == TARE_STRING || to == TARE_S4 || to == TARE_U4) {
        return tare_fail(err, TARE_E_UNSUPPORTED, "it wants %s, which no kind of sample gives", want);
    }
    if (tare_dtype_is_float(to)) {
        *rounds = tare_dtype_is_float(from) && !keeps_reals(from, to);
        if (tare_dtype_is_float(from) || declared) return TARE_OK;
        return tare_fail(
            err, TARE_E_USAGE,
            "it wants %s, the data are %s; pass --scale 1 to take the integers as numbers, or the --mean and "
            "--std they need",
            want, got);
    }
    if (declared) return TARE_OK; /* must come out whole and in range, number by number */
    if (is_whole(from) && (widens(from, to) || magnitude_bits(to) >= 31 || to == TARE_BOOL)) return TARE_OK;
    if (is_whole(from)) {
        return tare_fail(
            err, TARE_E_USAGE,
            "it wants %s, the data are %s; codes of one are not codes of the other: save the data as %s, or "
            "declare the step (for pixels 0...255 to s8: --mean 128)",
            want, got, want);
    }
    return tare_fail(err, TARE_E_USAGE,
                     "it wants %s, the data are %s; save the data as %s, or pass --scale 1 when they are whole numbers",
                     want, got, want);
}

/* u64 past INT64_MAX is told by *huge. */
static int64_t whole_at(const void *data, tare_dtype dtype, int64_t i, bool *huge) {
    *huge = false;
    int64_t number = tare_dtype_s64_at(dtype, data, (size_t)i);
    *huge = dtype == TARE_U64 && number < 0;
    return *huge ? number & INT64_MAX : number;
}

static bool in_range(int64_t number, tare_dtype dtype) {
    switch (dtype) {
    case TARE_BOOL: return number == 0 || number == 1;
    case TARE_S8: return number >= INT8_MIN && number <= INT8_MAX;
    case TARE_U8: return number >= 0 && number <= UINT8_MAX;
    case TARE_S16: return number >= INT16_MIN && number <= INT16_MAX;
    case TARE_U16: return number >= 0 && number <= UINT16_MAX;
    case TARE_S32: return number >= INT32_MIN && number <= INT32_MAX;
    case TARE_U32: return number >= 0 && number <= UINT32_MAX;
    case TARE_U64: return number >= 0;
    default: return true;
    }
}

/* The low bytes of two's complement are the number in the narrower type. */
static void put_whole(void *to, tare_dtype dtype, int64_t i, int64_t number) {
    size_t size = tare_dtype_size(dtype);
    memcpy((uint8_t *)to + (size_t)i * size, &number, size);
}

static tare_status convert_wholes(tare_tensor *to, const void *from, tare_dtype dtype, int64_t count, tare_error *err) {
    for (int64_t i = 0; i < count; i++) {
        bool huge;
        int64_t number = whole_at(from, dtype, i, &huge);
        if (huge ? to->dtype != TARE_U64 : !in_range(number, to->dtype)) {
            return tare_fail(err, TARE_E_USAGE, "its element %lld is %s%lld, which is no %s", (long long)i,
                             huge ? "2^63+" : "", (long long)number, tare_dtype_name(to->dtype));
        }
        put_whole(to->data, to->dtype, i, number);
    }
    return TARE_OK;
}

static void put_real(void *to, tare_dtype dtype, int64_t i, double real) {
    if (dtype == TARE_F64) {
        ((double *)to)[i] = real;
    } else if (dtype == TARE_F16) {
        ((uint16_t *)to)[i] = tare_f32_to_f16((float)real);
    } else if (dtype == TARE_BF16) {
        ((uint16_t *)to)[i] = tare_f32_to_bf16((float)real);
    } else {
        ((float *)to)[i] = (float)real;
    }
}

tare_status tare_convert_reals(tare_tensor **out, const float *reals, const tare_shape *shape, tare_dtype to,
                               tare_arena *arena, tare_error *err) {
    TARE_TRY(tare_tensor_new(arena, to, shape, out, err));
    int64_t count = tare_shape_elements(shape);
    for (int64_t i = 0; i < count; i++) {
        if (tare_dtype_is_float(to)) {
            put_real((*out)->data, to, i, (double)reals[i]);
            continue;
        }
        bool whole = reals[i] == rintf(reals[i]) && fabsf(reals[i]) < 0x1p62f;
        if (!whole || !in_range((int64_t)reals[i], to)) {
            return tare_fail(err, TARE_E_USAGE, "its element %lld is %g after preprocessing, which is no %s",
                             (long long)i, (double)reals[i], tare_dtype_name(to));
        }
        put_whole((*out)->data, to, i, (int64_t)reals[i]);
    }
    return TARE_OK;
}

/* The packed numbers as f32, normalized; `inner` numbers in a row are of one channel. */
static void normalize_all(float *to, const void *from, tare_dtype dtype, int64_t count, const tare_normalize *normalize,
                          int64_t channels, int64_t inner) {
    for (int64_t i = 0; i < count; i++) {
        size_t channel = (size_t)(i / inner % channels);
        to[i] = tare_normalize_one(normalize, (float)tare_dtype_f64_at(dtype, from, (size_t)i), channel);
    }
}

static tare_status convert_normalized(tare_tensor **out, const tare_array *array, const void *packed, tare_dtype to,
                                      const tare_normalize *normalize, int channel_axis, tare_arena *arena,
                                      tare_error *err) {
    int64_t count = tare_shape_elements(&array->shape), channels = 1, inner = 1;
    if (channel_axis >= 0) {
        channels = array->shape.dim[channel_axis];
        inner = tare_shape_product(&array->shape, channel_axis + 1, array->shape.rank);
    }
    tare_tensor *reals;
    TARE_TRY(tare_tensor_new(arena, TARE_F32, &array->shape, &reals, err));
    if (count > 0) normalize_all(reals->data, packed, array->dtype, count, normalize, channels, inner);
    if (to != TARE_F32) return tare_convert_reals(out, reals->data, &array->shape, to, arena, err);
    *out = reals;
    return TARE_OK;
}

/* Any byte but 0 is true, as numpy reads it. */
static void make_bool(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = bytes[i] != 0;
}

tare_status tare_convert_array(tare_tensor **out, const tare_array *array, tare_dtype to,
                               const tare_normalize *normalize, int channel_axis, tare_arena *arena, tare_error *err) {
    tare_tensor *packed;
    TARE_TRY(tare_tensor_new(arena, array->dtype, &array->shape, &packed, err));
    tare_array_gather(array, packed->data);
    if (array->dtype == TARE_BOOL) make_bool(packed->data, packed->size);
    if (normalize->is_given) {
        return convert_normalized(out, array, packed->data, to, normalize, channel_axis, arena, err);
    }
    *out = packed;
    if (to == array->dtype || to == TARE_DTYPE_NONE) return TARE_OK;
    TARE_TRY(tare_tensor_new(arena, to, &array->shape, out, err));
    int64_t count = tare_shape_elements(&array->shape);
    if (!tare_dtype_is_float(to)) return convert_wholes(*out, packed->data, array->dtype, count, err);
    for (int64_t i = 0; i < count; i++)
        put_real((*out)->data, to, i, tare_dtype_f64_at(array->dtype, packed->data, (size_t)i));
    return TARE_OK;
}

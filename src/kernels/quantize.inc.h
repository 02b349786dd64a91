/* Template: QuantizeLinear, DequantizeLinear and both in one, in the words of vector.inc.h; formulas in
 * scalar/quantize_scalar.c. */
#include <string.h>

typedef struct rounding {
    v scale, lo, hi;
    vi zero_point;
} rounding;

INLINE rounding spread(const tare_codes *codes) {
    return (rounding){ v_set(codes->scale), v_set((float)((int64_t)codes->lo - codes->zero_point)),
                       v_set((float)((int64_t)codes->hi - codes->zero_point)), vi_set((uint32_t)codes->zero_point) };
}

/* A NaN on the left side of v_greater gives the right side, the lowest code. */
INLINE v round_code(v x, const rounding *r) { return v_round(v_less(v_greater(v_div(x, r->scale), r->lo), r->hi)); }
INLINE vi code(v x, const rounding *r) { return vi_add(v_to_int(round_code(x, r)), r->zero_point); }

#define CODES(name, type)                                                                                              \
    void VARIANT(quantize_##name)(void *to, const float *from, size_t count, const tare_codes *codes) {                \
        rounding r = spread(codes);                                                                                    \
        type *q = to, tail[LANES];                                                                                     \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= count; i += LANES) v_store_##name(q + i, code(v_load(from + i), &r));                      \
        if (i == count) return;                                                                                        \
        v_store_##name(tail, code(v_load_tail(from + i, count - i, 0), &r));                                           \
        memcpy(q + i, tail, (count - i) * sizeof *q);                                                                  \
    }                                                                                                                  \
    INLINE v real_of_##name(const type *q, const rounding *r, vi offset) {                                             \
        return v_mul(v_from_int(vi_add(v_load_##name(q), offset)), r->scale);                                          \
    }                                                                                                                  \
    void VARIANT(dequantize_##name)(float *to, const void *from, size_t count, const tare_codes *codes) {              \
        rounding r = spread(codes);                                                                                    \
        vi offset = vi_set((uint32_t)-codes->zero_point);                                                              \
        const type *q = from;                                                                                          \
        type tail[LANES] = { 0 };                                                                                      \
        size_t i = 0;                                                                                                  \
        for (; i + LANES <= count; i += LANES) v_store(to + i, real_of_##name(q + i, &r, offset));                     \
        if (i == count) return;                                                                                        \
        memcpy(tail, q + i, (count - i) * sizeof *q);                                                                  \
        v_store_tail(to + i, real_of_##name(tail, &r, offset), count - i);                                             \
    }

CODES(s8, int8_t)
CODES(u8, uint8_t)
CODES(s16, int16_t)
CODES(u16, uint16_t)

INLINE v fake(v x, const rounding *r) { return v_mul(v_add(round_code(x, r), v_set(0)), r->scale); }

void VARIANT(fake_quantize_f32)(float *to, const float *from, size_t count, const tare_codes *codes) {
    rounding r = spread(codes);
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) v_store(to + i, fake(v_load(from + i), &r));
    if (i < count) v_store_tail(to + i, fake(v_load_tail(from + i, count - i, 0), &r), count - i);
}

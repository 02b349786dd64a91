/* 4 lanes of NEON: the operations that kernels/vector.inc.h lists. Comparisons and selections instead of FMAX and FMIN,
 * whose NaNs and signs of zero differ from the contract. */
#ifndef TARE_KERNELS_ARM_VECTOR_NEON_H
#define TARE_KERNELS_ARM_VECTOR_NEON_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ISA    neon
#define INLINE static inline __attribute__((always_inline, unused))
enum { LANES = 4 };
typedef float32x4_t v;
typedef int32x4_t vi;
typedef uint32x4_t vm;

INLINE v v_set(float x) { return vdupq_n_f32(x); }
INLINE v v_load(const float *from) { return vld1q_f32(from); }
INLINE v v_load_tail(const float *from, size_t n, float rest) {
    float lanes[LANES] = { rest, rest, rest, rest };
    for (size_t i = 0; i < n; i++) lanes[i] = from[i];
    return vld1q_f32(lanes);
}
INLINE void v_store(float *to, v x) { vst1q_f32(to, x); }
INLINE void v_store_tail(float *to, v x, size_t n) {
    float lanes[LANES];
    vst1q_f32(lanes, x);
    for (size_t i = 0; i < n; i++) to[i] = lanes[i];
}
INLINE v v_add(v a, v b) { return vaddq_f32(a, b); }
INLINE v v_sub(v a, v b) { return vsubq_f32(a, b); }
INLINE v v_mul(v a, v b) { return vmulq_f32(a, b); }
INLINE v v_div(v a, v b) { return vdivq_f32(a, b); }
INLINE v v_fma(v a, v b, v c) { return vfmaq_f32(c, a, b); }
INLINE v v_round(v x) { return vrndnq_f32(x); }
INLINE v v_select(vm m, v a, v b) { return vbslq_f32(m, a, b); }
INLINE v v_greater(v a, v b) { return v_select(vcgtq_f32(a, b), a, b); }
INLINE v v_less(v a, v b) { return v_select(vcltq_f32(a, b), a, b); }
INLINE vm v_nan(v x) { return vmvnq_u32(vceqq_f32(x, x)); }
INLINE vi v_to_int(v x) { return vcvtnq_s32_f32(x); }
INLINE vi v_bits(v x) { return vreinterpretq_s32_f32(x); }
INLINE v v_from_int(vi x) { return vcvtq_f32_s32(x); }
INLINE vi vi_set(uint32_t x) { return vdupq_n_s32((int32_t)x); }
INLINE vi vi_add(vi a, vi b) { return vaddq_s32(a, b); }
INLINE vi vi_and(vi a, vi b) { return vandq_s32(a, b); }
INLINE uint32x4_t unsigned_of(vi x) { return vreinterpretq_u32_s32(x); }
INLINE vm vi_less_unsigned(vi a, vi b) { return vcltq_u32(unsigned_of(a), unsigned_of(b)); }
INLINE vi vi_min_unsigned(vi a, vi b) { return vreinterpretq_s32_u32(vminq_u32(unsigned_of(a), unsigned_of(b))); }
INLINE vi vi_max_unsigned(vi a, vi b) { return vreinterpretq_s32_u32(vmaxq_u32(unsigned_of(a), unsigned_of(b))); }
INLINE vi vi_load(const void *from) { return vld1q_s32(from); }
INLINE void vi_store(void *to, vi x) { vst1q_s32(to, x); }
INLINE bool vi_any(vi x) { return vmaxvq_u32(unsigned_of(x)) != 0; }

INLINE uint8x8_t load_4(const void *from) {
    uint32_t four;
    memcpy(&four, from, sizeof four);
    return vcreate_u8(four);
}
INLINE void store_4(void *to, uint8x8_t x) {
    uint32_t four = vget_lane_u32(vreinterpret_u32_u8(x), 0);
    memcpy(to, &four, sizeof four);
}
INLINE vi v_load_s8(const void *from) { return vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u8(load_4(from))))); }
INLINE vi v_load_u8(const void *from) { return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(load_4(from))))); }
INLINE vi v_load_s16(const void *from) { return vmovl_s16(vld1_s16(from)); }
INLINE vi v_load_u16(const void *from) { return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(from))); }
/* The codes are in range already: the upper bits are cut off. */
INLINE void v_store_s16(void *to, vi x) { vst1_s16(to, vmovn_s32(x)); }
INLINE void v_store_u16(void *to, vi x) { vst1_s16(to, vmovn_s32(x)); }
INLINE void v_store_s8(void *to, vi x) {
    int16x4_t half = vmovn_s32(x);
    store_4(to, vreinterpret_u8_s8(vmovn_s16(vcombine_s16(half, half))));
}
INLINE void v_store_u8(void *to, vi x) { v_store_s8(to, x); }

#endif

/* 16 lanes of AVX-512: the operations that kernels/vector.inc.h lists. */
#ifndef TARE_KERNELS_X86_VECTOR_AVX512_H
#define TARE_KERNELS_X86_VECTOR_AVX512_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISA    avx512
#define INLINE static inline __attribute__((always_inline, unused))
enum { LANES = 16 };
typedef __m512 v;
typedef __m512i vi;
typedef __mmask16 vm;

INLINE __mmask16 first(size_t n) { return (__mmask16)((1u << n) - 1); }

INLINE v v_load(const float *from) { return _mm512_loadu_ps(from); }
INLINE v v_load_tail(const float *from, size_t n, float rest) {
    return _mm512_mask_loadu_ps(_mm512_set1_ps(rest), first(n), from);
}
INLINE void v_store(float *to, v x) { _mm512_storeu_ps(to, x); }
INLINE void v_store_tail(float *to, v x, size_t n) { _mm512_mask_storeu_ps(to, first(n), x); }
INLINE v v_set(float x) { return _mm512_set1_ps(x); }
INLINE v v_add(v a, v b) { return _mm512_add_ps(a, b); }
INLINE v v_sub(v a, v b) { return _mm512_sub_ps(a, b); }
INLINE v v_mul(v a, v b) { return _mm512_mul_ps(a, b); }
INLINE v v_div(v a, v b) { return _mm512_div_ps(a, b); }
INLINE v v_fma(v a, v b, v c) { return _mm512_fmadd_ps(a, b, c); }
INLINE v v_round(v x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
INLINE v v_greater(v a, v b) { return _mm512_max_ps(a, b); }
INLINE v v_less(v a, v b) { return _mm512_min_ps(a, b); }
INLINE vm v_nan(v x) { return _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q); }
INLINE v v_select(vm m, v a, v b) { return _mm512_mask_blend_ps(m, b, a); }
INLINE vi v_to_int(v x) { return _mm512_cvtps_epi32(x); }
INLINE vi v_bits(v x) { return _mm512_castps_si512(x); }
INLINE v v_from_int(vi x) { return _mm512_cvtepi32_ps(x); }
INLINE vi vi_set(uint32_t x) { return _mm512_set1_epi32((int32_t)x); }
INLINE vi vi_add(vi a, vi b) { return _mm512_add_epi32(a, b); }
INLINE vi vi_and(vi a, vi b) { return _mm512_and_si512(a, b); }
INLINE vm vi_less_unsigned(vi a, vi b) { return _mm512_cmplt_epu32_mask(a, b); }
INLINE vi vi_min_unsigned(vi a, vi b) { return _mm512_min_epu32(a, b); }
INLINE vi vi_max_unsigned(vi a, vi b) { return _mm512_max_epu32(a, b); }
INLINE vi vi_load(const void *from) { return _mm512_loadu_si512(from); }
INLINE void vi_store(void *to, vi x) { _mm512_storeu_si512(to, x); }
INLINE bool vi_any(vi x) { return _mm512_test_epi32_mask(x, x) != 0; }

INLINE vi v_load_s8(const void *from) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(from)); }
INLINE vi v_load_u8(const void *from) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(from)); }
INLINE vi v_load_s16(const void *from) { return _mm512_cvtepi16_epi32(_mm256_loadu_si256(from)); }
INLINE vi v_load_u16(const void *from) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(from)); }
INLINE void v_store_s8(void *to, vi x) { _mm_storeu_si128(to, _mm512_cvtepi32_epi8(x)); }
INLINE void v_store_u8(void *to, vi x) { _mm_storeu_si128(to, _mm512_cvtepi32_epi8(x)); }
INLINE void v_store_s16(void *to, vi x) { _mm256_storeu_si256(to, _mm512_cvtepi32_epi16(x)); }
INLINE void v_store_u16(void *to, vi x) { _mm256_storeu_si256(to, _mm512_cvtepi32_epi16(x)); }

#endif

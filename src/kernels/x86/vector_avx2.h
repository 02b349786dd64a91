/* 8 lanes of AVX2 and FMA: the operations that kernels/vector.inc.h lists. */
#ifndef TARE_KERNELS_X86_VECTOR_AVX2_H
#define TARE_KERNELS_X86_VECTOR_AVX2_H

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ISA    avx2
#define INLINE static inline __attribute__((always_inline, unused))
enum { LANES = 8 };
typedef __m256 v;
typedef __m256i vi;
typedef __m256 vm;

INLINE v v_set(float x) { return _mm256_set1_ps(x); }
INLINE v v_load(const float *from) { return _mm256_loadu_ps(from); }
INLINE v v_load_tail(const float *from, size_t n, float rest) {
    __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    return _mm256_blendv_ps(v_set(rest), _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask));
}
INLINE void v_store(float *to, v x) { _mm256_storeu_ps(to, x); }
/* By halves: masked stores are slow on some machines. */
INLINE void v_store_tail(float *to, v x, size_t n) {
    __m128 low = _mm256_castps256_ps128(x);
    if (n & 4) {
        _mm_storeu_ps(to, low);
        low = _mm256_extractf128_ps(x, 1);
        to += 4;
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)(void *)to, low);
        low = _mm_movehl_ps(low, low);
        to += 2;
    }
    if (n & 1) _mm_store_ss(to, low);
}
INLINE v v_add(v a, v b) { return _mm256_add_ps(a, b); }
INLINE v v_sub(v a, v b) { return _mm256_sub_ps(a, b); }
INLINE v v_mul(v a, v b) { return _mm256_mul_ps(a, b); }
INLINE v v_div(v a, v b) { return _mm256_div_ps(a, b); }
INLINE v v_fma(v a, v b, v c) { return _mm256_fmadd_ps(a, b, c); }
INLINE v v_round(v x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
INLINE v v_greater(v a, v b) { return _mm256_max_ps(a, b); }
INLINE v v_less(v a, v b) { return _mm256_min_ps(a, b); }
INLINE vm v_nan(v x) { return _mm256_cmp_ps(x, x, _CMP_UNORD_Q); }
INLINE v v_select(vm m, v a, v b) { return _mm256_blendv_ps(b, a, m); }
INLINE vi v_to_int(v x) { return _mm256_cvtps_epi32(x); }
INLINE vi v_bits(v x) { return _mm256_castps_si256(x); }
INLINE v v_from_int(vi x) { return _mm256_cvtepi32_ps(x); }
INLINE vi vi_set(uint32_t x) { return _mm256_set1_epi32((int32_t)x); }
INLINE vi vi_add(vi a, vi b) { return _mm256_add_epi32(a, b); }
INLINE vi vi_and(vi a, vi b) { return _mm256_and_si256(a, b); }
INLINE vi vi_min_unsigned(vi a, vi b) { return _mm256_min_epu32(a, b); }
INLINE vi vi_max_unsigned(vi a, vi b) { return _mm256_max_epu32(a, b); }
INLINE vm vi_less_unsigned(vi a, vi b) {
    vi at_least = _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a);
    return _mm256_castsi256_ps(_mm256_xor_si256(at_least, _mm256_set1_epi32(-1)));
}
INLINE vi vi_load(const void *from) { return _mm256_loadu_si256(from); }
INLINE void vi_store(void *to, vi x) { _mm256_storeu_si256(to, x); }
INLINE bool vi_any(vi x) { return !_mm256_testz_si256(x, x); }

INLINE vi v_load_s8(const void *from) { return _mm256_cvtepi8_epi32(_mm_loadl_epi64(from)); }
INLINE vi v_load_u8(const void *from) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64(from)); }
INLINE vi v_load_s16(const void *from) { return _mm256_cvtepi16_epi32(_mm_loadu_si128(from)); }
INLINE vi v_load_u16(const void *from) { return _mm256_cvtepu16_epi32(_mm_loadu_si128(from)); }
/* The codes are in range already: which saturation packs them does not matter. */
INLINE __m128i pack_s16(vi x) { return _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)); }
INLINE void v_store_s8(void *to, vi x) { _mm_storel_epi64(to, _mm_packs_epi16(pack_s16(x), pack_s16(x))); }
INLINE void v_store_u8(void *to, vi x) { _mm_storel_epi64(to, _mm_packus_epi16(pack_s16(x), pack_s16(x))); }
INLINE void v_store_s16(void *to, vi x) { _mm_storeu_si128(to, pack_s16(x)); }
INLINE void v_store_u16(void *to, vi x) {
    _mm_storeu_si128(to, _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
}

#endif

/* What the templates (*.inc.h) are written in besides the operations of a vector header (x86/vector_avx2.h,
 * x86/vector_avx512.h, arm/vector_neon.h), which comes first and says:
 *   ISA, LANES; types v (floats), vi (32-bit integers), vm (truth per lane);
 *   v_load v_store (unaligned), v_load_tail(from, n, rest) v_store_tail(to, x, n): n < LANES elements, others `rest`;
 *   v_set v_add v_sub v_mul v_div v_fma(a, b, c) = a b + c;  v_round: to even;
 *   v_greater(a, b) = a > b ? a : b and v_less(a, b) = a < b ? a : b, b also when one is NaN;
 *   v_nan v_select(m, a, b);  v_to_int (to even) v_bits v_from_int;  vi_set vi_add vi_and vi_less_unsigned;
 *   vi_min_unsigned vi_max_unsigned vi_load vi_store, vi_any: whether a lane is not 0;
 *   v_load_s8 … u16, v_store_s8 … u16: LANES codes as integers. */
#include "kernels/variants.h"

/* A loop i = 0…count-1 whose count is a constant once inlined, over arrays that are to live in registers. */
#if defined(__clang__)
#define unroll(i, count) _Pragma("unroll") for (size_t i = 0; i < (count); i++)
#else
#define unroll(i, count) _Pragma("GCC unroll 64") for (size_t i = 0; i < (count); i++)
#endif

/* x < lo ? lo : x, then x > hi ? hi : x */
INLINE v v_clamp(v x, v lo, v hi) { return v_less(hi, v_greater(lo, x)); }

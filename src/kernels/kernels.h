/* Inner loops: contracts of the slots, and the table of the best variant of each on this machine. Kernels know
 * pointers, counts and strides, never a graph. A line in kernels.def declares, dispatches, tests and benchmarks a
 * variant; the last line of a slot whose needs the machine meets wins. Variants of a slot give the same bits.
 *
 * Float order (the contract behind "same bits"): a dot product runs over k in order in blocks of TARE_K_BLOCK, each a
 * chain of fused multiply-adds from +0, block sums added in order, bias last. Vector lanes go over outputs. Row
 * reductions: TARE_LANES lanes, lane j takes j, j+16, …; then the tree 8-4-2-1. In a matrix product taps in the padding
 * multiply 0; elsewhere they are left out. All NaNs count as one: which bits a NaN has differs between instruction sets.
 *
 * Only elements named by counts are read or written, up to the last byte. Inputs and outputs may be the same array
 * (in place) where a slot maps element i to element i, and must not overlap otherwise. */
#ifndef TARE_KERNELS_KERNELS_H
#define TARE_KERNELS_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define TARE_X86
#elif defined(__aarch64__)
#define TARE_ARM64
#endif

enum {
    TARE_K_BLOCK = 16,   /* of a matrix product (docs/decisions/float-order.md) */
    TARE_TAP_BLOCK = 64, /* of a depthwise convolution and of pooling by it */
    TARE_LANES = 16
};

/* What a CPU can do; also what `--cpu` lowers. ORDER: cpu (names in select.c) */
typedef enum tare_cpu {
    TARE_CPU_SCALAR,
    TARE_CPU_AVX2,   /* AVX2 and FMA */
    TARE_CPU_AVX512, /* F, BW, DQ, VL */
    TARE_CPU_AVX512VNNI,
    TARE_CPU_NEON,
    TARE_CPU_NEONDOT,
    TARE_CPU_COUNT
} tare_cpu;

enum { TARE_PANEL = 16 }; /* columns in a panel of packed f32 weights, for every instruction set */

/* A tile of convolution or matrix product over indirect rows:
 *   c[m][n] = clamp(Σ_t Σ_k a[t * rows + m][a_offset + k] * b[t * depth + k][n] + bias[n])
 * a: taps × rows pointers; b: packed panels (tare_pack_f32): panel p holds, for each of the taps × depth k's, TARE_PANEL
 * columns; c: row m at c + m * c_stride (floats), also used for the sums of blocks so far; bias NULL: none, else padded
 * to whole panels. Any of the counts may be 0; the kernel walks its own tiles. */
typedef struct tare_gemm_f32_args {
    size_t rows, columns, taps, depth;
    const float *const *a;
    size_t a_offset; /* floats added to every pointer: the group's first channel */
    const float *b;
    const float *bias;
    float *c;
    size_t c_stride;
    float lo, hi; /* x < lo ? lo : x, then x > hi ? hi : x; -inf and +inf: no clamp. NaN stays NaN */
} tare_gemm_f32_args;
typedef void tare_gemm_f32_fn(const tare_gemm_f32_args *args);

/* Depthwise convolution of a line of pixels, channels last:
 *   c[m][ch] = clamp(Σ_t a_t[m - first_t][ch] * w_t[ch] + bias[ch])  over the taps t with first_t <= m < last_t,
 * in the order of t (blocks of TARE_TAP_BLOCK taps). Taps that lie in the padding are not there: a whole tap is
 * left out, one that sticks out at an end has a later `first` or an earlier `last`. */
typedef struct tare_depthwise_tap {
    const float *a; /* of pixel `first`; the next pixels' lie at a_step floats */
    const float *w; /* one for each channel; taps may share it: a row of ones sums windows */
    size_t first, last;
} tare_depthwise_tap;
typedef struct tare_depthwise_f32_args {
    size_t pixels, channels, taps;
    const tare_depthwise_tap *tap;
    size_t a_step;
    const float *bias; /* NULL: none */
    float *c;
    size_t c_stride;
    float lo, hi;
} tare_depthwise_f32_args;
typedef void tare_depthwise_f32_fn(const tare_depthwise_f32_args *args);

/* A tile of convolution on 8-bit codes over indirect rows; the slot tells their sign:
 *   c[m][n] = bias[n] + Σ_t Σ_k (a[t * rows + m][a_offset + k] - zero_point) * b[t * depth + k][n]     in s32, wrapping
 * b: codes of weights less their zero points, `columns` in a row. */
typedef struct tare_gemm_codes_args {
    size_t rows, columns, taps, depth;
    const uint8_t *const *a;
    size_t a_offset;
    int32_t zero_point;
    const int16_t *b;
    const int32_t *bias; /* NULL: none */
    int32_t *c;
    size_t c_stride;
} tare_gemm_codes_args;
typedef void tare_gemm_codes_fn(const tare_gemm_codes_args *args);

typedef void tare_unary_f32_fn(float *to, const float *from, size_t count);
/* Both operands dense, or one of them a single number (stride 0, else 1). max and min: NaN if either is NaN, else
 * a > b ? a : b and a < b ? a : b. */
typedef void tare_binary_f32_fn(float *to, const float *a, size_t a_stride, const float *b, size_t b_stride,
                                size_t count);
typedef void tare_clamp_f32_fn(float *to, const float *from, size_t count, float lo, float hi);

/* Sum and maximum of a row in the 16-lane order above, lanes starting at +0 and -inf; a NaN makes the maximum NaN. */
typedef float tare_reduce_f32_fn(const float *from, size_t count);

/* Sums in f64: element i goes to lane i % TARE_SUM_LANES, lanes are added from the first to the last. Of (a - b)^2, where
 * the difference is one of f32; of the square of what lies outside lo…hi; and of each of TARE_SUM_COLUMNS numbers, row by
 * row, to `sums`. */
enum { TARE_SUM_LANES = 8, TARE_SUM_COLUMNS = 16 };
typedef double tare_square_error_fn(const float *a, const float *b, size_t count);
typedef double tare_square_beyond_fn(const float *from, size_t count, float lo, float hi);
typedef void tare_add_columns_fn(double *sums, const float *from, size_t stride, size_t rows);

/* q = rne(min(max(x / scale, lo - zp), hi - zp)) + zp, NaN -> lo; codes of 8 or 16 bits. ONNX's QuantizeLinear as ONNX
 * Runtime computes it: a true division, and the zero point added to the integer. x = (float)(q - zp) * scale. */
typedef struct tare_codes {
    float scale;
    int32_t zero_point, lo, hi;
} tare_codes;
typedef void tare_quantize_fn(void *to, const float *from, size_t count, const tare_codes *codes); /* type: by slot */
typedef void tare_dequantize_fn(float *to, const void *from, size_t count, const tare_codes *codes);
/* to = DQ(Q(from)), any code range; never -0. */
typedef void tare_fake_quantize_fn(float *to, const float *from, size_t count, const tare_codes *codes);

/* Counts at most TARE_COUNT_MAX numbers by their upper 16 bits (sign, exponent, 7 bits of mantissa): how often one was met
 * is the sum of its counters in the tables. Also the exact smallest and largest finite number; non-finite ones are
 * counted and not in min and max, where a zero is +0. `low` and `high` tell which counters can have grown, beside those
 * of zeros. */
enum {
    TARE_COUNT_MAX = 1 << 30,
    TARE_COUNT_BINS = 65536,
    TARE_COUNT_PAGE = 128, /* of one binade of a sign */
    TARE_COUNT_TABLES = 4,
    TARE_COUNT_STRIDE = TARE_COUNT_BINS + 16 /* counters of one bin do not lie a power of two apart */
};
typedef struct tare_counts {
    uint32_t *tables; /* TARE_COUNT_TABLES x TARE_COUNT_STRIDE: equal numbers in a row are counted in turns */
    size_t used;      /* of the tables, from the first; starts with 1 */
    float min, max;   /* start with +inf and -inf */
    uint32_t low,
        high; /* least and greatest bits without sign, of numbers that are not 0; start with UINT32_MAX and 0 */
} tare_counts;
typedef void tare_count_f32_fn(tare_counts *counts, const float *from, size_t count);
/* Adds to the bins of a page what its counters hold in the tables that were used, and clears these; whether that was any. */
typedef bool tare_fold_counts_fn(uint64_t *bins, uint32_t *counters, size_t used);

/* to[c * to_stride + r] = from[r * from_stride + c] for r < rows, c < columns; elements of 4 bytes. */
typedef void tare_transpose_fn(uint32_t *to, size_t to_stride, const uint32_t *from, size_t from_stride, size_t rows,
                               size_t columns);

/* ORDER: slots (kernels.def) */
typedef struct tare_kernels {
    tare_cpu cpu;
#define SLOT(type, slot) type *slot;
#define KERNEL(slot, isa, needs)
#include "kernels/kernels.def"
#undef SLOT
#undef KERNEL
} tare_kernels;

tare_cpu tare_cpu_detect(void); /* the best this machine has */
bool tare_cpu_has(tare_cpu cpu);
extern const char *const tare_cpu_names[TARE_CPU_COUNT + 1]; /* ORDER: cpu; ended by NULL */
const char *tare_cpu_name(tare_cpu cpu);
bool tare_cpu_find(const char *name, tare_cpu *cpu);
/* The table for a CPU this machine has; the same pointer each time. */
const tare_kernels *tare_kernels_for(tare_cpu cpu);

/* Packs depth × columns weights into panels: element (k, n) is from[k * k_stride + n * n_stride], and goes to
 * to[(n / TARE_PANEL) * panel_depth * TARE_PANEL + k * TARE_PANEL + n % TARE_PANEL]; columns past the end are 0. A matrix
 * of several taps is packed tap by tap, `to` moved on by depth * TARE_PANEL. */
void tare_pack_f32(float *to, size_t panel_depth, const float *from, size_t depth, size_t columns, size_t k_stride,
                   size_t n_stride);
/* Floats that depth × columns take packed; the product must be known to fit. */
size_t tare_packed_f32_size(size_t depth, size_t columns);

#endif

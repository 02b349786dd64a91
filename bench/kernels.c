/* What each variant of each kernel does: GFLOP/s by CPU time and the share of the peak of fused multiply-adds measured
 * here for products, nanoseconds a number for the rest. A line of kernels.def is a line here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/variants.h"

enum {
    ROUNDS = 7,
    COUNT = 16384, /* numbers for a kernel of one number after the other: they stay in the L2 cache */
    ARENA = 1 << 24
};

typedef void work(const void *context);

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Seconds that one call takes: the best of some rounds, each long enough for the clock. */
static double seconds(work *call, const void *context) {
    double best = INFINITY;
    for (int round = 0, repeats = 1; round < ROUNDS;) {
        double start = now();
        for (int i = 0; i < repeats; i++) call(context);
        double taken = now() - start;
        if (taken < 0.01) {
            repeats *= 2;
            continue;
        }
        best = fmin(best, taken / repeats);
        round++;
    }
    return best;
}

/* ---- the peak: independent multiply-adds in registers, more of them than their latency asks for ---- */

enum { STEPS = 100000, CHAINS = 12 };

#define TWELVE(_) _(2) _(3) _(4) _(5) _(6) _(7) _(8) _(9) _(10) _(11) _(12) _(13)
#if defined(TARE_X86)
#define CLEAR(i)   "vxorps %%xmm" #i ",%%xmm" #i ",%%xmm" #i "\n"
#define FMA_256(i) "vfmadd231ps %%ymm0,%%ymm0,%%ymm" #i "\n"
#define FMA_512(i) "vfmadd231ps %%zmm0,%%zmm0,%%zmm" #i "\n"
#define REGISTERS                                                                                                      \
    "xmm0", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13"
#define LOOP(start, body, end) start "1:\n" body "dec %0\njnz 1b\n" end
static void chains_avx2(const void *context) {
    long steps = *(const long *)context;
    __asm__ volatile(LOOP(CLEAR(0) TWELVE(CLEAR), TWELVE(FMA_256), "vzeroupper\n") : "+r"(steps) : : "cc", REGISTERS);
}
static void chains_avx512(const void *context) {
    long steps = *(const long *)context;
    __asm__ volatile(LOOP(CLEAR(0) TWELVE(CLEAR), TWELVE(FMA_512), "vzeroupper\n") : "+r"(steps) : : "cc", REGISTERS);
}
#elif defined(TARE_ARM64)
#define CLEAR(i)  "movi v" #i ".4s,#0\n"
#define FMA(i)    "fmla v" #i ".4s,v0.4s,v0.4s\n"
#define REGISTERS "v0", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13"
static void chains_neon(const void *context) {
    long steps = *(const long *)context;
    __asm__ volatile(CLEAR(0) TWELVE(CLEAR) "1:\n" TWELVE(FMA) "subs %0,%0,#1\nb.ne 1b\n"
                     : "+r"(steps)
                     :
                     : "cc", REGISTERS);
}
#endif

/* GFLOP/s; 0: not measured for this CPU. */
static double peak_of(tare_cpu cpu) {
    static double peaks[TARE_CPU_COUNT];
    const long steps = STEPS;
    work *chains = NULL;
    size_t lanes = 0;
#if defined(TARE_X86)
    if (cpu == TARE_CPU_AVX2) chains = chains_avx2, lanes = 8;
    if (cpu >= TARE_CPU_AVX512) chains = chains_avx512, lanes = 16;
#elif defined(TARE_ARM64)
    if (cpu >= TARE_CPU_NEON) chains = chains_neon, lanes = 4;
#endif
    if (chains && peaks[cpu] == 0) peaks[cpu] = 2.0 * CHAINS * (double)lanes * STEPS / seconds(chains, &steps) * 1e-9;
    return peaks[cpu];
}

/* ---- data ---- */

static char *arena;
static size_t used;

static void *room(size_t size) {
    void *place = arena + used;
    used += (size + 63) / 64 * 64;
    if (used > ARENA) abort();
    return place;
}

static float *numbers(size_t count) {
    float *x = room(count * sizeof *x);
    for (size_t i = 0; i < count; i++) x[i] = (float)((i * 7919 + 13) % 2048) / 512 - 2;
    return x;
}

static void report(const char *name, const char *detail, double ns) {
    printf("%-28s %-22s %8.3f ns\n", name, detail, ns);
}

static void report_flops(const char *name, const char *detail, tare_cpu cpu, double flops, double taken) {
    double rate = flops / taken * 1e-9, peak = peak_of(cpu);
    printf("%-28s %-22s %8.1f GFLOP/s", name, detail, rate);
    if (peak > 0) printf("  %3.0f %% of %.1f", 100 * rate / peak, peak);
    putchar('\n');
}

/* ---- one bench for each type of slot ---- */

typedef struct product {
    tare_gemm_f32_fn *kernel;
    tare_gemm_f32_args args;
} product;
static void run_product(const void *context) { ((const product *)context)->kernel(&((const product *)context)->args); }

static void bench_gemm(const char *name, tare_cpu cpu, tare_gemm_f32_fn *kernel) {
    /* rows, columns, taps, depth: layers of resnet18 and mobilenet_v2, attention, a classifier */
    static const size_t shapes[][4] = { { 192, 64, 7, 21 },  { 192, 64, 9, 64 },  { 192, 128, 9, 128 },
                                        { 49, 512, 9, 512 }, { 192, 24, 1, 144 }, { 192, 96, 1, 16 },
                                        { 49, 960, 1, 160 }, { 197, 64, 1, 197 }, { 1, 1000, 1, 1280 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t rows = shapes[i][0], columns = shapes[i][1], taps = shapes[i][2], depth = shapes[i][3];
        if (cpu == TARE_CPU_SCALAR && i > 0) break;
        used = 0;
        const float *x = numbers((rows + taps) * depth), **a = room(taps * rows * sizeof *a);
        for (size_t t = 0; t < taps; t++)
            for (size_t m = 0; m < rows; m++) a[t * rows + m] = x + (m + t) * depth;
        product p = { kernel,
                      { .rows = rows,
                        .columns = columns,
                        .taps = taps,
                        .depth = depth,
                        .a = a,
                        .b = numbers(tare_packed_f32_size(taps * depth, columns)),
                        .bias = numbers(tare_packed_f32_size(1, columns)),
                        .c = numbers(rows * columns),
                        .c_stride = columns,
                        .lo = 0,
                        .hi = INFINITY } };
        char detail[64];
        snprintf(detail, sizeof detail, "%zux%zu k %zux%zu", rows, columns, taps, depth);
        report_flops(name, detail, cpu, 2.0 * (double)(rows * columns * taps * depth), seconds(run_product, &p));
    }
}

typedef struct codes_product {
    tare_gemm_codes_fn *kernel;
    tare_gemm_codes_args args;
} codes_product;
static void run_codes_product(const void *context) {
    ((const codes_product *)context)->kernel(&((const codes_product *)context)->args);
}

/* A 3x3 layer of resnet18: as many multiplications as its f32 twin. */
static void bench_gemm_codes(const char *name, tare_cpu cpu, tare_gemm_codes_fn *kernel) {
    enum { ROWS = 32, COLUMNS = 64, TAPS = 9, DEPTH = 64 };
    used = 0;
    const uint8_t **a = room(TAPS * ROWS * sizeof *a);
    uint8_t *codes = room(ROWS * DEPTH);
    int16_t *b = room((size_t)TAPS * DEPTH * COLUMNS * sizeof *b);
    for (size_t i = 0; i < TAPS * ROWS; i++) a[i] = codes + i % ROWS * DEPTH;
    for (size_t i = 0; i < ROWS * DEPTH; i++) codes[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < (size_t)TAPS * DEPTH * COLUMNS; i++) b[i] = (int16_t)(i % 251 - 125);
    codes_product p = { kernel, { .rows = ROWS, .columns = COLUMNS, .taps = TAPS, .depth = DEPTH, .a = a } };
    p.args.zero_point = 3, p.args.b = b, p.args.c_stride = COLUMNS;
    p.args.c = room(sizeof(int32_t) * ROWS * COLUMNS);
    report_flops(name, "32x64, 9 taps of 64", cpu, 2.0 * ROWS * COLUMNS * TAPS * DEPTH, seconds(run_codes_product, &p));
}

typedef struct line {
    tare_depthwise_f32_fn *kernel;
    tare_depthwise_f32_args args;
} line;
static void run_line(const void *context) { ((const line *)context)->kernel(&((const line *)context)->args); }

static void bench_depthwise(const char *name, tare_cpu cpu, tare_depthwise_f32_fn *kernel) {
    static const size_t shapes[][3] = { { 112, 32, 3 }, { 56, 144, 3 }, { 14, 384, 3 }, { 7, 960, 3 }, { 28, 120, 5 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        size_t pixels = shapes[i][0], channels = shapes[i][1], side = shapes[i][2], count = 0;
        used = 0;
        const float *x = numbers(side * pixels * channels), *w = numbers(side * side * channels);
        tare_depthwise_tap *taps = room(side * side * sizeof *taps);
        for (size_t y = 0; y < side; y++)
            for (size_t k = 0; k < side; k++, count++) {
                size_t before = k < side / 2 ? side / 2 - k : 0, after = k > side / 2 ? k - side / 2 : 0;
                taps[count] = (tare_depthwise_tap){ x + (y * pixels + after) * channels, w + count * channels, before,
                                                    pixels - after };
            }
        line l = { kernel,
                   { .pixels = pixels,
                     .channels = channels,
                     .taps = count,
                     .tap = taps,
                     .a_step = channels,
                     .bias = numbers(channels),
                     .c = numbers(pixels * channels),
                     .c_stride = channels,
                     .lo = 0,
                     .hi = 6 } };
        char detail[64];
        snprintf(detail, sizeof detail, "%zux%zu, %zux%zu", pixels, channels, side, side);
        report_flops(name, detail, cpu, 2.0 * (double)(pixels * channels * count), seconds(run_line, &l));
    }
}

/* The kernels of one number after the other: the one that is set, with data that all share. */
typedef struct stream {
    tare_binary_f32_fn *binary;
    tare_clamp_f32_fn *clamp;
    tare_unary_f32_fn *unary;
    tare_reduce_f32_fn *reduce;
    tare_quantize_fn *quantize;
    tare_dequantize_fn *dequantize;
    tare_fake_quantize_fn *fake_quantize;
    tare_count_f32_fn *count;
    tare_fold_counts_fn *fold;
    tare_square_error_fn *square_error;
    tare_square_beyond_fn *square_beyond;
    tare_add_columns_fn *add_columns;
    tare_transpose_fn *transpose;
    float *to, *a, *b;
    tare_counts *counts;
    double *sums;
} stream;

/* One counter in each of the COUNT numbers' bins is met again: a fold leaves them zero. */
static void fold_pages(const stream *s) {
    for (size_t page = 0; page < COUNT; page += TARE_COUNT_PAGE) {
        for (size_t i = 0; i < TARE_COUNT_PAGE; i += 8) s->counts->tables[page + i] = 1;
        s->fold((uint64_t *)(void *)s->to, s->counts->tables + page, TARE_COUNT_TABLES);
    }
}

static void run_stream(const void *context) {
    const stream *s = context;
    static const tare_codes codes = { 0.02f, 3, 0, 100 };
    if (s->binary) s->binary(s->to, s->a, 1, s->b, 1, COUNT);
    if (s->clamp) s->clamp(s->to, s->a, COUNT, 0, 1);
    if (s->unary) s->unary(s->to, s->a, COUNT);
    if (s->reduce) s->to[0] = s->reduce(s->a, COUNT);
    if (s->quantize) s->quantize(s->to, s->a, COUNT, &codes);
    if (s->dequantize) s->dequantize(s->to, s->a, COUNT, &codes);
    if (s->fake_quantize) s->fake_quantize(s->to, s->a, COUNT, &codes);
    if (s->count) s->count(s->counts, s->a, COUNT);
    if (s->fold) fold_pages(s);
    if (s->square_error) s->sums[0] = s->square_error(s->a, s->b, COUNT);
    if (s->square_beyond) s->sums[0] = s->square_beyond(s->a, COUNT, -1, 1);
    if (s->add_columns) s->add_columns(s->sums, s->a, TARE_SUM_COLUMNS, COUNT / TARE_SUM_COLUMNS);
    if (s->transpose) s->transpose((uint32_t *)(void *)s->to, 128, (const uint32_t *)(void *)s->a, 128, 128, 128);
}

static void bench_stream(const char *name, stream s) {
    used = 0;
    const size_t bytes = (size_t)TARE_COUNT_TABLES * TARE_COUNT_STRIDE * sizeof(uint32_t);
    tare_counts counts = { room(bytes), 1, INFINITY, -INFINITY, UINT32_MAX, 0 };
    memset(counts.tables, 0, bytes);
    s.to = numbers(COUNT);
    s.a = numbers(COUNT);
    s.b = numbers(COUNT);
    s.counts = &counts;
    s.sums = room(TARE_SUM_COLUMNS * sizeof *s.sums);
    memset(s.sums, 0, TARE_SUM_COLUMNS * sizeof *s.sums);
    report(name, "", seconds(run_stream, &s) / COUNT * 1e9);
    if (!s.count) return;
    for (size_t i = 0; i < COUNT; i++) s.a[i] = s.a[i] > 0 ? s.a[i] : 0;
    report(name, "half of them 0", seconds(run_stream, &s) / COUNT * 1e9);
}

#define BENCH_STREAM(type, member)                                                                                     \
    static void bench_##member(const char *name, tare_cpu cpu, type *kernel) {                                         \
        (void)cpu;                                                                                                     \
        bench_stream(name, (stream){ .member = kernel });                                                              \
    }
BENCH_STREAM(tare_binary_f32_fn, binary)
BENCH_STREAM(tare_clamp_f32_fn, clamp)
BENCH_STREAM(tare_unary_f32_fn, unary)
BENCH_STREAM(tare_reduce_f32_fn, reduce)
BENCH_STREAM(tare_quantize_fn, quantize)
BENCH_STREAM(tare_dequantize_fn, dequantize)
BENCH_STREAM(tare_fake_quantize_fn, fake_quantize)
BENCH_STREAM(tare_count_f32_fn, count)
BENCH_STREAM(tare_fold_counts_fn, fold)
BENCH_STREAM(tare_square_error_fn, square_error)
BENCH_STREAM(tare_square_beyond_fn, square_beyond)
BENCH_STREAM(tare_add_columns_fn, add_columns)
BENCH_STREAM(tare_transpose_fn, transpose)

#define BENCH(function)                                                                                                \
    _Generic(function, tare_gemm_f32_fn *                                                                              \
             : bench_gemm, tare_gemm_codes_fn *                                                                        \
             : bench_gemm_codes, tare_depthwise_f32_fn *                                                               \
             : bench_depthwise, tare_binary_f32_fn *                                                                   \
             : bench_binary, tare_clamp_f32_fn *                                                                       \
             : bench_clamp, tare_unary_f32_fn *                                                                        \
             : bench_unary, tare_reduce_f32_fn *                                                                       \
             : bench_reduce, tare_quantize_fn *                                                                        \
             : bench_quantize, tare_dequantize_fn *                                                                    \
             : bench_dequantize, tare_fake_quantize_fn *                                                               \
             : bench_fake_quantize, tare_count_f32_fn *                                                                \
             : bench_count, tare_fold_counts_fn *                                                                      \
             : bench_fold, tare_square_error_fn *                                                                      \
             : bench_square_error, tare_square_beyond_fn *                                                             \
             : bench_square_beyond, tare_add_columns_fn *                                                              \
             : bench_add_columns, tare_transpose_fn *                                                                  \
             : bench_transpose)

int main(void) {
    arena = aligned_alloc(64, ARENA);
    if (!arena) return 1;
#define SLOT(type, slot)
#define KERNEL(slot, isa, needs)                                                                                       \
    if (tare_cpu_has(needs)) BENCH(tare_##slot##_##isa)(#slot " " #isa, needs, tare_##slot##_##isa);
#include "kernels/kernels.def"
#undef SLOT
#undef KERNEL
    free(arena);
    return 0;
}

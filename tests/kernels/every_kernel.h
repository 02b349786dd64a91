/* Checks of one variant of a kernel against the plain C one, by the type of its slot: all sizes to 200, strides, tails,
 * extremes and ties, in place, buffers that end at a page that may not be touched. Needs nothing but the kernels, so that
 * the variants of another architecture can be run in an emulator. Each check prints what differs and returns false. */
#ifndef TARE_TESTS_EVERY_KERNEL_H
#define TARE_TESTS_EVERY_KERNEL_H

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/variants.h"

enum { SIZE_MAX_SWEPT = 200, BUFFERS = 8, BUFFER_SIZE = 1 << 22, CANARY = 64 };

/* ---- memory that ends at a forbidden page ---- */

/* `size` bytes that end where reading faults; buffer `index` is lent until it is asked for again. */
static unsigned char *at_edge(int index, size_t size) {
    static unsigned char *ends[BUFFERS];
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!ends[index]) {
        unsigned char *start =
            mmap(NULL, BUFFER_SIZE + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (start == MAP_FAILED || mprotect(start + BUFFER_SIZE, page, PROT_NONE) != 0) abort();
        ends[index] = start + BUFFER_SIZE;
    }
    if (size + CANARY > BUFFER_SIZE) abort();
    memset(ends[index] - size - CANARY, 0xa5, size + CANARY);
    return ends[index] - size;
}

static float *floats_at_edge(int index, size_t count) { return (float *)(void *)at_edge(index, count * sizeof(float)); }

static bool canary_lives(const void *start) {
    const unsigned char *bytes = (const unsigned char *)start - CANARY;
    for (size_t i = 0; i < CANARY; i++)
        if (bytes[i] != 0xa5) return false;
    return true;
}

/* ---- data ---- */

static uint32_t next(void) {
    static uint64_t state = 0x9e3779b97f4a7c15u;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33 ^ state >> 41);
}

static size_t below(size_t limit) { return next() % limit; }

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Tame: about a normal distribution. Wild: every kind of float there is, one in four. */
static float draw(bool wild) {
    static const float kinds[] = { 0,        -0.0f,     INFINITY, -INFINITY, NAN,  FLT_MAX, -FLT_MAX,
                                   FLT_MIN,  -FLT_MIN,  1e-45f,   -1e-45f,   0.5f, -0.5f,   1.5f,
                                   -1.5f,    2.5f,      1e10f,    -1e10f,    88.f, -104.f,  18.f,
                                   16777216, -33554432, 1,        -1 };
    if (wild && below(4) == 0) return below(2) ? kinds[below(sizeof kinds / sizeof *kinds)] : float_of(next());
    return ((float)(next() & 0xffff) + (float)(next() & 0xffff) - 65535.0f) / 32768.0f;
}

static float *draw_at_edge(int index, size_t count, bool wild) {
    float *x = floats_at_edge(index, count);
    for (size_t i = 0; i < count; i++) x[i] = draw(wild);
    return x;
}

static bool same(float a, float b) {
    uint32_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y || (isnan(a) && isnan(b));
}

/* Compares `count` results, names the first that differs. */
static bool all_same(const char *what, const float *want, const float *got, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (same(want[i], got[i])) continue;
        printf("%s: [%zu of %zu] is %.9g (%a), want %.9g (%a)\n", what, i, count, (double)got[i], (double)got[i],
               (double)want[i], (double)want[i]);
        return false;
    }
    if (canary_lives(got)) return true;
    printf("%s: wrote before the start\n", what);
    return false;
}

/* ---- matrix product and depthwise convolution ---- */

/* taps × rows pointers into `from`, where rows of `width` lie; the last ones end at the forbidden page. */
static const float **point(const float *from, size_t lines, size_t width, size_t count) {
    const float **a = (const float **)(void *)at_edge(4, count * sizeof *a);
    for (size_t i = 0; i < count; i++) a[i] = from + (i % 5 == 0 ? lines - 1 : below(lines)) * width;
    return a;
}

static bool check_gemm_case(tare_gemm_f32_fn *scalar, tare_gemm_f32_fn *variant, tare_gemm_f32_args g, bool wild) {
    size_t total = g.taps * g.depth, panels = (g.columns + TARE_PANEL - 1) / TARE_PANEL, lines = 7;
    size_t offset = below(3), size = g.rows ? (g.rows - 1) * g.c_stride + g.columns : 0;
    float *b = floats_at_edge(1, tare_packed_f32_size(total, g.columns));
    tare_pack_f32(b, total, draw_at_edge(2, total * g.columns, wild), total, g.columns, g.columns, 1);
    g.a = point(draw_at_edge(0, lines * (g.depth + offset), wild), lines, g.depth + offset, g.taps * g.rows);
    g.a_offset = offset;
    g.b = b;
    if (g.bias) g.bias = draw_at_edge(3, panels * TARE_PANEL, wild);
    float *want = floats_at_edge(5, size), *got = floats_at_edge(6, size);
    g.c = want;
    scalar(&g);
    g.c = got;
    variant(&g);
    char what[160];
    snprintf(what, sizeof what, "%zu rows, %zu columns, %zu taps of %zu, c_stride %zu, bias %d, clamp %g…%g, wild %d",
             g.rows, g.columns, g.taps, g.depth, g.c_stride, g.bias != NULL, (double)g.lo, (double)g.hi, wild);
    return all_same(what, want, got, size);
}

/* The switches go through their combinations from case to case. */
static bool check_gemm_sizes(tare_gemm_f32_fn *scalar, tare_gemm_f32_fn *variant, size_t rows, size_t columns,
                             size_t taps, size_t depth) {
    static unsigned turn;
    static const float bias;
    turn++;
    tare_gemm_f32_args g = { .rows = rows,
                             .columns = columns,
                             .taps = taps,
                             .depth = depth,
                             .bias = turn & 1 ? &bias : NULL,
                             .c_stride = columns + (turn & 2 ? 3 : 0),
                             .lo = turn & 4 ? -0.5f : -INFINITY,
                             .hi = turn & 4 ? 2 : INFINITY };
    return check_gemm_case(scalar, variant, g, turn % 3 == 0);
}

static bool check_gemm(const char *slot, tare_gemm_f32_fn *scalar, tare_gemm_f32_fn *variant) {
    static const size_t depths[] = { 255, 256, 257, 511, 512, 513, 800 };
    bool ok = true;
    (void)slot;
    for (size_t n = 0; n <= SIZE_MAX_SWEPT && ok; n++) {
        ok = check_gemm_sizes(scalar, variant, n, 37, 1, 9) && check_gemm_sizes(scalar, variant, 13, n, 1, 9) &&
             check_gemm_sizes(scalar, variant, 1, n, 1, 30) && check_gemm_sizes(scalar, variant, 5, 33, 1, n) &&
             check_gemm_sizes(scalar, variant, 5, 20, 3, n) && check_gemm_sizes(scalar, variant, 3, 18, n, 2);
    }
    for (size_t i = 0; i < sizeof depths / sizeof *depths && ok; i++) {
        ok = check_gemm_sizes(scalar, variant, 14, 40, 1, depths[i]) &&
             check_gemm_sizes(scalar, variant, 2, 90, 1, depths[i]) &&
             check_gemm_sizes(scalar, variant, 7, 33, depths[i], 1);
    }
    for (size_t i = 0; i < 300 && ok; i++)
        ok = check_gemm_sizes(scalar, variant, below(60), below(80), 1 + below(9), below(70));
    return ok;
}

/* Taps that reach every pixel, and some that stick out at an end or reach none. */
static bool check_gemm_codes_case(tare_gemm_codes_fn *scalar, tare_gemm_codes_fn *variant, tare_gemm_codes_args g) {
    const size_t total = g.taps * g.depth, lines = 7, width = g.depth + below(3);
    const size_t size = g.rows ? (g.rows - 1) * g.c_stride + g.columns : 0;
    unsigned char *codes = at_edge(0, lines * width);
    int16_t *b = (int16_t *)(void *)at_edge(1, total * g.columns * sizeof *b);
    int32_t *bias = (int32_t *)(void *)at_edge(3, g.columns * sizeof *bias);
    const uint8_t **a = (const uint8_t **)(void *)at_edge(4, g.taps * g.rows * sizeof *a);
    for (size_t i = 0; i < lines * width; i++) codes[i] = (unsigned char)next();
    for (size_t i = 0; i < total * g.columns; i++) b[i] = (int16_t)(below(511) - 255);
    for (size_t i = 0; i < g.columns; i++) bias[i] = below(4) ? (int32_t)below(9999) : INT32_MAX;
    for (size_t i = 0; i < g.taps * g.rows; i++) a[i] = codes + (i % 5 == 0 ? lines - 1 : below(lines)) * width;
    g.a = a, g.b = b, g.bias = g.bias ? bias : NULL, g.a_offset = width - g.depth;
    int32_t *want = (int32_t *)(void *)at_edge(5, size * sizeof *want);
    int32_t *got = (int32_t *)(void *)at_edge(6, size * sizeof *got);
    g.c = want;
    scalar(&g);
    g.c = got;
    variant(&g);
    if ((size == 0 || memcmp(want, got, size * sizeof *got) == 0) && canary_lives(got)) return true;
    printf("%zu rows, %zu columns, %zu taps of %zu: differs\n", g.rows, g.columns, g.taps, g.depth);
    return false;
}

static bool check_gemm_codes(const char *slot, tare_gemm_codes_fn *scalar, tare_gemm_codes_fn *variant) {
    static const int32_t given;
    const bool is_signed = strstr(slot, "_s8") != NULL;
    for (size_t n = 0; n <= SIZE_MAX_SWEPT; n++) {
        const size_t sizes[][4] = { { n, 9, 1, 5 }, { 5, n, 2, 3 }, { 3, 17, n, 2 }, { 5, 18, 3, n } };
        for (size_t i = 0; i < 4; i++) {
            const tare_gemm_codes_args g = { .rows = sizes[i][0],
                                             .columns = sizes[i][1],
                                             .taps = sizes[i][2],
                                             .depth = sizes[i][3],
                                             .zero_point = (int32_t)below(256) - (is_signed ? 128 : 0),
                                             .bias = n % 2 ? &given : NULL,
                                             .c_stride = sizes[i][1] + n % 3 };
            if (!check_gemm_codes_case(scalar, variant, g)) return false;
        }
    }
    return true;
}

static const tare_depthwise_tap *draw_taps(size_t taps, size_t pixels, size_t channels, size_t step, bool wild) {
    tare_depthwise_tap *tap = (tare_depthwise_tap *)(void *)at_edge(4, taps * sizeof *tap);
    size_t lines = 3, line = pixels ? (pixels - 1) * step + channels : 0;
    float *a = draw_at_edge(0, lines * line, wild), *w = draw_at_edge(1, 5 * channels, wild);
    for (size_t t = 0; t < taps; t++) {
        size_t first = below(4) ? 0 : below(pixels + 1), last = below(4) ? pixels : below(pixels + 1);
        if (last < first) last = first;
        if (below(8)) first = 0, last = pixels;
        size_t at = first < last ? (t % 3 == 0 ? lines - 1 : below(lines)) * line + first * step : 0;
        tap[t] = (tare_depthwise_tap){ a + at, w + below(5) * channels, first, last };
    }
    return tap;
}

static bool check_depthwise_sizes(tare_depthwise_f32_fn *scalar, tare_depthwise_f32_fn *variant, size_t pixels,
                                  size_t channels, size_t taps) {
    static unsigned turn;
    turn++;
    bool wild = turn % 3 == 0;
    size_t stride = channels + (turn & 2 ? 5 : 0), step = channels * (turn & 8 ? 2 : 1);
    size_t size = pixels ? (pixels - 1) * stride + channels : 0;
    float *want = floats_at_edge(5, size), *got = floats_at_edge(6, size);
    tare_depthwise_f32_args d = { .pixels = pixels,
                                  .channels = channels,
                                  .taps = taps,
                                  .tap = draw_taps(taps, pixels, channels, step, wild),
                                  .a_step = step,
                                  .bias = turn & 1 ? draw_at_edge(2, channels, wild) : NULL,
                                  .c = want,
                                  .c_stride = stride,
                                  .lo = turn & 4 ? -0.5f : -INFINITY,
                                  .hi = turn & 4 ? 2 : INFINITY };
    scalar(&d);
    d.c = got;
    variant(&d);
    char what[160];
    snprintf(what, sizeof what, "%zu pixels, %zu channels, %zu taps, c_stride %zu, a_step %zu, bias %d, wild %d",
             pixels, channels, taps, stride, step, d.bias != NULL, wild);
    return all_same(what, want, got, size);
}

static bool check_depthwise(const char *slot, tare_depthwise_f32_fn *scalar, tare_depthwise_f32_fn *variant) {
    static const size_t taps[] = { 255, 256, 257, 512, 513 };
    bool ok = true;
    (void)slot;
    for (size_t n = 0; n <= SIZE_MAX_SWEPT && ok; n++) {
        ok = check_depthwise_sizes(scalar, variant, 6, n, 9) && check_depthwise_sizes(scalar, variant, 1, n, 25) &&
             check_depthwise_sizes(scalar, variant, n, 40, 3) && check_depthwise_sizes(scalar, variant, 5, 21, n);
    }
    for (size_t i = 0; i < sizeof taps / sizeof *taps && ok; i++) {
        ok = check_depthwise_sizes(scalar, variant, 3, 70, taps[i]) &&
             check_depthwise_sizes(scalar, variant, 4, 7, taps[i]);
    }
    for (size_t i = 0; i < 300 && ok; i++)
        ok = check_depthwise_sizes(scalar, variant, below(20), below(150), below(30));
    return ok;
}

/* ---- element by element ---- */

/* `from` again, so that a result may be written over it. */
static float *copy_at_edge(int index, const float *from, size_t count) {
    float *copy = floats_at_edge(index, count);
    if (count) memcpy(copy, from, count * sizeof *copy);
    return copy;
}

static bool check_binary_case(tare_binary_f32_fn *scalar, tare_binary_f32_fn *variant, size_t count, unsigned way) {
    size_t a_stride = way & 1, b_stride = way >> 1 & 1;
    bool wild = way & 4, over_a = way & 8, over_b = way & 16;
    if ((over_a && !a_stride) || (over_b && !b_stride)) return true;
    float *a = draw_at_edge(0, a_stride || !count ? count : 1, wild);
    float *b = draw_at_edge(1, b_stride || !count ? count : 1, wild);
    float *want = floats_at_edge(2, count);
    scalar(want, a, a_stride, b, b_stride, count);
    float *got = over_a ? copy_at_edge(3, a, count) : over_b ? copy_at_edge(3, b, count) : floats_at_edge(3, count);
    variant(got, over_a ? got : a, a_stride, over_b ? got : b, b_stride, count);
    char what[80];
    snprintf(what, sizeof what, "count %zu, strides %zu %zu, way %u", count, a_stride, b_stride, way);
    return all_same(what, want, got, count);
}

static bool check_binary(const char *slot, tare_binary_f32_fn *scalar, tare_binary_f32_fn *variant) {
    (void)slot;
    for (size_t n = 0; n <= SIZE_MAX_SWEPT; n++)
        for (unsigned way = 0; way < 24; way++)
            if (!check_binary_case(scalar, variant, n, way)) return false;
    return true;
}

static bool check_unary_case(tare_unary_f32_fn *scalar, tare_unary_f32_fn *variant, const float *from, size_t count) {
    char what[80];
    float *want = floats_at_edge(2, count), *got = copy_at_edge(3, from, count);
    snprintf(what, sizeof what, "count %zu", count);
    scalar(want, from, count);
    variant(got, got, count);
    if (!all_same(what, want, got, count)) return false;
    got = floats_at_edge(3, count);
    variant(got, from, count);
    return all_same(what, want, got, count);
}

/* Also 65,536 numbers of every sign, exponent and upper mantissa. */
static bool check_unary(const char *slot, tare_unary_f32_fn *scalar, tare_unary_f32_fn *variant) {
    (void)slot;
    for (size_t n = 0; n <= SIZE_MAX_SWEPT; n++)
        if (!check_unary_case(scalar, variant, draw_at_edge(0, n, n % 2), n)) return false;
    float *from = floats_at_edge(0, 65536);
    for (uint32_t i = 0; i < 65536; i++) from[i] = float_of(i << 16 | (next() & 0xffff));
    return check_unary_case(scalar, variant, from, 65536);
}

static bool check_clamp(const char *slot, tare_clamp_f32_fn *scalar, tare_clamp_f32_fn *variant) {
    static const float bounds[][2] = { { 0, INFINITY }, { 0, 6 }, { -0.0f, 0 }, { -INFINITY, INFINITY }, { 5, 2 } };
    char what[80];
    (void)slot;
    for (size_t n = 0; n <= SIZE_MAX_SWEPT; n++) {
        for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
            float *from = draw_at_edge(0, n, n % 2), *want = floats_at_edge(2, n), *got = copy_at_edge(3, from, n);
            snprintf(what, sizeof what, "count %zu, %g…%g", n, (double)bounds[i][0], (double)bounds[i][1]);
            scalar(want, from, n, bounds[i][0], bounds[i][1]);
            variant(got, got, n, bounds[i][0], bounds[i][1]);
            if (!all_same(what, want, got, n)) return false;
        }
    }
    return true;
}

static bool check_reduce(const char *slot, tare_reduce_f32_fn *scalar, tare_reduce_f32_fn *variant) {
    char what[80];
    (void)slot;
    for (size_t i = 0; i < 8 * SIZE_MAX_SWEPT; i++) {
        size_t n = i < 5 * SIZE_MAX_SWEPT ? i / 5 : below(5000);
        float *from = draw_at_edge(0, n, i % 5 == 0), *got = floats_at_edge(1, 1), want = scalar(from, n);
        *got = variant(from, n);
        snprintf(what, sizeof what, "count %zu", n);
        if (!all_same(what, &want, got, 1)) return false;
    }
    return true;
}

/* ---- codes ---- */

typedef struct code_kind {
    const char *name;
    size_t size;
    int32_t lo, hi;
} code_kind;

static code_kind kind_of(const char *slot) {
    static const code_kind kinds[] = {
        { "s8", 1, -128, 127 }, { "u8", 1, 0, 255 }, { "s16", 2, -32768, 32767 }, { "u16", 2, 0, 65535 }
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(strrchr(slot, '_') + 1, kinds[i].name) == 0) return kinds[i];
    abort();
}

/* Scales that make ties exact, others, and the nonsense that files hold; ranges whole and narrow. */
static tare_codes draw_codes(int32_t lo, int32_t hi) {
    static const float scales[] = { 1, 0.5f, 0.25f, 0.0078125f, 0.1f, 0.037f, 3.7e-9f, 1e-40f, 1e30f, -0.5f, 0, NAN };
    tare_codes codes = { scales[below(sizeof scales / sizeof *scales)], lo + (hi - lo + 1) / 2, lo, hi };
    if (below(3)) codes.zero_point = lo + (int32_t)below((size_t)(hi - lo + 1));
    if (below(3) == 0) codes.lo = lo + 1;
    if (below(3) == 0) codes.hi = hi - 1;
    return codes;
}

/* About the range, and on ties as often as not. */
static float *draw_reals(int index, size_t count, const tare_codes *codes) {
    float *x = floats_at_edge(index, count);
    int64_t span = (int64_t)codes->hi - codes->lo + 1;
    for (size_t i = 0; i < count; i++) {
        float steps = (float)((int64_t)below((size_t)(span * 2)) - span / 2 + codes->lo - codes->zero_point) + 0.5f;
        x[i] = below(4) == 0 ? draw(true) : below(2) ? steps * codes->scale : steps * codes->scale * draw(false);
    }
    return x;
}

static void describe(char *what, size_t size, size_t count, const tare_codes *codes) {
    snprintf(what, size, "count %zu, scale %.9g, zero point %d, %d…%d", count, (double)codes->scale, codes->zero_point,
             codes->lo, codes->hi);
}

static bool check_quantize(const char *slot, tare_quantize_fn *scalar, tare_quantize_fn *variant) {
    code_kind kind = kind_of(slot);
    char what[120];
    for (size_t i = 0; i <= 20 * SIZE_MAX_SWEPT; i++) {
        size_t n = i / 20;
        tare_codes codes = draw_codes(kind.lo, kind.hi);
        float *from = draw_reals(0, n, &codes);
        unsigned char *want = at_edge(1, n * kind.size), *got = at_edge(2, n * kind.size);
        scalar(want, from, n, &codes);
        variant(got, from, n, &codes);
        describe(what, sizeof what, n, &codes);
        if (n && memcmp(want, got, n * kind.size) != 0) {
            size_t at = 0;
            while (want[at] == got[at]) at++;
            at /= kind.size;
            printf("%s: [%zu], from %.9g, differs\n", what, at, (double)from[at]);
            return false;
        }
        if (canary_lives(got)) continue;
        printf("%s: wrote before the start\n", what);
        return false;
    }
    return true;
}

static bool check_dequantize(const char *slot, tare_dequantize_fn *scalar, tare_dequantize_fn *variant) {
    code_kind kind = kind_of(slot);
    char what[120];
    for (size_t i = 0; i <= 4 * SIZE_MAX_SWEPT; i++) {
        size_t n = i / 4;
        tare_codes codes = draw_codes(kind.lo, kind.hi);
        unsigned char *from = at_edge(0, n * kind.size);
        for (size_t j = 0; j < n * kind.size; j++) from[j] = (unsigned char)next();
        float *want = floats_at_edge(1, n), *got = floats_at_edge(2, n);
        scalar(want, from, n, &codes);
        variant(got, from, n, &codes);
        describe(what, sizeof what, n, &codes);
        if (!all_same(what, want, got, n)) return false;
    }
    return true;
}

static bool check_fake_quantize(const char *slot, tare_fake_quantize_fn *scalar, tare_fake_quantize_fn *variant) {
    static const int32_t ranges[][2] = { { -128, 127 }, { 0, 255 }, { 0, 15 }, { 0, 65535 }, { INT32_MIN, INT32_MAX } };
    char what[120];
    (void)slot;
    for (size_t i = 0; i <= 20 * SIZE_MAX_SWEPT; i++) {
        const int32_t *range = ranges[i % (sizeof ranges / sizeof *ranges)];
        bool is_whole = range[0] == INT32_MIN;
        size_t n = i / 20;
        tare_codes codes = is_whole ? (tare_codes){ 0.001f, 0, range[0], range[1] } : draw_codes(range[0], range[1]);
        float *from = draw_reals(0, n, &codes), *want = floats_at_edge(1, n), *got = copy_at_edge(2, from, n);
        scalar(want, from, n, &codes);
        variant(got, got, n, &codes);
        describe(what, sizeof what, n, &codes);
        if (!all_same(what, want, got, n)) return false;
    }
    return true;
}

/* ---- counting, moving ---- */

/* What was counted: the sums of the tables, by bin. */
static void add_tables(uint32_t *bins, const tare_counts *counts) {
    memset(bins, 0, TARE_COUNT_BINS * sizeof *bins);
    for (size_t t = 0; t < counts->used; t++)
        for (size_t i = 0; i < TARE_COUNT_BINS; i++) bins[i] += counts->tables[t * TARE_COUNT_STRIDE + i];
}

static bool check_count(const char *slot, tare_count_f32_fn *scalar, tare_count_f32_fn *variant) {
    static uint32_t want_bins[TARE_COUNT_BINS], got_bins[TARE_COUNT_BINS];
    static uint32_t want_tables[TARE_COUNT_TABLES * TARE_COUNT_STRIDE], tables[TARE_COUNT_TABLES * TARE_COUNT_STRIDE];
    char what[80];
    (void)slot;
    memset(want_tables, 0, sizeof want_tables);
    memset(tables, 0, sizeof tables);
    tare_counts want = { want_tables, 1, INFINITY, -INFINITY, UINT32_MAX, 0 }, got = want;
    got.tables = tables;
    for (size_t i = 0; i < 4 * SIZE_MAX_SWEPT; i++) {
        size_t n = i < 3 * SIZE_MAX_SWEPT ? i / 3 : below(9000);
        float *from = draw_at_edge(0, n, i % 3 == 0);
        for (size_t j = 0; j < n && i % 5 == 0; j++) from[j] = from[j] > 0 ? from[j] : i % 2 ? 0 : -0.0f;
        if (i % 7 == 0) want.min = got.min = INFINITY, want.max = got.max = -INFINITY;
        if (i % 7 == 0) want.low = got.low = UINT32_MAX, want.high = got.high = 0;
        scalar(&want, from, n);
        variant(&got, from, n);
        snprintf(what, sizeof what, "count %zu, min and max", n);
        float ends[] = { want.min, want.max }, *found = floats_at_edge(1, 2);
        found[0] = got.min;
        found[1] = got.max;
        if (!all_same(what, ends, found, 2)) return false;
        if (want.low != got.low || want.high != got.high || got.used < 1 || got.used > TARE_COUNT_TABLES) {
            printf("count %zu: low, high or the tables used differ\n", n);
            return false;
        }
        if (i % 40 != 39 && n <= SIZE_MAX_SWEPT) continue;
        add_tables(want_bins, &want);
        add_tables(got_bins, &got);
        if (memcmp(want_bins, got_bins, sizeof want_bins) == 0) continue;
        printf("count %zu: counts differ\n", n);
        return false;
    }
    return true;
}

/* Dense, sparse and empty pages of one to all tables; those beside them are left alone. */
static bool check_fold(const char *slot, tare_fold_counts_fn *scalar, tare_fold_counts_fn *variant) {
    enum { NUMBERS = (TARE_COUNT_TABLES - 1) * TARE_COUNT_STRIDE + TARE_COUNT_PAGE };
    (void)slot;
    for (size_t i = 0; i < 200; i++) {
        const size_t used = 1 + i % TARE_COUNT_TABLES, one_in = (size_t)1 << i % 11;
        uint32_t *want = (uint32_t *)(void *)at_edge(0, NUMBERS * sizeof *want);
        uint32_t *got = (uint32_t *)(void *)at_edge(1, NUMBERS * sizeof *got);
        uint64_t *want_bins = (uint64_t *)(void *)at_edge(2, TARE_COUNT_PAGE * sizeof *want_bins);
        uint64_t *got_bins = (uint64_t *)(void *)at_edge(3, TARE_COUNT_PAGE * sizeof *got_bins);
        for (size_t k = 0; k < NUMBERS; k++) want[k] = got[k] = i % 25 && below(one_in) == 0 ? next() >> 3 : 0;
        for (size_t k = 0; k < TARE_COUNT_PAGE; k++) want_bins[k] = got_bins[k] = (uint64_t)next() << below(30);
        const bool any = scalar(want_bins, want, used);
        if (variant(got_bins, got, used) == any && memcmp(want, got, NUMBERS * sizeof *got) == 0 &&
            memcmp(want_bins, got_bins, TARE_COUNT_PAGE * sizeof *got_bins) == 0 && canary_lives(got) &&
            canary_lives(got_bins))
            continue;
        printf("%zu tables, one in %zu met: differs\n", used, one_in);
        return false;
    }
    return true;
}

/* ---- sums in f64 ---- */

static bool same_f64(const char *what, size_t count, const double *want, const double *got, size_t numbers) {
    for (size_t i = 0; i < numbers; i++) {
        if (memcmp(&want[i], &got[i], sizeof *got) == 0 || (isnan(want[i]) && isnan(got[i]))) continue;
        printf("%s, count %zu: [%zu] is %a, want %a\n", what, count, i, got[i], want[i]);
        return false;
    }
    return true;
}

static bool check_square_error(const char *slot, tare_square_error_fn *scalar, tare_square_error_fn *variant) {
    for (size_t i = 0; i < 4 * SIZE_MAX_SWEPT; i++) {
        const size_t n = i < 3 * SIZE_MAX_SWEPT ? i / 3 : below(5000);
        const float *a = draw_at_edge(0, n, i % 5 == 0), *b = draw_at_edge(1, n, i % 5 == 0);
        const double want = scalar(a, b, n), got = variant(a, b, n);
        if (!same_f64(slot, n, &want, &got, 1)) return false;
    }
    return true;
}

static bool check_square_beyond(const char *slot, tare_square_beyond_fn *scalar, tare_square_beyond_fn *variant) {
    for (size_t i = 0; i < 4 * SIZE_MAX_SWEPT; i++) {
        const size_t n = i < 3 * SIZE_MAX_SWEPT ? i / 3 : below(5000);
        const float *from = draw_at_edge(0, n, i % 5 == 0), lo = draw(i % 7 == 0), hi = i % 4 ? draw(false) : lo;
        const double want = scalar(from, n, lo, hi), got = variant(from, n, lo, hi);
        if (!same_f64(slot, n, &want, &got, 1)) return false;
    }
    return true;
}

static bool check_add_columns(const char *slot, tare_add_columns_fn *scalar, tare_add_columns_fn *variant) {
    for (size_t n = 0; n <= SIZE_MAX_SWEPT; n++) {
        const size_t stride = TARE_SUM_COLUMNS + n % 5;
        const float *from = draw_at_edge(0, n ? (n - 1) * stride + TARE_SUM_COLUMNS : 0, n % 5 == 0);
        double *want = (double *)(void *)at_edge(1, TARE_SUM_COLUMNS * sizeof *want);
        double *got = (double *)(void *)at_edge(2, TARE_SUM_COLUMNS * sizeof *got);
        for (size_t c = 0; c < TARE_SUM_COLUMNS; c++) want[c] = got[c] = (double)draw(false);
        scalar(want, from, stride, n);
        variant(got, from, stride, n);
        if (!same_f64(slot, n, want, got, TARE_SUM_COLUMNS) || !canary_lives(got)) return false;
    }
    return true;
}

static bool check_transpose_case(tare_transpose_fn *scalar, tare_transpose_fn *variant, size_t rows, size_t columns) {
    size_t to_stride = rows + below(4), from_stride = columns + below(4);
    size_t from_size = rows ? (rows - 1) * from_stride + columns : 0;
    size_t size = columns ? (columns - 1) * to_stride + rows : 0;
    uint32_t *from = (uint32_t *)(void *)at_edge(0, from_size * 4), *want = (uint32_t *)(void *)at_edge(1, size * 4);
    uint32_t *got = (uint32_t *)(void *)at_edge(2, size * 4);
    for (size_t i = 0; i < from_size; i++) from[i] = next();
    scalar(want, to_stride, from, from_stride, rows, columns);
    variant(got, to_stride, from, from_stride, rows, columns);
    if ((size == 0 || memcmp(want, got, size * 4) == 0) && canary_lives(got)) return true;
    printf("%zu rows, %zu columns, strides %zu from %zu: differs\n", rows, columns, to_stride, from_stride);
    return false;
}

static bool check_transpose(const char *slot, tare_transpose_fn *scalar, tare_transpose_fn *variant) {
    (void)slot;
    for (size_t r = 0; r <= 40; r++)
        for (size_t c = 0; c <= 40; c++)
            if (!check_transpose_case(scalar, variant, r, c)) return false;
    for (size_t n = 0; n <= SIZE_MAX_SWEPT; n++)
        if (!check_transpose_case(scalar, variant, n, 3) || !check_transpose_case(scalar, variant, 3, n)) return false;
    return true;
}

/* The check for a variant, by its slot's type. */
#define CHECK(slot, isa)                                                                                               \
    _Generic(tare_##slot##_scalar, tare_gemm_f32_fn *                                                                  \
             : check_gemm, tare_gemm_codes_fn *                                                                        \
             : check_gemm_codes, tare_depthwise_f32_fn *                                                               \
             : check_depthwise, tare_binary_f32_fn *                                                                   \
             : check_binary, tare_clamp_f32_fn *                                                                       \
             : check_clamp, tare_unary_f32_fn *                                                                        \
             : check_unary, tare_reduce_f32_fn *                                                                       \
             : check_reduce, tare_quantize_fn *                                                                        \
             : check_quantize, tare_dequantize_fn *                                                                    \
             : check_dequantize, tare_fake_quantize_fn *                                                               \
             : check_fake_quantize, tare_count_f32_fn *                                                                \
             : check_count, tare_fold_counts_fn *                                                                      \
             : check_fold, tare_square_error_fn *                                                                      \
             : check_square_error, tare_square_beyond_fn *                                                             \
             : check_square_beyond, tare_add_columns_fn *                                                              \
             : check_add_columns, tare_transpose_fn *                                                                  \
             : check_transpose)(#slot, tare_##slot##_scalar, tare_##slot##_##isa)

#endif

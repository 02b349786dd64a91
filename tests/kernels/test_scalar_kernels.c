/* The plain C kernels, which every other variant is compared with, against numbers worked out otherwise: sums of small
 * integers, double arithmetic, published values. */
#include "support/support.h"

#include <math.h>

#include "kernels/variants.h"

/* Small integers: exact in any order, so the sum says whether each factor was used once and in its place. */
static void test_gemm_of_integers(void **state) {
    (void)state;
    enum { ROWS = 3, COLUMNS = 18, TAPS = 2, DEPTH = 150, LINE = DEPTH + 2 };
    float a[4 * LINE], weights[TAPS * DEPTH * COLUMNS], packed[TAPS * DEPTH * 32], bias[32], c[ROWS * COLUMNS];
    const float *rows[TAPS * ROWS] = { a, a + LINE, a + 2 * LINE, a + LINE, a + 2 * LINE, a + 3 * LINE };
    for (int i = 0; i < 4 * LINE; i++) a[i] = (float)(i % 11 - 5);
    for (int i = 0; i < TAPS * DEPTH * COLUMNS; i++) weights[i] = (float)(i % 7 - 3);
    for (int i = 0; i < 32; i++) bias[i] = (float)i;
    assert_int_equal(tare_packed_f32_size(TAPS * DEPTH, COLUMNS), sizeof packed / sizeof *packed);
    for (size_t t = 0; t < TAPS; t++) {
        tare_pack_f32(packed + t * DEPTH * TARE_PANEL, TAPS * DEPTH, weights + t * DEPTH * COLUMNS, DEPTH, COLUMNS,
                      COLUMNS, 1);
    }
    tare_gemm_f32_args g = { ROWS, COLUMNS, TAPS, DEPTH, rows, 2, packed, bias, c, COLUMNS, -200, 300 };
    tare_gemm_f32_scalar(&g);
    for (int m = 0; m < ROWS; m++) {
        for (int n = 0; n < COLUMNS; n++) {
            int sum = n;
            for (int k = 0; k < TAPS * DEPTH; k++)
                sum += ((m + k / DEPTH) * LINE + 2 + k % DEPTH) % 11 * ((k * COLUMNS + n) % 7 - 3) -
                       5 * ((k * COLUMNS + n) % 7 - 3);
            int want = sum < -200 ? -200 : sum > 300 ? 300 : sum;
            assert_int_equal((int)c[m * COLUMNS + n], want);
        }
    }
}

/* 1 + 2^-24 is 1, but a block is summed before it is added: the order is seen in the last bit. */
static void test_gemm_adds_blocks(void **state) {
    (void)state;
    enum { DEPTH = 2 * TARE_K_BLOCK };
    float a[DEPTH], packed[DEPTH * TARE_PANEL] = { 0 }, c;
    const float *row = a;
    for (int k = 0; k < DEPTH; k++) {
        a[k] = k == 0 ? 1 : k < TARE_K_BLOCK ? 0 : 0x1p-24f / TARE_K_BLOCK;
        packed[k * TARE_PANEL] = 1;
    }
    tare_gemm_f32_args g = { 1, 1, 1, DEPTH, &row, 0, packed, NULL, &c, 1, -INFINITY, INFINITY };
    tare_gemm_f32_scalar(&g);
    assert_true(c == 1 + 0x1p-24f); /* a tie, to even: 1 */
    a[DEPTH - 1] = 0x1p-23f / TARE_K_BLOCK;
    tare_gemm_f32_scalar(&g);
    assert_true(c == 1 + 0x1p-23f);
}

/* Three taps over a line of four pixels, padded by one at both ends. */
static void test_depthwise_of_integers(void **state) {
    (void)state;
    enum { CHANNELS = 5, PIXELS = 4 };
    float a[PIXELS * CHANNELS], w[3 * CHANNELS], bias[CHANNELS], c[PIXELS * CHANNELS];
    const tare_depthwise_tap taps[] = { { a, w, 1, 4 }, { a, w + 5, 0, 4 }, { a + 5, w + 10, 0, 3 } };
    for (int i = 0; i < PIXELS * CHANNELS; i++) a[i] = (float)(i * i % 17);
    for (int i = 0; i < 3 * CHANNELS; i++) w[i] = (float)(i - 7);
    for (int i = 0; i < CHANNELS; i++) bias[i] = (float)(100 * i);
    tare_depthwise_f32_args d = { PIXELS, CHANNELS, 3, taps, CHANNELS, bias, c, CHANNELS, -50, INFINITY };
    tare_depthwise_f32_scalar(&d);
    for (int m = 0; m < PIXELS; m++) {
        for (int n = 0; n < CHANNELS; n++) {
            int sum = 100 * n;
            for (int t = 0; t < 3; t++) {
                int i = (m + t - 1) * CHANNELS + n;
                if (m + t >= 1 && m + t - 1 < PIXELS) sum += i * i % 17 * (t * CHANNELS + n - 7);
            }
            assert_int_equal((int)c[m * CHANNELS + n], sum < -50 ? -50 : sum);
        }
    }
}

/* Against libm in double; the bounds are those stated for SLEEF (1 ulp) and seen for the rational functions. */
static void test_functions(void **state) {
    (void)state;
    for (int i = -2000; i <= 2000; i++) {
        float x = (float)i / 64, y, positive = (float)(i + 2001) / 64;
        double real = (double)x;
        tare_exp_f32_scalar(&y, &x, 1);
        assert_true(fabs((double)y - exp(real)) <= 1.2e-7 * exp(real));
        tare_erf_f32_scalar(&y, &x, 1);
        assert_true(fabs((double)y - erf(real)) <= 1.2e-7);
        tare_log_f32_scalar(&y, &positive, 1);
        assert_true(fabs((double)y - log((double)positive)) <= 1.2e-7 * fmax(1, fabs(log((double)positive))));
        tare_sigmoid_f32_scalar(&y, &x, 1);
        assert_true(fabs((double)y - 1 / (1 + exp(-real))) <= 1.5e-7);
        tare_swish_f32_scalar(&y, &x, 1);
        assert_true(fabs((double)y - real / (1 + exp(-real))) <= 2.5e-7 * fmax(1, fabs(real)));
        tare_tanh_f32_scalar(&y, &x, 1);
        assert_true(fabs((double)y - tanh(real)) <= 3e-7);
    }
}

/* ONNX Runtime 1.30's codes (reference cases §0): ties to even before the zero point is added. */
static void test_quantize_ties(void **state) {
    (void)state;
    static const float x[] = { 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f };
    static const int8_t want[] = { 0, 2, 2, 0, -2, -2 };
    static const uint8_t want_3[] = { 3, 5, 5, 3, 1, 1 };
    int8_t q[6];
    uint8_t q_3[6];
    tare_quantize_s8_scalar(q, x, 6, &(tare_codes){ 1, 0, -128, 127 });
    tare_quantize_u8_scalar(q_3, x, 6, &(tare_codes){ 1, 3, 0, 255 });
    assert_memory_equal(q, want, sizeof want);
    assert_memory_equal(q_3, want_3, sizeof want_3);
}

static void test_quantize_extremes(void **state) {
    (void)state;
    static const float x[] = { INFINITY, -INFINITY, NAN, -0.0f, 1e38f, -1e38f };
    static const uint16_t want[] = { 65535, 0, 0, 40000, 65535, 0 };
    uint16_t q[6];
    float real[6];
    tare_codes codes = { 0.25f, 40000, 0, 65535 };
    tare_quantize_u16_scalar(q, x, 6, &codes);
    assert_memory_equal(q, want, sizeof want);
    tare_dequantize_u16_scalar(real, q, 6, &codes);
    assert_true(real[0] == 6383.75f && real[1] == -10000 && real[3] == 0);
    tare_fake_quantize_f32_scalar(real, x, 6, &codes);
    assert_true(real[0] == 6383.75f && real[2] == -10000 && !signbit(real[3]));
}

static void test_count(void **state) {
    (void)state;
    static uint32_t bins[TARE_COUNT_BINS];
    static const float x[] = { 1, 1.003f, 1.0079f, -2, 0, -0.0f, INFINITY, NAN, 1e-45f };
    tare_counts counts = { bins, 1, INFINITY, -INFINITY, UINT32_MAX, 0 };
    tare_count_f32_scalar(&counts, x, sizeof x / sizeof *x);
    assert_int_equal(bins[0x3f80], 2);
    assert_int_equal(bins[0x3f81], 1);
    assert_int_equal(bins[0xc000], 1);
    assert_int_equal(bins[0], 2); /* 0 and the least denormal */
    assert_int_equal(bins[0x8000], 1);
    assert_int_equal(bins[0x7f80], 1);
    assert_int_equal(bins[0x7fc0], 1);
    assert_true(counts.min == -2 && counts.max == 1.0079f);
    assert_true(counts.low == 1 && counts.high == 0x7fc00000);
}

static void test_fold(void **state) {
    (void)state;
    static uint32_t tables[TARE_COUNT_TABLES * TARE_COUNT_STRIDE];
    uint64_t bins[TARE_COUNT_PAGE] = { [3] = (uint64_t)1 << 40 };
    tables[3] = UINT32_MAX;
    tables[TARE_COUNT_STRIDE + 3] = 2;
    tables[2 * TARE_COUNT_STRIDE + 5] = 7;
    assert_true(tare_fold_counts_scalar(bins, tables, 2));
    assert_true(bins[3] == ((uint64_t)1 << 40) + UINT32_MAX + 2 && bins[5] == 0);
    assert_true(tables[3] == 0 && tables[TARE_COUNT_STRIDE + 3] == 0 && tables[2 * TARE_COUNT_STRIDE + 5] == 7);
    assert_false(tare_fold_counts_scalar(bins, tables, 2));
}

static void test_sums(void **state) {
    (void)state;
    const float a[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, -3 }, zeros[10] = { 0 };
    assert_true(tare_square_error_f32_scalar(a, zeros, 10) == 204 + 81 + 9);
    assert_true(tare_square_beyond_f32_scalar(a, 10, -1, 7) == 1 + 4 + 4);
    assert_true(isnan(tare_square_beyond_f32_scalar((const float[]){ NAN }, 1, 0, 1)));
    double sums[TARE_SUM_COLUMNS] = { 0.5 };
    const float rows[2 * TARE_SUM_COLUMNS + 1] = { [0] = 1, [TARE_SUM_COLUMNS + 1] = 0x1p-30f };
    tare_add_columns_f32_scalar(sums, rows, TARE_SUM_COLUMNS + 1, 2);
    assert_true(sums[0] == 1.5 + 0x1p-30 && sums[1] == 0);
}

static void test_clamp_and_extremes(void **state) {
    (void)state;
    float x[] = { NAN, -1, -0.0f, 7, INFINITY };
    tare_clamp_f32_scalar(x, x, 5, 0, 6);
    assert_true(isnan(x[0]) && x[1] == 0 && x[2] == 0 && x[3] == 6 && x[4] == 6);
    const float a[] = { NAN, 1, 2 }, b[] = { 1, NAN, 3 };
    tare_max_f32_scalar(x, a, 1, b, 1, 3);
    assert_true(isnan(x[0]) && isnan(x[1]) && x[2] == 3);
    tare_min_f32_scalar(x, a, 1, b, 1, 3);
    assert_true(isnan(x[0]) && isnan(x[1]) && x[2] == 2);
    assert_true(isnan(tare_reduce_max_f32_scalar(a, 3)));
    assert_true(tare_reduce_max_f32_scalar(a + 1, 2) == 2);
    assert_true(isinf(tare_reduce_max_f32_scalar(a, 0)) && tare_reduce_sum_f32_scalar(a, 0) == 0);
}

/* Lane j takes j, j + 16, …: 1 and 2^-24 meet in a lane or not. */
static void test_sum_order(void **state) {
    (void)state;
    float x[32] = { 0 };
    x[0] = 1;
    x[16] = x[17] = 0x1p-24f;
    assert_true(tare_reduce_sum_f32_scalar(x, 32) == 1);
    x[16] = 0, x[1] = 0x1p-24f;
    assert_true(tare_reduce_sum_f32_scalar(x, 32) == 1 + 0x1p-23f);
}

static void test_cpus(void **state) {
    (void)state;
    tare_cpu cpu;
    for (int i = 0; i < TARE_CPU_COUNT; i++) {
        assert_true(tare_cpu_find(tare_cpu_name((tare_cpu)i), &cpu));
        assert_int_equal(cpu, i);
        if (!tare_cpu_has(cpu)) continue;
        const tare_kernels *kernels = tare_kernels_for(cpu);
        assert_ptr_equal(kernels, tare_kernels_for(cpu));
        assert_int_equal(kernels->cpu, cpu);
#define SLOT(type, slot) assert_non_null(kernels->slot);
#define KERNEL(slot, isa, needs)
#include "kernels/kernels.def"
#undef SLOT
#undef KERNEL
    }
    assert_false(tare_cpu_find("avx1024", &cpu));
    assert_ptr_equal(tare_kernels_for(TARE_CPU_SCALAR)->gemm_f32, tare_gemm_f32_scalar);
    assert_true(tare_cpu_has(TARE_CPU_SCALAR) && tare_cpu_has(tare_cpu_detect()));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gemm_of_integers),
        cmocka_unit_test(test_gemm_adds_blocks),
        cmocka_unit_test(test_depthwise_of_integers),
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_quantize_ties),
        cmocka_unit_test(test_quantize_extremes),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_clamp_and_extremes),
        cmocka_unit_test(test_sum_order),
        cmocka_unit_test(test_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Products that stay float because codes would ruin them, and the budget they share. */
#include <math.h>
#include <string.h>

#include "quantize/support/quantized.h"

enum { LENGTH = 32, SAMPLES = 6, CHANNELS = 8 };

/* What a Log reads: the power, through nodes that move numbers, or joined with itself. */
enum { PLAIN, TURNED, JOINED };
static const char *const ways[] = {
    "l = Log(q)", "r = Transpose<perm = [0, 2, 1]>(q)\n k = Log(r)\n l = Transpose<perm = [0, 2, 1]>(k)",
    "r = Concat<axis = 2>(q, q)\n k = Log(r)\n l = Slice(k, zero, length, two)"
};

/* A Conv before the Log of a power, another before that, and two behind it. The channels of the first two are few or many. */
static quantized *power_by(const char *batch, bool few, const float *numbers, int way,
                           const tare_quantize_options *options) {
    tare_arena *arena = tare_arena_new();
    tare_text text = { .arena = arena };
    tare_text_printf(
        &text,
        "<ir_version: 8, opset_import: [\"\" : 18]>\n"
        "g (float[%s,1,32] x) => (float[%s,8,32] z)\n<float e = {1e-12}, int64[1] zero = {0}, int64[1] length = "
        "{32}, int64[1] two = {2}",
        batch, batch);
    quantized_add_weight(&text, "a", few ? "2,1,1" : "16,1,1", few ? 2 : 16);
    quantized_add_weight(&text, "w", few ? "2,2,1" : "16,16,1", few ? 4 : 256);
    quantized_add_weight(&text, "v", few ? "16,2,3" : "16,16,3", few ? 96 : 768);
    quantized_add_weight(&text, "u", "8,16,3", 384);
    tare_text_printf(&text,
                     "> {\n b = Conv(x, a)\n c = Conv(b, w)\n p = Mul(c, c)\n f = Add(p, e)\n q = Abs(f)\n %s\n"
                     "y = Conv<pads = [1, 1]>(l, v)\n z = Conv<pads = [1, 1]>(y, u) }",
                     ways[way]);
    quantized *q = quantized_open(text.at, numbers, (size_t)SAMPLES * LENGTH, options);
    tare_arena_free(arena);
    return q;
}

static quantized *power(const char *batch, bool few, const float *numbers) {
    return power_by(batch, few, numbers, PLAIN, NULL);
}

/* Mostly far below the largest, as sound is: amplitudes fall by 1.5 dB a step. Or all of one size. */
static void fill(float *numbers, bool fades) {
    for (int i = 0; i < SAMPLES * LENGTH; i++)
        numbers[i] = (i % 2 ? 1.0f : -1.0f) * (fades ? (float)pow(10, -(i % 100) * 0.075) : 1 + (float)(i % 7) / 8);
}

static void keeps_what_a_log_reads(void **state) {
    (void)state;
    float numbers[SAMPLES * LENGTH];
    fill(numbers, true);
    static const char *const batches[] = { "1", "N" };
    for (int i = 0; i < 2; i++) {
        quantized *q = power(batches[i], true, numbers);
        assert_false(quantized_is_integer(q, "b"));
        assert_false(quantized_is_integer(q, "c"));
        assert_null(quantized_value(q, "q")->quant);
        assert_true(quantized_is_integer(q, "y"));
        assert_true(quantized_is_integer(q, "z"));
        assert_non_null(strstr(q->log, "(Log)"));
        assert_non_null(strstr(q->log, "the 2 products before it stay float, 1.2 % of the multiply-accumulates"));
        quantized_close(q);
    }
}

static void quantizes_what_a_log_can_bear(void **state) {
    (void)state;
    float numbers[SAMPLES * LENGTH];
    fill(numbers, false);
    quantized *q = power("1", true, numbers);
    assert_true(quantized_is_integer(q, "b"));
    assert_true(quantized_is_integer(q, "c"));
    assert_null(strstr(q->log, "(Log)"));
    quantized_close(q);
}

/* More than a tenth of the work stays integer, and the log tells. */
static void keeps_to_the_budget(void **state) {
    (void)state;
    float numbers[SAMPLES * LENGTH];
    fill(numbers, true);
    static const char *const batches[] = { "1", "N" };
    for (int i = 0; i < 2; i++) {
        quantized *q = power(batches[i], false, numbers);
        assert_true(quantized_is_integer(q, "b"));
        assert_true(quantized_is_integer(q, "c"));
        assert_non_null(strstr(q->log, "the 2 products before it are quantized all the same, 19.1 % of"));
        quantized_close(q);
    }
}

/* Nodes that move or join numbers stand between the power and the Log. */
static void looks_through_views(void **state) {
    (void)state;
    float numbers[SAMPLES * LENGTH];
    for (int way = TURNED; way <= JOINED; way++)
        for (int fades = 0; fades <= 1; fades++) {
            fill(numbers, fades);
            quantized *q = power_by("1", true, numbers, way, NULL);
            assert_int_equal(quantized_is_integer(q, "c"), !fades);
            assert_int_equal(strstr(q->log, "(Log)") != NULL, fades);
            quantized_close(q);
        }
}

/* Codes of 16 bits hold a power down to 2^-32 of the largest; with 8 anywhere before the Log, no more than these do. */
static void judges_a_log_by_its_codes(void **state) {
    (void)state;
    const tare_rule rules[] = { { .value = "b", .type = "s8" }, { .value = "y", .type = "u8" } };
    float numbers[SAMPLES * LENGTH];
    for (int types = 0; types < 2; types++) {
        for (int i = 0; i < SAMPLES * LENGTH; i++) numbers[i] = (float)((i % 2 ? 1 : -1) * pow(10, -(i % 100) * 0.04));
        const tare_dtype type = types ? TARE_S16 : TARE_U16;
        for (size_t i = 0; i < 3; i++) {
            const tare_quantize_options options = { .activation = type, .rules = &rules[i % 2], .rule_count = i < 2 };
            quantized *q = power_by("1", true, numbers, PLAIN, &options);
            assert_int_equal(quantized_is_integer(q, "b"), i > 0);
            assert_int_equal(quantized_is_integer(q, "c"), i > 0);
            assert_int_equal(strstr(q->log, "are below 2^-16 of the largest, which 8 bits") != NULL, i == 0);
            quantized_close(q);
        }
        fill(numbers, true);
        const tare_quantize_options options = { .activation = type };
        quantized *q = power_by("1", true, numbers, PLAIN, &options);
        assert_false(quantized_is_integer(q, "c"));
        assert_non_null(strstr(q->log, "are below 2^-32 of the largest, which 16 bits"));
        quantized_close(q);
    }
}

/* A depthwise Conv that reads channels of which `small` have a ten-thousandth of the others' reach, then one that is large. What
 * the first puts out is counted only behind the Relu, what the second does nowhere. */
static quantized *depthwise_by(const char *batch, int small, float shift, const tare_quantize_options *options) {
    float numbers[SAMPLES * CHANNELS * LENGTH];
    for (int i = 0; i < SAMPLES * CHANNELS * LENGTH; i++)
        numbers[i] = (float)(i * 37 % 101 - 50) * (i / LENGTH % CHANNELS < small ? 1e-4f : 1) + shift;
    tare_arena *arena = tare_arena_new();
    tare_text text = { .arena = arena };
    tare_text_printf(&text,
                     "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                     "g (float[%s,8,32] x) => (float[%s,32,32] z)\n<",
                     batch, batch);
    quantized_add_weight(&text, "w", "8,1,3", 24);
    quantized_add_weight(&text, "v", "32,8,3", 768);
    tare_text_printf(&text,
                     "> {\n t = Conv<group = 8, pads = [1, 1]>(x, w)\n y = Relu(t)\n z = Conv<pads = [1, 1]>(y, v) }");
    quantized *q = quantized_open(text.at, numbers, sizeof numbers / sizeof *numbers, options);
    tare_arena_free(arena);
    return q;
}

static quantized *depthwise(const char *batch, int small) { return depthwise_by(batch, small, 0, NULL); }

/* 1e-4 of the reach is 6 steps of 16 bits: enough. */
static void feeds_channels_by_their_codes(void **state) {
    (void)state;
    static const tare_rule wide = { .value = "x", .type = "u16" };
    static const struct {
        const char *what;
        tare_quantize_options options;
        bool starves;
    } cases[] = { { "u8", { .activation = TARE_U8 }, true },
                  { "u16", { .activation = TARE_U16 }, false },
                  { "s16", { .activation = TARE_S16, .symmetric = true }, false },
                  { "rule", { .rules = &wide, .rule_count = 1 }, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        quantized *q = depthwise_by("1", 2, 0, &cases[i].options);
        if (quantized_is_integer(q, "t") == cases[i].starves) fail_msg("%s", cases[i].what);
        quantized_close(q);
    }
}

/* Codes hold zero, however far away the numbers are: 100 wide and 10000 off leaves each channel 2 or 3 codes. */
static void counts_codes_from_zero(void **state) {
    (void)state;
    quantized *far = depthwise_by("1", 0, 10000, NULL), *near = depthwise_by("1", 0, 200, NULL);
    assert_false(quantized_is_integer(far, "t"));
    assert_true(quantized_is_integer(near, "t"));
    quantized_close(far);
    quantized_close(near);
}

static void keeps_starved_depthwise(void **state) {
    (void)state;
    static const char *const batches[] = { "1", "N" };
    for (int i = 0; i < 2; i++) {
        quantized *starved = depthwise(batches[i], 2), *fed = depthwise(batches[i], 0);
        assert_false(quantized_is_integer(starved, "t"));
        assert_true(quantized_is_integer(starved, "z"));
        assert_non_null(
            strstr(starved->log, "(Conv) stays float: 25 % of the channels of 'x' would have fewer than 4"));
        assert_true(quantized_is_integer(fed, "t"));
        assert_string_equal(fed->log, "");
        quantized_close(starved);
        quantized_close(fed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_a_log_reads),        cmocka_unit_test(quantizes_what_a_log_can_bear),
        cmocka_unit_test(keeps_to_the_budget),           cmocka_unit_test(looks_through_views),
        cmocka_unit_test(judges_a_log_by_its_codes),     cmocka_unit_test(keeps_starved_depthwise),
        cmocka_unit_test(feeds_channels_by_their_codes), cmocka_unit_test(counts_codes_from_zero),
    };
    return cmocka_run_group_tests_name("products spared", tests, NULL, NULL);
}

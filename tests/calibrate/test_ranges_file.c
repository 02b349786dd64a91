/* The ranges file: exact through write and read, the same bytes however samples were shared out, hostile when read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "calibrate/range.h"
#include "support/fail_nth.h"
#include "support/graphs.h"

enum { SAMPLES = 9, NUMBERS = 120, CHANNELS = 5 };

/* One sample's numbers: both signs, every magnitude, zeros of both signs, ties between samples; every fourth sample has
 * some that are not finite. */
static void make_numbers(float *numbers, uint64_t seed) {
    test_random random = { seed + 1 };
    for (int i = 0; i < NUMBERS; i++) {
        double unit = test_random_unit(&random) - 0.5;
        int exponent = (int)(test_random_next(&random) % 300) - 160;
        numbers[i] = (float)ldexp(unit, exponent > 110 ? 0 : exponent);
    }
    numbers[3] = 0, numbers[77] = -0.0f;
    numbers[5] = seed % 3 ? 1e36f : 2e36f;
    if (seed % 4 == 3) numbers[10] = NAN, numbers[50] = INFINITY, numbers[90] = -INFINITY;
}

/* 'x' with channels, 'y' without and 'never', of which nothing is seen. */
static tare_ranges *make_ranges(void) {
    tare_ranges *ranges;
    tare_range *range;
    assert_ok(tare_ranges_new(&ranges, &err));
    assert_ok(tare_ranges_add(ranges, "x \"quoted\" \xc3\xa4", &range, &err));
    assert_ok(tare_range_want_channels(range, CHANNELS, ranges->arena, &err));
    assert_ok(tare_range_want_sums(range, CHANNELS, ranges->arena, &err));
    assert_ok(tare_ranges_add(ranges, "y", &range, &err));
    assert_ok(tare_ranges_add(ranges, "never", &range, &err));
    ranges->model_hash = 0x0123456789abcdefu;
    return ranges;
}

static void see(tare_ranges *ranges, int sample) {
    static const int64_t dims[] = { 2, CHANNELS, NUMBERS / CHANNELS / 2 };
    float numbers[NUMBERS];
    char id[16];
    tare_counter *counter = tare_counter_new(ranges->arena, tare_kernels_for(tare_cpu_detect()));
    assert_non_null(counter);
    make_numbers(numbers, (uint64_t)sample);
    snprintf(id, sizeof id, "s%d", sample);
    const char *name = tare_arena_strdup(ranges->arena, id);
    tare_tensor tensor = {
        .dtype = TARE_F32, .shape = tare_shape_of(3, dims), .data = numbers, .size = sizeof numbers
    };
    assert_ok(tare_range_count(ranges->list.at[0], counter, ranges->arena, &tensor, TARE_LAYOUT_FIRST, name, &err));
    for (int i = 0; i < NUMBERS; i++) numbers[i] = fmaxf(numbers[i], 0);
    assert_ok(tare_range_count(ranges->list.at[1], counter, ranges->arena, &tensor, TARE_LAYOUT_FIRST, name, &err));
    ranges->samples++;
}

static const char *print(const tare_ranges *ranges) {
    tare_text text = { .arena = ranges->arena };
    tare_ranges_print(ranges, &text);
    assert_false(text.failed);
    return text.at;
}

static void check_same_range(const tare_range *a, const tare_range *b) {
    assert_string_equal(a->name, b->name);
    assert_true(a->count == b->count && a->zeros == b->zeros && a->nans == b->nans && a->samples == b->samples);
    assert_true(a->positive_infinities == b->positive_infinities && a->negative_infinities == b->negative_infinities);
    assert_int_equal(!a->nonfinite_sample, !b->nonfinite_sample);
    if (a->nonfinite_sample) assert_string_equal(a->nonfinite_sample, b->nonfinite_sample);
    assert_memory_equal(&a->min, &b->min, sizeof a->min);
    assert_memory_equal(&a->max, &b->max, sizeof a->max);
    assert_memory_equal(&a->sample_min, &b->sample_min, sizeof a->sample_min);
    assert_memory_equal(&a->sample_max, &b->sample_max, sizeof a->sample_max);
    for (int i = 0; i < TARE_RANGE_BINADES; i++) {
        assert_int_equal(!a->page[i], !b->page[i]);
        if (a->page[i]) assert_memory_equal(a->page[i], b->page[i], TARE_RANGE_BINS * sizeof(uint64_t));
    }
    assert_int_equal(a->extreme_count, b->extreme_count);
    for (int i = 0; i < a->extreme_count; i++) {
        assert_true(a->lowest[i].value == b->lowest[i].value && a->highest[i].value == b->highest[i].value);
        assert_string_equal(a->lowest[i].sample, b->lowest[i].sample);
        assert_string_equal(a->highest[i].sample, b->highest[i].sample);
    }
    assert_int_equal(a->summed, b->summed);
    if (a->summed) assert_memory_equal(a->channel_sum, b->channel_sum, a->summed * sizeof *a->channel_sum);
    assert_int_equal(a->channels, b->channels);
    if (!a->channels) return;
    assert_memory_equal(a->channel_min, b->channel_min, a->channels * sizeof(float));
    assert_memory_equal(a->channel_max, b->channel_max, a->channels * sizeof(float));
}

static void everything_survives(void **state) {
    (void)state;
    tare_ranges *ranges = make_ranges(), *back;
    for (int i = 0; i < SAMPLES; i++) see(ranges, i);
    ranges->synthetic = true;
    const char *path = test_path(test_directory(), "r.json"), *again = test_path(test_directory(), "again.json");
    assert_ok(tare_ranges_write(ranges, path, &err));
    assert_ok(tare_ranges_read(&back, path, &err));
    assert_true(back->synthetic && back->samples == SAMPLES && back->model_hash == ranges->model_hash);
    assert_int_equal(tare_ranges_count(back), tare_ranges_count(ranges));
    for (size_t i = 0; i < ranges->list.count; i++) check_same_range(ranges->list.at[i], back->list.at[i]);
    assert_ptr_equal(tare_ranges_find(back, "y"), back->list.at[1]);
    assert_ok(tare_ranges_write(back, again, &err));
    const char *text = print(ranges);
    assert_true(test_file_is(path, text, strlen(text)) && test_file_is(again, text, strlen(text)));
    tare_ranges_free(back);
    tare_ranges_free(ranges);
}

/* However samples are shared out and in whatever order parts are added, through files or not. */
static void parts_add_up(void **state) {
    (void)state;
    tare_ranges *whole = make_ranges(), *part[3], *read[3];
    for (int i = 0; i < SAMPLES; i++) see(whole, i);
    for (int p = 0; p < 3; p++) {
        char name[16];
        part[p] = make_ranges();
        for (int i = SAMPLES - 1; i >= 0; i--)
            if (i % 3 == p) see(part[p], i);
        snprintf(name, sizeof name, "%d.json", p);
        const char *path = test_path(test_directory(), name);
        assert_ok(tare_ranges_write(part[p], path, &err));
        assert_ok(tare_ranges_read(&read[p], path, &err));
    }
    assert_ok(tare_ranges_merge(part[1], part[0], &err));
    assert_ok(tare_ranges_merge(part[1], part[2], &err));
    assert_ok(tare_ranges_merge(read[2], read[0], &err));
    assert_ok(tare_ranges_merge(read[2], read[1], &err));
    for (int p = 0; p < 3; p++)
        if (p != 1) tare_ranges_free(part[p]);
    tare_ranges_free(read[0]), tare_ranges_free(read[1]);
    assert_string_equal(print(part[1]), print(whole));
    assert_string_equal(print(read[2]), print(whole));
    tare_ranges_free(part[1]), tare_ranges_free(read[2]), tare_ranges_free(whole);
}

/* Channels once took infinities for extremes, and a zero's sign depended on what came first. */
static void channels_skip_what_is_not_finite(void **state) {
    (void)state;
    static const int64_t dims[] = { 1, 3, 2 };
    float numbers[] = { INFINITY, 2, -INFINITY, NAN, -0.0f, 0 };
    tare_tensor tensor = {
        .dtype = TARE_F32, .shape = tare_shape_of(3, dims), .data = numbers, .size = sizeof numbers
    };
    for (int cpu = 0; cpu < TARE_CPU_COUNT; cpu++) {
        tare_ranges *ranges;
        tare_range *range;
        if (!tare_cpu_has((tare_cpu)cpu)) continue;
        assert_ok(tare_ranges_new(&ranges, &err));
        assert_ok(tare_ranges_add(ranges, "x", &range, &err));
        assert_ok(tare_range_want_channels(range, 3, ranges->arena, &err));
        tare_counter *counter = tare_counter_new(ranges->arena, tare_kernels_for((tare_cpu)cpu));
        assert_ok(tare_range_count(range, counter, ranges->arena, &tensor, TARE_LAYOUT_FIRST, "a", &err));
        assert_true(range->channel_min[0] == 2 && range->channel_max[0] == 2);
        assert_true(isinf(range->channel_min[1]) && range->channel_min[1] > 0 && range->channel_max[1] < 0);
        assert_false(signbit(range->channel_min[2]) || signbit(range->channel_max[2]));
        assert_false(signbit(range->min));
        tare_ranges_free(ranges);
    }
}

static void unlike_parts_do_not_add_up(void **state) {
    (void)state;
    tare_ranges *a = make_ranges(), *b = make_ranges();
    b->model_hash++;
    assert_error(tare_ranges_merge(a, b, &err), TARE_E_MALFORMED, "two models");
    b->model_hash--;
    b->list.count--;
    assert_error(tare_ranges_merge(a, b, &err), TARE_E_MALFORMED, "3 values and 2");
    b->list.count++;
    b->list.at[1]->name = "z";
    assert_error(tare_ranges_merge(a, b, &err), TARE_E_MALFORMED, "value 1 is 'y' and 'z'");
    b->list.at[1]->name = "y";
    a->list.at[0]->count = b->list.at[0]->count = TARE_RANGE_COUNT_MAX / 2 + 1;
    assert_error(tare_ranges_merge(a, b, &err), TARE_E_LIMIT, "2^62");
    tare_ranges_free(a), tare_ranges_free(b);
}

static const char *const net = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                               "g (float[1,2,4,4] x) => (float[1,3,4,4] y)\n"
                               "<float[3,2,1,1] w = {1, -2, 0.5, 3, -1, 2}> { t = Conv(x, w)\n y = Relu(t) }";

static void of_one_model_only(void **state) {
    (void)state;
    const tare_source source = { .path = "random:5" };
    const tare_calibrate_options options = { .cpu = tare_cpu_detect(), .threads = 1 };
    tare_model *model = graphs_parse(net), *copy;
    tare_samples *samples;
    tare_ranges *ranges;
    assert_ok(tare_samples_open(&samples, model, &source, 1, NULL, NULL, &err));
    assert_ok(tare_calibrate(&ranges, model, samples, &options, NULL, &err));
    assert_ok(tare_ranges_check(ranges, model, &err));
    assert_ok(tare_model_copy(&copy, model, &err));
    assert_ok(tare_ranges_check(ranges, copy, &err));
    assert_true(ranges->synthetic && ranges->samples == 5);
    tare_model *others[] = { graphs_parse("<ir_version: 8, opset_import: [\"\" : 18]>\n"
                                          "g (float[1,2,4,4] x) => (float[1,2,4,4] y) { t = Abs(x)\n y = Relu(t) }"),
                             graphs_parse("<ir_version: 8, opset_import: [\"\" : 18]>\n"
                                          "g (float[1,2,4,4] x) => (float[1,2,4,4] y) { y = Relu(x) }") };
    assert_error(tare_ranges_check(ranges, others[0], &err), TARE_E_MALFORMED, "the ranges are of another model");
    assert_error(tare_ranges_check(ranges, others[1], &err), TARE_E_MALFORMED, "no value 't'; make them of this one");
    tare_model_free(others[0]), tare_model_free(others[1]);
    tare_ranges_free(ranges);
    tare_samples_close(samples);
    tare_model_free(copy), tare_model_free(model);
}

/* ---- hostile files ---- */

static const char *const good =
    "{\"schema\": \"tare-ranges/1\", \"model\": \"0123456789abcdef\", \"samples\": 2, \"synthetic\": false, "
    "\"values\": [\n"
    "{\"name\": \"x\", \"count\": 5, \"nan\": 1, \"positive_infinity\": 0, \"negative_infinity\": 0,\n"
    "\"nonfinite_sample\": \"b\", \"samples\": 2, \"min\": -1.0, \"max\": 2.0, "
    "\"lowest\": [[-1.0, \"a\"], [0.0, \"b\"]],\n"
    "\"highest\": [[2.0, \"b\"], [1.0, \"a\"]],\n"
    "\"sum_of_minima\": "
    "\"ffffffffffffffffffffffffffffffffffffffffffffffff000000000000000000000000000000000000000000000000\",\n"
    "\"sum_of_maxima\": "
    "\"000000000000000000000000000000000000000000000003000000000000000000000000000000000000000000000000\",\n"
    "\"channel_min\": [-1.0, null], \"channel_max\": [2.0, null],\n"
    "\"channel_sums\": "
    "[\"000000000000000000000000000000000000000000000002000000000000000000000000000000000000000000000000\"],\n"
    "\"negative\": [[0, 0, \"1\"]], \"positive\": [[-127, 0, \"1\"], [0, 0, \"1\"], [1, 0, \"1\"]]}]}\n";

typedef struct damage {
    const char *from, *to, *told;
    tare_status status;
} damage;

static const damage damages[] = {
    { "", "", NULL, TARE_OK },
    { "{\"schema\"", "[\"schema\"", "1:", TARE_E_MALFORMED },
    { "tare-ranges/1", "tare-ranges/2", "'schema' is 'tare-ranges/2', not 'tare-ranges/1'", TARE_E_MALFORMED },
    { "\"synthetic\": false, ", "", "'synthetic' is missing", TARE_E_MALFORMED },
    { "\"synthetic\": false", "\"synthetic\": 0", "neither true nor false", TARE_E_MALFORMED },
    { "\"samples\": 2, \"syn", "\"extra\": 1, \"samples\": 2, \"syn", "'extra' is no key", TARE_E_MALFORMED },
    { "\"samples\": 2, \"syn", "\"samples\": 2, \"samples\": 2, \"syn", "duplicate", TARE_E_MALFORMED },
    { "\"samples\": 2, \"syn", "\"samples\": -1, \"syn", "'samples' is -1, not in 0…2^62", TARE_E_MALFORMED },
    { "\"samples\": 2, \"syn", "\"samples\": 1, \"syn", "value 0: 'x': 'samples' is 2 of 1", TARE_E_MALFORMED },
    { "0123456789abcdef", "0123456789abcdeg", "'model' is not 16 hexadecimal digits", TARE_E_MALFORMED },
    { "[\n{\"name\"", "[\n1, {\"name\"", "value 0: is no JSON object", TARE_E_MALFORMED },
    { "\"x\"", "\"\"", "'name' holds what is no text", TARE_E_MALFORMED },
    { "\"x\"", "\"\\u0000\"", "2:", TARE_E_MALFORMED },
    { "\"count\": 5", "\"count\": 6", "counts are 4 finite and 1 others, 'count' is 6", TARE_E_MALFORMED },
    { "\"count\": 5", "\"count\": 5.5", "'count' is no whole number", TARE_E_MALFORMED },
    { "\"count\": 5", "\"count\": 4611686018427387905", "not in 0…2^62", TARE_E_MALFORMED },
    { "\"count\": 5", "\"count\": 99999999999999999999", "2:", TARE_E_MALFORMED },
    { "\"nonfinite_sample\": \"b\"", "\"nonfinite_sample\": null", "1 numbers are not finite", TARE_E_MALFORMED },
    { "\"nonfinite_sample\": \"b\", \"samples\": 2", "\"nonfinite_sample\": \"b\", \"samples\": 0",
      "'samples' is 0 of 2, with 4 finite numbers", TARE_E_MALFORMED },
    { "\"min\": -1.0", "\"min\": null", "'min' must be a number", TARE_E_MALFORMED },
    { "\"min\": -1.0", "\"min\": -1e39", "no finite f32", TARE_E_MALFORMED },
    { "\"min\": -1.0", "\"min\": -1.5", "'min' -1.5 or 'max' 2 is not where the counts end", TARE_E_MALFORMED },
    { "\"min\": -1.0", "\"min\": -1.001", "begins with another number", TARE_E_MALFORMED },
    { "\"max\": 2.0", "\"max\": \"2\"", "'max' holds what is no number", TARE_E_MALFORMED },
    { "[[-1.0, \"a\"], [0.0, \"b\"]]", "[[-1.0, \"a\"]]", "'lowest' has 1 items, 2 samples give 2", TARE_E_MALFORMED },
    { "[0.0, \"b\"]", "[0.0]", "item 1 is no [number, sample]", TARE_E_MALFORMED },
    { "[[2.0, \"b\"], [1.0, \"a\"]]", "[[1.0, \"a\"], [2.0, \"b\"]]", "item 1 is out of order", TARE_E_MALFORMED },
    { "[1.0, \"a\"]]", "[-9223372036854775808.0, \"a\"]]", "'x': 'highest': item 1 is -9.22337204e+18, not in -1…2",
      TARE_E_MALFORMED },
    { "[0.0, \"b\"]]", "[3.0, \"b\"]]", "'x': 'lowest': item 1 is 3, not in -1…2", TARE_E_MALFORMED },
    { "[1.0, \"a\"]]", "[0.5, \"a\"]]", "'highest': item 1 is 0.5, where nothing is counted", TARE_E_MALFORMED },
    { "[0.0, \"b\"]]", "[-0.25, \"b\"]]", "'lowest': item 1 is -0.25, where nothing is counted", TARE_E_MALFORMED },
    { "minima\": \"f", "minima\": \"F", "'sum_of_minima' is not 96 hexadecimal digits", TARE_E_MALFORMED },
    { "minima\": \"f", "minima\": \"7", "is not between 2 times 'min' and 'max'", TARE_E_MALFORMED },
    { "[-1.0, null]", "[-1.0]", "'channel_min' has 1 items, 'channel_max' 2", TARE_E_MALFORMED },
    { "[-1.0, null]", "[-1.0, 0]", "channel 1 spans [0, -inf]", TARE_E_MALFORMED },
    { "[-1.0, null]", "[-2.0, null]", "channel 0 spans [-2, 2], the value [-1, 2]", TARE_E_MALFORMED },
    { "sums\": [\"0", "sums\": [\"g", "'channel_sums' is not 96 hexadecimal digits", TARE_E_MALFORMED },
    { "sums\": [\"0", "sums\": [\"7", "'channel_sums': item 0 is the sum of no such numbers", TARE_E_MALFORMED },
    { "sums\": [\"0", "sums\": [\"\", \"0", "'channel_sums' has 2 items, which do not divide 5 numbers",
      TARE_E_MALFORMED },
    { "[[0, 0, \"1\"]]", "[[0, \"1\"]]", "'negative': page 0: is no [exponent", TARE_E_MALFORMED },
    { "[[0, 0, \"1\"]]", "{}", "'negative' is no list", TARE_E_MALFORMED },
    { "[[0, 0, \"1\"]]", "[[128, 0, \"1\"]]", "exponent 128 is not in -127…127", TARE_E_MALFORMED },
    { "[0, 0, \"1\"], [1", "[-127, 0, \"1\"], [1", "page 1: exponent -127 is not in -126…127", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 128, \"1\"]", "bin 128 is not in 0…127", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 127, \"1 1\"]", "counts from bin 127 are not 1 to 1", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 0, \"\"]", "counts from bin 0", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 0, \"1 0\"]", "counts from bin 0", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 0, \"0 1\"]", "counts from bin 0", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 0, \"1 \"]", "counts from bin 0", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 0, \"1  1\"]", "counts from bin 0", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 0, \"-1\"]", "counts from bin 0", TARE_E_MALFORMED },
    { "[1, 0, \"1\"]", "[1, 0, \"18446744073709551617\"]", "counts from bin 0", TARE_E_MALFORMED },
    { "}]}\n", "}]} x\n", "9:", TARE_E_MALFORMED },
};

static void damaged_files_are_refused(void **state) {
    (void)state;
    const char *path = test_path(test_directory(), "bad.json");
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        const damage *d = &damages[i];
        const char *at = strstr(good, d->from);
        char text[4096];
        tare_ranges *ranges = NULL;
        assert_non_null(at);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, d->to, at + strlen(d->from));
        test_write_file(path, text, strlen(text));
        if (d->status == TARE_OK)
            assert_ok(tare_ranges_read(&ranges, path, &err));
        else
            assert_error(tare_ranges_read(&ranges, path, &err), d->status, d->told);
        if (d->status != TARE_OK) assert_error(tare_ranges_read(&ranges, path, &err), d->status, "bad.json: ");
        tare_ranges_free(ranges);
    }
    test_write_file(path, "", 0);
    tare_ranges *ranges = NULL;
    assert_error(tare_ranges_read(&ranges, path, &err), TARE_E_MALFORMED, "no JSON");
    assert_error(tare_ranges_read(&ranges, test_path(test_directory(), "none"), &err), TARE_E_IO, "open");
}

static void large_files_are_refused(void **state) {
    (void)state;
    const size_t room = (size_t)TARE_RANGES_FILE_MAX + 1;
    char *bytes = malloc(room);
    tare_ranges *ranges;
    assert_non_null(bytes);
    memset(bytes, ' ', room);
    assert_error(tare_ranges_parse(&ranges, bytes, room, &err), TARE_E_LIMIT, "67108865 bytes");
    memset(bytes, '[', TARE_RANGES_TOKENS_MAX + 1);
    assert_error(tare_ranges_parse(&ranges, bytes, room - 1, &err), TARE_E_LIMIT, "4194305 commas");
    free(bytes);
}

static tare_status write_and_read(void *context, tare_error *err) {
    const char *path = test_path(test_directory(), "try.json");
    tare_ranges *ranges = NULL, *back = NULL;
    (void)context;
    tare_status status = tare_ranges_parse(&ranges, good, strlen(good), err);
    if (status == TARE_OK) status = tare_ranges_write(ranges, path, err);
    if (status == TARE_OK) status = tare_ranges_read(&back, path, err);
    if (status == TARE_OK) status = tare_ranges_merge(back, ranges, err);
    tare_ranges_free(back);
    tare_ranges_free(ranges);
    return status;
}

static void failures_come_out(void **state) {
    (void)state;
    assert_true(test_fail_allocations(write_and_read, NULL) > 8);
    assert_true(test_fail_file_calls(write_and_read, NULL, ENOSPC, NULL) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_survives),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(channels_skip_what_is_not_finite),
        cmocka_unit_test(unlike_parts_do_not_add_up),
        cmocka_unit_test(of_one_model_only),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(large_files_are_refused),
        cmocka_unit_test(failures_come_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

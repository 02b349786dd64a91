/* Counting in steps: what fails half way leaves nothing half counted. */
#include <stdio.h>
#include <stdlib.h>

#include "calibrate/calibrate.h"
#include "support/fail_nth.h"
#include "support/graphs.h"

enum { SAMPLES = 3, SIZE = 2 * 4 * 4 };

static const char net[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                          "g (float[1,2,4,4] x) => (float[1,2,4,4] y)\n"
                          "<float[2,1,1,1] a = {1, -2}, float[2,2,1,1] b = {1, 2, 3, 4}> {\n"
                          "p = Conv<group = 2>(x, a)\n q = Relu(p)\n y = Conv(q, b)\n}";

static tare_samples *open_samples(const tare_model *model) {
    const char *path = test_path(test_directory(), "numbers.bin");
    char data[512];
    float numbers[SAMPLES * SIZE];
    for (int i = 0; i < SAMPLES * SIZE; i++) numbers[i] = (float)(i % 7) - 3;
    test_write_file(path, numbers, sizeof numbers);
    snprintf(data, sizeof data, "%s:f32:%dx1x2x4x4", path, SAMPLES);
    const tare_source source = { .path = data };
    tare_samples *samples;
    assert_ok(tare_samples_open(&samples, model, &source, 1, NULL, NULL, &err));
    return samples;
}

/* The values that were counted: each on all samples that were. */
static size_t check_whole(const tare_ranges *ranges) {
    for (size_t i = 0; i < tare_ranges_count(ranges); i++)
        assert_int_equal(tare_ranges_at(ranges, i)->samples, tare_ranges_samples(ranges));
    return tare_ranges_count(ranges);
}

/* Counts all samples, the nth allocation failing, and takes what there is; 0: nothing. *has_failed: there was an nth. */
static size_t count_failing(tare_calibrator *calibrator, uint64_t nth, bool *has_failed) {
    static const size_t all[SAMPLES] = { 0, 1, 2 };
    tare_ranges *ranges;
    tare_error e = { 0 };
    tare_memory_fail_at(nth);
    const tare_status status = tare_calibrator_count(calibrator, all, SAMPLES, &e);
    *has_failed = tare_memory_fail_at(0) == 0;
    assert_int_equal(status, *has_failed ? TARE_E_LIMIT : TARE_OK);
    if (tare_calibrator_take(calibrator, &ranges, &e) != TARE_OK) return 0;
    const size_t values = check_whole(ranges);
    if (!*has_failed) assert_int_equal(tare_ranges_samples(ranges), SAMPLES);
    tare_ranges_free(ranges);
    return values;
}

/* Whatever fails, what is there to take is whole; and the next try gives all. */
static void test_nothing_is_half_counted(void **state) {
    (void)state;
    tare_model *model = graphs_parse(net);
    tare_samples *samples = open_samples(model);
    const tare_calibrate_options options = { .threads = 1 };
    uint64_t nth = 1;
    for (bool has_failed = true; has_failed; nth++) {
        tare_calibrator *calibrator;
        assert_ok(tare_calibrator_open(&calibrator, model, samples, &options, NULL, &err));
        const size_t values = count_failing(calibrator, nth, &has_failed);
        bool fails_again;
        const size_t all_values = count_failing(calibrator, TEST_FAIL_MAX, &fails_again);
        assert_true(all_values > 2 && (!values || values == all_values));
        tare_calibrator_close(calibrator);
    }
    assert_in_range(nth, 10, 1000);
    tare_samples_close(samples);
    tare_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_half_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Stages and outputs of codes when memory or files fail: nothing leaks, and what has its final name is whole. */
#include <tare/tare.h>

#include "support/fail_nth.h"

typedef struct job {
    tare_model *original, *model;
    tare_ranges *ranges;
    const char *directory;
    uint64_t sizes[4]; /* of the files when nothing failed */
} job;

static const char *const files[] = { "original_float.onnx", "optimized_float.onnx", "calibrated.onnx",
                                     "quantized.onnx" };

static void open_job(job *j) {
    const char *const data[] = { test_source("examples/digits/images") };
    const tare_data_options options = { .data = { data, 1 }, .samples = "4" };
    const tare_work_options work = { .threads = 1, .cpu = "scalar" };
    tare_samples *samples = NULL;
    *j = (job){ .directory = test_directory() };
    assert_ok(tare_model_open(&j->model, test_source("examples/digits/digits.onnx"), NULL, NULL, &err));
    assert_ok(tare_model_copy(&j->original, j->model, &err));
    assert_ok(tare_model_optimize(j->model, NULL, NULL, NULL, &err));
    assert_ok(tare_samples_from_options(&samples, j->model, &options, NULL, NULL, &err));
    assert_ok(tare_stages_prepare(j->directory, j->model, samples, NULL, &err));
    assert_ok(tare_model_calibrate(&j->ranges, j->model, samples, NULL, NULL, &work, NULL, &err));
    tare_samples_close(samples);
}

static void close_job(job *j) {
    tare_ranges_free(j->ranges);
    tare_model_free(j->original);
    tare_model_free(j->model);
}

static tare_status quantize_and_save(void *context, tare_error *error) {
    const job *j = context;
    const tare_quantization options = { .int_outputs = true };
    tare_stages stages = { .original = j->original, .optimized = j->model };
    tare_model *calibrated = NULL, *quantized = NULL;
    tare_status status = tare_model_quantize(&quantized, &calibrated, j->model, NULL, j->ranges, &options, NULL, NULL,
                                             NULL, NULL, NULL, error);
    stages.calibrated = calibrated;
    stages.quantized = quantized;
    if (status == TARE_OK) status = tare_stages_save(&stages, j->directory, NULL, error);
    tare_model_free(calibrated);
    tare_model_free(quantized);
    return status;
}

static void check_files(void *context, bool has_failed) {
    const job *j = context;
    (void)has_failed;
    for (size_t i = 0; i < 4; i++) {
        uint64_t size;
        if (tare_path_is_file(test_path(j->directory, files[i]), &size)) assert_int_equal(size, j->sizes[i]);
    }
}

static void test_failures(void **state) {
    (void)state;
    job j;
    open_job(&j);
    assert_ok(quantize_and_save(&j, &err));
    for (size_t i = 0; i < 4; i++) {
        assert_true(tare_path_is_file(test_path(j.directory, files[i]), &j.sizes[i]));
        remove(test_path(j.directory, files[i]));
    }
    assert_true(test_fail_allocations(quantize_and_save, &j) > 20);
    assert_true(test_fail_file_calls(quantize_and_save, &j, ENOSPC, check_files) > 16);
    close_job(&j);
}

static void test_stages_of_the_library(void **state) {
    (void)state;
    job j;
    tare_model *again;
    open_job(&j);
    assert_ok(quantize_and_save(&j, &err));
    assert_ok(tare_model_open(&again, test_path(j.directory, "calibrated.onnx"), NULL, NULL, &err));
    assert_string_equal(tare_model_stage(again), "calibrated");
    assert_error(tare_stages_prepare(j.directory, again, NULL, NULL, &err), TARE_E_USAGE, "inputs are never touched");
    assert_error(tare_stages_prepare(test_path(j.directory, "no/such"), j.model, NULL, NULL, &err), TARE_E_IO,
                 "--stages");
    tare_model_free(again);
    close_job(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_stages_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

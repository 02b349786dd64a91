/* The library as a user has it: nothing but <tare/tare.h>, zeroed options and NULL wherever the headers allow them, from a
 * float model and pictures to a quantized one and what can be asked of it. */
#include <stdio.h>
#include <string.h>

#include <tare/tare.h>

#include "support/support.h"

static const char *digits(void) { return test_source("examples/digits/digits.onnx"); }

static tare_model *open_optimized(void) {
    tare_model *model = NULL;
    assert_ok(tare_model_open(&model, digits(), NULL, NULL, &err));
    assert_string_equal(tare_model_stage(model), "original_float");
    assert_ok(tare_model_optimize(model, NULL, NULL, NULL, &err));
    assert_string_equal(tare_model_stage(model), "optimized_float");
    return model;
}

/* Four pictures, each a sample. */
static tare_samples *open_pictures(const tare_model *model) {
    const char *const data[] = { test_source("examples/digits/images") };
    const tare_data_options options = { .data = { data, 1 }, .samples = "4" };
    tare_samples *samples = NULL;
    assert_ok(tare_samples_from_options(&samples, model, &options, NULL, NULL, &err));
    assert_int_equal(tare_samples_count(samples), 4);
    return samples;
}

/* Both forms of it, which live as long as it does; frees it. */
static void check_report(tare_report *report, const char *schema) {
    char wanted[64];
    assert_non_null(report);
    const char *text = tare_report_text(report, 0, 0), *json = tare_report_json(report);
    assert_non_null(text);
    assert_non_null(json);
    snprintf(wanted, sizeof wanted, "\"schema\": \"%s\"", schema);
    assert_non_null(strstr(json, wanted));
    assert_true(*text && !strchr(text, '\033'));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 4 * 80); /* bytes; columns are counted elsewhere */
    tare_report_free(report);
}

static tare_model *quantize(const tare_model *model, const tare_samples *samples, const tare_ranges *ranges) {
    tare_model *quantized = NULL;
    tare_quantization options = { 0 };
    tare_fields_set_defaults(tare_quantization_fields, &options);
    assert_ok(
        tare_model_quantize(&quantized, NULL, model, samples, ranges, &options, NULL, NULL, NULL, NULL, NULL, &err));
    assert_string_equal(tare_model_stage(quantized), "quantized");
    return quantized;
}

static void test_from_float_to_codes(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "int8.onnx");
    tare_model *model = open_optimized(), *quantized, *again = NULL;
    tare_samples *samples = open_pictures(model);
    tare_report *report = NULL;
    quantized = quantize(model, samples, NULL);
    assert_ok(tare_model_check_path(quantized, path, &err));
    assert_ok(tare_model_save(quantized, path, NULL, &err));
    assert_ok(tare_model_open(&again, path, NULL, NULL, &err));
    assert_string_equal(tare_model_stage(again), "quantized");
    assert_error(tare_model_save(again, path, NULL, &err), TARE_E_USAGE, "inputs are never touched");
    assert_ok(tare_model_info(again, NULL, &report, NULL, &err));
    check_report(report, "tare-info/1");
    assert_ok(tare_debug_model(model, again, samples, NULL, NULL, NULL, &report, NULL, NULL, &err));
    check_report(report, "tare-debug/2");
    assert_error(tare_debug_model(again, model, samples, NULL, NULL, NULL, &report, NULL, NULL, &err), TARE_E_USAGE,
                 "give the float model first");
    tare_model_free(again);
    tare_model_free(quantized);
    tare_samples_close(samples);
    tare_model_free(model);
}

static void test_zeroed_options(void **state) {
    (void)state;
    tare_model *model = open_optimized(), *one, *other = NULL;
    tare_samples *samples = open_pictures(model);
    const tare_quantization zeroed = { 0 };
    const tare_check_options check = { 0 };
    const char *directory = test_directory();
    tare_report *report = NULL;
    one = quantize(model, samples, NULL);
    assert_ok(tare_model_quantize(&other, NULL, model, samples, NULL, &zeroed, &(tare_calibration_options){ 0 },
                                  &(tare_measuring){ 0 }, &(tare_work_options){ 0 }, &report, NULL, &err));
    check_report(report, "tare-quantize/1");
    assert_ok(tare_model_save(one, test_path(directory, "1.onnx"), NULL, &err));
    assert_ok(tare_model_save(other, test_path(directory, "2.onnx"), NULL, &err));
    const char *paths[] = { test_path(directory, "1.onnx"), test_path(directory, "2.onnx") };
    const char *const data[] = { test_source("examples/digits/images/00.png") };
    assert_ok(tare_compare_paths(paths, 2, NULL, &(tare_data_options){ .data = { data, 1 } }, NULL, NULL,
                                 &(tare_comparing){ .fail_below = 1000 }, NULL, NULL, &report, NULL, &err));
    assert_non_null(strstr(tare_report_json(report), "\"exact\": true"));
    check_report(report, "tare-compare/1");
    assert_ok(tare_model_check(model, &check, NULL, NULL, &report, NULL, &err));
    check_report(report, "tare-check/1");
    assert_ok(tare_list_ops(&(tare_ops_options){ 0 }, &report, &err));
    check_report(report, "tare-ops/1");
    assert_ok(tare_bench_path(paths[0], NULL, NULL, &(tare_bench_options){ 0 }, NULL, &report, NULL, &err));
    check_report(report, "tare-bench/1");
    tare_model_free(other);
    tare_model_free(one);
    tare_samples_close(samples);
    tare_model_free(model);
}

static void test_ranges(void **state) {
    (void)state;
    tare_model *model = open_optimized(), *quantized;
    tare_samples *samples = open_pictures(model);
    tare_ranges *halves[2] = { NULL, NULL }, *read = NULL;
    tare_report *report = NULL;
    const char *path = test_path(test_directory(), "digits.ranges");
    assert_ok(tare_model_calibrate(&halves[0], model, samples, "0/2", NULL, NULL, NULL, &err));
    assert_ok(tare_model_calibrate(&halves[1], model, samples, "1/2", NULL, NULL, NULL, &err));
    assert_ok(tare_ranges_merge(halves[0], halves[1], &err));
    assert_ok(tare_ranges_write(halves[0], path, &err));
    assert_ok(tare_ranges_read(&read, path, &err));
    assert_ok(tare_ranges_tell(read, path, &report, &err));
    check_report(report, "tare-ranges-seen/1");
    quantized = quantize(model, NULL, read);
    tare_model_free(quantized);
    tare_ranges_free(read);
    tare_ranges_free(halves[0]);
    tare_ranges_free(halves[1]);
    tare_samples_close(samples);
    tare_model_free(model);
}

static void test_running_and_cutting(void **state) {
    (void)state;
    tare_model *model = open_optimized();
    tare_samples *samples = open_pictures(model);
    const char *directory = test_path(test_directory(), "dump"), *const to[] = { "relu1" }, *const no[] = { "relv1" };
    tare_report *report = NULL;
    assert_ok(tare_model_run(model, samples, NULL, &(tare_run_options){ 0 }, NULL, NULL, directory, NULL, NULL, &err));
    assert_int_equal(test_count_entries(directory), 4 + 1);
    assert_ok(
        tare_model_run(model, samples, NULL, &(tare_run_options){ 0 }, NULL, NULL, directory, &report, NULL, &err));
    check_report(report, "tare-run/1");
    tare_samples_close(samples);
    assert_error(tare_model_cut(model, &(tare_cut_options){ .to = { no, 1 } }, &err), TARE_E_USAGE, "'relu1'");
    assert_ok(tare_model_cut(model, &(tare_cut_options){ .to = { to, 1 } }, &err));
    assert_ok(tare_model_save(model, test_path(test_directory(), "cut.onnx"), NULL, &err));
    tare_model_free(model);
}

/* What goes wrong is told, and nothing has to be freed. */
static void test_errors(void **state) {
    (void)state;
    tare_model *model = NULL;
    const char *path = test_path(test_directory(), "none.onnx");
    assert_error(tare_model_open(&model, path, NULL, NULL, &err), TARE_E_IO, "none.onnx");
    assert_null(model);
    test_write_file(path, "none", 4);
    assert_error(tare_model_open(&model, path, NULL, NULL, &err), TARE_E_MALFORMED, "none.onnx");
    assert_null(model);
    tare_model_free(NULL);
    tare_samples_close(NULL);
    tare_ranges_free(NULL);
    tare_report_free(NULL);
    assert_string_equal(tare_status_name(TARE_E_MALFORMED), "malformed");
    assert_non_null(strchr(tare_version(), '.'));
}

/* Options by name, as the program reads them. */
static void test_fields(void **state) {
    (void)state;
    tare_field_store *store = tare_field_store_new();
    tare_backend_options backend;
    tare_bench_options options;
    assert_non_null(store);
    tare_fields_set_defaults(tare_bench_fields, &options);
    assert_true(options.seconds > 0 && !options.runs);
    tare_fields_set_defaults(tare_backend_fields, &backend);
    assert_string_equal(tare_backend_fields[0].names[backend.backend], "qdq");
    assert_ok(tare_field_parse(&tare_backend_fields[0], &backend, "float", store, &err));
    assert_string_equal(tare_backend_fields[0].names[backend.backend], "float");
    for (const tare_field *field = tare_bench_fields; field->type != TARE_FIELD_END; field++) {
        if (strcmp(field->name, "runs") != 0) continue;
        assert_ok(tare_field_parse(field, &options, "12", store, &err));
        assert_int_equal(options.runs, 12);
        assert_error(tare_field_parse(field, &options, "many", store, &err), TARE_E_USAGE, "runs");
    }
    tare_field_store_free(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_float_to_codes),
        cmocka_unit_test(test_zeroed_options),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_running_and_cutting),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

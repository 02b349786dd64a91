/* Reading ONNX from bytes that are cut, changed or short of memory; and where the weights are then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/reader.h"
#include "support/fail_nth.h"
#include "support/support.h"

static const tare_read_options options = { .log = NULL };

/* The seeds of the fuzz target: between them they use every message. */
static const char *const seeds[] = { "model_every_type", "model_sparse",    "model_bodies",  "model_functions",
                                     "model_quantized",  "model_old_forms", "model_foreign", "model_external" };
enum { SEED_COUNT = sizeof seeds / sizeof *seeds };

typedef struct bytes {
    uint8_t *at;
    size_t size;
} bytes;

static bytes load(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "tests/fuzz/corpus/onnx/%s", name);
    FILE *file = fopen(test_source(path), "rb");
    assert_non_null(file);
    bytes whole = { .at = malloc(1 << 16) };
    whole.size = fread(whole.at, 1, 1 << 16, file);
    fclose(file);
    assert_true(whole.size > 0 && whole.size < 1 << 16);
    return whole;
}

/* Reads and frees; the bytes are in a block of just their size. */
static tare_status try_bytes(const uint8_t *from, size_t size, tare_error *err) {
    uint8_t *block = malloc(size ? size : 1);
    if (size) memcpy(block, from, size);
    tare_model *model;
    tare_status status = tare_onnx_read_bytes(&model, block, size, NULL, &options, NULL, err);
    if (status == TARE_OK) tare_model_free(model);
    free(block);
    return status;
}

static void expect_refused(const char *seed, size_t place, tare_status status, const tare_error *err) {
    bool is_input_fault = status == TARE_E_MALFORMED || status == TARE_E_UNSUPPORTED || status == TARE_E_LIMIT;
    if (status != TARE_OK && (!is_input_fault || !err->text[0]))
        fail_msg("%s at %zu: status %d, '%s'", seed, place, (int)status, err->text);
}

/* A prefix is whole only when it ends between the fields of the model, and then it lacks a part of it. */
static void test_cut_at_every_byte(void **state) {
    (void)state;
    for (size_t s = 0; s < SEED_COUNT; s++) {
        bytes whole = load(seeds[s]);
        size_t accepted = 0;
        for (size_t size = 0; size < whole.size; size++) {
            tare_error err = { 0 };
            tare_status status = try_bytes(whole.at, size, &err);
            expect_refused(seeds[s], size, status, &err);
            accepted += status == TARE_OK;
        }
        if (accepted > 2) fail_msg("%s: %zu prefixes are taken for whole", seeds[s], accepted);
        free(whole.at);
    }
}

static void test_each_byte_changed(void **state) {
    (void)state;
    static const uint8_t changes[] = { 0x01, 0x07, 0x80, 0xff };
    size_t live = tare_memory_live();
    for (size_t s = 0; s < SEED_COUNT; s++) {
        bytes whole = load(seeds[s]);
        for (size_t i = 0; i < whole.size * sizeof changes; i++) {
            tare_error err = { 0 };
            uint8_t *byte = &whole.at[i / sizeof changes];
            *byte ^= changes[i % sizeof changes];
            expect_refused(seeds[s], i / sizeof changes, try_bytes(whole.at, whole.size, &err), &err);
            *byte ^= changes[i % sizeof changes];
        }
        free(whole.at);
    }
    assert_int_equal(tare_memory_live(), live);
}

static void test_external_data_needs_a_directory(void **state) {
    (void)state;
    bytes whole = load("model_external");
    assert_error(try_bytes(whole.at, whole.size, &err), TARE_E_MALFORMED, "no directory");
    free(whole.at);
}

static tare_status trial(void *context, tare_error *err) {
    const bytes *whole = context;
    tare_model *model;
    TARE_TRY(tare_onnx_read_bytes(&model, whole->at, whole->size, NULL, &options, NULL, err));
    tare_model_free(model);
    return TARE_OK;
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    for (size_t s = 0; s < SEED_COUNT; s++) {
        bytes whole = load(seeds[s]);
        tare_error err = { 0 };
        if (trial(&whole, &err) == TARE_OK) assert_true(test_fail_allocations(trial, &whole) > 3);
        free(whole.at);
    }
}

static tare_status file_trial(void *context, tare_error *err) {
    tare_model *model;
    TARE_TRY(tare_onnx_read_file(&model, context, &options, NULL, err));
    tare_model_free(model);
    return TARE_OK;
}

/* One seed's weight is in a file, whose checksum is given. */
static void test_every_file_call_fails(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_path(test_directory(), "m.onnx"));
    bytes whole = load("model_foreign");
    test_write_file(path, whole.at, whole.size);
    assert_true(test_fail_file_calls(file_trial, path, EIO, NULL) >= 2);
    free(whole.at);
}

/* A raw_data whose place fits its type is used where it lies; others, and what is packed, are copied. */
static void test_weights_stay_in_the_file(void **state) {
    (void)state;
    bytes whole = load("model_every_type");
    tare_model *model;
    assert_ok(tare_onnx_read_bytes(&model, whole.at, whole.size, NULL, &options, NULL, &err));
    size_t inside = 0, outside = 0;
    for (size_t i = 0; i < model->graph->values.entries.count; i++) {
        const tare_value *value = model->graph->values.entries.at[i].value;
        const tare_tensor *tensor = value ? value->constant : NULL;
        if (!tensor) continue;
        const uint8_t *at = tensor->data;
        bool is_inside = at >= whole.at && at < whole.at + whole.size;
        inside += is_inside;
        outside += !is_inside;
        assert_int_equal((uintptr_t)at % tare_dtype_size(tensor->dtype), 0);
        bool is_byte_wide = tensor->dtype == TARE_S8 || tensor->dtype == TARE_U8;
        if (is_byte_wide && !strncmp(value->name, "raw", 3)) assert_true(is_inside);
        if (tensor->dtype == TARE_S4 || tensor->dtype == TARE_U4) assert_false(is_inside);
    }
    assert_true(inside >= 3 && outside >= 17);
    tare_model_free(model);
    free(whole.at);
}

static void test_symbols_and_names(void **state) {
    (void)state;
    bytes whole = load("model_foreign");
    tare_model *model;
    assert_ok(tare_onnx_read_bytes(&model, whole.at, whole.size, NULL, &options, NULL, &err));
    const tare_value *x = tare_graph_find_value(model->graph, "x");
    assert_true(x->is_input && x->dtype == TARE_F32 && x->shape.rank == 2);
    assert_string_equal(model->symbols.at[-2 - x->shape.dim[0]], "N");
    assert_int_equal(x->shape.dim[1], TARE_DIM_UNKNOWN);
    const tare_node *own = model->graph->first;
    assert_true(!own->op && own->generated_name);
    assert_string_equal(own->name, "Own#0");
    assert_string_equal(own->domain, "com.example");
    assert_true(own->input_count == 3 && !own->inputs[1]);
    tare_model_free(model);
    free(whole.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_each_byte_changed),
        cmocka_unit_test(test_external_data_needs_a_directory),
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_every_file_call_fails),
        cmocka_unit_test(test_weights_stay_in_the_file),
        cmocka_unit_test(test_symbols_and_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

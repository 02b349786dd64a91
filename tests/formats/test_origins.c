/* Origins of scales in ONNX files: each kind comes back, strangers' nonsense is left out and said so, and what is written
 * again is the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/reader.h"
#include "graph/text_form.h"
#include "passes/pass.h"
#include "support/fail_nth.h"
#include "support/support.h"

/* A value of each kind; the constants are codes and floats that are not rounded yet. */
static const char text[] = "<ir_version: 8, opset_import: [\"\" : 13]>\n"
                           "g (float[2] x) => (float[2] y)\n"
                           "<float[2] w = {1, 2}, float[2] u = {3, 4}>\n"
                           "{\n"
                           "  a = Abs(x)\n  b = Neg(a)\n  c = Abs(b)\n  d = Neg(c)\n  e = Abs(d)\n  f = Neg(e)\n"
                           "  h = Abs(f)\n  i = Neg(h)\n  j = Abs(i)\n  k = Add(j, w)\n  l = Mul(k, u)\n  m = Neg(l)\n"
                           "  y = Abs(m)\n"
                           "}\n";

static const struct {
    const char *value;
    tare_origin origin;
    const char *words;
} cases[] = {
    { "x", { .kind = TARE_ORIGIN_MINMAX }, "minmax" },
    { "a", { .kind = TARE_ORIGIN_PERCENTILE, .number = 99.99 }, "percentile 99.99" },
    { "b", { .kind = TARE_ORIGIN_ENTROPY, .is_tried = true }, "auto: entropy" },
    { "c", { .kind = TARE_ORIGIN_MSE }, "mse" },
    { "d", { .kind = TARE_ORIGIN_FIXED, .detail = "Softmax" }, "fixed by Softmax" },
    { "e", { .kind = TARE_ORIGIN_SAME, .detail = "x (was \"né\")" }, "same as 'x (was \"né\")'" },
    { "f", { .kind = TARE_ORIGIN_RECIPE, .was = "mse" }, "recipe (was mse)" },
    { "h", { .kind = TARE_ORIGIN_CLIP }, "clip (QAT)" },
    { "i", { .kind = TARE_ORIGIN_QONNX }, "qonnx" },
    { "j", { .kind = TARE_ORIGIN_AVERAGE }, "average" },
    { "k", { .kind = TARE_ORIGIN_QDQ }, "qdq" },
    { "l", { .kind = TARE_ORIGIN_QDQ, .was = "half of it" }, "qdq (was half of it)" },
    { "m", { .kind = TARE_ORIGIN_REPAIRED, .was = "qdq with a scale of 0" }, "repaired (was qdq with a scale of 0)" },
    { "w", { .kind = TARE_ORIGIN_WEIGHT }, "weight" },
    { "u", { .kind = TARE_ORIGIN_CONSTANT }, "constant" },
};
enum { CASES = sizeof cases / sizeof *cases };

static tare_model *build(void) {
    static const float scale = 0.5f;
    static const int32_t zero_point = 0;
    tare_model *model;
    assert_ok(tare_model_parse(&model, text, strlen(text), &err));
    assert_ok(tare_graph_infer(model->graph, &err));
    for (size_t i = 0; i < CASES; i++) {
        tare_quant *quant = tare_arena_alloc(model->arena, 1, sizeof *quant);
        *quant = (tare_quant){ .code = TARE_S8,
                               .axis = -1,
                               .count = 1,
                               .scale = &scale,
                               .zero_point = &zero_point,
                               .origin = cases[i].origin };
        tare_graph_find_value(model->graph, cases[i].value)->quant = quant;
    }
    return model;
}

static void write_to(const tare_model *model, const char *path) {
    const tare_write_options options = { .log = NULL };
    assert_ok(tare_format_onnx.write(model, path, &options, &err));
}

static tare_model *read_from(const char *path) {
    const tare_read_options options = { .log = NULL };
    tare_model *model;
    assert_ok(tare_format_onnx.read(&model, path, &options, &err));
    assert_ok(tare_passes_normalize(model, NULL, NULL, &err));
    return model;
}

static const char *words_of(const tare_model *model, const char *name) {
    static char words[256];
    tare_alias alias;
    assert_true(tare_model_resolve(model, name, &alias));
    const tare_value *value = tare_graph_find_value(model->graph, alias.target);
    assert_non_null(value->quant);
    tare_origin_print(words, sizeof words, &value->quant->origin);
    return words;
}

static void check_all(const tare_model *model) {
    for (size_t i = 0; i < CASES; i++) assert_string_equal(words_of(model, cases[i].value), cases[i].words);
}

static void check_equal_files(const char *one, const char *other) {
    tare_file a, b;
    assert_ok(tare_file_open(&a, one, &err));
    assert_ok(tare_file_open(&b, other, &err));
    assert_true(a.size == b.size && !memcmp(a.data, b.data, a.size));
    tare_file_close(&a);
    tare_file_close(&b);
}

/* Of copies too, and time after time. */
static void test_every_kind_comes_back(void **state) {
    (void)state;
    const char *directory = test_directory();
    const char *paths[] = { test_path(directory, "1.onnx"), test_path(directory, "2.onnx"),
                            test_path(directory, "3.onnx") };
    tare_model *model = build();
    check_all(model);
    write_to(model, paths[0]);
    for (int i = 0; i < 2; i++) {
        tare_model *got = read_from(paths[i]), *copy;
        check_all(got);
        assert_ok(tare_model_copy(&copy, got, &err));
        check_all(copy);
        write_to(copy, paths[i + 1]);
        tare_model_free(copy);
        tare_model_free(got);
    }
    check_equal_files(paths[1], paths[2]);
    tare_model_free(model);
}

/* Q and DQ nodes that stay nodes keep what is said of them; what there is no more is said no more. */
static void test_nodes_that_stay(void **state) {
    (void)state;
    const tare_read_options options = { .log = NULL };
    const char *directory = test_directory(), *one = test_path(directory, "1.onnx"),
               *two = test_path(directory, "2.onnx");
    tare_model *model = build(), *got;
    write_to(model, one);
    assert_ok(tare_format_onnx.read(&got, one, &options, &err));
    write_to(got, two);
    check_equal_files(one, two);
    tare_model_free(got);
    got = read_from(two);
    for (size_t i = 0; i < got->graph->values.entries.count; i++) {
        tare_value *value = got->graph->values.entries.at[i].value;
        if (value) value->quant = NULL;
    }
    write_to(got, one);
    tare_model_free(got);
    got = read_from(one);
    assert_null(tare_model_property(got, TARE_ONNX_ORIGINS));
    tare_model_free(got);
    tare_model_free(model);
}

/* ---- what strangers write ---- */

typedef struct notes {
    size_t count;
    char last[512];
} notes;

static void take(void *context, tare_log_level level, const char *line) {
    notes *n = context;
    assert_int_equal(level, TARE_LOG_NOTE);
    n->count++;
    snprintf(n->last, sizeof n->last, "%s", line);
}

/* How many notes reading it gives, and how many origins. */
static size_t read_text(const char *json, notes *n) {
    tare_log log = { .line = take, .context = n };
    tare_model *model;
    *n = (notes){ 0 };
    assert_ok(tare_model_new(&model, &err));
    assert_ok(tare_onnx_read_origins(model, json, &log, &err));
    const size_t count = model->origins.entries.count;
    tare_model_free(model);
    return count;
}

static void test_nonsense_is_left_out(void **state) {
    (void)state;
    static const char *const nothing[] = { "",
                                           "nonsense",
                                           "[]",
                                           "3",
                                           "{\"a\":{\"by\":\"mse\"}",
                                           "{\"a\":{\"by\":\"mse\"}} x",
                                           "{\"a\":{\"by\":\"mse\"},\"a\":{\"by\":\"mse\"}}",
                                           "{\"a\\u0000b\":{\"by\":\"mse\"}}",
                                           "{\"a\":{\"by\":\"\xff\"}}" };
    static const char *const entries[] = { "3",
                                           "{}",
                                           "{\"by\":3}",
                                           "{\"by\":\"magic\"}",
                                           "{\"by\":\"MSE\"}",
                                           "{\"by\":\"percentile\"}",
                                           "{\"by\":\"percentile\",\"number\":\"99\"}",
                                           "{\"by\":\"percentile\",\"number\":101}",
                                           "{\"by\":\"percentile\",\"number\":-1e308}",
                                           "{\"by\":\"mse\",\"number\":99}",
                                           "{\"by\":\"same\"}",
                                           "{\"by\":\"fixed\",\"detail\":\"\"}",
                                           "{\"by\":\"mse\",\"detail\":\"x\"}",
                                           "{\"by\":\"mse\",\"tried\":1}",
                                           "{\"by\":\"mse\",\"was\":[]}",
                                           "{\"by\":\"mse\",\"was\":\"two\\nlines\"}",
                                           "{\"by\":\"same\",\"detail\":\"\\u001b[2J\"}" };
    notes n;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        assert_int_equal(read_text(nothing[i], &n), 0);
        assert_int_equal(n.count, 1);
        assert_non_null(strstr(n.last, "'tare.origins'"));
    }
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        char json[256];
        snprintf(json, sizeof json, "{\"bad\":%s,\"good\":{\"by\":\"mse\",\"later\":[1]}}", entries[i]);
        assert_int_equal(read_text(json, &n), 1);
        assert_int_equal(n.count, 1);
        assert_non_null(strstr(n.last, "'bad'"));
    }
    assert_int_equal(read_text("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1}", &n), 0);
    assert_int_equal(n.count, 4);
    assert_non_null(strstr(n.last, "2 more"));
}

/* Neither size nor depth gets through. */
static void test_bombs(void **state) {
    (void)state;
    const size_t size = (16 << 20) + 1;
    char *json = malloc(size + 1);
    notes n;
    memset(json, ' ', size);
    json[size] = 0;
    assert_int_equal(read_text(json, &n), 0);
    assert_non_null(strstr(n.last, "at most"));
    memset(json, '[', 1 << 20);
    json[1 << 20] = 0;
    assert_int_equal(read_text(json, &n), 0);
    assert_int_equal(n.count, 1);
    free(json);
}

/* ---- memory ---- */

static tare_status round_trip(void *context, tare_error *err) {
    const char *path = context;
    const tare_write_options options = { .log = NULL };
    tare_model *model = NULL;
    TARE_TRY(tare_onnx_read_file(&model, path, &(tare_read_options){ .log = NULL }, NULL, err));
    tare_status status = tare_format_onnx.write(model, path, &options, err);
    tare_model_free(model);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    const char *path = test_path(test_directory(), "m.onnx");
    tare_model *model = build();
    write_to(model, path);
    tare_model_free(model);
    assert_true(test_fail_allocations(round_trip, (void *)(uintptr_t)path) > 4);
    model = read_from(path);
    check_all(model);
    tare_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_comes_back),
        cmocka_unit_test(test_nodes_that_stay),
        cmocka_unit_test(test_nonsense_is_left_out),
        cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

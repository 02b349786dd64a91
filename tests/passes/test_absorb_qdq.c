/* Scales that make no sense (cases.md Q10): refused by the name of tensor and channel; repaired where all codes mean 0. */
#include <stdio.h>
#include <string.h>

#include "graph/text_form.h"
#include "passes/pass.h"
#include "support/support.h"

#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]>\n"

static tare_model *parse(const char *text) {
    tare_model *model;
    assert_ok(tare_model_parse(&model, text, strlen(text), &err));
    return model;
}

static void refuse(const char *text, bool repair, const char *what) {
    tare_model *model = parse(text);
    const tare_normalize_options options = { .repair_scales = repair };
    assert_error(tare_passes_normalize(model, &options, NULL, &err), TARE_E_MALFORMED, what);
    tare_model_free(model);
}

static void test_activations(void **state) {
    (void)state;
    static const char *const bad[] = { "0", "-0.5", "inf", "nan" };
    char text[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 HEAD "g (float[2] x) => (float[2] y) <float s = {%s}> {\n a = Abs(x)\n [q] c = QuantizeLinear(a, s)\n"
                      " y = DequantizeLinear(c, s) }",
                 bad[i]);
        refuse(text, false, "tensor 'a': the scale ('s') is");
        refuse(text, true, "tensor 'a': the scale ('s') is"); /* not harmless: all would become the lowest code */
    }
}

#define WEIGHTS(codes, scales)                                                                                         \
    HEAD "g (float[1,2] x) => (float[1,2] y) <int8[2,2] q = {" codes "}, float[2] s = {" scales "}> {\n"               \
         " w = DequantizeLinear<axis = 1>(q, s)\n y = MatMul(x, w) }"

static void test_weights(void **state) {
    (void)state;
    refuse(WEIGHTS("1, 0, 2, 0", "0.5, 0"), false, "tensor 'q': the scale of channel 1 ('s') is 0");
    refuse(WEIGHTS("1, 0, 2, 3", "0.5, 0"), true, "tensor 'q': the scale of channel 1 ('s') is 0");
    refuse(WEIGHTS("0, 0, 2, 3", "0.5, nan"), true, "of channel 1");
    refuse(HEAD "g (float[1,2] x) => (float[1,2] y) <int8[2,2] q = {1, 2, 3, 4}, float[3] s = {1, 2, 3}> {\n"
                " [dq] w = DequantizeLinear<axis = 1>(q, s)\n y = MatMul(x, w) }",
           true, "node 'dq' (DequantizeLinear): there are 3 scales for axis 1 of 2");
}

typedef struct heard {
    int warnings;
    char text[256];
} heard;

static void hear(void *context, tare_log_level level, const char *text) {
    heard *h = context;
    if (level != TARE_LOG_WARNING) return;
    h->warnings++;
    snprintf(h->text, sizeof h->text, "%s", text);
}

/* The scale of a channel of nothing becomes 1, once for each node that has it. */
static void check_repaired(const char *text, const char *value, size_t channel, int warnings) {
    tare_model *model = parse(text);
    heard h = { 0 };
    tare_log log = { .line = hear, .context = &h };
    const tare_normalize_options options = { .repair_scales = true };
    assert_ok(tare_passes_normalize(model, &options, &log, &err));
    assert_int_equal(h.warnings, warnings);
    assert_non_null(strstr(h.text, "is 1 now"));
    const tare_value *w = tare_graph_find_value(model->graph, value);
    assert_non_null(w);
    assert_non_null(w->quant);
    assert_true(w->quant->scale[channel] == 1);
    assert_true(w->quant->scale[1 - channel] == 0.5f);
    tare_model_free(model);
}

static void test_repair(void **state) {
    (void)state;
    check_repaired(WEIGHTS("1, 0, 2, 0", "0.5, 0"), "w", 1, 1);
    check_repaired(WEIGHTS("0, 1, 0, 2", "nan, 0.5"), "w", 0, 1);
    /* A float weight through Q and DQ: both have the scale. */
    check_repaired(
        HEAD "g (float[1,2] x) => (float[1,2] y) <float[2,2] f = {1, 0, 2, 0}, float[2] s = {0.5, 0}, int8[2] z = "
             "{0, 0}> {\n q = QuantizeLinear<axis = 1>(f, s, z)\n w = DequantizeLinear<axis = 1>(q, s, z)\n"
             " y = MatMul(x, w) }",
        "f", 1, 2);
}

/* cases.md Q6: negative numbers survive codes that are dequantized and reshaped. */
static void test_constants(void **state) {
    (void)state;
    tare_model *model =
        parse(HEAD "g (float[2,2] x) => (float[2,2] y) <int8[4] q = {12, -45, 7, -3}, float s = {0.02}, "
                   "int64[2] shape = {2, 2}> {\n d = DequantizeLinear(q, s)\n r = Reshape(d, shape)\n"
                   " y = Add(x, r) }");
    assert_ok(tare_passes_normalize(model, NULL, NULL, &err));
    assert_ok(tare_passes_run(model, NULL, NULL, NULL, &err));
    const tare_value *r = tare_graph_find_value(model->graph, "r");
    const float *numbers;
    size_t count;
    assert_non_null(r);
    assert_ok(tare_value_read_f32(r, model->arena, &numbers, &count, &err));
    const float want[] = { 0.24f, -0.9f, 0.14f, -0.06f };
    for (int i = 0; i < 4; i++) assert_true(numbers[i] > want[i] - 1e-6f && numbers[i] < want[i] + 1e-6f);
    tare_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

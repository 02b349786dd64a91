/* The text form: what is printed reads back as the same; what is wrong is told with its line and column. */
#include <string.h>

#include "graph/text_form.h"
#include "support/support.h"

#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]>\n"

static char *print(tare_arena *arena, const tare_model *model) {
    tare_text text = { .arena = arena };
    tare_model_print(&text, model, 64);
    assert_false(text.failed);
    return text.at;
}

/* Reads, prints, reads and prints again: the same text; that text. */
static char *round_trip(tare_arena *arena, const char *from) {
    tare_model *model, *again;
    assert_ok(tare_model_parse(&model, from, strlen(from), &err));
    assert_ok(tare_graph_verify(model->graph, &err));
    char *once = print(arena, model);
    assert_ok(tare_model_parse(&again, once, strlen(once), &err));
    assert_string_equal(once, print(arena, again));
    tare_model_free(model);
    tare_model_free(again);
    return once;
}

static void test_round_trip(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    static const char text[] =
        HEAD "g (float[N,3,?] x, float s, float[] u, bool b, bool[1] \"od\\\"d:0\") => (float[N,3,?] y, float z)\n"
             "<float[2] w = {1, -inf},\n"
             " double d = {0.10000000000000001},\n"
             " int64[0] none = {},\n"
             " uint64[1] big = {18446744073709551615},\n"
             " int8[2] codes = {-128, 127},\n"
             " float16[1] half = {15360},\n"
             " string[2] words = {\"a\", \"b\\\\\"}>\n"
             "{\n"
             "  [\"a node\"] t = LeakyRelu<alpha = 1.0>(x)\n"
             "  c = Clip(t, \"\", s)\n"
             "  v = com.example.Unknown(c, w)\n"
             "  p = Transpose<perm = [2, 0, 1]>(v)\n"
             "  k = Constant<value = int32[2] {1, -2}>()\n"
             "  y, m = Dropout(p)\n"
             "  z = ReduceMean(y)\n"
             "}\n";
    /* Words that are types are names too where a name stands alone. */
    static const char read[] = HEAD "g (float bool) => (float y) { y = Relu(bool) } # the end\n";
    char *printed = round_trip(arena, text);
    assert_non_null(strstr(printed, "int64[0] none = {}"));
    assert_non_null(strstr(printed, "com.example.Unknown(c, w)"));
    assert_non_null(strstr(round_trip(arena, read), "y = Relu(bool)"));
    tare_arena_free(arena);
}

static void test_bodies(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    char *printed = round_trip(arena, HEAD "g (bool c, float[2] x) => (float[2] y)\n"
                                           "{ y = If<then_branch = t () => (float[2] a) { a = Relu(x) },\n"
                                           "         else_branch = e () => (float[2] a) <float[2] w = {1, 2}>\n"
                                           "         { a = Add(x, w) }>(c) }");
    assert_non_null(strstr(printed, "then_branch = t () => (float[2] a)"));
    assert_non_null(strstr(printed, "<float[2] w = {1, 2}>"));
    tare_arena_free(arena);
}

static void test_elided(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    tare_text text = { .arena = arena };
    tare_model *model;
    static const char from[] = HEAD "g () => (float[3] y) <float[3] w = {1, 2, 3}> { y = Relu(w) }";
    assert_ok(tare_model_parse(&model, from, sizeof from - 1, &err));
    tare_model_print(&text, model, 2);
    assert_non_null(strstr(text.at, "float[3] w = ..."));
    tare_model_free(model);
    tare_arena_free(arena);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text, *what;
    } cases[] = {
        { "", "1:1: the text ends, want '<'" },
        { "<ir_version: 8>", "the opset is missing" },
        { "<ir_version: 8, producer: \"x\">", "'producer' is not known here" },
        { HEAD "g (float x) => (float y) { y = Relu(z) }", "2:39: no value 'z' before here" },
        { HEAD "g (float x) => (float y) { x = Relu(x) }", "'x' is made twice" },
        { HEAD "g (float x) => (float y) { }", "nothing makes the output 'y'" },
        { HEAD "g (float x) => (float y) { y = Relu(x) } more", "text behind the graph" },
        { HEAD "g (float x) => (float y) { y = Relu(x)", "want a name" },
        { HEAD "g (flot[2] x) => (float y) { y = Relu(x) }", "'flot' is no element type" },
        { HEAD "g (float[1,2,3,4,5,6,7,8,9] x) => (float y) { y = Relu(x) }", "more than 8 dimensions" },
        { HEAD "g (float[-1] x) => (float y) { y = Relu(x) }", "dimension -1 is negative" },
        { HEAD "g (float x) => (float y) <float[2] w = {1}> { y = Relu(x) }", "got '}', want ','" },
        { HEAD "g (float x) => (float y) <float[999999999999] w = {1}> { y = Relu(x) }", "but the text ends before" },
        { HEAD "g (float x) => (float y) <float[N] w = {1}> { y = Relu(x) }", "a shape that are known" },
        { HEAD "g (float x) => (float y) <int8 w = {128}> { y = Relu(x) }", "128 is outside int8" },
        { HEAD "g (float x) => (float y) <float w = {1.2.3}> { y = Relu(x) }", "'1.2.3' is no number" },
        { HEAD "g (float x) => (float y) <int64 w = {99999999999999999999}> { y = Relu(x) }", "no integer of 64 bits" },
        { HEAD "g (float x) => (float y) { y = Relu<alpha = 1>(x) }", "Relu has no attribute 'alpha'" },
        { HEAD "g (float x) => (float y) { y = Foo<alpha = 1>(x) }", "Foo has no attribute 'alpha'" },
        { HEAD "g (float x) => (float y) { y = Relu(\"x) }", "a string without end" },
        { HEAD "g (float x, float w) => (float y) <float w = {1}, float w = {2}> { y = Relu(x) }",
          "'w' is made twice" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tare_model *model;
        assert_error(tare_model_parse(&model, cases[i].text, strlen(cases[i].text), &err), TARE_E_MALFORMED,
                     cases[i].what);
    }
}

/* Bodies in bodies, past what is allowed. */
static void test_depth(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    tare_text text = { .arena = arena };
    tare_model *model;
    tare_text_puts(&text, HEAD "g (bool c) => (bool y) { y = ");
    for (int i = 0; i < 40; i++) tare_text_puts(&text, "If<then_branch = t () => (bool a) { a = ");
    assert_error(tare_model_parse(&model, text.at, text.length, &err), TARE_E_MALFORMED, "nested more than 8 deep");
    tare_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bodies), cmocka_unit_test(test_elided),
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

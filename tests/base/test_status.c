/* Status and error text: context on the way up, hostile names, cutting at the end of the buffer. */
#include "base/status.h"

#include <errno.h>
#include <string.h>

#include "support/support.h"

static void test_fails_and_adds_context(void **state) {
    (void)state;
    tare_error err = { 0 };
    assert_int_equal(tare_fail(&err, TARE_E_MALFORMED, "dimension %d, got %d vs %d", 2, 7, 9), TARE_E_MALFORMED);
    assert_int_equal(err.status, TARE_E_MALFORMED);
    assert_string_equal(err.text, "dimension 2, got 7 vs 9");
    assert_int_equal(tare_within(&err, "tensor '%s'", "w"), TARE_E_MALFORMED);
    assert_int_equal(tare_within(&err, "%s", "m.onnx"), TARE_E_MALFORMED);
    assert_string_equal(err.text, "m.onnx: tensor 'w': dimension 2, got 7 vs 9");
    tare_fail(&err, TARE_E_IO, "again: %s", err.text);
    assert_string_equal(err.text, "again: m.onnx: tensor 'w': dimension 2, got 7 vs 9");
}

static void test_what_strangers_wrote_is_escaped_once(void **state) {
    (void)state;
    tare_error err = { 0 };
    tare_fail(&err, TARE_E_MALFORMED, "node '%s'", "a\nb\x1b[2J\xff");
    tare_within(&err, "%s", "x\n.onnx");
    assert_string_equal(err.text, "x\\x0a.onnx: node 'a\\x0ab\\x1b[2J\\xff'");
}

static void test_is_cut_at_the_end(void **state) {
    (void)state;
    static char name[5000];
    memset(name, 'n', sizeof name - 1);
    tare_error err = { 0 };
    tare_fail(&err, TARE_E_MALFORMED, "%s", name);
    assert_int_equal(strlen(err.text), TARE_ERROR_SIZE - 1);
    tare_within(&err, "f.onnx");
    assert_int_equal(strlen(err.text), TARE_ERROR_SIZE - 1);
    assert_memory_equal(err.text, "f.onnx: nnn", 11);
    tare_within(&err, "%s", name);
    assert_int_equal(strlen(err.text), TARE_ERROR_SIZE - 1);
    memset(name, '\n', sizeof name - 1);
    tare_fail(&err, TARE_E_MALFORMED, "%s", name);
    assert_int_equal(strlen(err.text) % 4, 0); /* no half of a code */
    assert_in_range(strlen(err.text), TARE_ERROR_SIZE - 5, TARE_ERROR_SIZE - 1);
}

static void test_memory_and_system(void **state) {
    (void)state;
    tare_error err = { 0 };
    assert_int_equal(tare_fail_memory(&err, 0), TARE_E_LIMIT);
    assert_string_equal(err.text, "out of memory");
    assert_int_equal(tare_fail_memory(&err, 123456), TARE_E_LIMIT);
    assert_string_equal(err.text, "out of memory, 123456 bytes wanted");
    errno = ENOENT;
    assert_int_equal(tare_fail_errno(&err, "open"), TARE_E_IO);
    assert_string_equal(err.text, "open: No such file or directory");
    errno = ENOMEM;
    assert_int_equal(tare_fail_errno(&err, "mmap"), TARE_E_LIMIT);
}

static tare_status pass_on(tare_status status, bool *is_reached) {
    TARE_TRY(status);
    *is_reached = true;
    return TARE_OK;
}

static void test_try_leaves_with_the_status(void **state) {
    (void)state;
    bool is_reached = false;
    assert_int_equal(pass_on(TARE_E_IO, &is_reached), TARE_E_IO);
    assert_false(is_reached);
    assert_int_equal(pass_on(TARE_OK, &is_reached), TARE_OK);
    assert_true(is_reached);
}

static void test_names_and_numbers(void **state) {
    (void)state;
    static const char *const names[] = { "ok", "gate",  "usage", "malformed",  "unsupported",
                                         "io", "limit", "bug",   "interrupted" };
    for (int i = 0; i < 9; i++) assert_string_equal(tare_status_name((tare_status)i), names[i]);
    assert_string_equal(tare_status_name((tare_status)99), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fails_and_adds_context),     cmocka_unit_test(test_what_strangers_wrote_is_escaped_once),
        cmocka_unit_test(test_is_cut_at_the_end),          cmocka_unit_test(test_memory_and_system),
        cmocka_unit_test(test_try_leaves_with_the_status), cmocka_unit_test(test_names_and_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

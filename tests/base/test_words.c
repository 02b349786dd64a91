/* Words: the plural, and what is said of a choice that is none. */
#include "base/words.h"

#include "support/support.h"

static void test_plural(void **state) {
    (void)state;
    assert_string_equal(tare_plural(0, "", "s"), "s");
    assert_string_equal(tare_plural(1, "", "s"), "");
    assert_string_equal(tare_plural(2, "entry", "entries"), "entries");
}

static void test_choices(void **state) {
    (void)state;
    static const char *const names[] = { "pear", "apple", NULL };
    tare_error err = { 0 };
    assert_int_equal(tare_fail_choice(&err, "fruit", "appel", NULL, names), TARE_E_USAGE);
    assert_string_equal(err.text, "no fruit 'appel'; did you mean 'apple'? There are: pear, apple");
    tare_fail_choice(&err, "fruit", "quince", NULL, names);
    assert_string_equal(err.text, "no fruit 'quince'; there are: pear, apple");
    tare_fail_choice(&err, "fruit", "quince\n", "pear", names);
    assert_string_equal(err.text, "no fruit 'quince\\x0a'; did you mean 'pear'? There are: pear, apple");
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_plural), cmocka_unit_test(test_choices) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Text: growing, UTF-8, escaping what strangers wrote, and the nearest name. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "support/fail_nth.h"

static void test_grows(void **state) {
    (void)state;
    tare_arena *arena = tare_arena_new();
    tare_text text = { .arena = arena };
    tare_text_append(&text, "a\0b", 3);
    tare_text_puts(&text, "");
    tare_text_puts(&text, "cd");
    tare_text_printf(&text, "%d%s", 12, "!");
    assert_int_equal(text.length, 8);
    assert_memory_equal(text.at, "a\0bcd12!", 9);
    for (int i = 0; i < 10000; i++) tare_text_printf(&text, "%d,", i % 10);
    assert_int_equal(text.length, 8 + 20000);
    assert_int_equal(text.at[text.length], 0);
    assert_false(text.failed);
    tare_text_append(&text, "x", SIZE_MAX - 5);
    assert_true(text.failed);
    tare_text_puts(&text, "more");
    assert_int_equal(text.length, 8 + 20000);
    tare_arena_free(arena);
}

static tare_status write_text(void *context, tare_error *err) {
    (void)context;
    tare_arena *arena = tare_arena_new();
    if (arena == NULL) return tare_fail_memory(err, 0);
    tare_text text = { .arena = arena };
    for (int i = 0; i < 3000; i++) tare_text_printf(&text, "line %d\n", i);
    bool is_whole = !text.failed;
    tare_arena_free(arena);
    return is_whole ? TARE_OK : tare_fail_memory(err, 0);
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    assert_true(test_fail_allocations(write_text, NULL) > 3);
}

static void test_utf8(void **state) {
    (void)state;
    static const char *const good[] = { "",
                                        "abc",
                                        "\x7f",
                                        "\xc2\x80",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf" };
    static const char *const bad[] = { "\x80",
                                       "\xbf",
                                       "\xc0\x80",
                                       "\xc1\xbf",
                                       "\xc2",
                                       "\xc2 ",
                                       "\xe0\x80\x80",
                                       "\xe0\x9f\xbf",
                                       "\xed\xa0\x80",
                                       "\xed\xbf\xbf",
                                       "\xe2\x82",
                                       "\xf0\x80\x80\x80",
                                       "\xf0\x9f\x98",
                                       "\xf4\x90\x80\x80",
                                       "\xf5\x80\x80\x80",
                                       "\xff" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(tare_utf8_is_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(tare_utf8_is_valid(bad[i], strlen(bad[i])));
    assert_true(tare_utf8_is_valid("a\0b", 3));
    assert_false(tare_utf8_is_valid("\xe2\x82\xac", 2)); /* cut */
}

static void test_escapes(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
    } cases[] = {
        { "", "" },
        { "conv1/W:0", "conv1/W:0" },
        { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
        { "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
        { "\x1b[31mred", "\\x1b[31mred" },
        { "\x7f", "\\x7f" },
        { "\xc2\x9b"
          "31m",
          "\\xc2\\x9b31m" }, /* the other CSI */
        { "\xe2\x80\xae"
          "gpj",
          "\\xe2\\x80\\xaegpj" },              /* right to left override */
        { "\xe2\x81\xa6", "\\xe2\\x81\\xa6" }, /* isolate */
        { "\xe2\x80\xa8", "\\xe2\\x80\\xa8" }, /* line separator */
        { "\xff\xfe", "\\xff\\xfe" },
        { "\xe2\x82", "\\xe2\\x82" },
        { "back\\slash", "back\\slash" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[64], twice[64];
        tare_text_escape(got, sizeof got, cases[i].from);
        assert_string_equal(got, cases[i].to);
        tare_text_escape(twice, sizeof twice, got);
        assert_string_equal(twice, got);
    }
}

/* Whatever the size, the result is ended, fits, and is not cut inside a character or a code. */
static void test_escapes_into_any_size(void **state) {
    (void)state;
    const char *from = "a\xc3\xbc\x01\xf0\x9f\x98\x80"
                       "b";
    const char *whole = "a\xc3\xbc\\x01\xf0\x9f\x98\x80"
                        "b";
    const size_t ends[] = { 0, 1, 3, 7, 11, 12 };
    for (size_t size = 0; size < 16; size++) {
        char got[16];
        memset(got, '#', sizeof got);
        tare_text_escape(got, size, from);
        for (size_t i = size; i < sizeof got; i++) assert_int_equal(got[i], '#');
        if (size == 0) continue;
        size_t wanted = 0;
        for (size_t i = 0; i < 6; i++) wanted = ends[i] < size ? ends[i] : wanted;
        assert_int_equal(strlen(got), wanted);
        assert_memory_equal(got, whole, wanted);
    }
}

static void test_distance(void **state) {
    (void)state;
    assert_int_equal(tare_text_distance("", ""), 0);
    assert_int_equal(tare_text_distance("", "abc"), 3);
    assert_int_equal(tare_text_distance("abc", ""), 3);
    assert_int_equal(tare_text_distance("kitten", "sitting"), 3);
    assert_int_equal(tare_text_distance("threads", "thraeds"), 1);
    assert_int_equal(tare_text_distance("ab", "ba"), 1);
    assert_int_equal(tare_text_distance("Conv", "Convv"), 1);
    char a[300], b[300];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    a[299] = b[299] = '\0';
    assert_int_equal(tare_text_distance(a, b), 64); /* only so much is read */
}

static void test_nearest(void **state) {
    (void)state;
    static const char *const names[] = { "method", "percentile", "threads", "cpu", "act", NULL };
    assert_string_equal(tare_text_nearest("methd", names), "method");
    assert_string_equal(tare_text_nearest("thraeds", names), "threads");
    assert_string_equal(tare_text_nearest("percentage", names), "percentile");
    assert_string_equal(tare_text_nearest("cpus", names), "cpu");
    assert_string_equal(tare_text_nearest("act", names), "act");
    assert_null(tare_text_nearest("xyz", names));
    assert_null(tare_text_nearest("", names));
    assert_null(tare_text_nearest("a", names)); /* nothing of it would remain */
    static const char *const none[] = { NULL };
    assert_null(tare_text_nearest("method", none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),   cmocka_unit_test(test_every_allocation_fails), cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_escapes), cmocka_unit_test(test_escapes_into_any_size),  cmocka_unit_test(test_distance),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

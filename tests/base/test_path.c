/* Directories: asking, making, listing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "support/fail_nth.h"

static void test_makes_and_asks(void **state) {
    (void)state;
    const char *top = test_directory(), *made = test_path(top, "made"), *file = test_path(top, "file");
    assert_true(tare_path_is_directory(top));
    assert_false(tare_path_is_directory(made));
    assert_ok(tare_path_make_directory(made, &err));
    assert_ok(tare_path_make_directory(made, &err));
    assert_true(tare_path_is_directory(made));
    test_write_file(file, "", 0);
    assert_false(tare_path_is_directory(file));
    assert_error(tare_path_make_directory(file, &err), TARE_E_IO, "mkdir: File exists");
    assert_error(tare_path_make_directory(test_path(top, "a/b"), &err), TARE_E_IO, test_path(top, "a/b"));
}

static void test_lists_sorted_by_bytes(void **state) {
    (void)state;
    const char *top = test_directory();
    static const char *const sorted[] = { "10", "9", "B", "a", "a.b", "a0", "b", "\xc3\xbc", "\xff" };
    for (size_t i = 9; i-- > 0;) test_write_file(test_path(top, sorted[i]), "", 0);
    test_write_file(test_path(top, ".hidden"), "", 0);
    tare_arena *arena = tare_arena_new();
    const char **names;
    size_t count;
    assert_ok(tare_path_list(top, arena, &names, &count, &err));
    assert_int_equal(count, 9);
    for (size_t i = 0; i < 9; i++) assert_string_equal(names[i], sorted[i]);
    const char *empty = test_directory();
    assert_ok(tare_path_list(empty, arena, &names, &count, &err));
    assert_int_equal(count, 0);
    assert_error(tare_path_list(test_path(top, "a"), arena, &names, &count, &err), TARE_E_IO, "Not a directory");
    assert_error(tare_path_list(test_path(top, "none"), arena, &names, &count, &err), TARE_E_IO, "No such file");
    tare_arena_free(arena);
}

static tare_status list(void *context, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    if (arena == NULL) return tare_fail_memory(err, 0);
    const char **names;
    size_t count;
    tare_status status = tare_path_list(context, arena, &names, &count, err);
    tare_arena_free(arena);
    return status;
}

static void test_every_call_and_allocation_fails(void **state) {
    (void)state;
    char top[256];
    snprintf(top, sizeof top, "%s", test_directory());
    char name[64];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "a-rather-long-name-for-one-sample-%d", i);
        test_write_file(test_path(top, name), "", 0);
    }
    size_t before = test_count_entries("/proc/self/fd");
    assert_int_equal(test_fail_file_calls(list, top, EMFILE, NULL), 1);
    assert_true(test_fail_allocations(list, top) >= 4);
    assert_int_equal(test_count_entries("/proc/self/fd"), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_makes_and_asks),
        cmocka_unit_test(test_lists_sorted_by_bytes),
        cmocka_unit_test(test_every_call_and_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

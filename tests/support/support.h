/* What every test includes: cmocka with what it needs before it, scratch directories, the shared models, and checks of
 * status and text together. */
#ifndef TARE_TESTS_SUPPORT_H
#define TARE_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <tare/error.h>

/* Fails with the error's text unless `call`, which gets &err, returns TARE_OK. */
#define assert_ok(call)                                                                                                \
    do {                                                                                                               \
        tare_error err = { 0 };                                                                                        \
        if ((call) != TARE_OK) fail_msg("%s: %s", #call, err.text);                                                    \
    } while (0)

/* Fails unless `call`, which gets &err, returns `wanted` and a text with `part` in it. */
#define assert_error(call, wanted, part)                                                                               \
    do {                                                                                                               \
        tare_error err = { 0 };                                                                                        \
        test_check_error(#call, (call), &err, (wanted), (part));                                                       \
    } while (0)

void test_check_error(const char *call, tare_status got, const tare_error *err, tare_status wanted, const char *part);

/* A new empty directory, removed with all that is in it when the program ends. The text is valid until then. */
const char *test_directory(void);

/* DIRECTORY/NAME; valid until the program ends. */
const char *test_path(const char *directory, const char *name);

/* A file in the repository, as tests/base/x; valid until the program ends. */
const char *test_source(const char *path);

/* A file or directory among the shared models and vectors (TARE_SHARED, else ../shared beside the repository). When it is
 * not there, the test that asks says so and is skipped. */
const char *test_shared(const char *path);

void test_write_file(const char *path, const void *bytes, size_t size);
/* Does the file hold just these bytes? */
bool test_file_is(const char *path, const void *bytes, size_t size);
size_t test_count_entries(const char *directory); /* dot files too */

/* A small generator for test data: the same numbers everywhere. */
typedef struct test_random {
    uint64_t state;
} test_random;
uint64_t test_random_next(test_random *random);
double test_random_unit(test_random *random); /* 0 <= x < 1 */

#endif

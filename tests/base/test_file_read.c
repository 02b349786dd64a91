/* Files for reading: what is taken and what is not, external data that tries to leave its directory, every call failing. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sanitize.h"
#include "support/fail_nth.h"

static void test_reads_regular_files(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "a.bin");
    static uint8_t bytes[10000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 31);
    for (size_t size = 0; size <= sizeof bytes; size += size < 3 ? 1 : 1999) {
        test_write_file(path, bytes, size);
        tare_file file;
        assert_ok(tare_file_open(&file, path, &err));
        assert_int_equal(file.size, size);
        assert_non_null(file.data);
        if (size > 0) assert_memory_equal(file.data, bytes, size);
        tare_file_close(&file);
        assert_null(file.data);
        tare_file_close(&file);
    }
}

static void test_knows_one_file_by_two_paths(void **state) {
    (void)state;
    const char *directory = test_directory(), *a = test_path(directory, "a"), *b = test_path(directory, "b");
    test_write_file(a, "x", 1);
    assert_int_equal(symlink("a", b), 0);
    test_write_file(test_path(directory, "c"), "x", 1);
    tare_file first, second, other;
    assert_ok(tare_file_open(&first, a, &err));
    assert_ok(tare_file_open(&second, b, &err));
    assert_ok(tare_file_open(&other, test_path(directory, "c"), &err));
    assert_true(first.device == second.device && first.inode == second.inode);
    assert_false(first.device == other.device && first.inode == other.inode);
    tare_file_close(&first);
    tare_file_close(&second);
    tare_file_close(&other);
}

static void make_socket(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void test_refuses_what_is_no_file(void **state) {
    (void)state;
    const char *directory = test_directory(), *pipe = test_path(directory, "pipe");
    const char *socket_path = test_path(directory, "socket"), *loop = test_path(directory, "loop");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(symlink("loop", loop), 0);
    make_socket(socket_path);
    tare_file file;
    assert_error(tare_file_open(&file, directory, &err), TARE_E_IO, "is a directory, not a regular file");
    assert_error(tare_file_open(&file, pipe, &err), TARE_E_IO, "is a pipe"); /* and does not wait for its writer */
    assert_error(tare_file_open(&file, socket_path, &err), TARE_E_IO, socket_path);
    assert_error(tare_file_open(&file, "/dev/zero", &err), TARE_E_IO, "is a device");
    assert_error(tare_file_open(&file, loop, &err), TARE_E_IO, "open: ");
    assert_error(tare_file_open(&file, test_path(directory, "none"), &err), TARE_E_IO, "No such file");
    assert_error(tare_file_open(&file, "", &err), TARE_E_IO, "No such file");
    assert_null(file.data);
}

static void test_past_the_end_is_guarded(void **state) {
    (void)state;
#if TARE_HAS_ASAN
    const char *path = test_path(test_directory(), "a");
    test_write_file(path, "12345", 5);
    tare_file file;
    assert_ok(tare_file_open(&file, path, &err));
    assert_false(__asan_address_is_poisoned(file.data + 4));
    assert_true(__asan_address_is_poisoned(file.data + 5));
    tare_file_close(&file);
#else
    print_message("skipped: this build has no AddressSanitizer\n");
    skip();
#endif
}

/* A model's directory with data in it, and a secret beside it. */
typedef struct house {
    const char *model;
    const char *secret;
} house;

static house build_house(void) {
    const char *top = test_directory(), *directory = test_path(top, "models");
    assert_int_equal(mkdir(directory, 0700), 0);
    assert_int_equal(mkdir(test_path(directory, "sub"), 0700), 0);
    test_write_file(test_path(top, "secret"), "secret", 6);
    test_write_file(test_path(directory, "w.data"), "weights", 7);
    test_write_file(test_path(directory, "sub/w.data"), "below", 5);
    test_write_file(test_path(directory, "twin"), "twin", 4);
    assert_int_equal(link(test_path(directory, "twin"), test_path(top, "twin")), 0);
    assert_int_equal(symlink("../secret", test_path(directory, "link")), 0);
    assert_int_equal(symlink("w.data", test_path(directory, "inner")), 0);
    assert_int_equal(symlink("..", test_path(directory, "up")), 0);
    assert_int_equal(symlink("/", test_path(directory, "root")), 0);
    assert_int_equal(symlink("sub", test_path(directory, "other")), 0);
    return (house){ .model = test_path(directory, "m.onnx"), .secret = test_path(top, "secret") };
}

static void check_beneath(const char *model, const char *location, const char *wanted) {
    tare_file file;
    assert_ok(tare_file_open_beneath(&file, model, location, false, &err));
    assert_int_equal(file.size, strlen(wanted));
    assert_memory_equal(file.data, wanted, file.size);
    tare_file_close(&file);
}

static void test_external_data_is_found(void **state) {
    (void)state;
    house h = build_house();
    check_beneath(h.model, "w.data", "weights");
    check_beneath(h.model, "./w.data", "weights");
    check_beneath(h.model, "sub/w.data", "below");
    check_beneath(h.model, "sub//./w.data", "below");
    tare_file file;
    assert_ok(tare_file_open_beneath(&file, h.model, "twin", true, &err));
    tare_file_close(&file);
    /* A model without a directory in its name lies in the current one. */
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    char *end = strrchr(h.secret, '/');
    assert_non_null(end);
    char top[4096];
    snprintf(top, sizeof top, "%.*s/models", (int)(end - h.secret), h.secret);
    assert_int_equal(chdir(top), 0);
    check_beneath("m.onnx", "w.data", "weights");
    assert_int_equal(chdir(before), 0);
}

static void test_external_data_stays_beneath(void **state) {
    (void)state;
    static const struct {
        const char *location;
        tare_status status;
        const char *part;
    } cases[] = {
        { "../secret", TARE_E_MALFORMED, "\"..\"" },
        { "sub/../../secret", TARE_E_MALFORMED, "\"..\"" },
        { "sub/..", TARE_E_MALFORMED, "\"..\"" },
        { "..", TARE_E_MALFORMED, "\"..\"" },
        { ".//../secret", TARE_E_MALFORMED, "\"..\"" },
        { "#../secret", TARE_E_IO, "No such file" },
        { "...", TARE_E_IO, "No such file" },
        { "/etc/passwd", TARE_E_MALFORMED, "absolute" },
        { "//host/x", TARE_E_MALFORMED, "absolute" },
        { "C:\\x", TARE_E_MALFORMED, "backslash" },
        { "C:x", TARE_E_MALFORMED, "drive" },
        { "sub\\w.data", TARE_E_MALFORMED, "backslash" },
        { "", TARE_E_MALFORMED, "empty" },
        { "w.data/", TARE_E_MALFORMED, "ends in '/'" },
        { "w.data/x", TARE_E_IO, "Not a directory" },
        { ".", TARE_E_IO, "a directory" },
        { "sub", TARE_E_IO, "a directory" },
        { "sub/.", TARE_E_IO, "a directory" },
        { "none", TARE_E_IO, "No such file" },
        { "link", TARE_E_MALFORMED, "'link' is a symbolic link" },
        { "inner", TARE_E_MALFORMED, "'inner' is a symbolic link" },
        { "up/secret", TARE_E_MALFORMED, "'up' is a symbolic link" },
        { "up/models/w.data", TARE_E_MALFORMED, "'up' is a symbolic link" },
        { "root/etc/passwd", TARE_E_MALFORMED, "'root' is a symbolic link" },
        { "other/w.data", TARE_E_MALFORMED, "'other' is a symbolic link" },
        { "sub/../link", TARE_E_MALFORMED, "\"..\"" },
        { "twin", TARE_E_MALFORMED, "2 hard links" },
        { "a\nb", TARE_E_IO, "'a\\x0ab'" },
    };
    house h = build_house();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tare_file file;
        assert_error(tare_file_open_beneath(&file, h.model, cases[i].location, false, &err), cases[i].status,
                     cases[i].part);
        assert_error(tare_file_open_beneath(&file, h.model, cases[i].location, false, &err), cases[i].status,
                     "external data '");
        assert_null(file.data);
    }
}

static void test_locations_too_long(void **state) {
    (void)state;
    house h = build_house();
    static char name[6000];
    memset(name, 'n', sizeof name - 1);
    tare_file file;
    assert_error(tare_file_open_beneath(&file, h.model, name, false, &err), TARE_E_MALFORMED, "longer than 4096");
    name[4096] = '\0';
    assert_error(tare_file_open_beneath(&file, h.model, name, false, &err), TARE_E_MALFORMED,
                 "component has 4096 bytes");
    name[256] = '\0';
    assert_error(tare_file_open_beneath(&file, h.model, name, false, &err), TARE_E_MALFORMED,
                 "component has 256 bytes");
    name[255] = '\0';
    assert_error(tare_file_open_beneath(&file, h.model, name, false, &err), TARE_E_IO, "No such file");
}

static void test_a_model_that_lies_nowhere_has_no_external_data(void **state) {
    (void)state;
    tare_file file;
    assert_error(tare_file_open_beneath(&file, "", "w.data", false, &err), TARE_E_MALFORMED, "no directory");
    assert_error(tare_file_open_beneath(&file, NULL, "w.data", false, &err), TARE_E_MALFORMED, "no directory");
    assert_error(tare_file_open_beneath(&file, "/no/such/m.onnx", "w.data", false, &err), TARE_E_IO, "/no/such/");
}

/* Another program exchanges the directory for a link out and back, as fast as it can. */
typedef struct exchange {
    const char *directory, *aside, *link;
    atomic_bool is_done;
} exchange;

static void *swap(void *context) {
    exchange *x = context;
    while (!atomic_load(&x->is_done)) {
        (void)!rename(x->directory, x->aside);
        (void)!rename(x->link, x->directory);
        (void)!rename(x->directory, x->link);
        (void)!rename(x->aside, x->directory);
    }
    return NULL;
}

static void test_nothing_gets_out_while_it_is_exchanged(void **state) {
    (void)state;
    const char *top = test_directory(), *inner = test_path(top, "in"), *outer = test_path(top, "out");
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(mkdir(outer, 0700), 0);
    assert_int_equal(mkdir(test_path(inner, "sub"), 0700), 0);
    test_write_file(test_path(inner, "sub/w"), "mine", 4);
    test_write_file(test_path(outer, "w"), "away", 4);
    assert_int_equal(symlink("../out", test_path(inner, "link")), 0);
    exchange x = { .directory = test_path(inner, "sub"), .aside = test_path(inner, "aside") };
    x.link = test_path(inner, "link");
    const char *model = test_path(inner, "m.onnx");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, swap, &x), 0);
    size_t opened = 0, refused = 0, leaks = 0;
    for (int i = 0; i < 20000; i++) {
        tare_file file;
        tare_error err = { 0 };
        if (tare_file_open_beneath(&file, model, "sub/w", false, &err) != TARE_OK) {
            refused++;
            continue;
        }
        opened++;
        leaks += memcmp(file.data, "mine", 4) != 0;
        tare_file_close(&file);
    }
    atomic_store(&x.is_done, true);
    pthread_join(thread, NULL);
    assert_int_equal(leaks, 0);
    print_message("%zu opened, %zu refused\n", opened, refused);
    assert_true(opened > 0);
}

static tare_status read_one(void *context, tare_error *err) {
    const house *h = context;
    tare_file file, beneath;
    TARE_TRY(tare_file_open(&file, h->secret, err));
    tare_status status = tare_file_open_beneath(&beneath, h->model, "sub/w.data", false, err);
    tare_file_close(&beneath);
    tare_file_close(&file);
    return status;
}

static size_t open_descriptors(void) { return test_count_entries("/proc/self/fd"); }

static void test_every_call_and_allocation_fails(void **state) {
    (void)state;
    house h = build_house();
    size_t before = open_descriptors();
    assert_true(test_fail_file_calls(read_one, &h, EIO, NULL) >= 6);
    assert_true(test_fail_file_calls(read_one, &h, EACCES, NULL) >= 6);
    assert_true(test_fail_allocations(read_one, &h) >= 1);
    assert_int_equal(open_descriptors(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_regular_files),
        cmocka_unit_test(test_knows_one_file_by_two_paths),
        cmocka_unit_test(test_refuses_what_is_no_file),
        cmocka_unit_test(test_past_the_end_is_guarded),
        cmocka_unit_test(test_external_data_is_found),
        cmocka_unit_test(test_external_data_stays_beneath),
        cmocka_unit_test(test_locations_too_long),
        cmocka_unit_test(test_a_model_that_lies_nowhere_has_no_external_data),
        cmocka_unit_test(test_nothing_gets_out_while_it_is_exchanged),
        cmocka_unit_test(test_every_call_and_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

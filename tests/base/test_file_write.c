/* The writer: what it replaces and what not, every call failing, disks that are full, writers beside one another, and the
 * process killed at any moment. A full disk is a small tmpfs, so that part wants root. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/threads.h"
#include "support/fail_nth.h"

enum { LARGE = 300000 }; /* several of the writer's buffers */
static uint8_t large[LARGE];

static int fill_large(void **state) {
    (void)state;
    test_random random = { 1 };
    for (size_t i = 0; i < LARGE; i++) large[i] = (uint8_t)test_random_next(&random);
    return 0;
}

static tare_status write_large(const char *path, size_t step, tare_error *err) {
    tare_writer *writer;
    TARE_TRY(tare_writer_open(&writer, path, err));
    for (size_t at = 0; at < LARGE; at += step) {
        assert_int_equal(tare_writer_offset(writer), at);
        if (tare_writer_write(writer, large + at, step < LARGE - at ? step : LARGE - at, err) == TARE_OK) continue;
        tare_writer_abandon(writer);
        return err->status;
    }
    return tare_writer_commit(writer, err);
}

static void test_writes_in_steps_of_any_size(void **state) {
    (void)state;
    static const size_t steps[] = { 1, 7, 4096, 65535, 65536, 65537, 200000, LARGE };
    const char *directory = test_directory(), *path = test_path(directory, "out.bin");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_ok(write_large(path, steps[i], &err));
        assert_true(test_file_is(path, large, LARGE));
        assert_int_equal(test_count_entries(directory), 1);
    }
    assert_ok(tare_file_write(path, "", 0, &err));
    assert_true(test_file_is(path, "", 0));
    assert_ok(tare_file_write(path, NULL, 0, &err));
}

static void test_relative_names(void **state) {
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    const char *directory = test_directory();
    assert_int_equal(chdir(directory), 0);
    assert_ok(tare_file_write("plain", "a", 1, &err));
    assert_ok(tare_file_write("./dotted", "b", 1, &err));
    tare_writer *writer;
    const char *temporary;
    assert_ok(tare_writer_open(&writer, "synced", &err));
    assert_ok(tare_writer_write(writer, "c", 1, &err));
    assert_ok(tare_writer_sync(writer, &temporary, &err));
    assert_true(test_file_is(temporary, "c", 1));
    assert_ok(tare_writer_commit(writer, &err));
    assert_int_equal(chdir(before), 0);
    assert_true(test_file_is(test_path(directory, "plain"), "a", 1));
    assert_true(test_file_is(test_path(directory, "dotted"), "b", 1));
    assert_true(test_file_is(test_path(directory, "synced"), "c", 1));
}

static void test_patches_and_syncs(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "out");
    test_write_file(path, "old", 3);
    tare_writer *writer;
    const char *temporary;
    assert_ok(tare_writer_open(&writer, path, &err));
    assert_ok(tare_writer_write(writer, large, LARGE, &err));
    assert_ok(tare_writer_write(writer, "tail", 4, &err));
    assert_ok(tare_writer_patch(writer, 0, "head", 4, &err));
    assert_ok(tare_writer_patch(writer, LARGE + 2, "IL", 2, &err));
    assert_int_equal(tare_writer_offset(writer), LARGE + 4);
    assert_ok(tare_writer_write(writer, "!", 1, &err));
    assert_ok(tare_writer_sync(writer, &temporary, &err));
    static uint8_t wanted[LARGE + 5];
    memcpy(wanted, large, LARGE);
    memcpy(wanted, "head", 4);
    memcpy(wanted + LARGE, "taIL!", 5);
    assert_true(test_file_is(temporary, wanted, sizeof wanted));
    assert_true(test_file_is(path, "old", 3));
    assert_ok(tare_writer_write(writer, "?", 1, &err)); /* it goes on after a sync */
    assert_ok(tare_writer_patch(writer, LARGE + 5, "+", 1, &err));
    assert_ok(tare_writer_commit(writer, &err));
    tare_file file;
    assert_ok(tare_file_open(&file, path, &err));
    assert_int_equal(file.size, LARGE + 6);
    assert_int_equal(file.data[LARGE + 5], '+');
    tare_file_close(&file);
    assert_int_equal(test_count_entries(directory), 1);
}

static void test_abandons(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "out");
    test_write_file(path, "old", 3);
    tare_writer *writer;
    assert_ok(tare_writer_open(&writer, path, &err));
    assert_ok(tare_writer_write(writer, large, LARGE, &err));
    assert_int_equal(test_count_entries(directory), 2);
    tare_writer_abandon(writer);
    tare_writer_abandon(NULL);
    assert_int_equal(test_count_entries(directory), 1);
    assert_true(test_file_is(path, "old", 3));
}

static void test_keeps_the_mode(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "out");
    struct stat info;
    mode_t before = umask(027);
    assert_ok(tare_file_write(path, "a", 1, &err));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(chmod(path, 0606), 0);
    assert_ok(tare_file_write(path, "b", 1, &err));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0606);
    umask(before);
}

static void test_a_hard_link_elsewhere_keeps_its_bytes(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "out"), *twin = test_path(directory, "twin");
    test_write_file(path, "old", 3);
    assert_int_equal(link(path, twin), 0);
    assert_ok(tare_file_write(path, "new", 3, &err));
    assert_true(test_file_is(path, "new", 3));
    assert_true(test_file_is(twin, "old", 3));
}

static void test_names_that_are_refused(void **state) {
    (void)state;
    const char *directory = test_directory();
    assert_int_equal(mkdir(test_path(directory, "sub"), 0700), 0);
    test_write_file(test_path(directory, "target"), "old", 3);
    assert_int_equal(symlink("target", test_path(directory, "link")), 0);
    assert_int_equal(symlink("nowhere", test_path(directory, "dangling")), 0);
    assert_int_equal(mkfifo(test_path(directory, "pipe"), 0600), 0);
    static const struct {
        const char *name, *part;
    } cases[] = {
        { "sub", "sub: is a directory" },     { "link", "link: is a symbolic link" },
        { "dangling", "is a symbolic link" }, { "pipe", "no regular file" },
        { "sub/", "names no file" },          { "none/out", "No such file" },
        { "target/out", "directory" },        { "..", "is a directory" },
    };
    size_t before = test_count_entries(directory);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_error(tare_file_write(test_path(directory, cases[i].name), "x", 1, &err), TARE_E_IO, cases[i].part);
    }
    assert_error(tare_file_write("", "x", 1, &err), TARE_E_IO, "names no file");
    assert_error(tare_file_write("/dev/null", "x", 1, &err), TARE_E_IO, "no regular file");
    char name[300];
    memset(name, 'n', sizeof name);
    name[256] = '\0';
    assert_error(tare_file_write(test_path(directory, name), "x", 1, &err), TARE_E_IO, "256 bytes");
    assert_int_equal(test_count_entries(directory), before);
    assert_true(test_file_is(test_path(directory, "target"), "old", 3));
    name[255] = '\0';
    assert_ok(tare_file_write(test_path(directory, name), "x", 1, &err));
    assert_true(test_file_is(test_path(directory, name), "x", 1));
}

/* A writer over an old file, all of its calls; then what is on the disk is looked at. */
typedef struct trial {
    const char *directory, *path;
} trial;

static tare_status write_whole(void *context, tare_error *err) {
    const trial *t = context;
    tare_writer *writer;
    const char *temporary;
    TARE_TRY(tare_writer_open(&writer, t->path, err));
    tare_status status = tare_writer_write(writer, large, LARGE, err);
    if (status == TARE_OK) status = tare_writer_patch(writer, 5, large + 5, 1, err);
    if (status == TARE_OK) status = tare_writer_sync(writer, &temporary, err);
    if (status == TARE_OK) return tare_writer_commit(writer, err);
    tare_writer_abandon(writer);
    return status;
}

/* Old or new, whole; no temporary. */
static void check_disk(void *context, bool has_failed) {
    const trial *t = context;
    bool is_old = test_file_is(t->path, "old", 3), is_new = test_file_is(t->path, large, LARGE);
    assert_true(is_old || is_new);
    assert_true(has_failed || is_new);
    assert_int_equal(test_count_entries(t->directory), 1);
    test_write_file(t->path, "old", 3);
}

static void test_every_call_and_allocation_fails(void **state) {
    (void)state;
    const char *directory = test_directory();
    trial t = { .directory = directory, .path = test_path(directory, "out") };
    test_write_file(t.path, "old", 3);
    size_t before = test_count_entries("/proc/self/fd");
    static const int numbers[] = { EIO, ENOSPC, EDQUOT, EACCES, EINTR };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_true(test_fail_file_calls(write_whole, &t, numbers[i], check_disk) >= 7);
    }
    assert_int_equal(test_fail_allocations(write_whole, &t), 1);
    test_write_file(t.path, "old", 3);
    assert_int_equal(test_count_entries("/proc/self/fd"), before);
}

/* The last call syncs the directory, which some file systems cannot do. */
static void test_a_directory_that_cannot_be_synced(void **state) {
    (void)state;
    const char *directory = test_directory();
    trial t = { .directory = directory, .path = test_path(directory, "out") };
    uint64_t calls = test_fail_file_calls(write_whole, &t, EINTR, NULL);
    static const int tolerated[] = { EINVAL, ENOTSUP, EROFS };
    for (size_t i = 0; i < 3; i++) {
        tare_file_fail_at(calls, tolerated[i]);
        assert_ok(write_whole(&t, &err));
        assert_int_equal(tare_file_fail_at(0, 0), 0);
    }
    tare_file_fail_at(calls, EIO);
    assert_error(write_whole(&t, &err), TARE_E_IO, "fsync the directory: Input/output error");
    assert_int_equal(test_count_entries(directory), 1);
}

static void test_an_error_is_kept(void **state) {
    (void)state;
    const char *directory = test_directory(), *path = test_path(directory, "out"), *temporary;
    tare_writer *writer;
    assert_ok(tare_writer_open(&writer, path, &err));
    tare_file_fail_at(1, EIO);
    assert_error(tare_writer_write(writer, large, LARGE, &err), TARE_E_IO, "write: Input/output error");
    assert_error(tare_writer_write(writer, "x", 1, &err), TARE_E_IO, "write: Input/output error");
    assert_error(tare_writer_patch(writer, 0, "x", 0, &err), TARE_E_IO, path);
    assert_error(tare_writer_sync(writer, &temporary, &err), TARE_E_IO, "write: Input/output error");
    assert_error(tare_writer_commit(writer, &err), TARE_E_IO, "write: Input/output error");
    assert_int_equal(test_count_entries(directory), 0);
}

/* Runs `child` in a process of its own and returns its wait status. */
static int in_child(void (*child)(void *context), void *context) {
    pid_t pid = fork();
    assert_true(pid >= 0); /* -1 as a process to wait for, or to kill, would be all of them */
    if (pid == 0) {
        child(context);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* The kernel takes only a part of a write, then nothing: a file size limit does both. */
static void write_past_limit(void *context) {
    const trial *t = context;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = { .rlim_cur = LARGE / 2 + 123, .rlim_max = LARGE / 2 + 123 };
    tare_error err = { 0 };
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || tare_file_write(t->path, large, LARGE, &err) != TARE_E_IO) _exit(1);
    if (strstr(err.text, "write: File too large") == NULL) _exit(2);
}

static void test_a_write_that_is_cut_short(void **state) {
    (void)state;
    const char *directory = test_directory();
    trial t = { .directory = directory, .path = test_path(directory, "out") };
    test_write_file(t.path, "old", 3);
    assert_int_equal(in_child(write_past_limit, &t), 0);
    assert_true(test_file_is(t.path, "old", 3));
    assert_int_equal(test_count_entries(directory), 1);
}

static void test_a_full_disk(void **state) {
    (void)state;
    const char *directory = test_directory();
    trial t = { .directory = directory, .path = test_path(directory, "out") };
    if (mount("none", directory, "tmpfs", 0, "size=400k") != 0) {
        print_message("skipped: no tmpfs can be mounted here (that takes root)\n");
        skip();
    }
    test_write_file(t.path, "old", 3);
    static uint8_t filler[400 * 1024];
    size_t refused = 0;
    for (size_t kept = 0; kept <= 360 * 1024; kept += 24 * 1024) {
        const char *path = test_path(directory, "filler");
        test_write_file(path, filler, kept);
        tare_error err = { 0 };
        tare_status status = write_whole(&t, &err);
        if (status != TARE_OK) {
            assert_int_equal(status, TARE_E_IO);
            assert_non_null(strstr(err.text, "No space left on device; "));
            assert_non_null(strstr(err.text, " free"));
            assert_true(test_file_is(t.path, "old", 3));
            refused++;
        }
        unlink(path);
        check_disk(&t, status != TARE_OK);
    }
    umount(directory);
    assert_in_range(refused, 4, 14);
}

/* Many writers of one name: each succeeds, the name always holds one of them whole. */
typedef struct race {
    const char *path;
    atomic_uint failed;
} race;

static void write_same(void *context, size_t index, size_t thread) {
    (void)thread;
    race *r = context;
    uint8_t bytes[5000];
    memset(bytes, (int)index, sizeof bytes);
    tare_error err;
    if (tare_file_write(r->path, bytes, sizeof bytes, &err) != TARE_OK) atomic_fetch_add(&r->failed, 1);
}

static void test_writers_of_one_name(void **state) {
    (void)state;
    const char *directory = test_directory();
    race r = { .path = test_path(directory, "out") };
    tare_pool *pool = tare_pool_new(8);
    for (int round = 0; round < 10; round++) {
        tare_pool_run(pool, 50, write_same, &r);
        assert_int_equal(r.failed, 0);
        assert_int_equal(test_count_entries(directory), 1);
        tare_file file;
        assert_ok(tare_file_open(&file, r.path, &err));
        assert_int_equal(file.size, 5000);
        for (size_t i = 1; i < file.size; i++) assert_int_equal(file.data[i], file.data[0]);
        tare_file_close(&file);
    }
    tare_pool_free(pool);
}

static void test_so_many_at_once(void **state) {
    (void)state;
    const char *directory = test_directory();
    tare_writer *writers[64], *more;
    char name[32];
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "out%d", i);
        assert_ok(tare_writer_open(&writers[i], test_path(directory, name), &err));
    }
    assert_error(tare_writer_open(&more, test_path(directory, "more"), &err), TARE_E_LIMIT, "64 files");
    assert_null(more);
    for (int i = 0; i < 64; i += 2) assert_ok(tare_writer_commit(writers[i], &err));
    for (int i = 1; i < 64; i += 2) tare_writer_abandon(writers[i]);
    assert_int_equal(test_count_entries(directory), 32);
    assert_ok(tare_file_write(test_path(directory, "more"), "x", 1, &err));
}

/* The program's handler removes what is unfinished; nothing new can be begun or finished after it. */
static void end_by_handler(void *context) {
    const trial *t = context;
    tare_writer *first, *second, *third;
    tare_error err = { 0 };
    if (tare_writer_open(&first, t->path, &err) != TARE_OK) _exit(1);
    if (tare_writer_open(&second, test_path(t->directory, "second"), &err) != TARE_OK) _exit(2);
    if (tare_writer_write(first, large, LARGE, &err) != TARE_OK) _exit(3);
    if (test_count_entries(t->directory) != 3) _exit(4);
    errno = 77;
    tare_writer_remove_pending();
    if (errno != 77) _exit(5);
    if (test_count_entries(t->directory) != 1) _exit(6);
    if (tare_writer_open(&third, test_path(t->directory, "third"), &err) != TARE_E_INTERRUPTED) _exit(7);
    if (tare_writer_commit(first, &err) != TARE_E_IO) _exit(8);
    if (!test_file_is(t->path, "old", 3)) _exit(9);
}

static void test_a_signal_handler_removes_temporaries(void **state) {
    (void)state;
    const char *directory = test_directory();
    trial t = { .directory = directory, .path = test_path(directory, "out") };
    test_write_file(t.path, "old", 3);
    assert_int_equal(in_child(end_by_handler, &t), 0);
    assert_int_equal(test_count_entries(directory), 1);
}

static void stop_in_the_middle(void *context) {
    const trial *t = context;
    tare_writer *writer;
    tare_error err = { 0 };
    if (tare_writer_open(&writer, t->path, &err) != TARE_OK) _exit(1);
}

/* What a dead process left is removed by the next; what a living one is writing, and what only looks alike, is not. */
static void test_stale_temporaries(void **state) {
    (void)state;
    const char *directory = test_directory();
    trial t = { .directory = directory, .path = test_path(directory, "out") };
    assert_int_equal(in_child(stop_in_the_middle, &t), 0);
    assert_int_equal(test_count_entries(directory), 1);
    int ready[2], done[2];
    assert_int_equal(pipe(ready) | pipe(done), 0);
    pid_t living = fork();
    assert_true(living >= 0); /* -1 as a process to wait for, or to kill, would be all of them */
    if (living == 0) {
        stop_in_the_middle(&t);
        char byte = 0;
        if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1) _exit(1);
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    test_write_file(test_path(directory, ".notes.tmp"), "", 0);
    test_write_file(test_path(directory, "x.tare.tmp"), "", 0);
    assert_int_equal(test_count_entries(directory), 3); /* the child removed the first one */
    assert_ok(tare_file_write(t.path, "new", 3, &err));
    assert_int_equal(test_count_entries(directory), 4);
    assert_int_equal(write(done[1], &byte, 1), 1);
    assert_int_equal(waitpid(living, NULL, 0), living);
    for (int i = 0; i < 2; i++) close(ready[i]), close(done[i]);
    assert_ok(tare_file_write(test_path(test_directory(), "else"), "x", 1, &err)); /* another directory in between */
    assert_ok(tare_file_write(t.path, "new", 3, &err));
    assert_int_equal(test_count_entries(directory), 3);
}

/* Writes two versions of a file in turn until it is killed. */
static void write_for_ever(const char *path) {
    static uint8_t bytes[LARGE];
    for (unsigned char version = 'a';; version = version == 'a' ? 'b' : 'a') {
        memset(bytes, version, sizeof bytes);
        tare_error err;
        if (tare_file_write(path, bytes, version == 'a' ? LARGE : LARGE / 2, &err) != TARE_OK) _exit(1);
    }
}

static void check_version(const char *path) {
    tare_file file;
    assert_ok(tare_file_open(&file, path, &err));
    assert_true(file.size == LARGE || file.size == LARGE / 2);
    uint8_t version = file.size == LARGE ? 'a' : 'b';
    for (size_t i = 0; i < file.size; i++) {
        if (file.data[i] != version) fail_msg("byte %zu of %zu is torn", i, file.size);
    }
    tare_file_close(&file);
}

static void test_killed_at_any_moment(void **state) {
    (void)state;
    const char *times = getenv("TARE_KILLS");
    long kills = times == NULL ? 60 : strtol(times, NULL, 10);
    const char *directory = test_directory(), *path = test_path(directory, "out");
    test_random random = { 7 };
    uint8_t first[LARGE];
    memset(first, 'a', sizeof first);
    test_write_file(path, first, sizeof first);
    size_t stale = 0;
    for (long i = 0; i < kills; i++) {
        pid_t child = fork();
        assert_true(child >= 0); /* -1 as a process to wait for, or to kill, would be all of them */
        if (child == 0) write_for_ever(path);
        struct timespec pause = { .tv_nsec = (long)(test_random_unit(&random) * 8e6) };
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        check_version(path);
        size_t left = test_count_entries(directory) - 1;
        assert_in_range(left, 0, 1); /* the next run removed the last one's */
        stale += left;
    }
    print_message("%ld kills, %zu of them inside a write, 0 torn files\n", kills, stale);
    assert_true(stale > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_in_steps_of_any_size),
        cmocka_unit_test(test_relative_names),
        cmocka_unit_test(test_patches_and_syncs),
        cmocka_unit_test(test_abandons),
        cmocka_unit_test(test_keeps_the_mode),
        cmocka_unit_test(test_a_hard_link_elsewhere_keeps_its_bytes),
        cmocka_unit_test(test_names_that_are_refused),
        cmocka_unit_test(test_every_call_and_allocation_fails),
        cmocka_unit_test(test_a_directory_that_cannot_be_synced),
        cmocka_unit_test(test_an_error_is_kept),
        cmocka_unit_test(test_a_write_that_is_cut_short),
        cmocka_unit_test(test_a_full_disk),
        cmocka_unit_test(test_writers_of_one_name),
        cmocka_unit_test(test_so_many_at_once),
        cmocka_unit_test(test_a_signal_handler_removes_temporaries),
        cmocka_unit_test(test_stale_temporaries),
        cmocka_unit_test(test_killed_at_any_moment),
    };
    return cmocka_run_group_tests(tests, fill_large, NULL);
}

/* The helpers of support.h. */
#include "support/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_MAX = 4096 };
static char *kept[KEPT_MAX];
static size_t kept_count;
static char *directories[KEPT_MAX];
static size_t directory_count;
static pid_t owner;

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *position) {
    (void)info, (void)kind, (void)position;
    return remove(path);
}

/* Children that a test forked leave the parent's directories alone. */
static void clean(void) {
    if (getpid() == owner) {
        for (size_t i = 0; i < directory_count; i++) nftw(directories[i], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    for (size_t i = 0; i < kept_count; i++) free(kept[i]);
}

static char *keep(char *text) {
    if (text == NULL || kept_count == KEPT_MAX) abort();
    if (kept_count == 0) {
        owner = getpid();
        atexit(clean);
    }
    return kept[kept_count++] = text;
}

static const char *join(const char *a, const char *b) {
    size_t size = strlen(a) + strlen(b) + 2;
    char *text = malloc(size);
    if (text != NULL) snprintf(text, size, "%s/%s", a, b);
    return keep(text);
}

void test_check_error(const char *call, tare_status got, const tare_error *err, tare_status wanted, const char *part) {
    if (got != wanted) {
        fail_msg("%s: returned %s (%s), not %s", call, tare_status_name(got), err->text, tare_status_name(wanted));
    }
    if (err->status != wanted) fail_msg("%s: the error says %s", call, tare_status_name(err->status));
    if (strstr(err->text, part) == NULL) fail_msg("%s: \"%s\" has no \"%s\"", call, err->text, part);
}

const char *test_directory(void) {
    const char *base = getenv("TMPDIR");
    size_t size = strlen(base == NULL ? "/tmp" : base) + 32;
    char *path = keep(malloc(size));
    snprintf(path, size, "%s/tare-test-XXXXXX", base == NULL ? "/tmp" : base);
    if (mkdtemp(path) == NULL) abort();
    directories[directory_count++] = path;
    return path;
}

const char *test_path(const char *directory, const char *name) { return join(directory, name); }
const char *test_source(const char *path) { return join(TARE_SOURCE_DIR, path); }

const char *test_shared(const char *path) {
    const char *base = getenv("TARE_SHARED");
    if (base == NULL || base[0] == '\0') base = TARE_SOURCE_DIR "/../shared";
    const char *whole = join(base, path);
    if (access(whole, R_OK) != 0) {
        print_message("skipped: %s is not there; set TARE_SHARED to the directory of the shared models\n", whole);
        skip();
    }
    return whole;
}

void test_write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

bool test_file_is(const char *path, const void *bytes, size_t size) {
    int fd = open(path, O_RDONLY);
    if (fd < 0) return false;
    struct stat info;
    char *got = malloc(size + 1);
    bool is_same = got != NULL && fstat(fd, &info) == 0 && info.st_size == (off_t)size &&
                   read(fd, got, size + 1) == (ssize_t)size && memcmp(got, bytes, size) == 0;
    free(got);
    close(fd);
    return is_same;
}

size_t test_count_entries(const char *directory) {
    DIR *list = opendir(directory);
    if (list == NULL) abort();
    size_t count = 0;
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) count++;
    closedir(list);
    return count - 2;
}

/* SplitMix64 (Steele, Lea and Flood 2014). */
uint64_t test_random_next(test_random *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

double test_random_unit(test_random *random) { return (double)(test_random_next(random) >> 11) * 0x1p-53; }

/* Read by the sanitizers when they start: an allocation that is too large must come back as NULL, as it does in life. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:detect_stack_use_after_return=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void) { return "print_stacktrace=1"; }

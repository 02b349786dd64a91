/* System calls on files, and the hook that makes the Nth of them fail. */
#include "base/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/countdown.h"
#include "base/file.h"

_Static_assert(TARE_AT_CWD == AT_FDCWD, "the number that the kernel gives it");

static tare_countdown calls;
static atomic_int failure;

uint64_t tare_file_fail_at(uint64_t nth, int number) {
    atomic_store(&failure, number);
    return tare_countdown_set(&calls, nth);
}

static bool fails_now(void) {
    if (!tare_countdown_hits(&calls)) return false;
    errno = atomic_load(&failure);
    return true;
}

#define AGAIN(result, call)                                                                                            \
    do {                                                                                                               \
        (result) = fails_now() ? -1 : (call);                                                                          \
    } while ((result) == -1 && errno == EINTR)

int tare_call_open(int directory, const char *path, int flags, mode_t mode) {
    int fd;
    AGAIN(fd, openat(directory, path, flags | O_CLOEXEC, mode));
    return fd;
}

ssize_t tare_call_read(int fd, void *bytes, size_t size, off_t offset) {
    ssize_t got;
    AGAIN(got, pread(fd, bytes, size, offset));
    return got;
}

ssize_t tare_call_write(int fd, const void *bytes, size_t size, off_t offset) {
    ssize_t put;
    AGAIN(put, pwrite(fd, bytes, size, offset));
    return put;
}

int tare_call_sync(int fd) {
    int result;
    AGAIN(result, fsync(fd));
    return result;
}

int tare_call_rename(int directory, const char *from, const char *to) {
    int result;
    AGAIN(result, renameat(directory, from, directory, to));
    return result;
}

void *tare_call_map(int fd, size_t size) {
    if (fails_now()) return NULL;
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Files for reading, mapped; and external data, opened without leaving the model's directory. With AddressSanitizer the
 * bytes are copied to a block of exactly their size, so that reading past the end is seen. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/file.h"
#include "base/sanitize.h"

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
enum { READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY };

static const uint8_t nothing[1];

static const char *kind_of(mode_t mode) {
    if (S_ISDIR(mode)) return "a directory";
    if (S_ISFIFO(mode)) return "a pipe";
    if (S_ISSOCK(mode)) return "a socket";
    if (S_ISLNK(mode)) return "a symbolic link";
    return "a device";
}

#if TARE_HAS_ASAN
static tare_status take_bytes(tare_file *out, int fd, tare_error *err) {
    uint8_t *copy = tare_memory_new(out->size);
    if (copy == NULL) return tare_fail_memory(err, out->size);
    for (size_t done = 0; done < out->size;) {
        ssize_t got = tare_call_read(fd, copy + done, out->size - done, (off_t)done);
        if (got <= 0) {
            tare_status status =
                got < 0 ? tare_fail_errno(err, "read") : tare_fail(err, TARE_E_IO, "it shrank while read");
            tare_memory_free(copy);
            return status;
        }
        done += (size_t)got;
    }
    out->handle = copy;
    return TARE_OK;
}

static void give_bytes(tare_file *file) { tare_memory_free(file->handle); }

static void advise(const tare_file *file, size_t offset, size_t size, int advice) {
    (void)file, (void)offset, (void)size, (void)advice;
}
#else
static tare_status take_bytes(tare_file *out, int fd, tare_error *err) {
    out->handle = tare_call_map(fd, out->size);
    return out->handle == NULL ? tare_fail_errno(err, "mmap") : TARE_OK;
}

static void give_bytes(tare_file *file) { munmap(file->handle, file->size); }

/* Advice may be refused: nothing depends on it. posix_madvise does nothing of the kind in glibc. */
static void advise(const tare_file *file, size_t offset, size_t size, int advice) {
    const size_t before = offset % (size_t)sysconf(_SC_PAGESIZE);
    if (file->handle != NULL) madvise((uint8_t *)file->handle + (offset - before), before + size, advice);
}
#endif

/* Other advice makes the part a mapping of its own, and a fault maps nothing beyond its mapping. */
void tare_file_visit(const tare_file *file, size_t offset, size_t size) { advise(file, offset, size, MADV_SEQUENTIAL); }

void tare_file_let_go(const tare_file *file, size_t offset, size_t size) {
    advise(file, offset, size, MADV_DONTNEED);
    advise(file, offset, size, MADV_NORMAL);
}

static tare_status take(tare_file *out, int fd, bool allow_hardlink, tare_error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0) return tare_fail_errno(err, "fstat");
    if (!S_ISREG(info.st_mode)) return tare_fail(err, TARE_E_IO, "is %s, not a regular file", kind_of(info.st_mode));
    if (!allow_hardlink && info.st_nlink > 1) {
        return tare_fail(err, TARE_E_MALFORMED,
                         "the file has %llu hard links, so it may belong elsewhere; copy it, or pass --allow-hardlink",
                         (unsigned long long)info.st_nlink);
    }
    *out = (tare_file){ .data = nothing, .size = (size_t)info.st_size };
    out->device = (uint64_t)info.st_dev;
    out->inode = (uint64_t)info.st_ino;
    if (out->size == 0) return TARE_OK;
    TARE_TRY(take_bytes(out, fd, err));
    out->data = out->handle;
    return TARE_OK;
}

static tare_status take_and_close(tare_file *out, int fd, bool allow_hardlink, tare_error *err) {
    tare_status status = take(out, fd, allow_hardlink, err);
    close(fd);
    if (status != TARE_OK) *out = (tare_file){ 0 };
    return status;
}

tare_status tare_file_open(tare_file *out, const char *path, tare_error *err) {
    *out = (tare_file){ 0 };
    int fd = tare_call_open(TARE_AT_CWD, path, READ_FLAGS, 0);
    tare_status status = fd < 0 ? tare_fail_errno(err, "open") : take_and_close(out, fd, true, err);
    return status == TARE_OK ? TARE_OK : tare_within(err, "%s", path);
}

void tare_file_close(tare_file *file) {
    if (file->handle != NULL) give_bytes(file);
    *file = (tare_file){ 0 };
}

/* What is wrong with the text of a location, NULL: nothing. */
static const char *fault_of(const char *location) {
    size_t length = strnlen(location, TARE_LOCATION_MAX + 1);
    if (length == 0) return "is empty";
    if (length > TARE_LOCATION_MAX) return "is longer than 4096 bytes";
    if (location[0] == '/') return "is absolute; it must be relative to the model";
    if (strchr(location, '\\') != NULL) return "has a backslash; components are separated by '/'";
    if (location[1] == ':') return "begins with a drive; it must be relative to the model";
    if (location[length - 1] == '/') return "ends in '/', so it names a directory";
    for (const char *at = location; *at != '\0';) {
        size_t part = strcspn(at, "/");
        if (part == 2 && at[0] == '.' && at[1] == '.') return "has a component \"..\"";
        at += part;
        at += strspn(at, "/");
    }
    return NULL;
}

static tare_status open_directory_of(int *out, const char *beside, tare_error *err) {
    const char *slash = strrchr(beside, '/');
    size_t length = slash == NULL ? 1 : (size_t)(slash - beside) + 1;
    char *directory = tare_memory_new(length + 1);
    if (directory == NULL) return tare_fail_memory(err, length + 1);
    memcpy(directory, slash == NULL ? "." : beside, length);
    directory[length] = '\0';
    *out = tare_call_open(TARE_AT_CWD, directory, O_RDONLY | O_DIRECTORY, 0);
    tare_status status = TARE_OK;
    if (*out < 0) {
        tare_fail_errno(err, "open");
        status = tare_within(err, "%s", directory);
    }
    tare_memory_free(directory);
    return status;
}

/* Opens the component `name` below `directory`; a link there is refused, whatever it points to. */
static tare_status open_component(int *out, int directory, const char *name, bool is_last, tare_error *err) {
    int flags = is_last ? READ_FLAGS | O_NOFOLLOW : O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    *out = tare_call_open(directory, name, flags, 0);
    if (*out >= 0) return TARE_OK;
    int number = errno;
    struct stat info;
    if ((number == ELOOP || number == ENOTDIR) && fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(info.st_mode)) {
        return tare_fail(err, TARE_E_MALFORMED, "'%s' is a symbolic link, which external data must not use", name);
    }
    errno = number;
    return tare_fail_errno(err, "open");
}

/* Walks component by component from a directory that is held open, so that nothing can be exchanged on the way. */
static tare_status walk(int *out, int directory, const char *location, tare_error *err) {
    char part[256];
    int current = directory;
    tare_status status = TARE_OK;
    for (const char *at = location; status == TARE_OK && *at != '\0';) {
        size_t length = strcspn(at, "/");
        bool is_dot = length == 1 && at[0] == '.';
        const char *next = at + length + strspn(at + length, "/");
        if (length >= sizeof part) {
            status = tare_fail(err, TARE_E_MALFORMED, "a component has %zu bytes, at most 255 are possible", length);
        } else if (!is_dot || *next == '\0') {
            memcpy(part, at, length);
            part[length] = '\0';
            int opened = -1;
            status = open_component(&opened, current, part, *next == '\0', err);
            if (current != directory) close(current);
            current = opened;
        }
        at = next;
    }
    if (status != TARE_OK && current >= 0 && current != directory) close(current);
    *out = status == TARE_OK ? current : -1;
    return status;
}

tare_status tare_file_open_beneath(tare_file *out, const char *beside, const char *location, bool allow_hardlink,
                                   tare_error *err) {
    *out = (tare_file){ 0 };
    const char *fault = fault_of(location);
    if (fault != NULL)
        return tare_fail(err, TARE_E_MALFORMED, "external data '%.300s': the location %s", location, fault);
    if (beside == NULL || beside[0] == '\0') {
        return tare_fail(err, TARE_E_MALFORMED, "external data '%.300s': the model has no directory to look in",
                         location);
    }
    int directory = -1, fd = -1;
    tare_status status = open_directory_of(&directory, beside, err);
    if (status == TARE_OK) {
        status = walk(&fd, directory, location, err);
        close(directory);
    }
    if (status == TARE_OK) status = take_and_close(out, fd, allow_hardlink, err);
    return status == TARE_OK ? TARE_OK : tare_within(err, "external data '%.300s'", location);
}

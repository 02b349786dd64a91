/* The only way to write a file: a temporary beside the final name, locked while it is written, synced, renamed. What a
 * killed run left behind is known by its name and by nobody holding its lock, and is removed by the next run. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/file.h"

#define SUFFIX ".tare.tmp"
enum {
    NAME_MOST = 255,   /* bytes of a file's name */
    NAME_KEPT = 180,   /* of the final name that go into the temporary's */
    TRIES = 100,       /* at a name that is free */
    PENDING_MOST = 64, /* files being written at once */
    BUFFER_SIZE = 64 * 1024
};

struct tare_writer {
    int directory, fd;
    size_t slot;
    mode_t mode; /* of the file that is replaced; 0: there is none */
    bool is_synced;
    uint64_t flushed; /* bytes before the buffer */
    size_t buffered;
    tare_error kept;    /* the first error */
    char *path;         /* final, as given */
    const char *name;   /* its last component */
    char *temporary;    /* path of the temporary */
    const char *hidden; /* its last component */
    uint8_t buffer[BUFFER_SIZE];
    char text[]; /* both paths */
};

/* Temporaries that a signal handler must remove. */
enum { SLOT_FREE, SLOT_CLAIMED, SLOT_PENDING };
static struct {
    atomic_int state;
    int directory;
    char name[NAME_MOST + 1];
} pending[PENDING_MOST];
static atomic_bool is_ending; /* set by the handler: nothing new is begun */

void tare_writer_remove_pending(void) {
    int number = errno;
    atomic_store(&is_ending, true);
    for (size_t i = 0; i < PENDING_MOST; i++) {
        if (atomic_load(&pending[i].state) == SLOT_PENDING) unlinkat(pending[i].directory, pending[i].name, 0);
    }
    errno = number;
}

static bool claim(size_t *slot) {
    for (size_t i = 0; i < PENDING_MOST; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&pending[i].state, &expected, SLOT_CLAIMED)) continue;
        *slot = i;
        return true;
    }
    return false;
}

static bool has_suffix(const char *name) {
    size_t length = strlen(name), suffix = strlen(SUFFIX);
    return name[0] == '.' && length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

/* A temporary that can be locked belongs to nobody: its writer is dead. */
static void remove_if_stale(int directory, const char *name) {
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return;
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        unlinkat(directory, name, 0);
    close(fd);
}

/* Once per directory and run, as far as the last directory tells; what goes wrong here is nobody's concern. */
static void remove_stale(int directory) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static dev_t last_device;
    static ino_t last_inode;
    struct stat info;
    if (fstat(directory, &info) != 0) return;
    pthread_mutex_lock(&lock);
    bool is_known = info.st_dev == last_device && info.st_ino == last_inode;
    last_device = info.st_dev;
    last_inode = info.st_ino;
    pthread_mutex_unlock(&lock);
    int fd = is_known ? -1 : openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    if (list == NULL) {
        if (fd >= 0) close(fd);
        return;
    }
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        if (has_suffix(entry->d_name)) remove_if_stale(directory, entry->d_name);
    }
    closedir(list);
}

/* May the final name be replaced? Links and devices may not: what is behind /dev/stdout must not become a file. */
static tare_status check_target(tare_writer *writer, tare_error *err) {
    struct stat info;
    if (strlen(writer->name) > NAME_MOST) {
        return tare_fail(err, TARE_E_IO, "the name has %zu bytes, at most %d are possible", strlen(writer->name),
                         NAME_MOST);
    }
    if (writer->name[0] == '\0') return tare_fail(err, TARE_E_IO, "names no file");
    if (fstatat(writer->directory, writer->name, &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno == ENOENT ? TARE_OK : tare_fail_errno(err, "stat");
    }
    if (S_ISDIR(info.st_mode)) return tare_fail(err, TARE_E_IO, "is a directory, not a file");
    if (S_ISLNK(info.st_mode)) {
        return tare_fail(err, TARE_E_IO, "is a symbolic link, which would be replaced; name the file itself");
    }
    if (!S_ISREG(info.st_mode)) return tare_fail(err, TARE_E_IO, "is no regular file and cannot be replaced");
    writer->mode = info.st_mode & 0777;
    return TARE_OK;
}

/* Locks the new temporary; false: another run took it for stale in between and removed it. */
static bool lock_temporary(const tare_writer *writer) {
    struct stat info;
    while (flock(writer->fd, LOCK_EX) != 0) {
        if (errno != EINTR) return true; /* no locks here, so nobody removes what looks stale */
    }
    return fstat(writer->fd, &info) != 0 || info.st_nlink > 0;
}

/* The temporary is in the table before it is there, so that no signal can come between. */
static tare_status create(tare_writer *writer, tare_error *err) {
    static atomic_uint serial;
    size_t prefix = (size_t)(writer->hidden - writer->temporary);
    char *hidden = writer->temporary + prefix;
    for (int i = 0; i < TRIES; i++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        unsigned salt = (unsigned)now.tv_nsec ^ (atomic_fetch_add(&serial, 1) << 20);
        int kept = (int)strnlen(writer->name, NAME_KEPT);
        snprintf(hidden, NAME_MOST + 1, ".%.*s.%ld.%08x" SUFFIX, kept, writer->name, (long)getpid(), salt);
        pending[writer->slot].directory = writer->directory;
        memcpy(pending[writer->slot].name, hidden, strlen(hidden) + 1);
        atomic_store(&pending[writer->slot].state, SLOT_PENDING);
        if (atomic_load(&is_ending)) return tare_fail(err, TARE_E_INTERRUPTED, "a signal asked to stop");
        writer->fd = tare_call_open(writer->directory, hidden, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
        if (writer->fd >= 0 && lock_temporary(writer)) return TARE_OK;
        if (writer->fd < 0 && errno != EEXIST) return tare_fail_errno(err, "open for writing");
        if (writer->fd >= 0) close(writer->fd);
        writer->fd = -1;
        atomic_store(&pending[writer->slot].state, SLOT_CLAIMED);
    }
    return tare_fail(err, TARE_E_IO, "no free name for a temporary file after %d tries", (int)TRIES);
}

static tare_writer *allocate(const char *path) {
    size_t length = strlen(path);
    const char *slash = strrchr(path, '/');
    size_t prefix = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    tare_writer *writer = tare_memory_new(sizeof *writer + length + 1 + prefix + NAME_MOST + 1);
    if (writer == NULL) return NULL;
    writer->directory = writer->fd = -1;
    writer->slot = PENDING_MOST;
    writer->mode = 0;
    writer->is_synced = false;
    writer->flushed = 0;
    writer->buffered = 0;
    writer->kept = (tare_error){ .status = TARE_OK };
    writer->path = writer->text;
    memcpy(writer->path, path, length + 1);
    writer->name = writer->path + prefix;
    writer->temporary = writer->text + length + 1;
    memcpy(writer->temporary, path, prefix);
    writer->temporary[prefix] = '\0';
    writer->hidden = writer->temporary + prefix;
    return writer;
}

static tare_status begin(tare_writer *writer, tare_error *err) {
    const char *directory = writer->hidden == writer->temporary ? "." : writer->temporary;
    writer->directory = tare_call_open(TARE_AT_CWD, directory, O_RDONLY | O_DIRECTORY, 0);
    if (writer->directory < 0) return tare_fail_errno(err, "open the directory");
    TARE_TRY(check_target(writer, err));
    remove_stale(writer->directory);
    if (!claim(&writer->slot)) {
        return tare_fail(err, TARE_E_LIMIT, "%d files are being written already", (int)PENDING_MOST);
    }
    TARE_TRY(create(writer, err));
    if (writer->mode != 0 && fchmod(writer->fd, writer->mode) != 0) return tare_fail_errno(err, "fchmod");
    return TARE_OK;
}

/* Removes the temporary if it still has that name, leaves the table, frees. */
static void end(tare_writer *writer) {
    if (writer->fd >= 0) {
        unlinkat(writer->directory, writer->hidden, 0);
        close(writer->fd);
    }
    if (writer->slot < PENDING_MOST) atomic_store(&pending[writer->slot].state, SLOT_FREE);
    if (writer->directory >= 0) close(writer->directory);
    tare_memory_free(writer);
}

tare_status tare_writer_open(tare_writer **out, const char *path, tare_error *err) {
    *out = NULL;
    tare_writer *writer = allocate(path);
    if (writer == NULL) {
        tare_fail_memory(err, sizeof *writer);
        return tare_within(err, "%s", path);
    }
    if (begin(writer, err) != TARE_OK) {
        end(writer);
        return tare_within(err, "%s", path);
    }
    *out = writer;
    return TARE_OK;
}

static void tell_space(const tare_writer *writer, size_t wanted, tare_error *err) {
    struct statvfs disk;
    if (fstatvfs(writer->fd, &disk) != 0) return;
    unsigned long long available = (unsigned long long)disk.f_bavail * disk.f_frsize;
    tare_fail(err, TARE_E_IO, "%s; %zu more bytes wanted, %llu free", err->text, wanted, available);
}

/* Writes all of it, however little each call takes. */
static tare_status put(const tare_writer *writer, const uint8_t *bytes, size_t size, uint64_t offset, tare_error *err) {
    while (size > 0) {
        ssize_t written = tare_call_write(writer->fd, bytes, size, (off_t)offset);
        if (written < 0) {
            bool is_full = errno == ENOSPC || errno == EDQUOT;
            tare_fail_errno(err, "write");
            if (is_full) tell_space(writer, size, err);
            return tare_within(err, "%s", writer->path);
        }
        bytes += written;
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return TARE_OK;
}

static tare_status flush(tare_writer *writer, tare_error *err) {
    TARE_TRY(put(writer, writer->buffer, writer->buffered, writer->flushed, err));
    writer->flushed += writer->buffered;
    writer->buffered = 0;
    return TARE_OK;
}

/* An error is kept: every later call tells it again. */
static tare_status keep(tare_writer *writer, tare_status status, tare_error *err) {
    if (status != TARE_OK && writer->kept.status == TARE_OK) writer->kept = *err;
    return status;
}

static tare_status tell(const tare_writer *writer, tare_error *err) {
    if (writer->kept.status != TARE_OK) *err = writer->kept;
    return writer->kept.status;
}

static tare_status append(tare_writer *writer, const uint8_t *bytes, size_t size, tare_error *err) {
    if (size > BUFFER_SIZE - writer->buffered) TARE_TRY(flush(writer, err));
    if (size >= BUFFER_SIZE) {
        TARE_TRY(put(writer, bytes, size, writer->flushed, err));
        writer->flushed += size;
    } else if (size > 0) {
        memcpy(writer->buffer + writer->buffered, bytes, size);
        writer->buffered += size;
    }
    return TARE_OK;
}

tare_status tare_writer_write(tare_writer *writer, const void *bytes, size_t size, tare_error *err) {
    TARE_TRY(tell(writer, err));
    writer->is_synced = false;
    return keep(writer, append(writer, bytes, size, err), err);
}

uint64_t tare_writer_offset(const tare_writer *writer) { return writer->flushed + writer->buffered; }

tare_status tare_writer_patch(tare_writer *writer, uint64_t offset, const void *bytes, size_t size, tare_error *err) {
    TARE_TRY(tell(writer, err));
    assert(size <= tare_writer_offset(writer) && offset <= tare_writer_offset(writer) - size);
    writer->is_synced = false;
    tare_status status = flush(writer, err);
    if (status == TARE_OK) status = put(writer, bytes, size, offset, err);
    return keep(writer, status, err);
}

static tare_status sync_file(tare_writer *writer, tare_error *err) {
    TARE_TRY(flush(writer, err));
    if (tare_call_sync(writer->fd) != 0) {
        tare_fail_errno(err, "fsync");
        return tare_within(err, "%s", writer->path);
    }
    writer->is_synced = true;
    return TARE_OK;
}

tare_status tare_writer_sync(tare_writer *writer, const char **temporary_path, tare_error *err) {
    *temporary_path = writer->temporary;
    TARE_TRY(tell(writer, err));
    return writer->is_synced ? TARE_OK : keep(writer, sync_file(writer, err), err);
}

/* Some file systems cannot sync a directory; they say so by one of these. */
static bool is_tolerated(int number) {
    return number == EINVAL || number == ENOTSUP || number == EOPNOTSUPP || number == ENOSYS || number == EROFS;
}

static tare_status replace(tare_writer *writer, tare_error *err) {
    const char *temporary;
    TARE_TRY(tare_writer_sync(writer, &temporary, err));
    const char *call = "rename";
    int result = tare_call_rename(writer->directory, writer->hidden, writer->name);
    if (result == 0) {
        call = "fsync the directory";
        result = tare_call_sync(writer->directory);
        if (result != 0 && is_tolerated(errno)) result = 0;
    }
    if (result == 0) {
        call = "close";
        result = close(writer->fd);
        writer->fd = -1;
    }
    if (result == 0) return TARE_OK;
    tare_fail_errno(err, call);
    return tare_within(err, "%s", writer->path);
}

tare_status tare_writer_commit(tare_writer *writer, tare_error *err) {
    tare_status status = replace(writer, err);
    end(writer);
    return status;
}

void tare_writer_abandon(tare_writer *writer) {
    if (writer != NULL) end(writer);
}

tare_status tare_file_write(const char *path, const void *bytes, size_t size, tare_error *err) {
    tare_writer *writer;
    TARE_TRY(tare_writer_open(&writer, path, err));
    tare_writer_write(writer, bytes, size, err); /* a failure is told again by the commit */
    return tare_writer_commit(writer, err);
}

/* Directories for a while. Each is locked as long as its run lives: one that can be locked belongs to nobody any more. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/process.h"

#define PREFIX   "tare-scratch-"
#define TEMPLATE PREFIX "XXXXXX"
enum { PENDING_MOST = 8, PATH_MOST = 4096, DEPTH_MOST = 16 };

enum { SLOT_FREE, SLOT_CLAIMED, SLOT_PENDING };
static struct {
    atomic_int state;
    char path[PATH_MOST];
} pending[PENDING_MOST];

struct tare_scratch {
    tare_arena *arena;
    size_t slot;
    int lock;
};

/* ---- removing, by calls that a signal handler may make ---- */

/* An entry as the kernel gives it. */
typedef struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
} entry;

static bool is_self_or_parent(const char *name) {
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void empty_directory(int directory, int depth);

/* Removes what a name stands for; false: it stays. */
static bool remove_entry(int directory, const char *name, int depth) {
    if (unlinkat(directory, name, 0) == 0) return true;
    if (depth == DEPTH_MOST) return false;
    const int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0) return false;
    empty_directory(inner, depth + 1);
    close(inner);
    return unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

/* Goes over a directory; true: something was removed, so that there may be more. */
static bool remove_some(int directory, int depth) {
    _Alignas(entry) char buffer[2048];
    bool has_removed = false;
    lseek(directory, 0, SEEK_SET);
    for (;;) {
        const long size = syscall(SYS_getdents64, directory, buffer, sizeof buffer);
        if (size <= 0) return has_removed;
        for (long at = 0; at < size;) {
            const entry *e = (const entry *)(const void *)(buffer + at);
            at += e->size;
            if (!is_self_or_parent(e->name)) has_removed |= remove_entry(directory, e->name, depth);
        }
    }
}

static void empty_directory(int directory, int depth) {
    while (remove_some(directory, depth)) continue;
}

static void remove_path(const char *path) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    empty_directory(fd, 0);
    close(fd);
    rmdir(path);
}

void tare_scratch_remove_pending(void) {
    int number = errno;
    for (size_t i = 0; i < PENDING_MOST; i++)
        if (atomic_load(&pending[i].state) == SLOT_PENDING) remove_path(pending[i].path);
    errno = number;
}

/* ---- what killed runs left ---- */

static void remove_if_stale(const char *parent, const char *name, tare_arena *arena) {
    struct stat info;
    const char *path = tare_arena_printf(arena, "%s/%s", parent, name);
    const int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0) remove_path(path);
    close(fd);
}

static void remove_stale(const char *parent, tare_arena *arena) {
    DIR *list = opendir(parent);
    if (!list) return;
    for (const struct dirent *e = readdir(list); e; e = readdir(list)) {
        const bool is_ours = strlen(e->d_name) == strlen(TEMPLATE) && !strncmp(e->d_name, PREFIX, strlen(PREFIX));
        if (is_ours) remove_if_stale(parent, e->d_name, arena);
    }
    closedir(list);
}

/* ---- making ---- */

static tare_status claim(size_t *slot, tare_error *err) {
    for (size_t i = 0; i < PENDING_MOST; i++) {
        int expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&pending[i].state, &expected, SLOT_CLAIMED)) continue;
        *slot = i;
        return TARE_OK;
    }
    return tare_fail(err, TARE_E_LIMIT, "%d temporary directories are in use already", PENDING_MOST);
}

/* False: another run took the new directory for stale, and removed it. */
static bool lock(tare_scratch *scratch, const char *path) {
    struct stat info;
    scratch->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (scratch->lock < 0) return errno != ENOENT;
    flock(scratch->lock, LOCK_EX);
    if (fstat(scratch->lock, &info) != 0 || info.st_nlink > 0) return true;
    close(scratch->lock);
    return false;
}

static tare_status make(tare_scratch *scratch, tare_error *err) {
    const char *set = getenv("TMPDIR"), *parent = set && *set ? set : "/tmp";
    char *path = pending[scratch->slot].path;
    if (strlen(parent) + sizeof "/" TEMPLATE > PATH_MOST)
        return tare_fail(err, TARE_E_LIMIT, "TMPDIR: a path of %zu bytes is too long", strlen(parent));
    remove_stale(parent, scratch->arena);
    const char *wanted = tare_arena_printf(scratch->arena, "%s/%s", parent, TEMPLATE);
    if (!wanted) return tare_fail_memory(err, 0);
    do {
        memcpy(path, wanted, strlen(wanted) + 1);
        if (!mkdtemp(path)) {
            tare_fail_errno(err, "mkdtemp");
            return tare_within(err, "%s (TMPDIR says where)", parent);
        }
    } while (!lock(scratch, path));
    atomic_store(&pending[scratch->slot].state, SLOT_PENDING);
    return TARE_OK;
}

tare_status tare_scratch_make(tare_scratch **out, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_scratch *scratch = arena ? tare_arena_alloc(arena, 1, sizeof *scratch) : NULL;
    tare_status status = scratch ? claim(&scratch->slot, err) : tare_fail_memory(err, sizeof *scratch);
    if (status == TARE_OK) {
        scratch->arena = arena;
        status = make(scratch, err);
        if (status != TARE_OK) atomic_store(&pending[scratch->slot].state, SLOT_FREE);
    }
    if (status == TARE_OK)
        *out = scratch;
    else
        tare_arena_free(arena);
    return status;
}

const char *tare_scratch_path(const tare_scratch *scratch) { return pending[scratch->slot].path; }

void tare_scratch_remove(tare_scratch *scratch) {
    if (!scratch) return;
    remove_path(pending[scratch->slot].path);
    if (scratch->lock >= 0) close(scratch->lock);
    atomic_store(&pending[scratch->slot].state, SLOT_FREE);
    tare_arena_free(scratch->arena);
}

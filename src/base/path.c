/* Directories: asking, making, listing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/calls.h"
#include "base/file.h"

bool tare_path_is_directory(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool tare_path_is_file(const char *path, uint64_t *size) {
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    *size = (uint64_t)info.st_size;
    return true;
}

bool tare_path_identify(const char *path, tare_file_id *id) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    *id = (tare_file_id){ .device = (uint64_t)info.st_dev, .inode = (uint64_t)info.st_ino };
    return true;
}

int tare_file_id_compare(const void *a, const void *b) {
    const tare_file_id *x = a, *y = b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

tare_status tare_path_make_directory(const char *path, tare_error *err) {
    if (mkdir(path, 0777) == 0) return TARE_OK;
    int number = errno;
    if (number == EEXIST && tare_path_is_directory(path)) return TARE_OK;
    errno = number;
    tare_fail_errno(err, "mkdir");
    return tare_within(err, "%s", path);
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

typedef TARE_VEC(const char *) name_list;

static tare_status collect(DIR *directory, tare_arena *arena, name_list *names, tare_error *err) {
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (entry == NULL) return errno == 0 ? TARE_OK : tare_fail_errno(err, "readdir");
        if (entry->d_name[0] == '.') continue;
        const char *name = tare_arena_strdup(arena, entry->d_name);
        if (name == NULL || !tare_vec_push(arena, names, name)) return tare_fail_memory(err, 0);
    }
}

tare_status tare_path_list(const char *path, tare_arena *arena, const char ***names, size_t *count, tare_error *err) {
    name_list list = { 0 };
    tare_status status;
    int fd = tare_call_open(TARE_AT_CWD, path, O_RDONLY | O_DIRECTORY, 0);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL) {
        status = tare_fail_errno(err, "open");
        if (fd >= 0) close(fd);
    } else {
        status = collect(directory, arena, &list, err);
        closedir(directory);
    }
    if (status != TARE_OK) return tare_within(err, "%s", path);
    if (list.count > 1) qsort(list.at, list.count, sizeof *list.at, by_bytes);
    *names = list.at;
    *count = list.count;
    return TARE_OK;
}

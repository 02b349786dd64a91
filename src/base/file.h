/* Files: mapped for reading, written whole or not at all. */
#ifndef TARE_BASE_FILE_H
#define TARE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

/* A file's bytes, mapped read-only and private. Only regular files are taken (TARE_E_IO otherwise, saying what it is);
 * an empty file gives size 0 and data non-NULL. */
typedef struct tare_file {
    const uint8_t *data;
    size_t size;
    uint64_t device, inode; /* tell whether two paths are one file */
    void *handle;
} tare_file;

/* A file that another program cuts short while it is mapped raises SIGBUS when it is read: the program installs a
 * handler for it. */
tare_status tare_file_open(tare_file *out, const char *path, tare_error *err);

/* Opens `location` below the directory of `beside` (a path to a file): relative, no "..", no symbolic link on the way,
 * and no hard link unless allowed; TARE_E_MALFORMED naming the location otherwise. For external data. */
enum { TARE_LOCATION_MAX = 4096 }; /* bytes of a location */
tare_status tare_file_open_beneath(tare_file *out, const char *beside, const char *location, bool allow_hardlink,
                                   tare_error *err);
void tare_file_close(tare_file *file); /* zeroed by it; closing a zeroed one is fine */
/* Before and after a part of a large file is read: nothing around it gets mapped with it (Linux maps whole folios of its
 * cache, up to 2 MiB), and the memory that it takes is given back. It is read again when it is wanted again. */
void tare_file_visit(const tare_file *file, size_t offset, size_t size);
void tare_file_let_go(const tare_file *file, size_t offset, size_t size);

/* Written beside its final name, synced, then renamed by commit: after a crash the old file or the new one is there,
 * whole. Errors are kept and told by the next call that can. At most 64 files are written at once. A final name that
 * is a directory, a link or a device is refused, and an existing file's mode is kept. */
typedef struct tare_writer tare_writer;
tare_status tare_writer_open(tare_writer **out, const char *path, tare_error *err);
tare_status tare_writer_write(tare_writer *writer, const void *bytes, size_t size, tare_error *err);
uint64_t tare_writer_offset(const tare_writer *writer);
/* Goes back to an earlier offset to patch bytes that were written already. */
tare_status tare_writer_patch(tare_writer *writer, uint64_t offset, const void *bytes, size_t size, tare_error *err);
/* Flushed and synced; the temporary's own path, so that it can be re-read before commit. Owned by the writer. */
tare_status tare_writer_sync(tare_writer *writer, const char **temporary_path, tare_error *err);
/* Renames and frees the writer, on error as well (then nothing is left behind). */
tare_status tare_writer_commit(tare_writer *writer, tare_error *err);
void tare_writer_abandon(tare_writer *writer); /* removes the temporary; NULL is fine */

/* For the handlers of SIGINT, SIGTERM, SIGHUP and SIGBUS: removes the temporaries of all writers, after which none can be
 * opened or committed. Async-signal-safe. The process must end then. */
void tare_writer_remove_pending(void);

/* A whole small file at once. */
tare_status tare_file_write(const char *path, const void *bytes, size_t size, tare_error *err);

/* Is it there, and is it a directory? */
bool tare_path_is_directory(const char *path);
/* Is it there, and is it a regular file? Its size is told then. */
bool tare_path_is_file(const char *path, uint64_t *size);
/* Which file is behind a path; false: none is there. */
typedef struct tare_file_id {
    uint64_t device, inode;
} tare_file_id;
bool tare_path_identify(const char *path, tare_file_id *id);
int tare_file_id_compare(const void *a, const void *b);                  /* for qsort and bsearch */
tare_status tare_path_make_directory(const char *path, tare_error *err); /* parents are not made; existing is fine */

/* The names in a directory without dot files, sorted by bytes. */
tare_status tare_path_list(const char *path, tare_arena *arena, const char ***names, size_t *count, tare_error *err);

/* For tests: the nth call of open, read, write, sync, rename, map from now fails with the errno `number`; 0 turns it off.
 * Returns how many calls were still to come before the failure set last time; 0: it has happened, or was off. */
uint64_t tare_file_fail_at(uint64_t nth, int number);

#endif

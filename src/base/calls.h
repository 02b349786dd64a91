/* System calls on files, through one place where tests make the Nth fail. Inside base/ only. Each sets errno and returns
 * as the call of its name does; interrupted ones are tried again. */
#ifndef TARE_BASE_CALLS_H
#define TARE_BASE_CALLS_H

#include <stddef.h>
#include <sys/types.h>

enum { TARE_AT_CWD = -100 }; /* AT_FDCWD */

int tare_call_open(int directory, const char *path, int flags, mode_t mode);
ssize_t tare_call_read(int fd, void *bytes, size_t size, off_t offset);
ssize_t tare_call_write(int fd, const void *bytes, size_t size, off_t offset);
int tare_call_sync(int fd);
int tare_call_rename(int directory, const char *from, const char *to);
void *tare_call_map(int fd, size_t size); /* read-only and private; NULL: it failed */

#endif

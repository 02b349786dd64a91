/* Notes and warnings on their way to the user: the library collects and hands them on, it never prints. */
#ifndef TARE_BASE_LOG_H
#define TARE_BASE_LOG_H

#include <stdint.h>
#include <tare/log.h>

/* One line in the style of errors: `node 'x' (Conv): what, got vs want`. A NULL log drops it. Thread safe. */
void tare_log_note(tare_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tare_log_warn(tare_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Tells how far a long job is; may be called from one thread at a time. Returns false when the user asked to stop. */
int tare_log_progress(tare_log *log, const char *job, uint64_t done, uint64_t total);

#endif

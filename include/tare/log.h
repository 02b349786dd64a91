/* What the library has to say while it works. */
#ifndef TARE_LOG_H
#define TARE_LOG_H

#include <stdint.h>
#include <tare/error.h>

TARE_C_BEGIN

typedef enum tare_log_level { TARE_LOG_NOTE, TARE_LOG_WARNING } tare_log_level;

/* Filled by the caller and lent to the functions that take it, which may get NULL for nobody; members may be NULL.
 * `line` gets one line without newline, never from two threads at once. `progress` is called at most some tens of times
 * a second with the job's name and done of total; it returns 0 to go on, anything else to stop (TARE_E_INTERRUPTED). */
typedef struct tare_log {
    void (*line)(void *context, tare_log_level level, const char *text);
    int (*progress)(void *context, const char *job, uint64_t done, uint64_t total);
    void *context;
} tare_log;

TARE_C_END

#endif

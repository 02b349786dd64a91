/* Failing: one function sets status and text together, one adds context on the way up. */
#ifndef TARE_BASE_STATUS_H
#define TARE_BASE_STATUS_H

#include <stddef.h>
#include <tare/error.h>

/* Sets both status and text, and returns status. Text: what is wrong with its numbers (got vs want), then what to
 * do if known; one line, no "failed to", no trailing period. err must not be NULL. */
#define tare_fail(err, status, ...) tare_failed(tare_fail_text(err, status, __VA_ARGS__), status)
tare_status tare_fail_text(tare_error *err, tare_status status, const char *format, ...) TARE_PRINTF(3, 4);
/* The status comes from the call's own line: so the compiler knows that it is not TARE_OK, and that what a function fills
 * only when it succeeds is not read after it failed. */
static inline tare_status tare_failed(tare_status told, tare_status status) {
    (void)told;
    return status;
}

/* Out of memory: TARE_E_LIMIT with the wanted size when it is known (0: not). */
#define tare_fail_memory(err, size) tare_failed(tare_fail_memory_text(err, size), TARE_E_LIMIT)
tare_status tare_fail_memory_text(tare_error *err, size_t size);

/* A failed system call: "open: No such file or directory"; uses errno. */
tare_status tare_fail_errno(tare_error *err, const char *call);

/* Puts "context: " before the text that is there and returns the status that is there. */
tare_status tare_within(tare_error *err, const char *format, ...) TARE_PRINTF(2, 3);

/* Leaves the caller with the status of a call that did not return TARE_OK. */
#define TARE_TRY(call)                                                                                                 \
    do {                                                                                                               \
        tare_status try_status_ = (call);                                                                              \
        if (try_status_ != TARE_OK) return try_status_;                                                                \
    } while (0)

#endif

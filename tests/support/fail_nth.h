/* Runs something with its 1st, 2nd, 3rd … allocation (or file call, or thread creation) failing until nothing is left to
 * fail, and checks each time that the failure came out with the right status, a text, and nothing left behind. */
#ifndef TARE_TESTS_FAIL_NTH_H
#define TARE_TESTS_FAIL_NTH_H

#include <errno.h>
#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/threads.h"
#include "support/support.h"

/* What is tried: does all of its work and frees all of it, whatever happens; returns the status. */
typedef tare_status test_trial(void *context, tare_error *err);

enum { TEST_FAIL_MAX = 1000000 };

static inline void test_check_trial(const char *what, uint64_t nth, tare_status got, tare_status wanted,
                                    const tare_error *err, size_t live) {
    if (got != wanted) fail_msg("%s %u failed: status %d (%s), not %d", what, (unsigned)nth, got, err->text, wanted);
    if (wanted != TARE_OK && err->text[0] == '\0') fail_msg("%s %u failed: no text", what, (unsigned)nth);
    if (tare_memory_live() != live) {
        fail_msg("%s %u failed: %zd bytes leak", what, (unsigned)nth, (ptrdiff_t)tare_memory_live() - (ptrdiff_t)live);
    }
}

/* Every allocation failing must give TARE_E_LIMIT. Returns how many allocations there are. */
static inline uint64_t test_fail_allocations(test_trial *trial, void *context) {
    size_t live = tare_memory_live();
    for (uint64_t nth = 1; nth < TEST_FAIL_MAX; nth++) {
        tare_error err = { 0 };
        tare_memory_fail_at(nth);
        tare_status status = trial(context, &err);
        bool has_failed = tare_memory_fail_at(0) == 0;
        test_check_trial("allocation", nth, status, has_failed ? TARE_E_LIMIT : TARE_OK, &err, live);
        if (!has_failed) return nth - 1;
    }
    fail_msg("more than %d allocations", (int)TEST_FAIL_MAX);
    return 0;
}

/* Every file call failing must give TARE_E_IO; `check` (may be NULL) looks after each trial at what is left on disk.
 * Returns how many calls there are. */
static inline uint64_t test_fail_file_calls(test_trial *trial, void *context, int number,
                                            void (*check)(void *context, bool has_failed)) {
    size_t live = tare_memory_live();
    for (uint64_t nth = 1; nth < TEST_FAIL_MAX; nth++) {
        tare_error err = { 0 };
        tare_file_fail_at(nth, number);
        tare_status status = trial(context, &err);
        bool has_failed = tare_file_fail_at(0, 0) == 0;
        bool is_error = has_failed && number != EINTR;
        test_check_trial("file call", nth, status, is_error ? TARE_E_IO : TARE_OK, &err, live);
        if (check != NULL) check(context, has_failed);
        if (!has_failed) return nth - 1;
    }
    fail_msg("more than %d file calls", (int)TEST_FAIL_MAX);
    return 0;
}

/* A thread that cannot be created must change nothing. Returns how many creations there are. */
static inline uint64_t test_fail_threads(test_trial *trial, void *context) {
    size_t live = tare_memory_live();
    for (uint64_t nth = 1; nth < TEST_FAIL_MAX; nth++) {
        tare_error err = { 0 };
        tare_pool_fail_at(nth);
        tare_status status = trial(context, &err);
        bool has_failed = tare_pool_fail_at(0) == 0;
        test_check_trial("thread creation", nth, status, TARE_OK, &err, live);
        if (!has_failed) return nth - 1;
    }
    fail_msg("more than %d thread creations", (int)TEST_FAIL_MAX);
    return 0;
}

#endif

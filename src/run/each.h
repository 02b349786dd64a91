/* Work over samples, one worker a thread: the loop that calibration, runs and comparisons share. */
#ifndef TARE_RUN_EACH_H
#define TARE_RUN_EACH_H

#include "base/threads.h"
#include "samples/samples.h"

/* Handles one sample with the state of one worker; two calls with the same state never run at once. */
typedef tare_status tare_each_fn(void *worker, const tare_sample *sample, tare_error *err);

typedef struct tare_each {
    const tare_samples *samples;
    const size_t *indexes; /* NULL: 0…count-1 */
    size_t count;
    tare_pool *pool;      /* NULL: the caller's thread */
    void *const *workers; /* tare_pool_size(pool) states */
    tare_each_fn *fn;
    const char *job; /* for progress: "calibrate" */
    tare_log *log;
} tare_each;

/* Samples are taken in order by whichever worker is free. Stops at the first failure; when several fail at once, the one
 * with the lowest index is told. TARE_E_INTERRUPTED when progress says so. */
tare_status tare_each_sample(const tare_each *each, tare_error *err);

#endif

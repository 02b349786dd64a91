/* One comparison at work: its samples, and the workers that run them. */
#ifndef TARE_COMPARE_PAIRS_H
#define TARE_COMPARE_PAIRS_H

#include "base/threads.h"
#include "compare/metrics.h"
#include "compare/side.h"
#include "samples/samples.h"

typedef struct tare_compare_item {
    const char *id;
    size_t index; /* in the samples */
} tare_compare_item;

/* Where a sample's tallies go until they are added. */
typedef struct tare_compare_slot {
    tare_status status;
    tare_error error;
    tare_arena *arena;
    tare_tally *tallies; /* by pair */
} tare_compare_slot;

typedef struct tare_compare_job tare_compare_job;

/* A tensor that waits for its partner. */
typedef struct tare_waiting {
    tare_tensor tensor; /* data NULL: nothing waits */
    int side;
} tare_waiting;

typedef struct tare_compare_end {
    struct tare_compare_worker *worker;
    int side;
    size_t arrived;            /* values shown, of the sample in hand */
    tare_session *session;     /* of a model */
    const tare_runner *runner; /* of a model that someone else runs; NULL */
    tare_npz *npz;             /* of a dump: the sample in hand */
    const tare_value **taps;
} tare_compare_end;

typedef struct tare_compare_worker {
    tare_compare_job *job;
    tare_compare_end end[2];
    tare_waiting *waiting; /* by pair */
    tare_codes_met *met;   /* by pair */
    tare_compare_slot *slot;
    tare_arena *arena, *sample; /* of the worker; of the sample in hand */
} tare_compare_worker;

struct tare_compare_job {
    tare_arena *arena;
    tare_side *side[2]; /* the second NULL: the local comparison, whose one session shows both */
    const tare_samples *samples;
    tare_feeding feeding[2]; /* of the sides that are run */
    tare_join *join;
    TARE_VEC(tare_compare_item) items;
    const tare_kernels *kernels;
    tare_pool *pool, *own_pool; /* that of the options, or its own */
    tare_constants *constants;  /* of all workers' sessions */
    tare_compare_worker *workers;
    size_t worker_count;
    tare_compare_slot *slots;
    size_t slot_count, batch_start;
    tare_total *totals;  /* by pair */
    tare_labels *labels; /* NULL: none; index i: of item i */
};

tare_status tare_compare_open_workers(tare_compare_job *job, const tare_compare_options *options, tare_error *err);
void tare_compare_close_workers(tare_compare_job *job); /* however far opening got */

/* Runs sample `index` of the batch into its slot; a tare_work. */
void tare_compare_sample(void *job, size_t index, size_t thread);

#endif

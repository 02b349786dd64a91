/* Work over samples, one worker a thread. */
#include "run/each.h"

#include <stdatomic.h>

typedef struct outcome {
    tare_status status;
    tare_error error;
    size_t index;
    tare_arena *arena; /* of the sample in hand */
    tare_arena_mark start;
} outcome;

typedef struct state {
    const tare_each *each;
    outcome *outcomes; /* one a thread */
    atomic_size_t done;
    atomic_bool stop, interrupted;
} state;

/* What a sample took is held for the next ones: fresh memory costs. */
static tare_status hold_room(outcome *o) {
    const size_t size = tare_arena_size(o->arena);
    tare_arena_release(o->arena, o->start);
    if (tare_arena_size(o->arena) == size) return TARE_OK;
    o->start = (tare_arena_mark){ .block = NULL };
    tare_arena_release(o->arena, o->start);
    if (!tare_arena_alloc_raw(o->arena, size, 1)) return tare_fail_memory(&o->error, size);
    o->start.block = tare_arena_get_mark(o->arena).block;
    tare_arena_release(o->arena, o->start);
    return TARE_OK;
}

static tare_status handle(const tare_each *each, size_t index, outcome *o, void *worker) {
    tare_sample sample;
    tare_status status = tare_samples_get(each->samples, index, o->arena, &sample, &o->error);
    if (status == TARE_OK) status = each->fn(worker, &sample, &o->error);
    return status == TARE_OK ? hold_room(o) : status;
}

/* By the caller's thread alone, which is the pool's thread 0: beginning and end are told whoever did the work. */
static void tell(state *s, size_t done) {
    if (tare_log_progress(s->each->log, s->each->job, done, s->each->count)) return;
    atomic_store(&s->interrupted, true);
    atomic_store(&s->stop, true);
}

static void work(void *context, size_t i, size_t thread) {
    state *s = context;
    outcome *o = &s->outcomes[thread];
    if (atomic_load(&s->stop)) return;
    const size_t index = s->each->indexes ? s->each->indexes[i] : i;
    tare_status status = handle(s->each, index, o, s->each->workers[thread]);
    if (status != TARE_OK) {
        o->status = status, o->index = index;
        atomic_store(&s->stop, true);
        return;
    }
    const size_t done = atomic_fetch_add(&s->done, 1) + 1;
    if (thread == 0) tell(s, done);
}

static tare_status first_failure(const state *s, size_t threads, tare_error *err) {
    const outcome *first = NULL;
    for (size_t i = 0; i < threads; i++) {
        const outcome *o = &s->outcomes[i];
        if (o->status != TARE_OK && (!first || o->index < first->index)) first = o;
    }
    if (first) {
        *err = first->error;
        return first->status;
    }
    return atomic_load(&s->interrupted) ? tare_fail(err, TARE_E_INTERRUPTED, "%s: stopped", s->each->job) : TARE_OK;
}

tare_status tare_each_sample(const tare_each *each, tare_error *err) {
    const size_t threads = tare_pool_size(each->pool);
    tare_arena *arena = tare_arena_new();
    state s = { .each = each };
    s.outcomes = arena ? tare_arena_alloc(arena, threads, sizeof *s.outcomes) : NULL;
    tare_status status = s.outcomes ? TARE_OK : tare_fail_memory(err, threads * sizeof *s.outcomes);
    for (size_t i = 0; status == TARE_OK && i < threads; i++)
        if (!(s.outcomes[i].arena = tare_arena_new())) status = tare_fail_memory(err, 0);
    if (status == TARE_OK) {
        tell(&s, 0);
        tare_pool_run(each->pool, each->count, work, &s);
        tell(&s, each->count);
        status = first_failure(&s, threads, err);
    }
    for (size_t i = 0; s.outcomes && i < threads; i++) tare_arena_free(s.outcomes[i].arena);
    tare_arena_free(arena);
    return status;
}

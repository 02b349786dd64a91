/* The pool. A job is open while its indices are handed out; a worker that wakes in time joins it, one that sleeps on is
 * not waited for. So a thread that the machine does not schedule delays nobody. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/countdown.h"
#include "base/memory.h"

enum {
    THREADS_MAX = 256,
    STACK_SIZE = 1024 * 1024, /* the libraries called from work need far less */
    SPINS = 1000              /* some 20 microseconds: the gap between two nodes of a graph */
};

typedef struct job {
    tare_work *work;
    void *context;
    size_t count;
} job;

struct tare_pool {
    size_t size;          /* threads, the caller's among them */
    bool may_spin;        /* each thread has a processor to itself */
    pthread_t *threads;   /* size - 1 of them */
    pthread_mutex_t lock; /* guards what follows, as far as it is not atomic */
    pthread_cond_t opened, left;
    bool is_open, is_stopping;
    job job;
    atomic_size_t generation; /* of jobs; written under the lock */
    atomic_size_t joined;     /* workers inside the job; raised under the lock */
    atomic_size_t next;       /* index to be handed out */
};

typedef struct worker {
    tare_pool *pool;
    size_t thread;
} worker;

static tare_countdown creations;

uint64_t tare_pool_fail_at(uint64_t nth) { return tare_countdown_set(&creations, nth); }

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Whole processors that the control group grants (cgroup v2: "quota period" or "max period"); SIZE_MAX: no limit. */
static size_t granted(void) {
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (file == NULL) return SIZE_MAX;
    unsigned long quota, period;
    int got = fscanf(file, "%lu %lu", &quota, &period);
    fclose(file);
    if (got != 2 || period == 0) return SIZE_MAX;
    return quota < period ? 1 : quota / period;
}

static size_t processors(void) {
    size_t count = 1;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        count = (size_t)CPU_COUNT(&set);
    } else {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        if (online > 0) count = (size_t)online;
    }
    size_t limit = granted();
    return count < limit ? count : limit;
}

static void drain(tare_pool *pool, const job *work, size_t thread) {
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= work->count) return;
        work->work(work->context, index, thread);
    }
}

/* Joins the next job, in its number; false: the pool is being freed. */
static bool join(tare_pool *pool, size_t *seen, job *work) {
    for (int i = 0; pool->may_spin && i < SPINS && atomic_load(&pool->generation) == *seen; i++) relax();
    pthread_mutex_lock(&pool->lock);
    while (!pool->is_stopping && (!pool->is_open || atomic_load(&pool->generation) == *seen)) {
        pthread_cond_wait(&pool->opened, &pool->lock);
    }
    bool is_joining = !pool->is_stopping;
    if (is_joining) {
        *seen = atomic_load(&pool->generation);
        *work = pool->job;
        atomic_fetch_add(&pool->joined, 1);
    }
    pthread_mutex_unlock(&pool->lock);
    return is_joining;
}

static void leave(tare_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    if (atomic_fetch_sub(&pool->joined, 1) == 1) pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->lock);
}

static void *live(void *argument) {
    worker self = *(worker *)argument;
    tare_memory_free(argument);
    size_t seen = 0;
    job work;
    while (join(self.pool, &seen, &work)) {
        drain(self.pool, &work, self.thread);
        leave(self.pool);
    }
    return NULL;
}

static bool start(tare_pool *pool, size_t thread) {
    if (tare_countdown_hits(&creations)) return false;
    worker *self = tare_memory_new(sizeof *self);
    if (self == NULL) return false;
    *self = (worker){ .pool = pool, .thread = thread };
    pthread_attr_t attributes;
    bool is_started = pthread_attr_init(&attributes) == 0;
    if (is_started) {
        pthread_attr_setstacksize(&attributes, STACK_SIZE);
        is_started = pthread_create(&pool->threads[thread - 1], &attributes, live, self) == 0;
        pthread_attr_destroy(&attributes);
    }
    if (!is_started) tare_memory_free(self);
    return is_started;
}

/* Signals go to the caller's threads: the workers are made with all of them blocked. */
static void start_all(tare_pool *pool, size_t count) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->size < count && start(pool, pool->size)) pool->size++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

tare_pool *tare_pool_new(size_t count) {
    size_t available = processors();
    if (count == 0) count = available;
    if (count > THREADS_MAX) count = THREADS_MAX;
    tare_pool *pool = tare_memory_new(sizeof *pool);
    pthread_t *threads = tare_memory_new(count * sizeof *threads);
    if (pool == NULL || threads == NULL) {
        tare_memory_free(threads);
        tare_memory_free(pool);
        return NULL;
    }
    *pool = (tare_pool){ .size = 1, .may_spin = count <= available, .threads = threads };
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->left, NULL);
    start_all(pool, count);
    return pool;
}

void tare_pool_free(tare_pool *pool) {
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->lock);
    pool->is_stopping = true;
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i + 1 < pool->size; i++) pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->opened);
    pthread_mutex_destroy(&pool->lock);
    tare_memory_free(pool->threads);
    tare_memory_free(pool);
}

size_t tare_pool_size(const tare_pool *pool) { return pool == NULL ? 1 : pool->size; }

static void open_job(tare_pool *pool, const job *work) {
    pthread_mutex_lock(&pool->lock);
    pool->job = *work;
    pool->is_open = true;
    atomic_store(&pool->next, 0);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->lock);
}

/* No index is left: nobody joins any more, and those who did are waited for. */
static void close_job(tare_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    pool->is_open = false;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; pool->may_spin && i < SPINS && atomic_load(&pool->joined) != 0; i++) relax();
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->joined) != 0) pthread_cond_wait(&pool->left, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void tare_pool_run(tare_pool *pool, size_t count, tare_work *work, void *context) {
    if (tare_pool_size(pool) == 1 || count <= 1) {
        for (size_t i = 0; i < count; i++) work(context, i, 0);
        return;
    }
    job whole = { .work = work, .context = context, .count = count };
    open_job(pool, &whole);
    drain(pool, &whole, 0);
    close_job(pool);
}

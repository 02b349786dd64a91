/* A small pool of threads: mutex and condition, a short spin, fewer threads when one cannot be made. What is computed
 * never depends on how many there are: work is cut by shape, not by thread. */
#ifndef TARE_BASE_THREADS_H
#define TARE_BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

typedef struct tare_pool tare_pool;

/* `count` threads in all, the caller's own among them; 0: as many as the process may use. Never fails for want of
 * threads (it has fewer then); NULL only for want of memory. */
tare_pool *tare_pool_new(size_t count);
void tare_pool_free(tare_pool *pool);         /* NULL is fine */
size_t tare_pool_size(const tare_pool *pool); /* a NULL pool has 1 */

/* Calls work(context, i, thread) for each i in 0…count-1, in any order, thread < tare_pool_size; returns when all are
 * done. A NULL pool runs them in order on the caller. Not to be called from within work. */
typedef void tare_work(void *context, size_t index, size_t thread);
void tare_pool_run(tare_pool *pool, size_t count, tare_work *work, void *context);

/* For tests: the nth thread creation from now fails; 0 turns it off. Returns what was left, as tare_memory_fail_at. */
uint64_t tare_pool_fail_at(uint64_t nth);

#endif

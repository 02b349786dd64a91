/* The only callers of malloc. Each block carries its size in a header of one cache line, so that what is live can be
 * counted and capped; counters are atomic, so any thread may call. */
#include "base/memory.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/countdown.h"
#include "base/size.h"

enum { HEADER = 64 }; /* also the alignment: one cache line, one AVX-512 register */

static atomic_size_t cap, live, peak;
static tare_countdown allocations;

static bool take(size_t size) {
    size_t before = atomic_load(&live);
    size_t after;
    do {
        size_t limit = atomic_load_explicit(&cap, memory_order_relaxed);
        if (!tare_size_add(before, size, &after) || (limit != 0 && after > limit)) return false;
    } while (!atomic_compare_exchange_weak(&live, &before, after));
    return true;
}

static void note_peak(void) {
    size_t now = atomic_load(&live), most = atomic_load_explicit(&peak, memory_order_relaxed);
    while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) continue;
}

void *tare_memory_new(size_t size) {
    size_t whole;
    if (tare_countdown_hits(&allocations) || !tare_size_add(size, HEADER, &whole) || whole > PTRDIFF_MAX || !take(size))
        return NULL;
    void *block;
    if (posix_memalign(&block, HEADER, whole) != 0) {
        atomic_fetch_sub(&live, size);
        return NULL;
    }
    note_peak();
    *(size_t *)block = size;
    return (char *)block + HEADER;
}

void tare_memory_free(void *memory) {
    if (memory == NULL) return;
    void *block = (char *)memory - HEADER;
    atomic_fetch_sub(&live, *(size_t *)block);
    free(block);
}

void tare_memory_set_cap(size_t bytes) { atomic_store(&cap, bytes); }
size_t tare_memory_live(void) { return atomic_load(&live); }
size_t tare_memory_peak(void) { return atomic_load(&peak); }
uint64_t tare_memory_fail_at(uint64_t nth) { return tare_countdown_set(&allocations, nth); }

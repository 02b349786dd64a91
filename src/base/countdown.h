/* What makes the Nth call of something fail, for tests. Inside base/ only. */
#ifndef TARE_BASE_COUNTDOWN_H
#define TARE_BASE_COUNTDOWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef atomic_uint_least64_t tare_countdown; /* calls until one fails; 0: off */

/* Counts this call; true: it is the one. */
static inline bool tare_countdown_hits(tare_countdown *countdown) {
    uint64_t left = atomic_load_explicit(countdown, memory_order_relaxed);
    while (left != 0) {
        if (atomic_compare_exchange_weak(countdown, &left, left - 1)) return left == 1;
    }
    return false;
}

/* Sets it, and returns what was left. */
static inline uint64_t tare_countdown_set(tare_countdown *countdown, uint64_t nth) {
    return atomic_exchange(countdown, nth);
}

#endif

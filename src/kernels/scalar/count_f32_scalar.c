/* Counts of numbers by their upper 16 bits, and the finite extremes. */
#include "kernels/variants.h"

#include <math.h>
#include <string.h>

void tare_count_f32_scalar(tare_counts *counts, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, sizeof bits);
        counts->tables[bits >> 16]++;
        bits &= 0x7fffffff;
        if (bits != 0 && bits < counts->low) counts->low = bits;
        if (bits > counts->high) counts->high = bits;
        if (!isfinite(from[i])) continue;
        if (from[i] < counts->min) counts->min = from[i];
        if (from[i] > counts->max) counts->max = from[i];
    }
    counts->min += 0.0f; /* which zero came first is not kept */
    counts->max += 0.0f;
}

bool tare_fold_counts_scalar(uint64_t *bins, uint32_t *counters, size_t used) {
    bool any = false;
    for (size_t t = 0; t < used; t++, counters += TARE_COUNT_STRIDE)
        for (size_t i = 0; i < TARE_COUNT_PAGE; i++) {
            any |= counters[i] > 0;
            bins[i] += counters[i];
            counters[i] = 0;
        }
    return any;
}

/* Template: counts of numbers by their upper 16 bits, and the finite extremes, in the words of vector.inc.h.
 *
 * Equal numbers in a row (zeros after a Relu) would each wait for the store before: four tables take turns. */
#include <math.h>
#include <string.h>

enum {
    SMALL = 1024,         /* numbers that are not worth a sweep of four tables */
    INFINITE = 0x7f800000 /* bits */
};

typedef struct extremes {
    v min, max;
    vi low, high; /* of the bits without sign: the least less 1 (so that zero is the highest), the greatest */
} extremes;

INLINE void look(extremes *e, v x) {
    vi bits = vi_and(v_bits(x), vi_set(0x7fffffff));
    vm finite = vi_less_unsigned(bits, vi_set(INFINITE));
    e->min = v_less(e->min, v_select(finite, x, v_set(INFINITY)));
    e->max = v_greater(e->max, v_select(finite, x, v_set(-INFINITY)));
    e->low = vi_min_unsigned(e->low, vi_add(bits, vi_set(0xffffffff)));
    e->high = vi_max_unsigned(e->high, bits);
}

static void close(tare_counts *counts, const extremes *e) {
    float min[LANES], max[LANES];
    uint32_t low[LANES], high[LANES];
    v_store(min, e->min);
    v_store(max, e->max);
    vi_store(low, e->low);
    vi_store(high, e->high);
    for (size_t i = 0; i < LANES; i++) {
        if (min[i] < counts->min) counts->min = min[i];
        if (max[i] > counts->max) counts->max = max[i];
        if (low[i] < low[0]) low[0] = low[i];
        if (high[i] > high[0]) high[0] = high[i];
    }
    counts->min += 0.0f; /* which zero came first is not kept */
    counts->max += 0.0f;
    if (low[0] + 1 < counts->low && high[0] > 0) counts->low = low[0] + 1;
    if (high[0] > counts->high) counts->high = high[0];
}

static void count_few(tare_counts *counts, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, sizeof bits);
        counts->tables[bits >> 16]++;
    }
}

INLINE void count_four(uint32_t *tables, const float *from) {
    uint64_t two[2];
    memcpy(two, from, sizeof two);
    tables[two[0] >> 16 & 0xffff]++;
    tables[(two[0] >> 48) + TARE_COUNT_STRIDE]++;
    tables[(two[1] >> 16 & 0xffff) + 2 * TARE_COUNT_STRIDE]++;
    tables[(two[1] >> 48) + 3 * TARE_COUNT_STRIDE]++;
}

void VARIANT(count_f32)(tare_counts *counts, const float *from, size_t count) {
    extremes e = { v_set(INFINITY), v_set(-INFINITY), vi_set(0xffffffff), vi_set(0) };
    const bool in_turns = count >= SMALL;
    if (in_turns) counts->used = TARE_COUNT_TABLES;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        look(&e, v_load(from + i));
        if (in_turns)
            for (size_t j = 0; j < LANES; j += 4) count_four(counts->tables, from + i + j);
    }
    if (i < count) look(&e, v_load_tail(from + i, count - i, from[i]));
    const size_t done = in_turns ? i : 0;
    count_few(counts, from + done, count - done);
    close(counts, &e);
}

/* Many of a wide range's counters are zero: a page is not touched where they are. */
bool VARIANT(fold_counts)(uint64_t *restrict bins, uint32_t *restrict counters, size_t used) {
    bool any = false;
    for (size_t at = 0; at < TARE_COUNT_PAGE; at += LANES) {
        vi sum = vi_load(counters + at);
        for (size_t t = 1; t < used; t++) sum = vi_add(sum, vi_load(counters + t * TARE_COUNT_STRIDE + at));
        if (!vi_any(sum)) continue;
        any = true;
        for (size_t t = 0; t < used; t++) vi_store(counters + t * TARE_COUNT_STRIDE + at, vi_set(0));
        uint32_t sums[LANES];
        vi_store(sums, sum);
        for (size_t i = 0; i < LANES; i++) bins[at + i] += sums[i];
    }
    return any;
}

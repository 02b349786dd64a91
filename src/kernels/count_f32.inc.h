/* Template: counts of numbers by their upper 16 bits, and the finite extremes, in the words of vector.inc.h.
 *
 * Equal numbers in a row (zeros after a Relu) would each wait for the store before: four tables take turns. They are
 * added to the bins at the end, over the binades that were met. */
#include <math.h>
#include <string.h>

enum {
    PAGE_BITS = 7,        /* of a bin's index: the mantissa's */
    SMALL = 1024,         /* numbers that are not worth the tables' sweep */
    CHUNK = 1u << 30,     /* numbers whose counts fit the tables' 32 bits */
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

static void fold_page(uint64_t *restrict bins, uint32_t *restrict tables, size_t first, size_t count) {
    uint32_t *restrict turn[TARE_COUNT_TABLES];
    for (size_t t = 0; t < TARE_COUNT_TABLES; t++) turn[t] = tables + t * TARE_COUNT_STRIDE + first;
    for (size_t bin = 0; bin < count; bin++)
        bins[first + bin] += turn[0][bin] + turn[1][bin] + turn[2][bin] + turn[3][bin]; /* at most CHUNK */
    for (size_t t = 0; t < TARE_COUNT_TABLES; t++) memset(turn[t], 0, count * sizeof *turn[t]);
}

/* Zeros are not among `low` and `high`: their two bins are taken by themselves, then the binades, of both signs. */
static void fold(tare_counts *counts, uint32_t low, uint32_t high) {
    static const size_t signs[] = { 0, TARE_COUNT_BINS / 2 };
    for (size_t s = 0; s < 2; s++) {
        fold_page(counts->bins, counts->tables, signs[s], 1);
        for (size_t binade = low >> 23; high > 0 && binade <= high >> 23; binade++)
            fold_page(counts->bins, counts->tables, signs[s] + (binade << PAGE_BITS), (size_t)1 << PAGE_BITS);
    }
}

static void close(tare_counts *counts, const extremes *e, bool tables) {
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
    if (tables) fold(counts, low[0] + 1, high[0]);
}

static void count_few(tare_counts *counts, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, from + i, sizeof bits);
        counts->bins[bits >> 16]++;
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

static void count_chunk(tare_counts *counts, const float *from, size_t count) {
    extremes e = { v_set(INFINITY), v_set(-INFINITY), vi_set(0xffffffff), vi_set(0) };
    bool tables = count >= SMALL;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        look(&e, v_load(from + i));
        if (tables)
            for (size_t j = 0; j < LANES; j += 4) count_four(counts->tables, from + i + j);
    }
    if (i < count) look(&e, v_load_tail(from + i, count - i, from[i]));
    if (tables)
        count_few(counts, from + i, count - i);
    else
        count_few(counts, from, count);
    close(counts, &e, tables);
}

void VARIANT(count_f32)(tare_counts *counts, const float *from, size_t count) {
    for (; count > 0; count -= count < CHUNK ? count : CHUNK, from += CHUNK)
        count_chunk(counts, from, count < CHUNK ? count : CHUNK);
}

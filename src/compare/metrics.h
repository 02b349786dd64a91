/* Sums behind the metrics: of one value on one sample, and of many samples. */
#ifndef TARE_COMPARE_METRICS_H
#define TARE_COMPARE_METRICS_H

#include "compare/compare.h"

typedef struct tare_sums {
    double aa, bb, ab, dd, ad, max; /* Σa² Σb² Σab Σd² Σ|d| max|d| */
} tare_sums;

/* Of one value on one sample. Zeroed at first; its array serves the next sample again. */
typedef struct tare_tally {
    bool is_set;
    uint64_t count, nonfinite;
    tare_sums all;
    uint64_t places, same;       /* top-1 */
    tare_hits hits[2];           /* by labels, of each side */
    bool is_class;               /* by its shape: one number a class */
    uint64_t rounded, low, high; /* numbers before rounding, those beyond the codes */
    float seen_min, seen_max;    /* when any was rounded */
    size_t channels;             /* along dimension 1; 1 when there is none */
    size_t capacity;
    tare_sums *channel;
} tare_tally;

typedef struct tare_channel_total {
    double aa, dd;
} tare_channel_total;

/* Of many samples, added in the order of ids. Zeroed at first. */
typedef struct tare_total {
    uint64_t samples, count, nonfinite, places, same, rounded, low, high;
    uint64_t classes; /* samples whose shape is that of classes */
    float seen_min, seen_max;
    tare_hits hits[2];
    double aa, bb, dd, max;
    double cosines, norms, l1s, l2s; /* sums over samples */
    double cosine_worst, sqnr_worst;
    const char *worst_sample;
    size_t channels; /* 1: none, or not the same in every sample */
    tare_channel_total *channel;
} tare_total;

/* Which codes were met: a bit each, of at most 2^16. */
typedef struct tare_codes_met {
    const tare_quant *quant; /* NULL: not quantized */
    uint64_t *bits;
} tare_codes_met;

void tare_tally_clear(tare_tally *tally);
/* Sets the tally from two tensors of the same shape. Its array is on the arena. */
tare_status tare_tally_set(tare_tally *tally, const tare_tensor *a, const tare_tensor *b, bool wants_top1,
                           tare_arena *arena, tare_error *err);
/* Adds what rounding did to the numbers of b: which codes were met, and how many were beyond them. before may be NULL. */
void tare_tally_codes(tare_tally *tally, tare_codes_met *met, const tare_tensor *b, const tare_tensor *before);

tare_status tare_total_add(tare_total *total, const tare_tally *tally, const char *sample, tare_arena *arena,
                           tare_error *err);
void tare_total_finish(const tare_total *total, const tare_codes_met *met, tare_metrics *metrics);

uint64_t tare_codes_count(const tare_quant *quant); /* how many there are */
/* Words of 64 bits that hold a bit for each code. */
#define TARE_CODES_WORDS(quant) ((size_t)1 << (tare_dtype_size((quant)->code) == 1 ? 2 : 10))

/* 10 log10(signal / noise); +inf when there is no noise, -inf when there is but no signal. */
double tare_sqnr_db(double signal, double noise);

#endif

/* A float model on its way to codes: what the parts of that flow share. */
#ifndef TARE_API_QUANTIZING_H
#define TARE_API_QUANTIZING_H

#include "report/quantize.h"

typedef struct tare_quantizing {
    tare_arena *arena;
    const tare_model *model;     /* float, optimized */
    tare_model *marked;          /* a copy, for those who set marks */
    const tare_samples *samples; /* NULL: none were given */
    const tare_samples *holdout; /* to measure on; NULL: on samples that are kept out */
    const tare_ranges *ranges;   /* NULL: from the samples */
    tare_quantize_options options;
    tare_calibrate_options calibrate;
    tare_quantized *said; /* what a report will tell; NULL: none is wanted, so nothing is measured */
    tare_log *log;
} tare_quantizing;

/* Scales for a copy of the model, and codes; `calibrated`: as it was in between, sharing numbers with *out; it may be there
 * beside an error. fates, log and calibrated may be NULL. */
tare_status tare_quantizing_copy(const tare_quantizing *q, const tare_ranges *ranges, tare_fates *fates, tare_log *log,
                                 tare_model **out, tare_model **calibrated, tare_error *err);
/* For method auto: finds the ranges that do least harm on some of these samples; `held_out`: what was counted on them. */
tare_status tare_quantizing_try(tare_quantizing *q, const tare_ranges *ranges, const tare_ranges *held_out,
                                const size_t *indexes, size_t count, tare_error *err);

#endif

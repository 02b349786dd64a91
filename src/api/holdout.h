/* What quantizing loses, measured on samples that ranges do not come from. */
#ifndef TARE_API_HOLDOUT_H
#define TARE_API_HOLDOUT_H

#include "api/quantizing.h"

typedef TARE_VEC(size_t) tare_indexes;

/* The samples, by id. Every fifth is held out; of method auto, which tries ranges on samples, every second of those serves
 * for that, so that none is measured on which something was chosen. */
typedef struct tare_parts {
    tare_indexes rest, tried, measured, unmeasured; /* with fewer than 10 samples all are `rest` */
} tare_parts;
tare_status tare_parts_divide(tare_parts *parts, const tare_quantizing *q, tare_error *err);

/* Calibrates on all but the held-out samples, quantizes by that, measures the loss on them, then adds their ranges: the
 * same as if all had been counted at once. A sample is run in float once, for both. */
tare_status tare_holdout_calibrate(tare_quantizing *q, const tare_parts *parts, tare_ranges **out, tare_error *err);
/* Measures a quantized model on some of the samples; NULL: on all. */
tare_status tare_measure(tare_quantizing *q, const tare_model *quantized, const tare_samples *samples,
                         const tare_indexes *some, tare_measured_on on, tare_error *err);

#endif

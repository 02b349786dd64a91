/* What came out of a run, in figures: of one output on one sample, then of all samples in the order of their ids. */
#ifndef TARE_API_SEEN_H
#define TARE_API_SEEN_H

#include "report/flows.h"

/* Zeroed at first. */
typedef struct tare_seen {
    bool is_set;
    tare_dtype dtype;
    tare_shape shape;
    uint64_t count, nonfinite;
    double min, max, sum; /* of the finite ones */
    tare_ran_class top[TARE_RAN_TOP];
    size_t top_count; /* 0: no vector of classes */
} tare_seen;

void tare_seen_look(tare_seen *seen, const tare_value *value, const tare_tensor *tensor);
/* seen[i * stride]: of sample i. */
tare_status tare_seen_total(tare_ran_output *out, const tare_value *value, const tare_seen *seen, size_t samples,
                            size_t stride, tare_error *err);

#endif

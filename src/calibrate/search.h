/* The search for the range that costs least, whatever the cost: of methods mse and entropy. Internal to the room. */
#ifndef TARE_CALIBRATE_SEARCH_H
#define TARE_CALIBRATE_SEARCH_H

#include <stdbool.h>

/* What a candidate costs. One that costs more than `enough` need not be added up to its end. INFINITY: so does every range
 * within it. */
typedef double tare_range_cost(const void *context, float lo, float hi, double enough);

typedef struct tare_search {
    tare_range_cost *cost;
    const void *context;
    float low, high;   /* no candidate reaches further: what was seen, and zero */
    bool is_symmetric; /* codes have one reach for both ends */
    float lo, hi;      /* the best so far */
    double least;      /* what it costs */
} tare_search;

/* Begins with all that was seen. */
void tare_search_begin(tare_search *search);
/* Far and coarse: both ends as one reach, then each end alone until nothing improves. A coarse cost will do. */
void tare_search_sweep(tare_search *search);
/* Near and fine: around the best. */
void tare_search_refine(tare_search *search);
/* Looks at one more; false: it and all within it are out of the question. */
bool tare_search_try(tare_search *search, float lo, float hi);

#endif

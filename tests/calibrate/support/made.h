/* Ranges whose bins hold exactly what a distribution says, without chance. */
#ifndef TARE_TESTS_MADE_H
#define TARE_TESTS_MADE_H

#include "calibrate/range.h"

typedef struct made {
    tare_range range;
    uint64_t pages[TARE_RANGE_BINADES][TARE_RANGE_BINS];
} made;

typedef double made_cumulative(double x); /* the share of numbers below x */

static const double made_numbers = 1e13;

made *made_new(void); /* free() it */
void made_put(made *m, float value, uint64_t count);
/* The part of the distribution that lies within lo…hi. */
made *made_of(made_cumulative *below, float lo, float hi);

double made_gauss(double x);
double made_laplace(double x);

#endif

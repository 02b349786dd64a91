/* What is provable about the numbers of a value from the ops that make it, whatever the data. */
#ifndef TARE_PASSES_RANGE_H
#define TARE_PASSES_RANGE_H

#include "graph/graph.h"

/* Every number of the value lies in lo…hi (-inf and +inf: nothing is known), NaN apart. Quantization is not looked at: the
 * float graph must hold it. */
void tare_range_of(const tare_value *value, double *lo, double *hi);

#endif

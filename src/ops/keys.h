/* Sort keys: numbers of any type as u64 in the same order, so that one loop ranks them all. */
#ifndef TARE_OPS_KEYS_H
#define TARE_OPS_KEYS_H

#include "graph/graph.h"

/* keys[i] stands for element at + i * step: greater numbers have greater keys, equal ones (-0 and +0 too) equal keys, NaN
 * one above all (as numpy sorts it). Any real type and bool. */
void tare_keys_load(uint64_t *keys, tare_dtype dtype, const void *data, int64_t at, int64_t step, int64_t count);

#endif

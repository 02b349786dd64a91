/* A model whose open dimensions are taken as 1, to tell what depends on sizes: multiply-accumulates, memory. */
#ifndef TARE_API_SIZED_H
#define TARE_API_SIZED_H

#include "base/log.h"
#include "graph/graph.h"

typedef struct tare_sized {
    tare_arena *arena;
    tare_model *model;    /* a copy with those shapes, inferred; NULL: they contradict each other somewhere */
    tare_tensor **inputs; /* of zeros, in the order of the graph's inputs; NULL: an overridable initializer */
    bool is_guess;        /* a dimension was open */
} tare_sized;

tare_status tare_sized_open(tare_sized *sized, const tare_model *model, tare_log *log, tare_error *err);
void tare_sized_close(tare_sized *sized); /* zeroed is fine */

#endif

/* Pad nodes that only widen the spatial border, as what Conv and pools have themselves. */
#ifndef TARE_PASSES_PADS_H
#define TARE_PASSES_PADS_H

#include "graph/graph.h"

enum { TARE_PADS_MAX = 2 * (TARE_RANK_MAX - 2) };

typedef struct tare_pads {
    size_t spatial;                /* dimensions behind batch and channels */
    int64_t around[TARE_PADS_MAX]; /* all begins, then all ends */
    double value;
} tare_pads;

/* A Pad in constant mode that adds to spatial dimensions alone, by constant amounts, never cutting. False otherwise. */
bool tare_pads_read(const tare_node *pad, tare_pads *out);

/* May the reader see the Pad's input in place of its output: nobody else reads that, and quantization stays? */
bool tare_pads_can_drop(const tare_node *pad);

/* Takes the Pad out: the reader gets its input, and attribute pads grown by it. */
tare_status tare_pads_drop(tare_node *pad, tare_node *reader, const tare_pads *pads, tare_error *err);

#endif

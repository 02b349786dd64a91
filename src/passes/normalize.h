/* The two steps that every model goes through when it is read. */
#ifndef TARE_PASSES_NORMALIZE_H
#define TARE_PASSES_NORMALIZE_H

#include "passes/pass.h"

/* Infers the graph in order, rewriting old forms by op->upgrade as it goes: a form may need the shapes of what it
 * reads. Bodies with it. */
tare_status tare_upgrade_graph(tare_graph *graph, tare_error *err);

/* Absorbs QuantizeLinear and DequantizeLinear into values, where nothing is lost by it. Checks all scales. */
tare_status tare_absorb_qdq(tare_graph *graph, const tare_normalize_options *options, tare_log *log, tare_error *err);

#endif

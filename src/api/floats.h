/* The float numbers of weights that a quantized model has as codes, taken from the model that it was made of. */
#ifndef TARE_API_FLOATS_H
#define TARE_API_FLOATS_H

#include "graph/graph.h"

/* The node's constants of codes become those of `real`, its float form, where they are the same but for rounding.
 * keeps_quant: they stay quantized, as not rounded yet; else they are float. The numbers are shared with real's model. */
tare_status tare_floats_restore(tare_node *node, const tare_node *real, bool keeps_quant, tare_error *err);

#endif

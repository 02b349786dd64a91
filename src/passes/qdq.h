/* QuantizeLinear and DequantizeLinear nodes and their scales, made constant and checked. */
#ifndef TARE_PASSES_QDQ_H
#define TARE_PASSES_QDQ_H

#include "passes/normalize.h"

/* Scales and zero points that are made by Identity, Cast and the like of constants become constants. */
tare_status tare_qdq_settle(tare_node *node, tare_error *err);

/* Checks the scales of a node, when they are constant: TARE_E_MALFORMED for one that is 0, negative, infinite or NaN. With
 * options->repair_scales one that does nothing becomes 1, in a new constant, with a warning. */
tare_status tare_qdq_check(tare_node *node, const tare_normalize_options *options, tare_log *log, tare_error *err);

#endif

/* Steps of rewriting a node to its canonical form (tare_op.upgrade). The node itself stays, under its own name, and
 * becomes another op; nodes are put before and after it. */
#ifndef TARE_OPS_UPGRADE_H
#define TARE_OPS_UPGRADE_H

#include "ops/op.h"

/* A new node before `before` with one new output, whose name is made of `base`. */
tare_status tare_insert_node(tare_node *before, const tare_op *op, const char *base, tare_value *const *inputs,
                             int input_count, tare_value **out, tare_node **added, tare_error *err);

/* A new node after `node` that makes output 0 from what the node made until now, its input 0, and from the other inputs
 * given from 1 on (inputs[0] is filled in here). The node's own output gets a new name. */
tare_status tare_append_node(tare_node *node, const tare_op *op, tare_value **inputs, int input_count,
                             tare_node **added, tare_error *err);

#endif

/* Steps that rewrites have in common. All of them keep names: what goes away is recorded in the model's aliases. */
#ifndef TARE_PASSES_REWRITE_H
#define TARE_PASSES_REWRITE_H

#include "passes/pass.h"

/* Could the readers of `value`, and the graph outputs it is, get `with` instead, whose numbers are the same? Not when a
 * quantization would be lost or change codes, nor when two names would have to stay. */
bool tare_rewrite_can_replace(const tare_value *value, const tare_value *with);

/* Does so: `with` takes over a quantization only `value` has, and the name when `value` is a graph output. `value` stays
 * behind unread. `how` (NULL: as it is) says what `value` was in terms of `with`; its target is filled in here. */
tare_status tare_rewrite_replace(tare_value *value, tare_value *with, const tare_alias *how, tare_error *err);

/* The usual end of that: the node, whose output `value` was replaced, goes. */
tare_status tare_rewrite_bypass(tare_node *node, tare_value *with, tare_error *err);

/* Makes `producer` give the output of `node`, which follows it and goes; the value between them is recorded as gone, or
 * as alias when `how` says what it was in terms of the output. */
tare_status tare_rewrite_take_output(tare_node *producer, tare_node *node, const tare_alias *how, tare_error *err);

/* Gives a node another constant in place of the one it reads, under the same name when nobody else reads that. The tensor
 * is of the same type, and the model's own. */
tare_status tare_rewrite_constant(tare_node *node, int index, const tare_tensor *tensor, tare_error *err);

/* The same for a quantized constant. */
tare_status tare_rewrite_codes(tare_node *node, int index, const tare_tensor *tensor, const tare_quant *quant,
                               tare_error *err);

/* Removes nodes whose outputs nobody reads any more, last first, recording their outputs as gone "into 'y' (Op)", for
 * the output y of `into`. */
tare_status tare_rewrite_remove(tare_node *const *nodes, size_t count, const tare_node *into, tare_error *err);

/* Makes a node another op, with default attributes and this one data input; the op is of ONNX's own domain, the newest
 * form. Further inputs are dropped. */
tare_status tare_rewrite_become(tare_node *node, const char *op, tare_value *input, tare_error *err);

/* Is the value read by this node alone, and nothing to the outside: not quantized, no output of the graph? */
bool tare_rewrite_is_inner(const tare_value *value);

/* The canonical descriptor of an op of ONNX's own domain; NULL when tare does not know it. */
const tare_op *tare_rewrite_op(const char *name);

/* Do the two quantize alike? Origin does not count. NULL: not quantized. */
bool tare_rewrite_same_quant(const tare_quant *a, const tare_quant *b);

/* Are the shapes the same whatever the unknown dimensions are (a symbol is itself)? */
bool tare_rewrite_same_shape(const tare_shape *a, const tare_shape *b);

#endif

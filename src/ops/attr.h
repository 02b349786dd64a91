/* A node's attributes by ONNX's name, through the op's own table: for passes and targets, which must not know the
 * structs of ops. A name the op has no field for reads as the fallback, as an attribute that is absent in a file. */
#ifndef TARE_OPS_ATTR_H
#define TARE_OPS_ATTR_H

#include "ops/op.h"

int64_t tare_attr_int(const tare_node *node, const char *name, int64_t fallback); /* INT, BOOL */
float tare_attr_float(const tare_node *node, const char *name, float fallback);
/* STRING, ENUM: is it this word? An absent one is `fallback`. */
bool tare_attr_is(const tare_node *node, const char *name, const char *word, const char *fallback);
tare_ints tare_attr_ints(const tare_node *node, const char *name); /* {NULL, 0} when absent */

/* These are for fields the op is known to have. Lists are copied to the model's arena. */
void tare_attr_set_int(tare_node *node, const char *name, int64_t number);
void tare_attr_set_float(tare_node *node, const char *name, float number);
void tare_attr_set_word(tare_node *node, const char *name, const char *word); /* the word must live long enough */
tare_status tare_attr_set_ints(tare_node *node, const char *name, const int64_t *numbers, size_t count,
                               tare_error *err);

/* Do two nodes do the same: op and attributes (bodies and tensors by pointer)? */
bool tare_attrs_equal(const tare_node *a, const tare_node *b);

#endif

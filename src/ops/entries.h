/* What is known of the integer lists that shapes are made of: an op whose output shape depends on such an input reads it
 * here. Numbers come from constants, or through the small sums and picks that exporters build from Shape nodes, so that
 * shapes stay known, or named, while the batch size is not. */
#ifndef TARE_OPS_ENTRIES_H
#define TARE_OPS_ENTRIES_H

#include "ops/op.h"

enum { TARE_ENTRIES_MAX = 2 * TARE_RANK_MAX }; /* Pad has two per dimension */

typedef struct tare_entry {
    enum { TARE_ENTRY_UNKNOWN, TARE_ENTRY_NUMBER, TARE_ENTRY_SYMBOL } kind;
    int64_t number; /* of a symbol: the dimension as tare_shape has it */
} tare_entry;

typedef struct tare_entries {
    int count; /* -1: not even their number is known, or it is past the limit */
    tare_entry at[TARE_ENTRIES_MAX];
} tare_entries;

/* A scalar counts as a list of one. NULL: count 0. */
void tare_entries_read(tare_entries *entries, const tare_value *value);

/* The entry as a dimension: symbols and unknowns as tare_shape has them; a negative number is unknown. */
int64_t tare_entry_dim(const tare_entry *entry);

/* Checks that input `input`, if there, is an integer list of rank 1 (or a scalar), then reads it. */
tare_status tare_infer_entries(const tare_node *node, int input, tare_entries *entries, tare_error *err);

/* Axes: distinct dimensions of a tensor. */
typedef struct tare_axes {
    bool known;
    int count;             /* -1: not known */
    int at[TARE_RANK_MAX]; /* when known: normalized, in the order given */
    unsigned mask;         /* when known */
} tare_axes;

/* Reads input `input` as axes of `rank` dimensions (>= 0); repeated ones are errors. Left out: known, count 0. */
tare_status tare_infer_axes(const tare_node *node, int input, int rank, tare_axes *axes, tare_error *err);

/* Product of dims from `first` up to but without `last`: a symbol when the rest is 1, unknown when it is not known. */
int64_t tare_dim_product(const tare_shape *shape, int first, int last);

/* At run time, for the rules that infer() has: a value that is this tensor. */
tare_value tare_value_of(const tare_tensor *tensor);

/* The same for a node's whole call: inputs that are these tensors, with no attributes and no outputs. */
enum { TARE_CALL_INPUTS = 5 };
typedef struct tare_call_node {
    tare_node node;
    tare_value values[TARE_CALL_INPUTS], *inputs[TARE_CALL_INPUTS];
} tare_call_node;
void tare_call_node_set(tare_call_node *self, const tare_call *call); /* of at most TARE_CALL_INPUTS inputs */

/* At run time, where the shape depends on data that infer() may not have seen: has the output the shape that the data
 * ask for? */
tare_status tare_run_check_shape(const tare_tensor *output, const tare_shape *want, tare_error *err);

#endif

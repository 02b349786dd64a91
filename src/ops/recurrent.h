/* What LSTM, GRU and RNN have in common: attributes, shapes, packed weights, the walk over time. A cell is what they
 * differ in: it takes one step of one row. */
#ifndef TARE_OPS_RECURRENT_H
#define TARE_OPS_RECURRENT_H

#include "ops/op.h"

typedef struct tare_recurrent_attrs {
    tare_floats activation_alpha, activation_beta;
    tare_strings activations;
    tare_floats clip;
    const char *direction;
    int64_t hidden_size, input_forget, layout, linear_before_reset, output_sequence;
} tare_recurrent_attrs;

/* Applies an activation with its parameters, in place. */
typedef struct tare_recurrent_function {
    void (*apply)(const struct tare_recurrent_function *self, const tare_kernels *kernels, float *x, size_t count);
    float alpha, beta;
} tare_recurrent_function;

/* One row (one sequence of the batch) at one step. All arrays have `hidden` numbers, gates gates * hidden. */
typedef struct tare_recurrent_row {
    const tare_kernels *kernels;
    const tare_recurrent_attrs *attrs;
    const tare_recurrent_function *f; /* the direction's three at most */
    size_t hidden;
    float clip;            /* infinity: none */
    float *x;              /* gates: x W^T + Wb (+ Rb where the cell adds it here); may be overwritten */
    float *r;              /* gates: h R^T (GRU: with its bias for the hidden gate) */
    const float *peephole; /* 3 * hidden, NULL: none */
    float *h, *c;          /* state, updated */
    float *t;              /* room for `hidden` numbers */
} tare_recurrent_row;

typedef struct tare_recurrent_cell {
    int gates;
    int functions;               /* per direction */
    const char *const *defaults; /* their names */
    bool has_c;                  /* a second state: initial_c, Y_c, P */
    void (*step)(tare_recurrent_row *row);
    /* GRU without linear_before_reset multiplies by R a second time, after `reset` made r * h in row->t. */
    void (*reset)(tare_recurrent_row *row);
} tare_recurrent_cell;

tare_status tare_recurrent_infer(const tare_recurrent_cell *cell, tare_node *node, tare_error *err);
tare_status tare_recurrent_prepare(const tare_recurrent_cell *cell, tare_prepare *prepare, tare_error *err);
tare_status tare_recurrent_run(const tare_recurrent_cell *cell, const tare_call *call, tare_error *err);

/* The attributes that all three share; the cell's own follow. */
/* hidden_size where it is not given: R says it. */
#define TARE_RECURRENT_NO_SIZE INT64_MIN

#define TARE_RECURRENT_FIELD(member, kind)                                                                             \
    .name = #member, .type = kind, .offset = offsetof(tare_recurrent_attrs, member)
#define TARE_RECURRENT_FIELDS                                                                                          \
    { TARE_RECURRENT_FIELD(activation_alpha, TARE_FIELD_FLOATS) },                                                     \
        { TARE_RECURRENT_FIELD(activation_beta, TARE_FIELD_FLOATS) },                                                  \
        { TARE_RECURRENT_FIELD(activations, TARE_FIELD_STRINGS) },                                                     \
        { TARE_RECURRENT_FIELD(clip, TARE_FIELD_FLOATS), .flags = TARE_FIELD_ONE },                                    \
        { TARE_RECURRENT_FIELD(direction, TARE_FIELD_STRING), .fallback.s = "forward" },                               \
        { TARE_RECURRENT_FIELD(hidden_size, TARE_FIELD_INT), .fallback.i = TARE_RECURRENT_NO_SIZE },                   \
        { TARE_RECURRENT_FIELD(output_sequence, TARE_FIELD_INT), .hi = 1 }, {                                          \
        TARE_RECURRENT_FIELD(layout, TARE_FIELD_INT), .hi = 1                                                          \
    }

#endif

/* Laying steps: what steps.c and twins.c share. */
#ifndef TARE_RUN_LAY_H
#define TARE_RUN_LAY_H

#include "run/session.h"

typedef struct tare_lay {
    tare_plan *plan;
    tare_session *session;
} tare_lay;

tare_status tare_lay_value(const tare_lay *l, tare_value *value, tare_plan_value **out, tare_error *err);
/* The value in a layout, seen with `rank` dimensions (ones in front); brought there by a step when it is not there yet. */
tare_status tare_lay_get(const tare_lay *l, tare_plan_value *known, tare_layout layout, int rank, tare_slot **out,
                         tare_error *err);
/* How a node that runs in `layout` reads this input (not NULL). */
tare_layout tare_lay_input(const tare_node *node, int input, tare_layout layout, int *rank);

/* A step of the plan's own from one slot to a new one of this shape. made: may be NULL. */
tare_status tare_lay_plain(const tare_lay *l, tare_step_kind kind, tare_slot *from, const tare_shape *shape,
                           tare_layout layout, tare_plan_value *made, tare_slot **out, tare_error *err);
/* An empty step for a node, to be filled, added and prepared. */
tare_status tare_lay_node(const tare_lay *l, tare_step_kind kind, const tare_node *node, size_t index, int inputs,
                          tare_step **out, tare_error *err);
tare_status tare_lay_add(const tare_lay *l, tare_step *step, tare_error *err);
tare_status tare_lay_prepare(const tare_lay *l, tare_step *step, float lo, float hi, tare_error *err);
/* What prepare() of an op or row gets to know of the step, which is added; and what it said taken over. */
tare_status tare_lay_describe(const tare_lay *l, const tare_step *step, float lo, float hi, tare_prepare *out,
                              tare_error *err);
void tare_lay_take(const tare_lay *l, tare_step *step, const tare_prepare *prepared);
/* The node on real numbers. */
tare_status tare_lay_real(const tare_lay *l, tare_node *node, size_t index, tare_error *err);

/* ---- twins.c ---- */
/* Behind a node's step, its twin, when an output is tapped and something of it is quantized. */
tare_status tare_lay_twin(const tare_lay *l, const tare_node *node, tare_layout layout, tare_error *err);
/* A graph input rounded, to be shown. */
tare_status tare_lay_feed_twin(const tare_lay *l, tare_plan_value *known, tare_error *err);

/* ---- codes.c ---- */
/* The node on codes, if the target has a row for it; *done tells. What is left in float is listed in the plan. */
tare_status tare_lay_codes(const tare_lay *l, tare_node *node, size_t index, bool *done, tare_error *err);
/* A value that has slots in its other form only, codes or real numbers, gets one in its own. */
tare_status tare_lay_form(const tare_lay *l, tare_plan_value *known, tare_error *err);
void tare_run_code(const tare_step *step); /* TARE_STEP_CODE */
/* Of a value that carries no codes: those that a DQ makes it from, or that a Q, its only reader, makes of it. NULL: neither, or
 * they are none of 8 bits with one scale. */
const tare_quant *tare_codes_beside(const tare_value *value);

/* ---- trials.c ---- */
/* Behind a node's step, which is prepared, its trials. */
tare_status tare_lay_trials(const tare_lay *l, const tare_step *of, tare_error *err);

#endif

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

/* ---- twins.c ---- */
/* Behind a node's step, its twin, when an output is tapped and something of it is quantized. */
tare_status tare_lay_twin(const tare_lay *l, const tare_node *node, tare_layout layout, tare_error *err);
/* A graph input rounded, to be shown. */
tare_status tare_lay_feed_twin(const tare_lay *l, tare_plan_value *known, tare_error *err);

/* ---- trials.c ---- */
/* Behind a node's step, which is prepared, its trials. */
tare_status tare_lay_trials(const tare_lay *l, const tare_step *of, tare_error *err);

#endif

/* Nodes with bodies: If, Loop and Scan, run by sessions of their bodies. Shapes and trip counts may differ each time, so
 * memory is allocated while they run. */
#ifndef TARE_RUN_CONTROL_H
#define TARE_RUN_CONTROL_H

#include "run/session.h"

/* Owned by the session, by the node's name; its bodies' plans outlive the plans of the graph around. */
struct tare_control {
    const tare_node *node; /* of the session's graph */
    tare_session *bodies[2];
    int body_count;
    tare_value **captures; /* of all bodies, without repeats; the session's values */
    size_t capture_count;
    size_t *places[2];     /* by body: which of `captures` its session's are */
    tare_tensor **outputs; /* of the last run, in the node's order; NULL: nobody wants it */
    tare_arena *arena;     /* what lives as long as the control; behind the mark what the last run made */
    tare_arena_mark mark;
    tare_arena *rounds[2]; /* states of this round and the one before */
    tare_arena_mark round_marks[2];
};

tare_status tare_control_get(tare_control **out, tare_session *session, const tare_node *node, tare_error *err);
void tare_control_free(tare_control *control); /* NULL is fine */

/* Runs the node: control->outputs are what came out, valid until it runs again. inputs: its own (NULL: left out), then
 * the captures. */
tare_status tare_control_run(tare_control *control, tare_tensor *const *inputs, tare_error *err);

#endif

/* The session from inside: shared by the files of run/. */
#ifndef TARE_RUN_SESSION_H
#define TARE_RUN_SESSION_H

#include "run/plan.h"

enum { TARE_PLANS_KEPT = 4 }; /* for inputs whose lengths vary */

typedef struct tare_tapped {
    const tare_value *value; /* of the session's model */
    bool is_raw;             /* shown as it lies */
    bool is_shown;           /* in this run: a plan that was given up half way shows nothing twice */
} tare_tapped;

struct tare_session {
    const tare_model *model;
    const tare_graph *graph;       /* the one that is run: the model's main graph, or a body */
    tare_session_options options;  /* constants is never NULL */
    tare_constants *own_constants; /* NULL: they are shared */
    const tare_kernels *kernels;
    tare_arena *arena;

    tare_tap *tap; /* one of the two, or none */
    tare_raw_tap *raw_tap;
    void *tap_context;
    bool taps_all;
    const tare_value *const *tap_values; /* as the caller gave them, of all graphs */
    size_t tap_count;
    tare_map tapped; /* name -> tare_tapped *, of this graph */

    bool (*is_quantized)(void *context, const tare_value *value);
    void *filter_context;

    const tare_trial *trials;
    size_t trial_count;
    tare_trial_fn *trial;
    void *trial_context;
    tare_map trials_of; /* trials.c */

    tare_step_watch *watch; /* NULL: nobody watches */
    void *watch_context;

    tare_value *const *captures; /* values of outer graphs that the body reads */
    size_t capture_count;

    tare_plan *plans[TARE_PLANS_KEPT]; /* the latest first */
    tare_tensor *const *feeds;         /* of the run that is going on */
    size_t next_step;

    char *slab;
    size_t slab_size;
    tare_map controls; /* node name -> tare_control * */
};

/* A session for a graph inside the model, with the same options, taps and filter as `outer`. */
tare_status tare_session_new_body(tare_session **out, const tare_session *outer, const tare_graph *body,
                                  tare_error *err);
/* feeds: the graph's inputs, then the captures. */
tare_status tare_session_plan_feeds(tare_session *session, tare_tensor *const *feeds, tare_error *err);
tare_status tare_session_run_feeds(tare_session *session, tare_tensor *const *feeds, tare_error *err);

/* The quantization that the filter leaves active; NULL: none. Whether it acts on values or on twins is the backend's. */
const tare_quant *tare_session_quant_of(const tare_session *session, const tare_value *original);

/* Sorts the session's trials by node. */
typedef struct tare_trial_entry tare_trial_entry;
tare_status tare_session_list_trials(tare_session *session, tare_error *err);

#endif

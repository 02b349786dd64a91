/* Running a graph: the plan (order, layout, memory, kernels) and the session that executes it. */
#ifndef TARE_RUN_RUN_H
#define TARE_RUN_RUN_H

#include "graph/graph.h"
#include "ops/op.h"
#include "targets/target.h"

/* ORDER: backend */
typedef enum tare_backend {
    TARE_BACKEND_FLOAT, /* quantization of values ignored: weights dequantized, activations float */
    TARE_BACKEND_QDQ,   /* float arithmetic; each quantized value goes through quantize and dequantize */
    TARE_BACKEND_INT,   /* the target's own integer arithmetic where it has a row for the node; the rest as in QDQ */
    TARE_BACKEND_LOCAL /* float, and beside each node that is tapped its twin: the same node on the float inputs rounded
                           to their codes, its output rounded to its own. What a node loses by itself */
} tare_backend;
/* What options call those a user may choose, ended by NULL. */
extern const char *const tare_backend_names[];

typedef struct tare_session_options {
    tare_backend backend;
    tare_cpu cpu;
    tare_pool *pool; /* NULL: the caller's thread alone. May be shared by sessions that do not run at once */
    tare_constants
        *constants;      /* shared by sessions on any threads, and outlives them: of what they make of constants each
                                  has no copy of its own. NULL: the session's own */
    size_t memory_limit; /* bytes of the slab; 0: no limit of its own */
    const tare_target *target; /* of the int backend */
    int profile;               /* of the target, by index */
} tare_session_options;

/* A look at a value: called after its producer has run, in the order of the nodes, on the thread that runs the session.
 * `real` is f32 (or the value's own type when it is no float), in ONNX's order of dimensions; for a value that the qdq
 * backend quantizes it holds the quantized-dequantized numbers. `before` has the numbers before rounding, NULL when there are none. In the local backend `real` is the twin's and `before`
 * the float numbers; values of nodes that have nothing quantized are not shown. In the int backend `real` is what the codes
 * stand for, and `before` too where codes were computed from codes; a value that lies inside a node on codes (before a Relu
 * that is part of it) is computed beside it in float. Taps change no bit. */
typedef tare_status tare_tap(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                             tare_error *err);

typedef struct tare_session tare_session;

/* The model must be normalized and inferred, must not change and must outlive the session. Nothing is planned before
 * the first run or plan call. */
tare_status tare_session_new(tare_session **out, const tare_model *model, const tare_session_options *options,
                             tare_error *err);
void tare_session_free(tare_session *session);

/* Which values to look at: these, or `all` float values of the model, graph inputs among them; initializers never are.
 * Values of bodies (If, Loop) are shown each time the body runs. `values` is borrowed. Plans made before are dropped. */
tare_status tare_session_set_tap(tare_session *session, const tare_value *const *values, size_t count, bool all,
                                 tare_tap *tap, void *context, tare_error *err);

/* The same for taps to whom order is nothing: the numbers (f32) as they lie in memory, with no copy, and their layout,
 * whose order of dimensions the tensor's shape has. Not in the local backend. */
typedef tare_status tare_raw_tap(void *context, const tare_value *value, const tare_tensor *real, tare_layout layout,
                                 tare_error *err);
tare_status tare_session_set_raw_tap(tare_session *session, const tare_value *const *values, size_t count,
                                     tare_raw_tap *tap, void *context, tare_error *err);

/* In the qdq backend, which of the quantized values (constants too) are rounded; NULL: all. Constants that are stored as
 * codes stay what the codes say. Plans made before are dropped. For blame: one node's quantization alone. */
void tare_session_set_quant_filter(tare_session *session, bool (*is_quantized)(void *context, const tare_value *value),
                                   void *context);

/* In the float backend, nodes once more beside themselves, with one input rounded to codes: what this alone would do. */
typedef struct tare_trial {
    const tare_node *node; /* of the session's graph */
    int input;
    const tare_quant *quant; /* one scale */
} tare_trial;
/* What came of it, beside the float call: inputs and outputs (behind a Relu or Clip that melts into the node) as they lie in
 * both, NULL where one is left out. For each trial that the plan has: not for nodes that have nothing to compute. */
typedef tare_status tare_trial_fn(void *context, const tare_trial *trial, const tare_call *tried, const tare_call *real,
                                  tare_error *err);
/* `trials` is borrowed. Plans made before are dropped. A plan that was given up half way shows some trials twice. */
tare_status tare_session_set_trials(tare_session *session, const tare_trial *trials, size_t count, tare_trial_fn *fn,
                                    void *context, tare_error *err);

/* Called after each step of the session's graph, what it rounds and shows included: for clocks. The steps of bodies are told
 * as one, their control node's. node NULL: the plan put it in, to change a layout. The node may be gone once the run is over,
 * its name is not. watch NULL: none. */
typedef void tare_step_watch(void *context, const tare_node *node);
void tare_session_set_watch(tare_session *session, tare_step_watch *watch, void *context);

/* Plans for the types and shapes of these inputs, in the order of the graph's inputs; NULL leaves an input to its
 * initializer. Memory and MACs are known then, unless shapes depend on numbers (get_memory tells all after a run). */
tare_status tare_session_plan(tare_session *session, tare_tensor *const *inputs, tare_error *err);
/* Runs; plans first unless one of the last plans fits. Nothing is allocated while steps run, but by If, Loop and Scan and
 * where shapes depend on numbers. */
tare_status tare_session_run(tare_session *session, tare_tensor *const *inputs, tare_error *err);
/* The same in pieces, for sessions side by side: begin, then advance until *done. Each advance runs on until something was
 * shown to the tap, or to the end. `inputs` must stay as they are until then. */
tare_status tare_session_begin(tare_session *session, tare_tensor *const *inputs, tare_error *err);
tare_status tare_session_advance(tare_session *session, bool *done, tare_error *err);
/* The index-th graph output of the last run, in ONNX's layout; valid until the next run. */
const tare_tensor *tare_session_output(const tare_session *session, size_t index);

typedef struct tare_session_memory {
    size_t slab, scratch, packed; /* bytes: planned activations, scratch, prepared weights (which sessions may share) */
} tare_session_memory;
tare_session_memory tare_session_get_memory(const tare_session *session);

/* The slab of the last plan over time, but for what taps need and bodies have; all on the arena. Empty without a plan. */
typedef struct tare_timeline_step {
    const char *node, *op; /* NULL: put in by the plan, to change a layout */
    size_t used;           /* bytes, while it runs */
} tare_timeline_step;
typedef struct tare_timeline_buffer {
    const char *value;   /* that lies in it first; NULL: a copy of one */
    size_t offset, size; /* bytes */
    size_t first, last;  /* steps */
} tare_timeline_buffer;
typedef struct tare_timeline {
    tare_timeline_step *steps;
    tare_timeline_buffer *buffers;
    size_t step_count, buffer_count;
} tare_timeline;
tare_status tare_session_get_timeline(const tare_session *session, tare_arena *arena, tare_timeline *out,
                                      tare_error *err);

/* Int backend: a node with quantized inputs or outputs that the last plan computes in float, between dequantize and
 * quantize. */
typedef struct tare_int_left {
    const char *name, *type, *why;
} tare_int_left;
/* Those of the graph that is run (not of bodies), in its order; *on_codes: how many nodes are computed on codes. Valid until
 * the next plan. */
size_t tare_session_get_left(const tare_session *session, const tare_int_left **left, size_t *on_codes);

/* Multiply-accumulates of the last plan, all and those of nodes whose weight and data inputs are quantized. */
void tare_session_get_macs(const tare_session *session, uint64_t *all, uint64_t *quantized);

#endif

/* The plan: a graph made concrete for one set of input shapes, as a list of steps over slots in one slab. What the files
 * of run/ hand to each other; nothing but run/ and its tests includes this. */
#ifndef TARE_RUN_PLAN_H
#define TARE_RUN_PLAN_H

#include "run/run.h"

#define TARE_STEP_END SIZE_MAX /* after the last step, and until the next run */

/* Where the numbers of a slot lie. */
typedef enum tare_storage {
    TARE_STORED_SLAB,     /* in buffer `place` of the slab */
    TARE_STORED_CONSTANT, /* in the model or kept by the plan: data is set when the slot is made, and never written */
    TARE_STORED_FEED      /* in the caller's tensor number `place` */
} tare_storage;

/* The numbers of a value in one order of dimensions. */
typedef struct tare_slot {
    tare_tensor tensor; /* shape as it lies in memory; data NULL until tare_plan_bind unless constant */
    tare_layout layout;
    tare_storage storage;
    bool is_kept; /* constant: in plan->kept, not in the model */
    size_t place;
    size_t first, last; /* the step that writes it, and the last one that needs it */
} tare_slot;

/* What the plan knows of a value; value->mark - 1 is its index. */
typedef struct tare_plan_value {
    tare_value *value;               /* in the plan's copy of the graph */
    const tare_value *original;      /* in the session's graph */
    tare_slot *slot[2];              /* by layout; NULL: not made */
    const tare_quant *quant;         /* it is rounded to these codes; NULL: it is not */
    struct tare_tapped *tapped;      /* NULL: nobody looks */
    struct tare_plan_value *rounded; /* local backend: its numbers rounded, for twins; NULL: not made */
    struct tare_plan_value *other;   /* int backend: the same numbers as codes, and from there back; NULL: not made */
    bool is_codes;                   /* its slots hold codes */
    const tare_quant *twin_quant;    /* local backend: of the twin */
    struct tare_tapped *twin_tapped;
    bool is_pinned; /* its constant is a guess that a guard checks: it is computed all the same */
} tare_plan_value;

/* What a node's shapes depend on beyond shapes, held fixed by the plan and checked while it runs. */
typedef struct tare_pin {
    size_t node;               /* index of the node that needs it, in the graph's order */
    const char *name;          /* of the value */
    const tare_tensor *tensor; /* data NULL: only type and shape are held (outputs of control nodes) */
} tare_pin;

typedef struct tare_guard {
    const tare_pin *pin;
    tare_slot *slot;
} tare_guard;

typedef enum tare_step_kind {
    TARE_STEP_NODE,
    TARE_STEP_CONTROL, /* If, Loop, Scan: control.c */
    TARE_STEP_CONVERT, /* between layouts */
    TARE_STEP_COPY,    /* input 0 to output 0, byte by byte */
    TARE_STEP_CODE,    /* real numbers to codes or back, by step->quant: codes.c */
    TARE_STEP_VIEW     /* nothing to do: output 0 lies on input 0. tare_plan_place makes it a copy where it must */
} tare_step_kind;

typedef struct tare_control tare_control; /* control.h */

typedef struct tare_step {
    tare_step_kind kind;
    const tare_node *node;   /* NULL for what the plan itself put in */
    size_t node_index;       /* in the graph's order */
    tare_slot **inputs;      /* NULL: left out. CONTROL: captured values follow the node's own */
    tare_slot **outputs;     /* NULL: not wanted */
    tare_plan_value **made;  /* by output: the value it is, for rounding and taps; NULL: none */
    tare_slot **references;  /* of a twin or a trial, by output: the float numbers beside it; NULL: neither */
    const tare_int_row *row; /* NODE: what computes it on codes; NULL: the op itself, on real numbers */
    const tare_quant *quant; /* CODE */
    const tare_trial *trial; /* NULL: it is none */
    const struct tare_step *trial_of;
    bool is_rounded; /* the outputs of a view that lie on the codes' grid already */
    TARE_VEC(tare_guard) guards;
    tare_tensor **tensors; /* of the inputs, then of the outputs */
    tare_call call;        /* its counts and tensors are set for every kind */
    tare_control *control;
} tare_step;

typedef struct tare_buffer {
    size_t size, offset; /* bytes; multiples of 64 */
    size_t first, last;  /* steps, both included */
} tare_buffer;

typedef struct tare_feed_key {
    tare_dtype dtype; /* NONE: left to the model's initializer */
    tare_shape shape;
} tare_feed_key;

typedef struct tare_plan {
    tare_arena *arena;  /* the plan and everything it points at, but */
    tare_arena *packed; /* what ops prepared, but for: */
    tare_kept kept;     /* what was made of constants */
    tare_model *model;  /* a copy of the session's, with these shapes */
    tare_graph *graph;  /* the one that is run, in the copy */
    tare_feed_key *feeds;
    size_t feed_count; /* graph inputs, then captured values */
    TARE_VEC(tare_pin) pins;
    const tare_node *stop; /* shapes behind this node are not known yet: the plan gives its inputs only */
    size_t stop_index;
    TARE_VEC(tare_plan_value *) values;
    TARE_VEC(tare_slot *) slots;
    TARE_VEC(tare_step *) steps;
    TARE_VEC(tare_buffer) buffers;
    tare_slot **outputs;         /* of the graph, in ONNX's order */
    tare_slot **stop_slots;      /* inputs of `stop`, then what its bodies capture */
    size_t activations, scratch; /* bytes of the slab: buffers, then scratch, then what taps convert into */
    size_t tap_real, tap_before; /* bytes */
    uint64_t macs, quantized_macs;
    TARE_VEC(tare_int_left) left; /* int backend */
    size_t on_codes;              /* nodes */
    const void *bound_to;         /* the slab that slots point into now */
} tare_plan;

/* ---- plan.c ---- */
/* A plan for these feeds (graph inputs, then captured values; only dtype and shape are read). It may stop at a node whose
 * output shapes depend on numbers that `pins` does not tell. */
tare_status tare_plan_new(tare_plan **out, tare_session *session, tare_tensor *const *feeds, const tare_pin *pins,
                          size_t pin_count, tare_error *err);
void tare_plan_free(tare_plan *plan); /* NULL is fine */
bool tare_plan_fits(const tare_plan *plan, tare_tensor *const *feeds);
size_t tare_plan_slab(const tare_plan *plan); /* bytes of the whole slab */
void tare_plan_bind(tare_plan *plan, void *slab);

/* The entry of a value of the copy, made when it is new. NULL: no memory. */
tare_plan_value *tare_plan_value_of(tare_plan *plan, const tare_session *session, tare_value *value);
tare_slot *tare_slot_new(tare_plan *plan, tare_dtype dtype, const tare_shape *shape, tare_layout layout,
                         tare_storage storage);
tare_step *tare_step_new(tare_plan *plan, tare_step_kind kind, int input_count, int output_count);

/* ---- steps.c ---- */
/* From the specialized graph to slots and steps; plan->outputs, or stop_slots, are set. */
tare_status tare_plan_lay_steps(tare_plan *plan, tare_session *session, tare_error *err);

/* ---- specialize.c ---- */
/* Copies the model into the plan, sets the feeds' shapes, infers in order and folds what becomes constant; marks in
 * node->mark whether a node has to run. */
enum { TARE_NODE_SKIPPED, TARE_NODE_NEEDED };
tare_status tare_plan_specialize(tare_plan *plan, const tare_session *session, tare_error *err);
/* Calls visit for every value of the graphs around `body` that it reads; for some more than once. Stops and returns false
 * when visit does. */
typedef bool tare_capture_visit(void *context, tare_value *value);
bool tare_graph_captures(const tare_graph *body, tare_capture_visit *visit, void *context);

/* ---- layout.c ---- */
tare_shape tare_shape_expand(const tare_shape *shape, int rank); /* ones in front */
tare_shape tare_layout_shape(const tare_shape *shape, tare_layout layout);
/* Is this input of a node that runs in `layout` channels-last? */
bool tare_input_is_last(const tare_node *node, int input, tare_layout layout);
tare_layout tare_plan_choose_layout(const tare_plan *plan, const tare_node *node);
/* Would the elements lie in the same order in both layouts? */
bool tare_layout_is_same(const tare_shape *shape);
/* A Transpose whose elements keep their order in memory between these layouts of its input and output. */
bool tare_transpose_is_view(const tare_node *node, tare_layout from, tare_layout to);

/* ---- constant.c ---- */
/* The slot of a constant (not pinned) in a layout, seen with `rank` dimensions (ones in front). */
tare_status tare_plan_constant(tare_plan *plan, const tare_session *session, tare_plan_value *value, tare_layout layout,
                               int rank, tare_slot **out, tare_error *err);

/* ---- fuse.c ---- */
/* The Relu or Clip that alone reads `node`, which honours a clamp, and its bounds; NULL: none. */
tare_node *tare_plan_find_activation(tare_plan *plan, const tare_session *session, const tare_node *node, float *lo,
                                     float *hi);
/* The same when nobody looks at what lies between: it can be the last step of `node`. */
tare_node *tare_plan_find_clamp(tare_plan *plan, const tare_session *session, const tare_node *node, float *lo,
                                float *hi);

/* ---- memory.c ---- */
/* Lifetimes, sharing and offsets of all slots; sizes of the slab. */
tare_status tare_plan_place(tare_plan *plan, tare_error *err);

/* ---- round.c ---- */
/* x = dequantize(quantize(x)) in place, for tensors of a float type that lie in `layout`. */
void tare_round(tare_tensor *tensor, tare_layout layout, const tare_quant *quant, const tare_kernels *kernels,
                tare_pool *pool);
/* Any float type to f32 and back, rounded to nearest. */
void tare_read_f32(float *to, const void *from, tare_dtype dtype, size_t count);
void tare_write_f32(void *to, const float *from, tare_dtype dtype, size_t count);
bool tare_quant_is_equal(const tare_quant *a, const tare_quant *b); /* the same codes for the same numbers */

/* ---- tap.c ---- */
/* Bytes that a look at this slot needs: for the numbers as taps get them, and for a copy before they are rounded. */
void tare_tap_sizes(const tare_slot *slot, bool is_raw, bool is_rounded, size_t *real, size_t *before);
/* The numbers of a slot in ONNX's order, or as they lie, floats as f32; in `room` when they have to be copied, or when
 * `copies`. */
tare_tensor tare_tap_read(const tare_slot *slot, bool is_raw, void *room, bool copies, tare_pool *pool);

#endif

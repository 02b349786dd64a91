/* The graph: what every other room works on. A model owns a tree of graphs (If and Loop have bodies) on one arena;
 * a graph is a list of nodes in topological order joined by values. Being quantized is a property of a value.
 *
 * Ownership: everything lives on model->arena until the model is freed; nodes and values taken out are not freed
 * before. Weights as read are pointed at in the mapped file. Files are hostile: readers check before they build,
 * tare_graph_verify checks the whole; every other function trusts its arguments. */
#ifndef TARE_GRAPH_GRAPH_H
#define TARE_GRAPH_GRAPH_H

#include "base/field.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/status.h"
#include "graph/dtype.h"
#include "graph/shape.h"

typedef struct tare_model tare_model;
typedef struct tare_graph tare_graph;
typedef struct tare_node tare_node;
typedef struct tare_value tare_value;
typedef struct tare_op tare_op; /* ops/op.h */

/* Numbers with a type and a static shape: a constant, or a buffer while running. */
typedef struct tare_tensor {
    tare_dtype dtype;
    tare_shape shape;
    void *data;  /* row-major, ONNX's order of dimensions unless said otherwise; never written when it is a constant */
    size_t size; /* bytes */
} tare_tensor;

/* Who decided a scale. ORDER: origin (the table in quant.c) */
typedef enum tare_origin_kind {
    TARE_ORIGIN_QDQ,   /* stood in the file as Q/DQ */
    TARE_ORIGIN_CLIP,  /* a Clip trained with the model */
    TARE_ORIGIN_QONNX, /* a QONNX Quant node */
    TARE_ORIGIN_MINMAX,
    TARE_ORIGIN_AVERAGE,
    TARE_ORIGIN_PERCENTILE, /* number: the percentile */
    TARE_ORIGIN_ENTROPY,
    TARE_ORIGIN_MSE,
    TARE_ORIGIN_FIXED,    /* by an op: Softmax, Sigmoid; detail: its name */
    TARE_ORIGIN_SAME,     /* same as value `detail` */
    TARE_ORIGIN_WEIGHT,   /* from the weight itself */
    TARE_ORIGIN_BIAS,     /* s_x * s_w */
    TARE_ORIGIN_CONSTANT, /* a constant activation's own range */
    TARE_ORIGIN_RECIPE,   /* the user said so */
    TARE_ORIGIN_REPAIRED, /* a scale of 0 or NaN that was repaired on request */
    TARE_ORIGIN_COUNT
} tare_origin_kind;

typedef struct tare_origin {
    tare_origin_kind kind;
    double number;
    const char *detail; /* NULL: none */
    bool is_tried;      /* by method auto, which tried others too */
    const char *was;    /* what it was before someone changed it, in words; NULL: never changed */
} tare_origin;

/* x = scale * (q - zero_point), q of type `code`. */
typedef struct tare_quant {
    tare_dtype code;
    int axis;      /* of the channels; -1: one scale for all */
    int64_t block; /* elements of `axis` that share a scale; 0: not blocked */
    size_t count;  /* scales, and zero points */
    const float *scale;
    const int32_t *zero_point; /* always there, zeros when the file gave none */
    tare_origin origin;
    bool narrow;  /* symmetric codes without the lowest: -127…127 */
    bool contrib; /* spelled in com.microsoft's domain when written below opset 21 (16-bit codes) */
} tare_quant;

/* q = clamp(rne(real / s) + z) by the index-th scale: a true f32 division, as QuantizeLinear does it; NaN: the lowest. */
int32_t tare_quant_code(const tare_quant *quant, size_t index, float real);

/* Prints "minmax", "percentile 99.99", "same as 'x'", … */
void tare_origin_print(char *to, size_t size, const tare_origin *origin);
/* What files call the kinds: "minmax", "same", … False: no such kind. */
const char *tare_origin_kind_name(tare_origin_kind kind);
bool tare_origin_kind_find(const char *name, tare_origin_kind *kind);

typedef struct tare_use {
    tare_node *node;
    int index; /* of the node's inputs */
} tare_use;

/* scale and zero point for a real range that holds 0 (widened to it when it does not), for a code type:
 * asymmetric: s = (hi - lo) / (codes - 1), z = rne(lowest - lo / s); symmetric: s = max|x| / highest, z = 0 (u8: the
 * middle); power_of_two: s rounded up to one. A range of nothing: s = 1, z = 0. In f64, rounded once to f32. */
void tare_scale_from_range(float lo, float hi, tare_dtype code, bool symmetric, bool power_of_two, float *scale,
                           int32_t *zero_point);

struct tare_value {
    const char *name; /* unique in its graph and in those around it; never "" */
    tare_dtype dtype; /* the real type: f32 also when quantized. A bare Q's output has the code type here */
    tare_shape shape;
    const tare_quant *quant;     /* NULL: not quantized */
    const tare_tensor *constant; /* known contents: an initializer, or folded. When quantized its dtype may be
                                    quant->code (codes) or float (not yet rounded) */
    tare_node *producer;         /* NULL: graph input, initializer, or a value of an outer graph */
    int producer_index;          /* which of the producer's outputs */
    TARE_VEC(tare_use) uses;     /* in any order; kept by the functions below. Inner graphs' uses are here too */
    tare_graph *graph;
    bool is_input, is_output; /* of its graph */
    bool is_initializer;      /* written as an initializer (also when an input too: overridable) */
    uint32_t mark;            /* scratch of whatever function walks the graph */
    const char *doc;
    const void *extra; /* what the file format keeps for writing it back; NULL for what was made here */
};

struct tare_node {
    const char *name;    /* as in the file, unique, generated when it was "" or a duplicate: "Conv#12" */
    const char *type;    /* op_type as in the file */
    const char *domain;  /* "" is ONNX's own ("ai.onnx" is read as "") */
    const tare_op *op;   /* NULL: an op tare does not know; then attrs is NULL and extra has the attributes */
    void *attrs;         /* op->attrs_size bytes, filled by op->attrs */
    tare_value **inputs; /* NULL: an optional one that is left out */
    int input_count;
    tare_value **outputs; /* NULL: an optional one that nobody wants */
    int output_count;
    tare_node *previous, *next;
    tare_graph *graph;
    bool generated_name; /* the file had none, or one that stood twice */
    uint32_t mark;       /* scratch of whatever function walks the graph */
    const void *extra;
};

/* What became of a value that a pass took out. */
typedef struct tare_alias {
    const char *target; /* the value that holds the same numbers now; NULL: gone */
    const char *reason; /* "gone: " this */
    bool has_permutation;
    int permutation[TARE_RANK_MAX]; /* old dimension i is new dimension permutation[i] */
    double factor, offset;          /* old = factor * new + offset (1 and 0 mostly) */
} tare_alias;

struct tare_graph {
    tare_model *model;
    tare_graph *outer; /* NULL: the model's main graph */
    tare_node *owner;  /* the If or Loop whose body this is */
    const char *name;
    tare_node *first, *last;
    size_t node_count;
    tare_map values; /* by name: tare_value * */
    TARE_VEC(tare_value *) inputs;
    TARE_VEC(tare_value *) outputs;
    const void *extra;
};

typedef struct tare_property {
    const char *key, *value;
} tare_property;

typedef enum tare_stage {
    TARE_STAGE_ORIGINAL_FLOAT,
    TARE_STAGE_OPTIMIZED_FLOAT,
    TARE_STAGE_CALIBRATED,
    TARE_STAGE_QUANTIZED,
    TARE_STAGE_COMPILED
} tare_stage;

struct tare_model {
    tare_arena *arena;
    tare_graph *graph;
    const char *path; /* as given; for messages; NULL: made in memory */
    int64_t opset;    /* of the main domain, after upgrade; what ops' spans are checked against */
    int64_t ir_version;
    const char *producer_name, *producer_version, *doc;
    TARE_VEC(tare_property) properties; /* metadata_props */
    TARE_VEC(const char *) symbols;     /* names of symbolic dimensions; dim = -2 - index */
    tare_map symbol_numbers;            /* the same by name: index + 1 */
    tare_map aliases;                   /* name of a removed value: tare_alias * */
    tare_map origins;                   /* name of a tensor of codes, as Q and DQ nodes have it: const tare_origin *,
                                           where it is another than TARE_ORIGIN_QDQ */
    TARE_VEC(tare_file) files;          /* mapped, closed with the model; of a copy: only which they are */
    tare_map names, node_names;         /* every name that was ever used, in all graphs: new ones keep clear of them */
    const void *extra;                  /* the format's own */
};

/* ---- models ---- */
tare_status tare_model_new(tare_model **out, tare_error *err);
void tare_model_free(tare_model *model); /* NULL is fine */
/* A copy that may be edited on its own; constants are shared with the original, which must outlive it. */
tare_status tare_model_copy(tare_model **out, const tare_model *model, tare_error *err);

/* The first property of this key; NULL: none. */
const char *tare_model_property(const tare_model *model, const char *key);
/* One property of this key, in the place of the first; both texts are borrowed. value NULL: none any more. */
tare_status tare_model_set_property(tare_model *model, const char *key, const char *value, tare_error *err);

/* ---- building and editing; all keep producers and uses right ---- */

/* The names must be free (tare_graph_find_value); the copy of `name` is made here. */
tare_status tare_graph_add_value(tare_graph *graph, const char *name, tare_value **out, tare_error *err);
tare_status tare_graph_add_input(tare_graph *graph, tare_value *value, tare_error *err);
tare_status tare_graph_add_output(tare_graph *graph, tare_value *value, tare_error *err);

/* A value of this name here or in a graph around it; NULL when there is none. */
tare_value *tare_graph_find_value(const tare_graph *graph, const char *name);
/* A free name made of `base`: base, base_1, …; on the model's arena. NULL: no memory. */
const char *tare_graph_unique_name(tare_graph *graph, const char *base);
/* An empty graph; outer NULL and owner NULL for a model's main one. */
tare_status tare_graph_new(tare_graph **out, tare_model *model, tare_graph *outer, tare_node *owner, tare_error *err);

/* A new constant value; its tensor's bytes are borrowed when `borrow`, else copied. dtype and shape are the tensor's
 * unless quant is given, then the value is f32. */
tare_status tare_graph_add_constant(tare_graph *graph, const char *base_name, const tare_tensor *tensor,
                                    const tare_quant *quant, bool borrow, tare_value **out, tare_error *err);
/* The common ones: s64 list and f32 scalar. */
tare_status tare_graph_add_s64(tare_graph *graph, const char *base_name, const int64_t *numbers, size_t count,
                               bool scalar, tare_value **out, tare_error *err);
tare_status tare_graph_add_f32(tare_graph *graph, const char *base_name, float number, tare_value **out,
                               tare_error *err);

/* A new node before `before` (NULL: at the end). attrs are set to their defaults; inputs and outputs are connected, and
 * may hold NULLs. Name: unique, made of `base_name`, or of the op's when that is NULL ("Conv#12", generated). */
tare_status tare_graph_add_node(tare_graph *graph, tare_node *before, const tare_op *op, const char *base_name,
                                tare_value *const *inputs, int input_count, tare_value *const *outputs,
                                int output_count, tare_node **out, tare_error *err);
/* The same for an op that tare does not know. */
tare_status tare_graph_add_unknown(tare_graph *graph, tare_node *before, const char *domain, const char *type,
                                   const char *base_name, tare_value *const *inputs, int input_count,
                                   tare_value *const *outputs, int output_count, tare_node **out, tare_error *err);

/* What this room needs to know of an op; the descriptors themselves are in ops/ (these are in ops/describe.c). */
const tare_op *tare_op_find(const char *domain, const char *name, int64_t opset); /* NULL: none read at that opset */
const char *tare_op_name(const tare_op *op);
const char *tare_op_domain(const tare_op *op);                        /* "" is ONNX's own */
const tare_field *tare_op_attrs(const tare_op *op, size_t *size);     /* NULL: no attributes; size of the struct */
void tare_op_arity(const tare_op *op, int inputs[2], int outputs[2]); /* least and most; most < 0: no limit */

/* value may be NULL; index < input_count */
tare_status tare_node_set_input(tare_node *node, int index, tare_value *value, tare_error *err);
tare_status tare_node_resize_inputs(tare_node *node, int count, tare_error *err); /* new ones are NULL */
/* Trailing NULL inputs are cut. */
void tare_node_trim(tare_node *node);
void tare_node_remove(tare_node *node); /* its outputs must have no uses and be no graph outputs */
void tare_node_move_before(tare_node *node, tare_node *before);
/* Makes it another op with default attributes; name and links stay (a generated name is made anew). */
tare_status tare_node_become(tare_node *node, const tare_op *op, tare_error *err);
/* Moves the nodes of an If's body, and its values, before `before` in the graph around it. Names that are taken there
 * are changed. The body's outputs are then ordinary values of that graph, in body->outputs. */
tare_status tare_graph_inline(tare_graph *body, tare_node *before, tare_error *err);

/* Keeps the part of a main graph that computes `to` (none: its outputs) from `from` (computed values, which become inputs) and
 * from what inputs it still needs; the rest is removed. TARE_E_USAGE when some `from` is not needed; the graph is of no
 * use then. */
tare_status tare_graph_cut(tare_graph *graph, tare_value *const *to, size_t to_count, tare_value *const *from,
                           size_t from_count, tare_error *err);

/* Every use of `from`, in inner graphs too, and its places among graph outputs, become `to`'s. */
tare_status tare_value_replace(tare_value *from, tare_value *to, tare_error *err);
/* Makes `to`, which takes its place, answer to `from`'s name as well: a graph output keeps its name by this. */
tare_status tare_value_take_name(tare_value *to, tare_value *from, tare_error *err);
void tare_value_remove(tare_value *value);      /* unused, no producer */
void tare_value_close_input(tare_value *value); /* an input that is an initializer too can be fed no more */
void tare_value_set_producer(tare_value *value, tare_node *node, int index); /* moves an output between nodes */

/* Names of values that a pass removed, for comparisons. */
tare_status tare_model_add_alias(tare_model *model, const char *removed, const tare_alias *alias, tare_error *err);
tare_status tare_model_add_gone(tare_model *model, const char *removed, const char *reason, tare_error *err);
/* Follows aliases to a value that is there; false and the reason in alias->reason when it is gone. */
bool tare_model_resolve(const tare_model *model, const char *name, tare_alias *alias);

int64_t tare_model_symbol(tare_model *model, const char *name); /* the dim for a named symbol; UNKNOWN: no memory */

/* ---- looking ---- */
#define tare_for_nodes(node, graph) for (tare_node *node = (graph)->first; node; node = node->next)
/* Safe when the body removes `node`. */
#define tare_for_nodes_safe(node, graph)                                                                               \
    for (tare_node *node = (graph)->first, *next_ = node ? node->next : NULL; node;                                    \
         node = next_, next_ = node ? node->next : NULL)

/* The graphs inside a node (If, Loop, Scan): the index-th, NULL past the last. */
tare_graph *tare_node_body(const tare_node *node, int index);
static inline bool tare_value_is_constant(const tare_value *value) { return value && value->constant; }
/* The index-th input, NULL when left out or past the end; likewise outputs. */
static inline tare_value *tare_node_input(const tare_node *node, int index) {
    return index < node->input_count ? node->inputs[index] : NULL;
}
static inline tare_value *tare_node_output(const tare_node *node, int index) {
    return index < node->output_count ? node->outputs[index] : NULL;
}
bool tare_node_is(const tare_node *node, const char *op_name); /* main domain and the name */
/* Is this node the value's only reader, and the value no graph output? */
bool tare_value_has_one_use(const tare_value *value);

/* Sorts nodes topologically (stable); an error names the cycle. Notes to the log when it had to. */
tare_status tare_graph_sort(tare_graph *graph, tare_log *log, tare_error *err);
/* The rules of this page: links both ways, order, names, arity, attributes, quantization; and the op's own check. */
tare_status tare_graph_verify(const tare_graph *graph, tare_error *err);

/* ---- tensors ---- */
/* Room for a tensor of this type and static shape; data is not cleared. */
tare_status tare_tensor_new(tare_arena *arena, tare_dtype dtype, const tare_shape *shape, tare_tensor **out,
                            tare_error *err);
/* Bytes of a tensor; false past 2^40 elements. */
bool tare_tensor_size(tare_dtype dtype, const tare_shape *shape, size_t *size);
/* A constant's numbers as int64 (any integer type or bool), at most `capacity`; false: not constant, too many, or not
 * integers. */
bool tare_value_read_s64(const tare_value *value, int64_t *numbers, size_t capacity, size_t *count);
/* A constant of one element (or all equal) as double, dequantized; false: it is not. */
bool tare_value_read_scalar(const tare_value *value, double *number);
/* What codes mean that a Q node gives or a DQ node takes, where one scale holds for all: scale * (code - zero_point). */
bool tare_value_read_meaning(const tare_value *codes, double *scale, double *zero_point);
/* The constant's numbers as f32 in a new buffer (or the constant's own when it is f32): any float or integer type,
 * dequantized when quantized. */
tare_status tare_value_read_f32(const tare_value *value, tare_arena *arena, const float **numbers, size_t *count,
                                tare_error *err);

#endif

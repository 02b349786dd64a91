/* The scheme: who is computed on codes and which values share a scale, before any number is chosen. Internal to the room. */
#ifndef TARE_QUANTIZE_SCHEME_H
#define TARE_QUANTIZE_SCHEME_H

#include "quantize/quantize.h"

/* A product (Conv, Gemm, MatMul …) with what melts into it: an added bias, then a Relu or Clip. */
typedef struct tare_product {
    tare_node *node;
    tare_value *data[2]; /* activations: one, or two when both operands are computed */
    int data_count;
    tare_value *weight;   /* constant operand; NULL: both are computed */
    int weight_input;     /* its place among the node's inputs */
    int channel_axis;     /* of the weight; -1: one scale for all */
    tare_value *bias;     /* constant; NULL: none */
    tare_node *bias_node; /* the node that has it as input (the product, or an Add after it) */
    int bias_input;
    tare_node *activation;       /* NULL: none */
    tare_value *out;             /* after all that */
    uint64_t macs;               /* multiply-accumulates of a sample; 0: not known */
    const char *spared;          /* stays float: why a rule of spare.c found that codes would ruin it; NULL */
    const tare_value *nonfinite; /* constant that holds NaN or Inf, for which it is none; NULL */
} tare_product;

/* What rules say of a value's codes: for each key the last that fits the value, or what gives it, and has the key; NULL: none. */
typedef struct tare_said {
    const tare_rule *type, *method, *percentile, *range;
} tare_said;

enum { TARE_KEY_TYPE = 1, TARE_KEY_METHOD = 2, TARE_KEY_PERCENTILE = 4, TARE_KEY_RANGE = 8 };

typedef struct tare_scheme_value {
    tare_value *value;
    tare_said said; /* of it and of those whose codes it moves, or that move its codes */
    bool quantized;
    bool kept;     /* of a root: some member has a scale from the file */
    size_t parent; /* union-find: values that share one scale */
} tare_scheme_value;

/* Gives the nodes of the main graph their numbers, which are what node->mark holds throughout this room: what is kept of nodes
 * is in arrays by number, each function's own. The same graph gives the same numbers. The number of the last, and of nodes. */
size_t tare_number_nodes(tare_graph *graph);
static inline size_t tare_number_of(const tare_node *node) { return node->mark; }

typedef struct tare_scheme {
    tare_arena *arena;
    tare_model *model;
    const tare_quantize_options *options;
    tare_log *log;
    size_t raised; /* products whose weight scales grew for their bias */
    const char *first_raised;
    unsigned *used;    /* by rule: TARE_KEY_ bits of what had an effect */
    unsigned *sides;   /* by number of the node: what flows through the graph (scheme.c) */
    size_t node_count; /* numbers are 1 to this */
    TARE_VEC(tare_product) products;
    uint64_t macs, spared_macs;         /* of all products, and of those that were spared */
    TARE_VEC(tare_scheme_value) values; /* value->mark is the index + 1 */
} tare_scheme;

tare_status tare_scheme_make(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err);
/* NULL: the value has no part in it. */
tare_scheme_value *tare_scheme_find(const tare_scheme *scheme, const tare_value *value);
size_t tare_scheme_root(const tare_scheme *scheme, size_t index);
static inline size_t tare_scheme_root_of(const tare_scheme *scheme, const tare_scheme_value *entry) {
    return tare_scheme_root(scheme, (size_t)(entry - scheme->values.at));
}
void tare_scheme_join(tare_scheme *scheme, const tare_value *a, const tare_value *b);

/* The product whose node this is and that stays integer; false: it stays float (why is logged once), and of *product only
 * node and nonfinite say something. */
bool tare_product_of(const tare_quantize_options *options, tare_node *node, tare_product *product, const char **why);

/* The Relu or Clip that melts into a node, no product, that the target computes on codes. Nodes that join numbers (Concat), or whose
 * range is theirs by nature (Softmax), take none. */
tare_node *tare_melting_activation(const tare_quantize_options *options, const tare_node *node);

/* NaN and Inf in an f32 constant; 0 for any other value. */
size_t tare_value_nonfinite(const tare_value *value);

/* Calls visit for each range that calibration saw and from which the value's numbers come: its own, or those its producer
 * moves them from. False: some source was never seen. */
typedef void tare_source_visit(void *context, const tare_value *value, const tare_range *range);
bool tare_sources_visit(const tare_ranges *ranges, const tare_value *value, tare_source_visit *visit, void *context);
/* The same before calibration: those that it would see; their ranges are NULL. */
void tare_sources_list(const tare_value *value, tare_source_visit *visit, void *context);
/* Widens [lo, hi] by the extremes of the sources. */
void tare_sources_extremes(const tare_ranges *ranges, const tare_value *value, float *lo, float *hi);

/* Takes products out that codes would ruin, as long as few multiply-accumulates stay float for it. The rules: */
tare_status tare_scheme_spare(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err);
tare_status tare_spare_before_logs(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err);
/* What it reads the statistics of, or of whose sources, when a node is one; NULL: nothing. */
const tare_value *tare_log_input(const tare_node *node);
tare_status tare_spare_starved(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err);
/* For the rules: are these multiply-accumulates known and few enough to stay float, and the deed itself. */
bool tare_may_spare(const tare_scheme *scheme, uint64_t macs);
void tare_spare_product(tare_scheme *scheme, tare_product *product, const char *why);

/* What options or target ask for: zero points in the middle, powers of two. */
static inline bool tare_wants_symmetric(const tare_quantize_options *options) {
    return options->symmetric || options->target->symmetric_activations;
}
static inline bool tare_wants_powers(const tare_quantize_options *options) {
    return options->power_of_two || options->target->power_of_two;
}
/* The type of the codes that the value has, or would have. */
tare_dtype tare_code_of(const tare_scheme *scheme, const tare_value *value);
/* The scale of that type for what was seen, all of it. */
float tare_step_of(const tare_scheme *scheme, const tare_value *value, const tare_range *range);
/* The scales that groups of activations share, by the index of their root, on the scheme's arena; NULL where there is no
 * activation. `standin`: what method auto means. */
tare_status tare_activation_quants(tare_scheme *scheme, const tare_ranges *ranges, const tare_method *standin,
                                   const tare_quant ***out, tare_error *err);
/* Gives every quantized activation its scale. */
tare_status tare_quantize_activations(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err);
/* Gives codes to sums whose activation the target does not merge, lest their product runs in float. */
tare_status tare_quantize_sums(tare_scheme *scheme, tare_error *err);
/* Gives every product's weight its scales, wide enough for its bias. */
tare_status tare_quantize_weights(tare_scheme *scheme, tare_error *err);

/* Turns codes of the product's weight, which are the numbers' nearest, so that their errors cancel. */
tare_status tare_keep_sums(const tare_product *product, const float *numbers, tare_tensor *codes, tare_arena *arena,
                           tare_error *err);
/* *out: what the codes shift the mean of each output channel by, on the arena; NULL: not known. */
tare_status tare_shifts(const tare_product *product, const float *numbers, const tare_tensor *codes,
                        const tare_ranges *ranges, tare_arena *arena, double **out, tare_error *err);

/* Are names and numbers of the options such as there are? */
tare_status tare_quantize_check_options(const tare_quantize_options *options, tare_error *err);

/* By a rule: is the node computed in float? Has the value no codes? */
bool tare_keeps_node_float(const tare_quantize_options *options, const tare_node *node);
bool tare_keeps_value_float(const tare_quantize_options *options, const tare_value *value);
/* Adds rules that fit the value, or the node that gives it; those that fit a node; those of another. */
void tare_said_add_value(tare_said *said, const tare_quantize_options *options, const tare_value *value);
void tare_said_add_node(tare_said *said, const tare_quantize_options *options, const tare_node *node);
void tare_said_merge(tare_said *into, const tare_said *other);
/* These keys of what is said had an effect. */
void tare_said_use(const tare_scheme *scheme, const tare_said *said, unsigned keys);
/* Warns of rules that fit nothing, and of keys that had no effect. */
tare_status tare_rules_tell_unused(const tare_scheme *scheme, tare_error *err);

#endif

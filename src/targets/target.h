/* Targets: whose integer arithmetic and constraints a model is made for. A folder per target; targets.def lists them.
 * Rows say, per op, how the target computes it on codes; no row: the node stays float between DequantizeLinear and
 * QuantizeLinear. */
#ifndef TARE_TARGETS_TARGET_H
#define TARE_TARGETS_TARGET_H

#include "graph/graph.h"
#include "ops/op.h"

typedef enum tare_int_kind {
    TARE_INT_NONE,    /* float between DQ and Q */
    TARE_INT_PRODUCT, /* weights: Conv, Gemm, MatMul: what quantization is for */
    TARE_INT_CODES,   /* computed on codes, any scales */
    TARE_INT_MOVE     /* codes are moved; input and output must have equal scale and zero point */
} tare_int_kind;

enum {
    TARE_INT_FLOAT_OUT = 1, /* the product may give float at no cost (MatMulIntegerToFloat) */
    TARE_INT_UNFUSED = 2,   /* the runtime itself computes it in float between DQ and Q; the integer sum is exact */
    TARE_INT_DYNAMIC_OK = 4 /* both operands may be activations */
};

/* A node as its target meets it: what is known of its codes. */
typedef struct tare_int_node {
    const tare_node *node;
    const tare_quant *const *inputs; /* by input; NULL: left out, or its numbers are real */
    const tare_quant *output;        /* of output 0, behind an activation that is part of the node; NULL: real */
} tare_int_node;

/* How profiles of a target compute an op on codes: a file targets/<target>/<op>.c each, whose head states rounding, source
 * and what it was checked against. Tensors hold codes where n->inputs has a scale. */
typedef struct tare_int_row {
    unsigned profiles;  /* bit i: the target's i-th */
    unsigned codes;     /* types of data: 1u << TARE_U8 | … */
    bool mixes;         /* inputs and output may have different ones */
    bool gives_numbers; /* the output may be real */
    /* Why this node stays in float, in constant words; NULL: it is computed on codes. Called when data inputs, but a
     * product's second one, and output have codes of these types with one finite scale above 0 each. NULL: nothing more to ask. */
    const char *(*refuses)(const tare_int_node *n);
    /* Once per plan; packs weights, makes tables. prepare->clamp has the activation that is part of the node. */
    tare_status (*prepare)(const tare_int_node *n, tare_prepare *prepare, tare_error *err);
    tare_status (*run)(const tare_call *call, tare_error *err);
} tare_int_row;

typedef struct tare_target_row {
    const char *op; /* main domain */
    tare_int_kind kind;
    unsigned flags;
    const tare_int_row *codes; /* NULL: tare itself cannot compute it on this target's codes yet */
} tare_target_row;

typedef struct tare_target {
    const char *name, *help;
    const char *const *profiles;         /* the first is the default; ended by NULL */
    const char *validated;               /* "ONNX Runtime 1.32.0", or NULL: formulas only */
    bool quantizes;                      /* models can be made for it; else it only runs what has its codes already */
    tare_dtype activation, weight, bias; /* defaults */
    bool symmetric_activations, power_of_two, per_channel;
    const tare_target_row *rows; /* ended by op NULL; an op may have several, for different profiles */
    /* The output range the target demands of an op with a fixed one, NULL when it leaves the choice: Softmax 1/256. */
    bool (*fixed_scale)(const tare_node *node, tare_dtype code, float *scale, int32_t *zero_point);
    /* Is this activation after a product merged into it without a rounding between? zero_point and highest real value
     * of the output are known when it is asked: Relu when zero_point is the lowest code; Clip when codes end inside. */
    bool (*fuses_activation)(const tare_node *activation, const tare_quant *output);
} tare_target;

extern const char *const tare_target_names[]; /* ended by NULL */
size_t tare_target_count(void);
const tare_target *tare_target_at(size_t index);
const tare_target *tare_target_find(const char *name); /* NULL: none */
/* The same, of NULL the first, and a usage error that lists what there is; `quantizes`: among those that models can be made for. */
tare_status tare_target_get(const tare_target **out, const char *name, bool quantizes, tare_error *err);
/* The index of a profile; name NULL: the first. */
tare_status tare_target_get_profile(int *out, const tare_target *target, const char *name, tare_error *err);
/* The row of a node's op: a row of kind NONE when there is none, never NULL. */
const tare_target_row *tare_target_row_of(const tare_target *target, const tare_node *node);
/* Is there a product that the target computes on codes of this type? */
bool tare_target_multiplies(const tare_target *target, tare_dtype code);
/* The row that computes this node on codes; NULL, and why not, in constant words. */
const tare_int_row *tare_target_int_row(const tare_target *target, int profile, const tare_int_node *n,
                                        const char **why);

#endif

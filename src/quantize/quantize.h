/* Quantization: which values become codes, which scales they get, and why. Two steps: choose() gives scales (stage
 * `calibrated`: numbers still float), round() turns constants into codes (stage `quantized`). Existing scales of a QDQ or
 * QAT model are kept as they are. Every scale has its origin; every decision that costs accuracy or speed is one line in
 * the log. */
#ifndef TARE_QUANTIZE_QUANTIZE_H
#define TARE_QUANTIZE_QUANTIZE_H

#include "calibrate/calibrate.h"
#include "targets/target.h"

/* What the user, or a repair, said about some nodes or values. For each of its keys the last rule that fits and has it holds;
 * those of an op or a node speak of the values that it gives. */
typedef struct tare_rule {
    const char *op, *node,
        *value;         /* one of them: an op's name, a node's, a value's; `*` at the end fits any ending; op and
                                      node may be the same word, and either fits */
    bool keep_float;    /* nodes: computed in float; values: not quantized, nor what needs their codes. False in a
                                      rule that has nothing else takes earlier ones back */
    const char *type;   /* code type of activations: "u8", "s8", "u16", "s16"; NULL: the default */
    const char *method; /* range method; NULL: the default */
    double percentile;  /* 0: the default */
    bool has_range;
    double lo, hi; /* the range itself */
} tare_rule;

/* What is wrong with a range that a rule says, a text that lasts; NULL: nothing. */
const char *tare_rule_range_fault(double lo, double hi);

typedef struct tare_quantize_options {
    const tare_target *target;
    const char *method;            /* NULL: the default, tare_method_at(0) */
    double percentile;             /* two-sided, in percent; 0: 99.99 */
    tare_dtype activation, weight; /* TARE_DTYPE_NONE: the target's */
    bool symmetric, power_of_two, per_tensor;
    bool int_outputs;    /* f32 outputs of the graph get codes, whoever computes them */
    bool skip_nonfinite; /* products whose weight or bias holds NaN or Inf stay float, instead of TARE_E_MALFORMED */
    const tare_rule *rules;
    size_t rule_count;
    const tare_map
        *winners;     /* of method auto: a value's name -> tare_winner *, by tare_quantize_try; NULL: none tried */
    tare_map *spared; /* choose() puts in why codes would ruin a product, by the name of its first output; or NULL */
} tare_quantize_options;

typedef struct tare_winner {
    const tare_method *method;
} tare_winner;

/* Refuses products whose constants hold NaN or Inf, or warns of them (skip_nonfinite). */
tare_status tare_quantize_check_finite(const tare_model *model, const tare_quantize_options *options, tare_log *log,
                                       tare_error *err);

/* Sets value->quant for activations and weights of an optimized float model, in place. `ranges` may be NULL when every
 * needed scale is in the model already (QDQ, QAT). */
tare_status tare_quantize_choose(tare_model *model, const tare_ranges *ranges, const tare_quantize_options *options,
                                 tare_log *log, tare_error *err);

/* The same with ranges, or none (NULL): values without a scale get one that only stands for it, all of them when a range is
 * missing. For asking who would be on codes; no log. */
tare_status tare_quantize_mark(tare_model *model, const tare_ranges *ranges, const tare_quantize_options *options,
                               tare_error *err);

/* Puts the names of the values whose statistics choose() will ask for, or some more, into the map: the rest need not be
 * counted; when there is none, no ranges are needed. The model gets new marks, nothing else. */
tare_status tare_quantize_list_needs(tare_model *model, const tare_quantize_options *options, tare_map *names,
                                     tare_error *err);

/* Why a node that multiplies by weights (or what the target takes for one) would stay float; NULL: it would not, or it is no
 * such node. */
const char *tare_quantize_why_float(const tare_quantize_options *options, tare_node *node);

/* How the nodes of the main graph that give real numbers are computed. */
typedef struct tare_float_group {
    const char *why;
    TARE_VEC(const tare_node *) nodes; /* in the order of the graph */
} tare_float_group;
typedef struct tare_fates {
    size_t nodes, on_codes;            /* an activation or bias that melts into a product is on codes */
    TARE_VEC(tare_float_group) floats; /* the others, by reason */
} tare_fates;
/* Between choose() or mark() and round(), with their options; or of a model that is quantized. The lists are on the arena. */
tare_status tare_quantize_list_fates(tare_fates *fates, tare_model *model, const tare_quantize_options *options,
                                     tare_arena *arena, tare_error *err);

/* Rounds quantized float constants to codes, quantizes biases, which take out what rounding the weights shifts the means by
 * that the ranges hold (NULL: nothing). */
tare_status tare_quantize_round(tare_model *model, const tare_ranges *ranges, const tare_quantize_options *options,
                                tare_error *err);

/* For int_outputs, after all the rest: quantized outputs become tensors of codes, which keep the outputs' names; inside,
 * the real numbers go on under new ones. */
tare_status tare_quantize_give_codes(tare_model *model, tare_error *err);

/* ---- method auto (try.c) ---- */

enum { TARE_TRY_SAMPLES = 2 }; /* as dear as a dozen inferences */

typedef struct tare_try_options {
    const size_t
        *indexes; /* of samples on which the ranges were not fitted; at most TARE_TRY_SAMPLES of them are run */
    size_t count;
    const tare_ranges *held_out; /* what was counted on these samples; NULL: no more than the ranges */
    tare_cpu cpu;
    size_t threads; /* 0: all; never changes who wins */
} tare_try_options;

/* Does the method, or that of a rule, try others? */
bool tare_quantize_tries(const tare_quantize_options *options);

/* Tries the ranges of all methods, each scale alone, and names for every value whose ranges differ the one that does least
 * harm where it is read, on the map's arena. The model gets new marks, nothing else. */
tare_status tare_quantize_try(tare_map *winners, tare_model *model, const tare_ranges *ranges,
                              const tare_quantize_options *options, const tare_samples *samples,
                              const tare_try_options *how, tare_log *log, tare_error *err);

#endif

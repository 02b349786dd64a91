/* Comparing: two sides on the same samples, value by value, by metrics that are streamed: nothing is kept but what waits
 * for its partner. A side is a model run by a backend, or a directory of dumped tensors. Values are joined by name,
 * through what passes have recorded of values they took out. All sums are f64, in the order of sample ids, so the
 * numbers are the same for any number of threads. */
#ifndef TARE_COMPARE_COMPARE_H
#define TARE_COMPARE_COMPARE_H

#include "run/run.h"
#include "samples/labels.h"
#include "samples/samples.h"

/* What a difference looks like. `a` is the reference, d = b - a, sums over all numbers of all samples unless said
 * otherwise. A metric that cannot be told is NaN: any of the numbers was no finite one (count them in nonfinite), or
 * there were no numbers. */
typedef struct tare_metrics {
    uint64_t samples, count; /* numbers: of all samples */
    uint64_t nonfinite;      /* pairs in which either is NaN or infinite */
    bool is_exact;           /* no difference at all; sqnr_db is +infinity then */
    bool is_zero;            /* both sides are 0 everywhere: cosine is 1 */
    double sqnr_db;          /* 10 log10(Σa² / Σd²); -infinity: the reference is 0 and the other is not */
    double cosine;           /* Σab / sqrt(Σa² Σb²), mean over samples; one side all 0: 0; both: 1 */
    double cosine_worst;     /* the least of them */
    double relative_l2;      /* sqrt(Σd² / Σa²); 0 when exact, +infinity when only the reference is 0 */
    double l2_norm;          /* sqrt(Σd²) of a sample, mean over samples */
    double rmse;             /* sqrt(Σd² / count) */
    double l1, l2;           /* Σ|d| / n and sqrt(Σd²) / n of a sample, mean over samples: the vendors' columns */
    double chebyshev;        /* max |d| */
    double sqnr_worst_db;    /* of one sample; its id: */
    const char *worst_sample;
    double top1; /* share of places where the largest is the same (along dimension 1 when there are 4 or more, else
                    along the last; the first of equals); NaN: one number a place, and in the local comparison */
    int64_t worst_channel; /* along dimension 1; -1: fewer than two channels, or no signal */
    double worst_channel_db;
    uint64_t codes, codes_used;           /* the other side's, when it is quantized; 0: it is not */
    double saturated_low, saturated_high; /* shares of its numbers that were beyond the codes before rounding */
    double seen_min, seen_max;            /* of them all, before rounding; NaN: none is rounded */
} tare_metrics;

/* One value of both sides. */
typedef struct tare_compared {
    const char *name;      /* the reference's */
    const char *other;     /* the other's name, when it is another; NULL */
    const char *node, *op; /* what makes it; NULL: an input, or both sides are dumps */
    bool is_output;
    bool is_class;           /* one number a class, as far as operator and shapes tell: top1 means something */
    const char *behind;      /* op of the activation that both were taken through; NULL: none */
    const tare_value *value; /* of the other side's model, else of the reference's; NULL: both are dumps */
    tare_metrics metrics;
    tare_hits hits[2]; /* of each side, by the labels; samples 0: no labels, or no vector of scores */
} tare_compared;

/* A value that only one side has. */
typedef struct tare_unmatched {
    const char *name;
    bool is_reference; /* the reference has it */
    const char *reason;
} tare_unmatched;

typedef struct tare_comparison tare_comparison;
void tare_comparison_free(tare_comparison *comparison); /* NULL is fine */
/* In the order in which the reference makes them; of dumps, in the order of the archive. */
size_t tare_comparison_count(const tare_comparison *comparison);
const tare_compared *tare_comparison_at(const tare_comparison *comparison, size_t index);
const tare_compared *tare_comparison_find(const tare_comparison *comparison, const char *name); /* NULL: none */
size_t tare_comparison_unmatched_count(const tare_comparison *comparison);
const tare_unmatched *tare_comparison_unmatched_at(const tare_comparison *comparison, size_t index);

typedef struct tare_side tare_side;

/* A model run by a backend; the model must outlive the side and what is compared with it. `name`: what
 * messages call it. */
tare_status tare_side_open_model(tare_side **out, const char *name, const tare_model *model, tare_backend backend,
                                 tare_error *err);
/* Whose arithmetic the int backend has: needed by it before the side is compared. */
void tare_side_set_target(tare_side *side, const tare_target *target, int profile);
/* See tare_session_set_quant_filter. */
void tare_side_set_quant_filter(tare_side *side, bool (*is_quantized)(void *context, const tare_value *value),
                                void *context);
/* A model that someone else runs while it is compared: its outputs are taken as they come, so that one run serves two.
 * `run` is called for a sample by a thread of the pool, then `output` for outputs of the graph, by their index. */
typedef struct tare_runner {
    tare_status (*run)(void *context, size_t thread, const tare_sample *sample, tare_error *err);
    const tare_tensor *(*output)(void *context, size_t thread, size_t index);
    void *context;
} tare_runner;
/* Only outputs can be compared with it. */
tare_status tare_side_open_runner(tare_side **out, const char *name, const tare_model *model, const tare_runner *runner,
                                  tare_error *err);
/* Dumped tensors: DIR/<id>.npz, or one .npz, which goes with any single sample. */
tare_status tare_side_open_dump(tare_side **out, const char *name, const char *path, tare_error *err);
void tare_side_close(tare_side *side); /* NULL is fine */

typedef struct tare_compare_options {
    size_t threads;  /* workers; 0: all. One sample: threads of its session */
    tare_pool *pool; /* they are this one's; NULL: a pool of its own */
    tare_cpu cpu;
    bool outputs_only;
    const size_t *indexes; /* of the samples; NULL: all */
    size_t index_count;
    size_t memory_limit; /* bytes of a session's slab; 0: none */
    const char *labels;  /* a file of them, to judge outputs that are one vector of scores; NULL: none */
    /* What only an activation (Relu, Clip, Swish, …) reads in this model is compared behind it, so that nothing counts as
     * lost that it throws away; NULL: values are compared as they are. Must outlive the comparison. */
    const tare_model *activations;
    const struct tare_comparison
        *like; /* behind the activations that it went behind, by the names of its other side; NULL */
} tare_compare_options;

/* Is an output one number a class, as far as the operators before it tell (classes.c says how)? NULL: a dump's, not known. */
typedef enum tare_class { TARE_CLASS_NO, TARE_CLASS_BY_SHAPE, TARE_CLASS_YES } tare_class;
tare_class tare_output_class(const tare_value *value);
/* And with a tensor of this shape. */
bool tare_output_is_class(tare_class class, const tare_shape *shape);

/* Compares b with the reference a. samples: NULL when both are dumps, else what the models get; a dump must have each
 * sample's id. A value of two shapes is an error that names it, and so is a pair of sides without a common value. */
tare_status tare_compare(tare_comparison **out, tare_side *a, tare_side *b, const tare_samples *samples,
                         const tare_compare_options *options, tare_log *log, tare_error *err);

/* What each node loses by itself: its float inputs rounded to their codes, its weights and output too, against the float
 * node (the local backend). Values of nodes that have nothing quantized are not in it. filter as above; NULL: all. */
tare_status tare_compare_local(tare_comparison **out, const tare_model *model,
                               bool (*filter)(void *context, const tare_value *value), void *context,
                               const tare_samples *samples, const tare_compare_options *options, tare_log *log,
                               tare_error *err);

#endif

/* Calibration: what the float graph's values look like on samples, and which range each should have. Statistics are
 * counts, so merging is adding: nothing depends on order, batching, threads or shards, and size does not grow with
 * samples. All methods read the same statistics. */
#ifndef TARE_CALIBRATE_CALIBRATE_H
#define TARE_CALIBRATE_CALIBRATE_H

#include <float.h>
#include <math.h>

#include <tare/quantize.h>

#include "base/threads.h"
#include "graph/graph.h"
#include "run/run.h"
#include "samples/samples.h"

enum {
    TARE_RANGE_BINADES = 512, /* sign and exponent of an f32 */
    TARE_RANGE_BINS = 128,    /* mantissa bits kept: 7 */
    TARE_RANGE_EXTREMES = 4   /* largest per side, with the sample they came from */
};

/* A sum whose value does not depend on the order of adding: 384-bit fixed point, lowest bit 2^-192 (what is below is cut
 * off each summand before adding). */
typedef struct tare_sum {
    uint64_t word[6];
} tare_sum;
void tare_sum_add(tare_sum *sum, double number); /* finite */
void tare_sum_merge(tare_sum *sum, const tare_sum *other);
double tare_sum_value(const tare_sum *sum);

typedef struct tare_extreme {
    float value;
    const char *sample; /* id */
} tare_extreme;

/* What was seen of one value. */
typedef struct tare_range {
    const char *name;
    uint64_t count, zeros; /* all numbers; those that are 0 (either sign) */
    uint64_t nans, positive_infinities, negative_infinities;
    const char *nonfinite_sample;       /* the first, by id, that had some; NULL: none */
    float min, max;                     /* of the finite ones; +inf, -inf when there are none */
    uint64_t *page[TARE_RANGE_BINADES]; /* counts of finite numbers by the upper 16 bits; NULL: none in that binade */
    tare_extreme lowest[TARE_RANGE_EXTREMES],
        highest[TARE_RANGE_EXTREMES]; /* by value, ties by id; at most one a sample */
    int extreme_count;
    uint64_t samples;                /* that had finite numbers */
    tare_sum sample_min, sample_max; /* of the per-sample extremes */
    size_t channels; /* along dimension 1, where a depthwise product reads them one by one; 0: not counted */
    float *channel_min, *channel_max;
    size_t summed; /* channels along dimension 1 that are added up, where a product multiplies them; 0: none are */
    tare_sum *channel_sum; /* of the finite numbers, sample by sample */
} tare_range;

/* tare_ranges_write, _read, _merge and _free are public: <tare/quantize.h>. */

typedef struct tare_calibrate_options {
    tare_cpu cpu;
    size_t threads;       /* workers, one session each; 0: all */
    bool skip_nonfinite;  /* count NaN and Inf and go on, instead of TARE_E_MALFORMED naming tensor, node and sample */
    size_t shard, shards; /* only samples whose index % shards == shard; shards 0: all */
    const tare_map *wanted; /* names of the values to count, of those that can be; NULL: all */
} tare_calibrate_options;

/* Can it be counted? Graph inputs can, and what nodes make that neither move nor join numbers. */
bool tare_calibrate_observes(const tare_value *value);

/* Runs the float model over the samples and counts every float value whose producer observes (pass-through and same-scale
 * values inherit; constants never enter), graph inputs included. */
tare_status tare_calibrate(tare_ranges **out, const tare_model *model, const tare_samples *samples,
                           const tare_calibrate_options *options, tare_log *log, tare_error *err);
/* Is the sample in the shard? */
bool tare_calibrate_takes(const tare_calibrate_options *options, size_t index);

/* The same in steps, for those who want what the model gives while it is counted. The options' shard is the caller's to
 * keep to; model, samples and what the options point to must outlive it. */
typedef struct tare_calibrator tare_calibrator;
tare_status tare_calibrator_open(tare_calibrator **out, const tare_model *model, const tare_samples *samples,
                                 const tare_calibrate_options *options, tare_log *log, tare_error *err);
void tare_calibrator_close(tare_calibrator *calibrator);            /* NULL is fine */
tare_pool *tare_calibrator_pool(const tare_calibrator *calibrator); /* has a thread for each worker */
/* Runs these samples, each by the worker that is free. After a failure, here or in see(), what the worker counted is gone. */
tare_status tare_calibrator_count(tare_calibrator *calibrator, const size_t *indexes, size_t count, tare_error *err);
/* Runs one by the worker of this thread of the pool; the model's outputs stay until the same worker's next one. */
tare_status tare_calibrator_see(tare_calibrator *calibrator, size_t thread, const tare_sample *sample, tare_error *err);
const tare_tensor *tare_calibrator_output(const tare_calibrator *calibrator, size_t thread, size_t index);
/* What was counted since it was last taken; TARE_E_USAGE when that is nothing. */
tare_status tare_calibrator_take(tare_calibrator *calibrator, tare_ranges **out, tare_error *err);

/* Warns of each value that held NaN or Inf, in the order of the graph; TARE_E_MALFORMED when one held nothing else. */
tare_status tare_ranges_check_finite(const tare_ranges *ranges, tare_log *log, tare_error *err);
size_t tare_ranges_count(const tare_ranges *ranges);
const tare_range *tare_ranges_at(const tare_ranges *ranges, size_t index);       /* in the order of the graph */
const tare_range *tare_ranges_find(const tare_ranges *ranges, const char *name); /* NULL: never seen */
uint64_t tare_ranges_samples(const tare_ranges *ranges);
bool tare_ranges_are_synthetic(const tare_ranges *ranges);

/* Were they made of this model? TARE_E_MALFORMED, saying what to do, when its fingerprint is another: the node types and
 * the names of inputs and outputs of the graph that was calibrated. Weights do not count. */
tare_status tare_ranges_check(const tare_ranges *ranges, const tare_model *model, tare_error *err);

/* The ranges file: JSON, the same bytes for the same statistics (docs/formats/ranges.md). Hostile when read. */
enum {
    TARE_RANGES_FILE_MAX = 64 << 20, /* bytes */
    TARE_RANGES_VALUES_MAX = 1 << 16,
    TARE_RANGES_TOKENS_MAX = 1 << 22 /* commas, colons and brackets: what a JSON tree of it takes is bounded by them */
};
tare_status tare_ranges_parse(tare_ranges **out, const char *bytes, size_t size, tare_error *err);

/* What is not finite counts as nothing. */
static inline double tare_finite_or_0(float x) { return fabsf(x) <= FLT_MAX ? (double)x : 0; }

/* ---- range methods: methods.def, a file each ---- */

/* What a range will be used for: the codes it must fit. */
typedef struct tare_range_request {
    tare_dtype code;
    bool symmetric, power_of_two;
    double percentile; /* 0…100, two-sided: the share kept on each side is this */
    /* What all readers make of the numbers: an error counts by what it does behind this function. NULL: as it is. */
    double (*curve)(const void *attrs, double real);
    const void *curve_attrs;
} tare_range_request;

typedef struct tare_method {
    const char *name; /* "minmax" */
    tare_origin_kind origin;
    /* The real range [lo, hi] to quantize, lo <= 0 <= hi. The range has at least one finite number. */
    void (*choose)(const tare_range *range, const tare_range_request *request, float *lo, float *hi);
    bool
        tries; /* which of the others it is is tried on samples, value by value (quantize.h); choose() where it is not */
} tare_method;

enum {
#define METHOD(x, help) +1
    TARE_METHOD_COUNT = 0
#include "calibrate/methods.def"
#undef METHOD
};
size_t tare_method_count(void);
const tare_method *tare_method_at(size_t index);
const tare_method *tare_method_find(const char *name);
extern const char *const tare_method_names[]; /* ended by NULL */
extern const char tare_method_help[];         /* what --method says: each with what it does */

/* A clipping error is one-sided and comes in neighbours: it adds up behind a product where rounding cancels. Of 1, 3 and 10
 * tried on real models, 3 is the best (docs/accuracy.md). */
static const double tare_clip_weight = 3;

/* Expected squared error per number if the range is quantized to codes between lo and hi, from the counts (uniform within
 * a bin, integrated exactly), where a squared clipping error counts clip_weight times: for methods, choices and reports. */
double tare_range_error(const tare_range *range, const tare_range_request *request, float lo, float hi,
                        double clip_weight);
/* Share of numbers below lo and above hi. */
double tare_range_share_outside(const tare_range *range, float lo, float hi);
/* Mean square of the numbers. */
double tare_range_power(const tare_range *range);
/* Mean of the numbers of a channel, of those that are summed. */
double tare_range_channel_mean(const tare_range *range, size_t channel);

#endif

/* From a float model and samples to an int8 model. */
#ifndef TARE_PUBLIC_QUANTIZE_H
#define TARE_PUBLIC_QUANTIZE_H

#include <tare/run.h>

TARE_C_BEGIN

typedef struct tare_ranges tare_ranges;

typedef struct tare_calibration_options {
    bool
        skip_nonfinite; /* samples and weights may hold NaN or infinities, which are left out; else they are an error */
} tare_calibration_options;
extern TARE_API const tare_field tare_calibration_fields[];

/* What is said about some nodes or values; exactly one of op, node, value is given, where `*` at the end fits any ending.
 * For each of the other members the last rule that fits and has it holds (docs/formats/recipe.md). */
typedef struct tare_rule_options {
    const char *op, *node, *value; /* an op's name, a node's, a value's */
    bool keep_float;               /* nodes: computed in float; values: no codes, nor for what needs theirs */
    int activation;                /* as below */
    const char *method;            /* NULL: the default */
    double percentile;             /* 50…100, for method percentile; 0: the default */
    tare_floats range;             /* lowest and highest real number; empty: from calibration */
} tare_rule_options;
extern TARE_API const tare_field tare_rule_fields[];

typedef struct tare_quantization {
    const char *target;      /* whose arithmetic and constraints; NULL: "onnx" */
    const char *method;      /* how ranges are chosen: minmax, average, percentile, entropy, mse, auto; NULL: mse */
    double percentile;       /* 50…100, the share kept on each side by method percentile; asks for it; 0: 99.99 */
    int activation;          /* ORDER: act: code type of activations: 0 the target's, 1 u8, 2 s8, 3 u16, 4 s16 */
    bool per_tensor;         /* weights have one scale, not one per output channel */
    bool symmetric;          /* zero points of activations are 0 (s8, s16) or the middle (u8, u16) */
    bool power_of_two;       /* scales are powers of two */
    bool int_outputs;        /* f32 outputs of the model become codes; scale and zero point say what they mean */
    tare_strings keep_float; /* names of nodes, or op types; such rules come after the others */
    tare_records rules;      /* tare_rule_options, by a recipe */
} tare_quantization;
extern TARE_API const tare_field tare_quantization_fields[];

/* Runs the model, which tare_model_optimize went over, and counts what its values are. `shard`: "I/N", only every N-th
 * sample from the I-th (from 0); NULL: all. options, work and log may be NULL. Free it with tare_ranges_free. */
TARE_API tare_status tare_model_calibrate(tare_ranges **out, const tare_model *model, const tare_samples *samples,
                                          const char *shard, const tare_calibration_options *options,
                                          const tare_work_options *work, tare_log *log, tare_error *err);
/* Written whole or not at all, as JSON (docs/formats/ranges.md), and read back before it gets its name: the same bytes for
 * the same statistics. Errors of a read say "PATH: where: what". */
TARE_API tare_status tare_ranges_write(const tare_ranges *ranges, const char *path, tare_error *err);
TARE_API tare_status tare_ranges_read(tare_ranges **out, const char *path, tare_error *err);
/* Adds what `from` saw, in any order; TARE_E_MALFORMED when it saw another model. `into` is of no use after an error. */
TARE_API tare_status tare_ranges_merge(tare_ranges *into, const tare_ranges *from, tare_error *err);
TARE_API void tare_ranges_free(tare_ranges *ranges); /* NULL is fine */
/* The ranges of some files added up. TARE_E_USAGE when `to`, where they are meant to go, is one of the files. */
TARE_API tare_status tare_ranges_merge_files(tare_ranges **out, const char *const *paths, size_t count, const char *to,
                                             tare_error *err);
/* What was seen, value by value: schema "tare-ranges-seen/1". `path` is what the text calls it. */
TARE_API tare_status tare_ranges_tell(const tare_ranges *ranges, const char *path, tare_report **report,
                                      tare_error *err);

/* What the result is measured on and how good it must be; zero-initialised: on held-out samples, no gate. */
typedef struct tare_measuring {
    const tare_samples *holdout; /* on these instead; NULL: none */
    double fail_below;           /* dB; an output below, or not measured, gives TARE_E_GATE; 0: no gate */
    tare_advice *advice;         /* where much was lost: options that may lose less. NULL: not wanted */
} tare_measuring;

/* Quantizes a copy of the model, which tare_model_optimize went over. Its ranges come from the samples, or are `ranges` of
 * the same model (NULL: none); a model that has all scales needs neither. When a report is wanted (schema
 * "tare-quantize/1"), what was lost is measured: every fifth sample by id is held out for that and its ranges join the
 * others after it, so that the result is the same as without; of fewer than 10 samples none is held out, which the report
 * says. Samples beside ranges are measured on, and method auto tries the ranges on some. On TARE_E_GATE both *out and
 * *report are there as well. `calibrated`, when wanted, is the stage before: values have their scales, constants are still
 * float; it shares numbers with *out and is freed before it. calibrated, samples, calibration, measuring, work, report and
 * log may be NULL. */
TARE_API tare_status tare_model_quantize(tare_model **out, tare_model **calibrated, const tare_model *model,
                                         const tare_samples *samples, const tare_ranges *ranges,
                                         const tare_quantization *options, const tare_calibration_options *calibration,
                                         const tare_measuring *measuring, const tare_work_options *work,
                                         tare_report **report, tare_log *log, tare_error *err);

/* Adds to that report the file that the result was written to; path NULL: none, because of the gate. */
TARE_API tare_status tare_report_add_written(tare_report *report, const tare_model *model, const char *path,
                                             tare_error *err);

/* A model at each stage, as files of a directory: original_float.onnx (as it was opened), optimized_float.onnx,
 * calibrated.onnx, quantized.onnx. */
typedef struct tare_stages {
    const tare_model *original, *optimized, *calibrated, *quantized;
} tare_stages;
/* To be asked before long work: makes the directory if it is missing (not those above it), and TARE_E_USAGE when one of the
 * files is read from, by the model or as a sample. samples and holdout may be NULL. */
TARE_API tare_status tare_stages_prepare(const char *directory, const tare_model *model, const tare_samples *samples,
                                         const tare_samples *holdout, tare_error *err);
/* Writes them in this order, each whole or not at all, and each says in its metadata which stage it is. log may be NULL. */
TARE_API tare_status tare_stages_save(const tare_stages *stages, const char *directory, tare_log *log, tare_error *err);
/* Adds the files to the report of the quantization. */
TARE_API tare_status tare_report_add_stages(tare_report *report, const char *directory, tare_error *err);

TARE_C_END

#endif

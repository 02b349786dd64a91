/* Models: opened, looked at, rewritten, written. */
#ifndef TARE_MODEL_H
#define TARE_MODEL_H

#include <tare/field.h>
#include <tare/log.h>
#include <tare/report.h>

TARE_C_BEGIN

typedef struct tare_model tare_model;

typedef struct tare_open_options {
    bool allow_hardlink; /* external data may be a hard link to another file */
    bool repair_scales;  /* scales of 0 or NaN become 1 where all their codes mean 0, with a warning; else an error */
    tare_strings input_shapes; /* "NAME=1x3x224x224": the shape of an input whose dimensions the file leaves open */
} tare_open_options;
extern TARE_API const tare_field tare_open_fields[];

/* Reads a model by its contents, whatever its extension, brings it to canonical form (Q and DQ nodes become scales of
 * values) and infers its shapes. Weights stay in the file, which must not change while the model is there. Free it with
 * tare_model_free. options and log may be NULL. TARE_E_USAGE: an input shape does not fit. */
TARE_API tare_status tare_model_open(tare_model **out, const char *path, const tare_open_options *options,
                                     tare_log *log, tare_error *err);
TARE_API void tare_model_free(tare_model *model); /* NULL is fine */
/* A copy that may be changed on its own; it shares numbers with the original and is freed before it. */
TARE_API tare_status tare_model_copy(tare_model **out, const tare_model *model, tare_error *err);

/* Writes it in the format of the extension (.onnx), whole or not at all, read back before it gets its name. A model
 * must not be written over a file it was opened from (TARE_E_USAGE). log may be NULL. */
TARE_API tare_status tare_model_save(const tare_model *model, const char *path, tare_log *log, tare_error *err);

/* TARE_E_USAGE for what save refuses by the name alone, TARE_E_IO when the folder is not there: to be asked before long
 * work. */
TARE_API tare_status tare_model_check_path(const tare_model *model, const char *path, tare_error *err);
/* The same for what is no model: TARE_E_USAGE when `path` is a file the model was read from, TARE_E_IO without its folder. */
TARE_API tare_status tare_model_check_inputs(const tare_model *model, const char *path, tare_error *err);

/* What tare made of it, as its file says: "original_float" (nothing yet), "optimized_float", "calibrated", "quantized";
 * this also when the file says nothing and computed values have scales, as in the int8 models of other tools. Static
 * text. */
TARE_API const char *tare_model_stage(const tare_model *model);

typedef struct tare_optimize_options {
    tare_strings passes; /* names, as the report's key "passes" has them; empty: all */
    tare_strings skip;   /* but not these */
    bool explain;        /* each rewrite in words: in the report, or without one, notes in the log */
} tare_optimize_options;
extern TARE_API const tare_field tare_optimize_fields[];

/* Rewrites the graph without changing what it computes, but for rounding where constants are folded. The report has the
 * schema "tare-optimize/1". options, report and log may be NULL; after an error the model is of no use but to be freed.
 */
TARE_API tare_status tare_model_optimize(tare_model *model, const tare_optimize_options *options, tare_report **report,
                                         tare_log *log, tare_error *err);

typedef struct tare_info_options {
    bool nodes, values; /* a row for each */
    bool memory;        /* what running it takes, step by step; open dimensions as 1 */
} tare_info_options;
extern TARE_API const tare_field tare_info_fields[];

/* Inputs, outputs, operators, weights, multiply-accumulates, quantization and where its scales come from: a report of
 * the schema "tare-info/1". options and log may be NULL. */
TARE_API tare_status tare_model_info(const tare_model *model, const tare_info_options *options, tare_report **report,
                                     tare_log *log, tare_error *err);

typedef struct tare_cut_options {
    tare_strings to;   /* values, or nodes for all their outputs: the new outputs; empty: the old ones */
    tare_strings from; /* values, or nodes for all their data inputs: the new inputs; empty: the old ones */
} tare_cut_options;
extern TARE_API const tare_field tare_cut_fields[];

/* Keeps the part of the main graph between some values. Initializers, shapes and scales stay with their values.
 * TARE_E_USAGE when a name is none, or a value of `from` is not needed; the model is of no use then but to be freed. */
TARE_API tare_status tare_model_cut(tare_model *model, const tare_cut_options *options, tare_error *err);

TARE_C_END

#endif

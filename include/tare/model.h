/* Models: opened, looked at, rewritten, written. */
#ifndef TARE_MODEL_H
#define TARE_MODEL_H

#include <tare/field.h>
#include <tare/log.h>
#include <tare/report.h>

typedef struct tare_model tare_model;

typedef struct tare_open_options {
    bool allow_hardlink;       /* external data may be a hard link */
    bool repair_scales;        /* scales of 0 or NaN are repaired where that changes no result, with a warning */
    tare_strings input_shapes; /* "NAME=1x3x224x224": dimensions that the file leaves open */
} tare_open_options;
extern TARE_API const tare_field tare_open_fields[];

/* Reads a model by its contents, whatever its extension, brings it to canonical form and infers its shapes. Free it with
 * tare_model_free. options and log may be NULL. */
TARE_API tare_status tare_model_open(tare_model **out, const char *path, const tare_open_options *options,
                                     tare_log *log, tare_error *err);
TARE_API void tare_model_free(tare_model *model); /* NULL is fine */

/* Writes it in the format of the extension, whole or not at all, read back before it gets its name. A model must not be
 * written over a file it was opened from (TARE_E_USAGE). */
TARE_API tare_status tare_model_save(const tare_model *model, const char *path, tare_log *log, tare_error *err);

/* What save refuses by the name alone: to be asked before long work. */
TARE_API tare_status tare_model_check_path(const tare_model *model, const char *path, tare_error *err);
/* TARE_E_USAGE when `path` is a file the model was read from: the same for what is no model. */
TARE_API tare_status tare_model_check_inputs(const tare_model *model, const char *path, tare_error *err);

/* What tare made of it, as its file says: "original_float" (nothing yet), "optimized_float", "calibrated", "quantized"; this
 * also when the file says nothing and computed values have scales, as in the int8 models of other tools. */
TARE_API const char *tare_model_stage(const tare_model *model);

typedef struct tare_optimize_options {
    tare_strings passes; /* names; empty: all */
    tare_strings skip;
    bool explain; /* a note for each rewrite */
} tare_optimize_options;
extern TARE_API const tare_field tare_optimize_fields[];

/* Rewrites the graph without changing what it computes. options and report may be NULL. */
TARE_API tare_status tare_model_optimize(tare_model *model, const tare_optimize_options *options, tare_report **report,
                                         tare_log *log, tare_error *err);

typedef struct tare_info_options {
    bool nodes, values; /* a row for each */
    bool memory;        /* what running it takes, step by step; open dimensions as 1 */
} tare_info_options;
extern TARE_API const tare_field tare_info_fields[];

/* Inputs, outputs, operators, weights, multiply-accumulates, quantization and where its scales come from. */
TARE_API tare_status tare_model_info(const tare_model *model, const tare_info_options *options, tare_report **report,
                                     tare_log *log, tare_error *err);

typedef struct tare_cut_options {
    tare_strings to;   /* values, or nodes for all their outputs: the new outputs; empty: the old ones */
    tare_strings from; /* values, or nodes for all their data inputs: the new inputs; empty: the old ones */
} tare_cut_options;
extern TARE_API const tare_field tare_cut_fields[];

/* Keeps the part of the main graph between some values. Initializers, shapes and scales stay with their values. */
TARE_API tare_status tare_model_cut(tare_model *model, const tare_cut_options *options, tare_error *err);

#endif

/* Models: opened, looked at, rewritten, written. */
#ifndef TARE_MODEL_H
#define TARE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include <tare/error.h>
#include <tare/log.h>
#include <tare/report.h>

typedef struct tare_model tare_model;

typedef struct tare_open_options {
    int allow_hardlink;              /* external data may be a hard link */
    int repair_scales;               /* scales of 0 or NaN are repaired where that changes no result, with a warning */
    const char *const *input_shapes; /* "NAME=1x3x224x224"; ended by NULL; NULL: none */
} tare_open_options;

/* Reads a model by its contents, whatever its extension, brings it to canonical form and infers its shapes. Free it with
 * tare_model_free. options and log may be NULL. */
TARE_API tare_status tare_model_open(tare_model **out, const char *path, const tare_open_options *options,
                                     tare_log *log, tare_error *err);
TARE_API void tare_model_free(tare_model *model); /* NULL is fine */

/* Writes it in the format of the extension, whole or not at all, read back before it gets its name. A model must not be
 * written over a file it was opened from (TARE_E_USAGE). */
TARE_API tare_status tare_model_save(const tare_model *model, const char *path, tare_log *log, tare_error *err);

typedef struct tare_optimize_options {
    const char *const *only; /* names of passes, ended by NULL; NULL: all */
    const char *const *skip;
    int explain; /* a line in the report for each rewrite */
} tare_optimize_options;
/* Rewrites the graph without changing what it computes. report may be NULL. */
TARE_API tare_status tare_model_optimize(tare_model *model, const tare_optimize_options *options, tare_report **report,
                                         tare_log *log, tare_error *err);

#endif

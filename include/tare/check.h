/* Looking for what will go wrong, before it does. */
#ifndef TARE_PUBLIC_CHECK_H
#define TARE_PUBLIC_CHECK_H

#include <tare/run.h>

TARE_C_BEGIN

typedef struct tare_check_options {
    const char *target; /* NULL: "onnx" */
} tare_check_options;
extern TARE_API const tare_field tare_check_fields[];

/* Which nodes the target computes on codes, and what looks dangerous for 8 bits: in the model, and in what `samples`
 * (may be NULL) show. The model is optimized first, as tare_model_quantize wants it. TARE_E_UNSUPPORTED, with the
 * report there as well, when something in it cannot be run; on other errors it is NULL. The report has the schema
 * "tare-check/1". options, work and log may be NULL. */
TARE_API tare_status tare_model_check(const tare_model *model, const tare_check_options *options,
                                      const tare_samples *samples, const tare_work_options *work, tare_report **report,
                                      tare_log *log, tare_error *err);

typedef struct tare_ops_options {
    bool markdown; /* the text as a Markdown table */
} tare_ops_options;
extern TARE_API const tare_field tare_ops_fields[];

/* Every operator that tare knows, and what each target makes of it: schema "tare-ops/1". */
TARE_API tare_status tare_list_ops(const tare_ops_options *options, tare_report **report, tare_error *err);

TARE_C_END

#endif

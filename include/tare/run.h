/* Running models on samples. */
#ifndef TARE_PUBLIC_RUN_H
#define TARE_PUBLIC_RUN_H

#include <tare/field.h>
#include <tare/report.h>
#include <tare/samples.h>

TARE_C_BEGIN

/* How work is done; never what comes out. */
typedef struct tare_work_options {
    int64_t threads; /* at most these; 0: as many as the process may use */
    const char *cpu; /* instruction set of the kernels: "scalar", "avx2", …; NULL: the best this machine has */
} tare_work_options;
extern TARE_API const tare_field tare_work_fields[];

/* How a model's values are computed: float ignores scales, qdq rounds values to their codes and computes in float, int
 * computes on codes as a runtime does. In place of a pointer to one, NULL is qdq. */
typedef struct tare_backend_options {
    int backend;         /* ORDER: backend: 0 float, 1 qdq, 2 int */
    const char *target;  /* int: whose arithmetic; NULL: "onnx" */
    const char *profile; /* int: which runtime of the target; NULL: its first */
} tare_backend_options;
extern TARE_API const tare_field tare_backend_fields[];

typedef struct tare_run_options {
    tare_strings tap; /* names of values besides the outputs; "all": every float value that is computed or fed */
} tare_run_options;
extern TARE_API const tare_field tare_run_fields[];

/* What outputs are judged by, beside what they are compared with. */
typedef struct tare_judging {
    const char *labels;     /* a file of the samples' classes (CSV, or a number a line); NULL: none */
    const char *metric_cmd; /* a command that is given a directory of outputs and prints figures; NULL: none */
} tare_judging;
extern TARE_API const tare_field tare_judging_fields[];

/* Runs every sample and writes DIR/<id>.npz with the outputs (and taps) under their names and DIR/list.txt; or one .npz
 * for a single sample when `to` ends in .npz. The report (schema "tare-run/1") says what was written and, with labels,
 * how often the right class had the highest score. judging, work, report and log may be NULL. */
TARE_API tare_status tare_model_run(const tare_model *model, const tare_samples *samples,
                                    const tare_backend_options *backend, const tare_run_options *run,
                                    const tare_judging *judging, const tare_work_options *work, const char *to,
                                    tare_report **report, tare_log *log, tare_error *err);

TARE_C_END

#endif

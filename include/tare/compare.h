/* Comparing models, stages and dumped tensors on the same samples. */
#ifndef TARE_PUBLIC_COMPARE_H
#define TARE_PUBLIC_COMPARE_H

#include <tare/run.h>

TARE_C_BEGIN

typedef struct tare_comparing {
    bool nodes;           /* every common value, not only outputs */
    tare_strings columns; /* metrics that tables show, by their names in the JSON, or all; empty: the usual ones */
    double fail_below;    /* dB; an output below gives TARE_E_GATE; 0: no gate */
} tare_comparing;
extern TARE_API const tare_field tare_comparing_fields[];

/* The first path is the reference, each other one is compared with it. A path is a model file, a directory of dumped
 * tensors (DIR/<id>.npz, DIR/<id>/<tensor>.npy, or DIR/<tensor>.npy of one sample), or one .npz of them. data may be empty when all are dumps. judging
 * and work may be NULL. On TARE_E_GATE the report is there as well. */
TARE_API tare_status tare_compare_paths(const char *const *paths, size_t count, const tare_open_options *open,
                                        const tare_data_options *data, const tare_preprocess *preprocess,
                                        const tare_backend_options *backend, const tare_comparing *options,
                                        const tare_judging *judging, const tare_work_options *work,
                                        tare_report **report, tare_log *log, tare_error *err);

typedef struct tare_debugging {
    int sort; /* ORDER: sort: 0 the worst first, some of them; 1 all in the order of the graph */
} tare_debugging;
extern TARE_API const tare_field tare_debugging_fields[];

/* Where the accuracy goes: which nodes cost the worst output most, as measured without their rounding on a few samples, then
 * node by node what each loses by itself (local) and what has come together there (accumulated). `quantized` is compared
 * with `model`, both opened, the latter optimized. options, judging, work, advice and log may be NULL. */
TARE_API tare_status tare_debug_model(const tare_model *model, const tare_model *quantized, const tare_samples *samples,
                                      const tare_debugging *options, const tare_judging *judging,
                                      const tare_work_options *work, tare_report **report, tare_advice *advice,
                                      tare_log *log, tare_error *err);

TARE_C_END

#endif

/* How fast a model runs, and what it takes. */
#ifndef TARE_PUBLIC_BENCH_H
#define TARE_PUBLIC_BENCH_H

#include <tare/run.h>

TARE_C_BEGIN

typedef struct tare_bench_options {
    double seconds; /* how long to time runs; at least three are timed */
    int64_t runs;   /* how many instead; 0: as many as fit into `seconds` */
    bool nodes;     /* as many runs again, with a clock between nodes; these count for no other figure */
    bool as_is;     /* the graph as the file has it, not optimized */
} tare_bench_options;
extern TARE_API const tare_field tare_bench_fields[];

/* Opens the model of a file as tare_model_open does, optimizes it unless as_is, and times runs of one made-up sample
 * (the source random:1) by a clock on the wall, after as many untimed ones as a tenth of the time holds, at least one.
 * The report, schema "tare-bench/1", has the latency's distribution, CPU time, multiply-accumulates and what memory it
 * takes; it differs from run to run. open and work may be NULL. TARE_E_USAGE when an input has open dimensions besides
 * its first, which open->input_shapes can tell; TARE_E_INTERRUPTED when `log` asks to stop. */
TARE_API tare_status tare_bench_path(const char *path, const tare_open_options *open,
                                     const tare_backend_options *backend, const tare_bench_options *options,
                                     const tare_work_options *work, tare_report **report, tare_log *log,
                                     tare_error *err);

TARE_C_END

#endif

/* What `tare bench` tells of a model. */
#ifndef TARE_REPORT_BENCH_H
#define TARE_REPORT_BENCH_H

#include "report/report.h"
#include "run/run.h"

/* A node's share of a run, its rounding included. */
typedef struct tare_bench_node {
    const char *name, *op; /* NULL: changes of layout between nodes */
    uint64_t macs;
    double seconds; /* median */
    double share;   /* of the sum over all */
} tare_bench_node;

/* Times are in seconds, on the wall unless said otherwise. */
typedef struct tare_bench_figures {
    const char *path, *stage, *backend, *cpu;
    const tare_model *model;
    tare_tensor *const *inputs; /* in the order of the graph's; NULL: left to its initializer */
    size_t threads;
    bool is_optimized;
    double load, optimize, plan, first; /* the file read and made canonical; passes; the plan; the first run */
    size_t runs;
    double all; /* of the runs together */
    double least, median, p90, most, mean;
    double deviation; /* median of |t - median| */
    double cpu_time;  /* of all threads, a run */
    bool is_noisy;
    uint64_t macs, quantized_macs; /* of a run */
    double flops;                  /* 2 macs / median, a second; 0: nothing is multiplied */
    tare_session_memory memory;
    uint64_t weight_bytes, peak_bytes; /* of constants; the most that the process ever had resident */
    TARE_VEC(tare_bench_node) nodes;   /* the slowest first */
} tare_bench_figures;

void tare_report_bench(tare_report *report, const tare_bench_figures *figures);

#endif

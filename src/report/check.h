/* What `tare check` tells. */
#ifndef TARE_REPORT_CHECK_H
#define TARE_REPORT_CHECK_H

#include "diagnose/diagnose.h"
#include "report/report.h"

/* An operator of the model, and what the target makes of it. */
typedef struct tare_op_fate {
    const char *op;
    size_t count, on_codes; /* nodes; those that the target can compute on codes */
    uint64_t macs, codes_macs;
    const char *how; /* "multiplies codes", "computes on codes", "moves codes", "float" */
} tare_op_fate;

typedef struct tare_checked {
    const tare_findings *findings;
    TARE_VEC(tare_op_fate) ops;
    uint64_t samples; /* 0: none */
    bool is_synthetic;
} tare_checked;

void tare_report_checked(tare_report *report, const tare_checked *checked);

#endif

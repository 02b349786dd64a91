/* What `tare check` tells. */
#ifndef TARE_REPORT_CHECK_H
#define TARE_REPORT_CHECK_H

#include "diagnose/diagnose.h"
#include "report/quantize.h"

/* An operator of the model, and what the target makes of it. */
typedef struct tare_op_fate {
    const char *op;
    size_t count, on_codes; /* nodes; those that are computed on codes, once the model is quantized */
    uint64_t macs, codes_macs;
    const char *how; /* "multiplies codes", "computes on codes", "moves codes", "float" */
} tare_op_fate;

typedef struct tare_checked {
    const tare_findings *findings;
    TARE_VEC(tare_op_fate) ops;
    tare_fates fates;
    bool is_quantized;           /* it is already: fates are what it has; else what quantizing would give */
    const char *for_target, *by; /* as a quantized file says; NULL */
    uint64_t samples;            /* 0: none */
    bool is_synthetic;
} tare_checked;

void tare_report_checked(tare_report *report, const tare_checked *checked);

#endif

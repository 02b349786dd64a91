/* Diagnosis: checks that look at a model, and at what calibration saw of it, and name what is wrong or will be: evidence,
 * cause, repair. To add one: a file diagnose/<what>.c and a line in checks.def. */
#ifndef TARE_DIAGNOSE_DIAGNOSE_H
#define TARE_DIAGNOSE_DIAGNOSE_H

#include "calibrate/calibrate.h"
#include "quantize/quantize.h"
#include "targets/target.h"

/* ORDER: severity (the words in diagnose.c) */
typedef enum tare_severity {
    TARE_SEVERITY_NOTE,   /* costs speed or is good to know */
    TARE_SEVERITY_DANGER, /* is likely to cost accuracy in 8 bits */
    TARE_SEVERITY_BLOCKER /* tare cannot do it */
} tare_severity;
const char *tare_severity_name(tare_severity severity);

typedef struct tare_check tare_check;

typedef struct tare_finding {
    const tare_check *check;
    const char *node, *op; /* where; NULL: the model */
    const char *value;     /* NULL: none */
    const char *evidence;  /* what is there, with its numbers */
    double gravity;        /* of findings of one check the largest is told first */
} tare_finding;

typedef struct tare_findings {
    tare_arena *arena;
    const tare_model *model; /* optimized, float or quantized; shapes inferred */
    const tare_target *target;
    const tare_model *marked;  /* the same with codes where they would be, by names; NULL: not known */
    const tare_ranges *ranges; /* NULL: no samples */
    const tare_check *check;   /* the one that looks */
    TARE_VEC(tare_finding) list;
    bool failed;
} tare_findings;

struct tare_check {
    const char *name;  /* "pad-owns-range" */
    const char *cause; /* one line: why it is what it is */
    const char *repair;
    tare_severity severity;
    bool needs_ranges;
    tare_status (*look)(tare_findings *findings, tare_error *err);
};

/* Lets all checks look; findings are in the order of checks.def, the gravest of each first. */
tare_status tare_diagnose(tare_findings *findings, tare_error *err);

/* For checks. node and value may be NULL. */
void tare_finding_add(tare_findings *findings, const tare_node *node, const tare_value *value, double gravity,
                      const char *format, ...) TARE_PRINTF(5, 6);

#endif

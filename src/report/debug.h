/* What `tare debug` tells. */
#ifndef TARE_REPORT_DEBUG_H
#define TARE_REPORT_DEBUG_H

#include "report/flows.h"

enum { TARE_BLAMED_MOST = 3 };

/* A node, and what the output would have without the rounding of its weights and of what it gives. */
typedef struct tare_blamed {
    const char *node, *op;
    size_t rank; /* among those that could be, in the order of the graph */
    double db;
} tare_blamed;

/* Measured by running the quantized model again with less rounding. */
typedef struct tare_blame {
    const char *output; /* the one that lost most; NULL: none lost anything */
    size_t samples;
    double db;                   /* of the output as it is, on these samples */
    TARE_VEC(tare_blamed) nodes; /* that it gains most by, the best first; none: each alone changes little */
    double few_db, weights_db;   /* without the rounding of all these nodes; without that of their weights alone */
    double activations_db;       /* without any rounding but that of weights */
} tare_blame;

typedef struct tare_debugged {
    const tare_sides *sides; /* "float" and "quantized" */
    const tare_comparison *local, *together;
    const tare_blame *blame;
    bool in_order; /* rows as the graph has them, all of them; else the worst come first */
    TARE_VEC(const char *) warnings;
} tare_debugged;
void tare_report_debug(tare_report *report, const tare_debugged *debugged);

#endif

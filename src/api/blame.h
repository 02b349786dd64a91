/* Which nodes cost an output most, measured: the model is run again without the rounding of some. */
#ifndef TARE_API_BLAME_H
#define TARE_API_BLAME_H

#include "report/debug.h"

typedef struct tare_blame_request {
    const tare_model *model, *quantized;
    const tare_comparison *local, *together;
    const tare_samples *samples;
    const tare_compare_options *options;
    tare_arena *arena; /* of the result */
    tare_log *log;
} tare_blame_request;

/* Fills the output that lost most, and what it would have without rounding of the nodes that lose most by themselves. */
tare_status tare_blame_find(tare_blame *blame, const tare_blame_request *request, tare_error *err);

#endif

/* Stages: what tare has made of a model, and for whom, kept in the file's metadata. */
#ifndef TARE_API_STAGE_H
#define TARE_API_STAGE_H

#include "graph/graph.h"

/* What the metadata say; without that, quantized when computed values have codes: another tool's file. */
tare_stage tare_model_get_stage(const tare_model *model);
const char *tare_stage_name(tare_stage stage); /* static text */
tare_status tare_model_set_stage(tare_model *model, tare_stage stage, tare_error *err);

/* Quantized, for this target (its name is borrowed), by this version of tare. */
tare_status tare_model_set_quantized(tare_model *model, const char *target, tare_error *err);
/* Whose arithmetic it was quantized for, and by what; NULL: not said. */
const char *tare_model_get_target(const tare_model *model);
const char *tare_model_get_tool(const tare_model *model);

#endif

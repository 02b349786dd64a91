/* Stages: what tare has made of a model, kept in the file's metadata. */
#ifndef TARE_API_STAGE_H
#define TARE_API_STAGE_H

#include "graph/graph.h"

tare_stage tare_model_get_stage(const tare_model *model);
tare_status tare_model_set_stage(tare_model *model, tare_stage stage, tare_error *err);

#endif

/* Stages: what tare has made of a model, kept in the file's metadata as "tare.stage". */
#include "api/stage.h"

#include <string.h>
#include <tare/model.h>

/* ORDER: tare_stage */
static const char *const stages[] = { "original_float", "optimized_float", "calibrated", "quantized", "compiled" };

static const char key[] = "tare.stage";

tare_stage tare_model_get_stage(const tare_model *model) {
    for (size_t i = 0; i < model->properties.count; i++) {
        if (strcmp(model->properties.at[i].key, key)) continue;
        for (size_t s = 0; s < sizeof stages / sizeof stages[0]; s++)
            if (!strcmp(model->properties.at[i].value, stages[s])) return (tare_stage)s;
    }
    return TARE_STAGE_ORIGINAL_FLOAT;
}

const char *tare_model_stage(const tare_model *model) { return stages[tare_model_get_stage(model)]; }

tare_status tare_model_set_stage(tare_model *model, tare_stage stage, tare_error *err) {
    const tare_property property = { .key = key, .value = stages[stage] };
    for (size_t i = 0; i < model->properties.count; i++) {
        if (strcmp(model->properties.at[i].key, key)) continue;
        model->properties.at[i] = property;
        return TARE_OK;
    }
    return tare_vec_push(model->arena, &model->properties, property) ? TARE_OK : tare_fail_memory(err, 0);
}

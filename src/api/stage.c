/* Stages: what tare has made of a model, and for whom, kept in the file's metadata as "tare.stage", "tare.target" and
 * "tare.tool". */
#include "api/stage.h"

#include <string.h>
#include <tare/model.h>

/* ORDER: tare_stage */
static const char *const stages[] = { "original_float", "optimized_float", "calibrated", "quantized", "compiled" };

static const char key[] = "tare.stage", target_key[] = "tare.target", tool_key[] = "tare.tool";

static bool has_codes(const tare_model *model) {
    for (size_t i = 0; i < model->graph->values.entries.count; i++) {
        const tare_value *value = model->graph->values.entries.at[i].value;
        if (value && value->quant && !value->constant) return true;
    }
    return false;
}

tare_stage tare_model_get_stage(const tare_model *model) {
    const char *told = tare_model_property(model, key);
    for (size_t s = 0; told && s < sizeof stages / sizeof stages[0]; s++)
        if (!strcmp(told, stages[s])) return (tare_stage)s;
    return has_codes(model) ? TARE_STAGE_QUANTIZED : TARE_STAGE_ORIGINAL_FLOAT;
}

const char *tare_model_stage(const tare_model *model) { return stages[tare_model_get_stage(model)]; }

const char *tare_stage_name(tare_stage stage) { return stages[stage]; }

tare_status tare_model_set_stage(tare_model *model, tare_stage stage, tare_error *err) {
    return tare_model_set_property(model, key, stages[stage], err);
}

tare_status tare_model_set_quantized(tare_model *model, const char *target, tare_error *err) {
    TARE_TRY(tare_model_set_stage(model, TARE_STAGE_QUANTIZED, err));
    TARE_TRY(tare_model_set_property(model, target_key, target, err));
    return tare_model_set_property(model, tool_key, "tare " TARE_VERSION, err);
}

const char *tare_model_get_target(const tare_model *model) { return tare_model_property(model, target_key); }

const char *tare_model_get_tool(const tare_model *model) { return tare_model_property(model, tool_key); }

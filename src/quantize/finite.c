/* Weights that no scale can hold: a product's constants with NaN or Inf are told before anything is calibrated. */
#include <math.h>

#include "quantize/scheme.h"

static size_t count_nonfinite(const tare_tensor *tensor) {
    const float *numbers = tensor->data;
    size_t bad = 0;
    for (size_t i = 0; i < tensor->size / sizeof *numbers; i++) bad += isfinite(numbers[i]) ? 0 : 1;
    return bad;
}

size_t tare_value_nonfinite(const tare_value *value) {
    const bool is_float = tare_value_is_constant(value) && value->constant->dtype == TARE_F32;
    return is_float ? count_nonfinite(value->constant) : 0;
}

static tare_status tell(const tare_quantize_options *options, const tare_node *node, const tare_value *value,
                        size_t bad, tare_log *log, tare_error *err) {
    if (!options->skip_nonfinite)
        return tare_fail(err, TARE_E_MALFORMED,
                         "node '%s' (%s): tensor '%s' holds %zu NaN or Inf; export again from a sound checkpoint, or "
                         "pass --skip-nonfinite to keep the node float",
                         node->name, node->type, value->name, bad);
    tare_log_warn(log, "node '%s' (%s) stays float: tensor '%s' holds %zu NaN or Inf", node->name, node->type,
                  value->name, bad);
    return TARE_OK;
}

static tare_status check_node(const tare_quantize_options *options, const tare_node *node, tare_log *log,
                              tare_error *err) {
    for (int i = 0; i < node->input_count; i++) {
        const size_t bad = node->inputs[i] ? tare_value_nonfinite(node->inputs[i]) : 0;
        if (bad) return tell(options, node, node->inputs[i], bad, log, err);
    }
    return TARE_OK;
}

tare_status tare_quantize_check_finite(const tare_model *model, const tare_quantize_options *options, tare_log *log,
                                       tare_error *err) {
    tare_for_nodes (node, model->graph) {
        const tare_rule *rule = tare_rule_for_node(options, node);
        if (!node->op || (rule && rule->keep_float)) continue;
        if (tare_target_row_of(options->target, node)->kind == TARE_INT_PRODUCT)
            TARE_TRY(check_node(options, node, log, err));
    }
    return TARE_OK;
}

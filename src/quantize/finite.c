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

static tare_status tell(const tare_quantize_options *options, const tare_product *product, tare_log *log,
                        tare_error *err) {
    const tare_node *node = product->node;
    const size_t bad = tare_value_nonfinite(product->nonfinite);
    if (!options->skip_nonfinite)
        return tare_fail(err, TARE_E_MALFORMED,
                         "node '%s' (%s): tensor '%s' holds %zu NaN or Inf; export again from a sound checkpoint, or "
                         "pass --skip-nonfinite to keep the node float",
                         node->name, node->type, product->nonfinite->name, bad);
    tare_log_warn(log, "node '%s' (%s) stays float: tensor '%s' holds %zu NaN or Inf", node->name, node->type,
                  product->nonfinite->name, bad);
    return TARE_OK;
}

tare_status tare_quantize_check_finite(const tare_model *model, const tare_quantize_options *options, tare_log *log,
                                       tare_error *err) {
    tare_for_nodes (node, model->graph) {
        tare_product product;
        const char *why;
        if (node->op && !tare_product_of(options, node, &product, &why) && product.nonfinite)
            TARE_TRY(tell(options, &product, log, err));
    }
    return TARE_OK;
}

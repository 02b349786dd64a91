/* Check float-product: a multiplication by weights that stays float, and why. */
#include "diagnose/diagnose.h"

static tare_status look(tare_findings *f, tare_error *err) {
    const tare_quantize_options options = { .target = f->target };
    (void)err;
    tare_for_nodes (node, f->model->graph) {
        const char *why = node->op ? tare_quantize_why_float(&options, node) : NULL;
        const uint64_t macs = node->op && node->op->macs ? node->op->macs(node) : 0;
        if (why && node->op->quant.has_weight) tare_finding_add(f, node, NULL, (double)macs, "%s", why);
    }
    return TARE_OK;
}

const tare_check tare_check_float_product = {
    .name = "float-product",
    .cause = "the target multiplies codes only by constant, finite weights",
    .repair = "it costs speed, not accuracy; fold what computes the weight into a constant if you can",
    .severity = TARE_SEVERITY_NOTE,
    .look = look,
};

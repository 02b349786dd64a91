/* Checks on the graph alone: branches of different nature in one Concat, normalizations that were not folded. */
#include "diagnose/diagnose.h"

/* The producer behind nodes that only move numbers; NULL: an input or a constant. */
static const tare_node *source_of(const tare_value *value) {
    while (value && value->producer && tare_node_quant_kind(value->producer) == TARE_QUANT_PASS)
        value = tare_node_input(value->producer, 0);
    return value ? value->producer : NULL;
}

static tare_status look_concat(tare_findings *f, tare_error *err) {
    (void)err;
    tare_for_nodes (node, f->model->graph) {
        const tare_node *bounded = NULL, *open = NULL;
        if (!tare_node_is(node, "Concat") || !tare_dtype_is_float(node->outputs[0]->dtype)) continue;
        for (int i = 0; i < node->input_count; i++) {
            const tare_node *source = source_of(node->inputs[i]);
            if (!source) continue;
            *(tare_node_quant_kind(source) == TARE_QUANT_FIXED ? &bounded : &open) = source;
        }
        if (bounded && open)
            tare_finding_add(f, node, node->outputs[0], 0,
                             "joins '%s' (%s), which is bounded, with '%s' (%s), which is not", bounded->name,
                             bounded->type, open->name, open->type);
    }
    return TARE_OK;
}

const tare_check tare_check_concat_mixes = {
    .name = "concat-mixes",
    .cause = "one scale for boxes and scores leaves the scores a few codes",
    .repair = "tare gives such branches scales of their own; at the graph's output, cut before the Concat if your "
              "converter does not",
    .severity = TARE_SEVERITY_DANGER,
    .look = look_concat,
};

static tare_status look_bn(tare_findings *f, tare_error *err) {
    (void)err;
    tare_for_nodes (node, f->model->graph)
        if (tare_node_is(node, "BatchNormalization"))
            tare_finding_add(f, node, node->outputs[0], 0, "is still there after the passes");
    return TARE_OK;
}

const tare_check tare_check_bn_left = {
    .name = "bn-left",
    .cause = "no product stands directly before it, or something else reads that product",
    .repair = "it is computed in float; `tare optimize --explain` says what was folded and what was not",
    .severity = TARE_SEVERITY_NOTE,
    .look = look_bn,
};

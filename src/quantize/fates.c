/* Who came out on codes and who stays float, for what is told of it. Called between choose() and round(): weights are still
 * numbers, so that products can be asked what they are. */
#include <string.h>

#include "quantize/scheme.h"

static const char no_integers[] = "the target has no integers for it";
static const char goes_along[] = "it goes with the node before it, which stays float";
static const char not_between[] = "not between products on codes";

static bool is_codes(const tare_value *value) { return value && value->quant; }

static bool has_codes(const tare_product *p) {
    if (p->weight && !is_codes(p->weight)) return false;
    for (int i = 0; i < p->data_count; i++)
        if (!is_codes(p->data[i])) return false;
    return true;
}

static bool reads_codes(const tare_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (tare_node_input_is_data(node, i) && is_codes(node->inputs[i])) return true;
    return false;
}

/* Other nodes that compute on codes and whose activation melts. */
static void mark_melted(const tare_quantize_options *options, tare_node *node, bool *on_codes) {
    const tare_node *activation = tare_melting_activation(options, node);
    if (activation && is_codes(activation->outputs[0]) && reads_codes(node))
        on_codes[tare_number_of(node)] = on_codes[tare_number_of(activation)] = true;
}

/* Products on codes, and the activation and bias that melt into them with no rounding between; by number of the node. */
static void mark_units(const tare_quantize_options *options, tare_model *model, bool *on_codes) {
    tare_for_nodes (node, model->graph) {
        tare_product p;
        const char *why;
        if (!node->op) continue;
        mark_melted(options, node, on_codes);
        if (!tare_product_of(options, node, &p, &why) || !has_codes(&p)) continue;
        on_codes[tare_number_of(node)] = true;
        if (!is_codes(p.out)) continue;
        if (p.bias_node) on_codes[tare_number_of(p.bias_node)] = true;
        if (p.activation) on_codes[tare_number_of(p.activation)] = true;
    }
}

/* An activation that codes do the work of, as it gives none below or beyond its bounds: nothing is computed for it. */
static bool vanishes(const tare_target *target, const tare_node *node) {
    return target->fuses_activation && is_codes(node->inputs[0]) && is_codes(node->outputs[0]) &&
           target->fuses_activation(node, node->outputs[0]->quant);
}

/* NULL: it is on codes. */
static const char *why_float(const tare_quantize_options *options, tare_node *node, const bool *on_codes) {
    const tare_target_row *row = tare_target_row_of(options->target, node);
    const char *why = options->spared ? tare_map_get(options->spared, node->outputs[0]->name) : NULL;
    const bool is_other = row->kind != TARE_INT_NONE && row->kind != TARE_INT_PRODUCT;
    if (on_codes[tare_number_of(node)] || (is_other && reads_codes(node) && is_codes(node->outputs[0]))) return NULL;
    if (vanishes(options->target, node)) return NULL;
    if (!why) why = tare_quantize_why_float(options, node);
    if (why) return why;
    if (tare_keeps_node_float(options, node)) return "a rule keeps it float";
    if (row->kind != TARE_INT_NONE) return not_between;
    const bool is_clamp = tare_node_is(node, "Relu") || tare_node_is(node, "Clip");
    return is_clamp && options->target->fuses_activation && !is_codes(node->inputs[0]) ? goes_along : no_integers;
}

/* Reasons are few, whatever the graph. */
static bool add_float(tare_fates *fates, const tare_node *node, const char *why, tare_arena *arena) {
    size_t g = 0;
    while (g < fates->floats.count && strcmp(fates->floats.at[g].why, why)) g++;
    const tare_float_group group = { .why = why };
    if (g == fates->floats.count && !tare_vec_push(arena, &fates->floats, group)) return false;
    return tare_vec_push(arena, &fates->floats.at[g].nodes, node);
}

tare_status tare_quantize_list_fates(tare_fates *fates, tare_model *model, const tare_quantize_options *options,
                                     tare_arena *arena, tare_error *err) {
    *fates = (tare_fates){ 0 };
    const size_t count = tare_number_nodes(model->graph);
    bool *on_codes = tare_arena_alloc(arena, count + 1, sizeof *on_codes);
    if (!on_codes) return tare_fail_memory(err, count);
    mark_units(options, model, on_codes);
    tare_for_nodes (node, model->graph) {
        if (!node->op || !node->output_count || !node->outputs[0] || !tare_dtype_is_float(node->outputs[0]->dtype))
            continue;
        const char *why = why_float(options, node, on_codes);
        fates->nodes++;
        fates->on_codes += !why;
        if (why && !add_float(fates, node, why, arena)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

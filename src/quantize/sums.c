/* Sums before activations. A target merges an activation into the node before it only where the codes' own ends do its work
 * (Relu: the lowest code is zero; Clip: all codes lie inside). Elsewhere a node without codes of its own would run in float,
 * so its sum gets the codes of what the activation gives. That loses nothing: the grid is one, rounding and clipping are
 * monotone, and what lies beyond the codes' ends would have ended there behind the activation too. */
#include "base/words.h"
#include "quantize/scheme.h"

static bool reads_codes(const tare_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && tare_node_input_is_data(node, i) && !tare_value_is_constant(node->inputs[i]) &&
            !node->inputs[i]->quant)
            return false;
    return true;
}

/* Is it the sum of a node on codes whose activation the target does not merge? */
static bool is_bare(const tare_scheme *s, const tare_node *node, const tare_node *activation) {
    const tare_target *target = s->options->target;
    const tare_quant *given = activation ? activation->outputs[0]->quant : NULL;
    if (!given || !reads_codes(node) || !target->fuses_activation) return false;
    return !tare_keeps_value_float(s->options, activation->inputs[0]) && !target->fuses_activation(activation, given);
}

static tare_status share(const tare_scheme *s, const tare_node *activation, tare_error *err) {
    tare_quant *quant = tare_arena_alloc(s->model->arena, 1, sizeof *quant);
    if (!quant) return tare_fail_memory(err, sizeof *quant);
    *quant = *activation->outputs[0]->quant;
    quant->origin = (tare_origin){ .kind = TARE_ORIGIN_SAME, .detail = activation->outputs[0]->name };
    activation->inputs[0]->quant = quant;
    return TARE_OK;
}

tare_status tare_quantize_sums(tare_scheme *scheme, tare_error *err) {
    size_t count = 0;
    const tare_node *first = NULL;
    for (size_t i = 0; i < scheme->products.count; i++) {
        tare_product *p = &scheme->products.at[i];
        if (!is_bare(scheme, p->node, p->activation)) continue;
        TARE_TRY(share(scheme, p->activation, err));
        if (!count++) first = p->activation;
        p->out = p->activation->inputs[0];
        p->activation = NULL;
    }
    tare_for_nodes (node, scheme->model->graph) {
        const tare_node *activation = node->op ? tare_melting_activation(scheme->options, node) : NULL;
        if (!is_bare(scheme, node, activation)) continue;
        TARE_TRY(share(scheme, activation, err));
        if (!count++) first = activation;
    }
    if (count)
        tare_log_note(
            scheme->log,
            "%zu activation%s, the first '%s' (%s): codes of what it gives cannot do its work, so what it reads "
            "gets the same codes",
            count, tare_plural(count, "", "s"), first->name, first->type);
    return TARE_OK;
}

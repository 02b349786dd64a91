/* Sums before activations. A target merges an activation into its product only where the codes' own ends do its work (Relu: the
 * lowest code is zero; Clip: all codes lie inside). Elsewhere a product without codes of its own would run in float, so its
 * sum gets the codes of what the activation gives. That loses nothing: the grid is one, rounding and clipping are monotone,
 * and what lies beyond the codes' ends would have ended there behind the activation too. */
#include "quantize/scheme.h"

static bool has_codes(const tare_product *p) {
    for (int i = 0; i < p->data_count; i++)
        if (!p->data[i]->quant) return false;
    return p->out->quant != NULL;
}

static bool is_merged(const tare_scheme *s, const tare_product *p) {
    const tare_target *target = s->options->target;
    return !target->fuses_activation || target->fuses_activation(p->activation, p->out->quant);
}

tare_status tare_quantize_sums(tare_scheme *scheme, tare_error *err) {
    size_t count = 0;
    const tare_node *first = NULL;
    for (size_t i = 0; i < scheme->products.count; i++) {
        tare_product *p = &scheme->products.at[i];
        if (!p->activation || !has_codes(p) || is_merged(scheme, p)) continue;
        tare_value *sum = p->activation->inputs[0];
        const tare_rule *rule = tare_rule_for_value(scheme->options, sum);
        if (rule && rule->keep_float) continue;
        tare_quant *quant = tare_arena_alloc(scheme->model->arena, 1, sizeof *quant);
        if (!quant) return tare_fail_memory(err, sizeof *quant);
        *quant = *p->out->quant;
        quant->origin = (tare_origin){ .kind = TARE_ORIGIN_SAME, .detail = p->out->name };
        sum->quant = quant;
        if (!count++) first = p->activation;
        p->activation = NULL;
        p->out = sum;
    }
    if (count)
        tare_log_note(scheme->log,
                      "%zu activations, the first '%s' (%s): codes of what it gives cannot do its work, so its product "
                      "gets the same codes before it",
                      count, first->name, first->type);
    return TARE_OK;
}

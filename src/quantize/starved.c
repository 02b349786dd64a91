/* Depthwise products read channels one by one: where a scale for all leaves some channels a code or two, the product of
 * those channels is noise. Such a product stays float: it has few multiply-accumulates itself. */
#include "quantize/scheme.h"

/* A channel with fewer steps than this is starved; a product with at least this share of them stays float. */
static const float steps_least = 4;
static const double share_most = 0.125;
/* Of all multiply-accumulates, what may stay float for this: more of them mean that something else is wrong. */
static const double macs_most = 0.05;

static double starved_share(const tare_range *range, float step) {
    size_t live = 0, starved = 0;
    for (size_t i = 0; i < range->channels; i++) {
        const float reach = range->channel_max[i] - range->channel_min[i];
        if (!(reach > 0)) continue; /* dead: nothing to lose */
        live++;
        starved += reach < steps_least * step;
    }
    return live ? (double)starved / (double)live : 0;
}

tare_status tare_spare_starved(tare_scheme *s, const tare_ranges *ranges, tare_error *err) {
    (void)err;
    uint64_t spared = 0;
    for (size_t i = 0; i < s->products.count; i++) {
        tare_product *p = &s->products.at[i];
        if (p->spared || !p->weight || p->data[0]->quant || !tare_node_is_depthwise(p->node)) continue;
        const tare_range *range = ranges ? tare_ranges_find(ranges, p->data[0]->name) : NULL;
        const double share = range ? starved_share(range, tare_step_of(s, p->data[0], range)) : 0;
        if (share < share_most || !tare_may_spare(s, p->macs) ||
            (double)(spared + p->macs) > macs_most * (double)s->macs)
            continue;
        spared += p->macs;
        tare_spare_product(s, p, "one scale for all its channels would leave many of them one or two of 256 codes");
        tare_log_note(s->log,
                      "node '%s' (%s) stays float: %.0f %% of the channels of '%s' would have fewer than %g codes",
                      p->node->name, p->node->type, 100 * share, p->data[0]->name, (double)steps_least);
    }
    return TARE_OK;
}

/* Depthwise products read channels one by one: where a scale for all leaves some channels a code or two, the product of
 * those channels is noise. Such a product stays float as long as few multiply-accumulates do: it has few itself. */
#include "quantize/scheme.h"

/* A channel with fewer steps than this is starved; a product with at least this share of them stays float. */
static const float steps_least = 4;
static const double share_most = 0.125;
/* Of all multiply-accumulates, what may stay float for this. */
static const double macs_most = 0.05;

static uint64_t macs_of(const tare_node *node) { return node->op->macs ? node->op->macs(node) : 0; }

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

void tare_scheme_spare_starved(tare_scheme *s, const tare_ranges *ranges) {
    uint64_t all = 0, spared = 0;
    size_t kept = 0;
    for (size_t i = 0; i < s->products.count; i++) all += macs_of(s->products.at[i].node);
    for (size_t i = 0; i < s->products.count; i++) {
        tare_product *p = &s->products.at[i];
        const tare_range *range = ranges && p->weight ? tare_ranges_find(ranges, p->data[0]->name) : NULL;
        const uint64_t macs = macs_of(p->node);
        const double share = range && !p->data[0]->quant && tare_node_is_depthwise(p->node)
                                 ? starved_share(range, (range->max - range->min) / 255)
                                 : 0;
        if (share < share_most || !macs || (double)(spared + macs) > macs_most * (double)all) {
            s->products.at[kept++] = *p;
            continue;
        }
        spared += macs;
        p->node->mark = 0;
        tare_log_note(s->log,
                      "node '%s' (%s) stays float: %.0f %% of the channels of '%s' would have fewer than %g codes",
                      p->node->name, p->node->type, 100 * share, p->data[0]->name, (double)steps_least);
    }
    s->products.count = kept;
}

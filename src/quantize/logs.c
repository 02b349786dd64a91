/* A logarithm makes a distance of a ratio: an error as large as the number itself is as bad for a small number as for a large
 * one. Where what a Log reads is mostly far below its largest, as the power of sound is, every product before it stays
 * float, the errors of one pass through all that follow. */
#include "base/words.h"
#include "quantize/scheme.h"

/* What 8 bits of an amplitude resolve of a power: numbers below this share of the largest are lost in rounding. */
static const float resolved = 0x1p-16f;
/* With this share of all numbers below that, the Log gives noise. */
static const double lost_most = 0.1;

static const uint32_t before_log = 1u << 31; /* in node->mark, beside what scheme.c keeps there */

const tare_value *tare_log_input(const tare_node *node) {
    return node->op && node->op->quant.reads_ratios ? node->inputs[0] : NULL;
}

/* The share of numbers that codes would lose before the node, 0 when it is no Log. */
static double lost_share(const tare_node *node, const tare_ranges *ranges) {
    const tare_value *value = tare_log_input(node);
    const tare_range *range = ranges && value ? tare_ranges_find(ranges, value->name) : NULL;
    return range && range->max > 0 ? tare_range_share_outside(range, range->max * resolved, range->max) : 0;
}

/* Marks all nodes before one that must not see codes; the first of those, in the order of the graph. */
static const tare_node *mark_before(const tare_scheme *s, const tare_ranges *ranges, double *lost) {
    const tare_node *first = NULL;
    for (tare_node *node = s->model->graph->last; node; node = node->previous) {
        const double share = lost_share(node, ranges);
        if (share >= lost_most) first = node, *lost = share;
        if (share < lost_most && !(node->mark & before_log)) continue;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] && node->inputs[i]->producer) node->inputs[i]->producer->mark |= before_log;
    }
    return first;
}

void tare_spare_before_logs(tare_scheme *s, const tare_ranges *ranges) {
    double lost = 0;
    const tare_node *log = mark_before(s, ranges, &lost);
    uint64_t macs = 0;
    size_t count = 0, unknown = 0;
    for (size_t i = 0; i < s->products.count; i++) {
        const tare_product *p = &s->products.at[i];
        if (p->node->mark & before_log) macs += p->macs, count++, unknown += !p->macs;
    }
    const bool spares = count && !unknown && tare_may_spare(s, macs);
    for (size_t i = 0; spares && i < s->products.count; i++)
        if (s->products.at[i].node->mark & before_log)
            tare_spare_product(s, &s->products.at[i], "a logarithm reads what 8 bits would lose");
    tare_for_nodes (node, s->model->graph) node->mark &= ~before_log;
    if (!count) return;
    tare_log_note(
        s->log,
        "node '%s' (%s): %.0f %% of the numbers it reads are below 2^-16 of the largest, which 8 bits before it "
        "cannot hold: the %zu product%s before it %s, %.1f %% of the multiply-accumulates",
        log->name, log->type, 100 * lost, count, tare_plural(count, "", "s"),
        spares ? tare_plural(count, "stays float", "stay float")
               : tare_plural(count, "is quantized all the same", "are quantized all the same"),
        100 * (double)macs / (double)(s->macs ? s->macs : 1));
}

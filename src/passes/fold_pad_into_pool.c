/* Before:  y = MaxPool<pads = p>(Pad(x, q, -inf))
 * After:   y = MaxPool<pads = p + q>(x)
 * Before:  y = AveragePool(Pad(x, q, 0))
 * After:   y = AveragePool<pads = q, count_include_pad = 1>(x)
 * When:    the Pad is constant, on spatial dimensions, cuts nothing and is read by the pool alone; the pool has explicit pads or
 *          none, no ceil_mode, no dilations, and all its pads stay smaller than its kernel, so that every window keeps an
 *          element. MaxPool: of -inf or the lowest float (which would poison a range: cases.md P1), or of 0 when x is
 *          provably not negative. AveragePool: its own pads, if any, must count already. */
#include <float.h>
#include <string.h>

#include "ops/attr.h"
#include "passes/pads.h"
#include "passes/range.h"
#include "passes/rewrite.h"

static bool is_small(const tare_node *pool, const tare_pads *pads) {
    tare_ints kernel = tare_attr_ints(pool, "kernel_shape"), own = tare_attr_ints(pool, "pads"),
              dilations = tare_attr_ints(pool, "dilations");
    for (size_t i = 0; i < dilations.count; i++)
        if (dilations.at[i] != 1) return false;
    if (kernel.count != pads->spatial || (own.count && own.count != 2 * pads->spatial)) return false;
    for (size_t i = 0; i < 2 * pads->spatial; i++) {
        int64_t limit = kernel.at[i % pads->spatial] - (own.count ? own.at[i] : 0);
        if (pads->around[i] >= limit) return false;
    }
    return true;
}

static bool fits_max(const tare_node *pad, const tare_pads *pads) {
    double lo, hi;
    if (pads->value <= -(double)FLT_MAX) return true;
    tare_range_of(pad->inputs[0], &lo, &hi);
    return pads->value == 0 && lo >= 0;
}

static bool fits_average(const tare_node *pool, const tare_pads *pads) {
    tare_ints own = tare_attr_ints(pool, "pads");
    if (pads->value != 0) return false;
    for (size_t i = 0; i < own.count; i++)
        if (own.at[i] && !tare_attr_int(pool, "count_include_pad", 0)) return false;
    return true;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_pads pads;
    tare_node *pad = node->inputs[0]->producer;
    bool is_max = tare_node_is(node, "MaxPool");
    if (!tare_node_is(pad, "Pad") || pad->graph != node->graph || !tare_pads_can_drop(pad) ||
        !tare_pads_read(pad, &pads) || tare_attr_int(node, "ceil_mode", 0) || tare_node_output(node, 1) ||
        !(tare_attr_is(node, "auto_pad", "NOTSET", "NOTSET") || tare_attr_is(node, "auto_pad", "VALID", "NOTSET")) ||
        !is_small(node, &pads) || !(is_max ? fits_max(pad, &pads) : fits_average(node, &pads)))
        return TARE_OK;
    tare_pass_changed(context, "node '%s' (Pad) folded into '%s' (%s)", pad->name, node->name, node->type);
    if (!is_max) tare_attr_set_int(node, "count_include_pad", 1);
    return tare_pads_drop(pad, node, &pads, err);
}

const tare_pass tare_pass_fold_pad_into_pool = {
    .name = "fold-pad-into-pool",
    .help = "Pad with -inf into MaxPool's pads, with zeros into AveragePool's",
    .roots = (const char *const[]){ "AveragePool", "MaxPool", NULL },
    .rewrite = rewrite,
};

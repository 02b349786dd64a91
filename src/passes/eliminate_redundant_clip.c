/* Before:  y = Relu(x)   or   y = Clip(x, lo, hi)
 * After:   y = x
 * When:    the ops before it prove that x lies in the range already: Relu behind Relu, Sigmoid, Softmax, Clip(≥ 0), through
 *          pools, Concat and whatever moves elements; Clip that covers it, or has no bounds. */
#include <float.h>
#include <math.h>

#include "passes/range.h"
#include "passes/rewrite.h"

/* A bound of Clip; none, or one past every finite float, is infinite. False: not known, or NaN. */
static bool read_bound(const tare_node *node, int index, double none, double *bound) {
    const tare_value *value = tare_node_input(node, index);
    *bound = none;
    if (!value) return true;
    if (!tare_value_read_scalar(value, bound) || isnan(*bound)) return false;
    if (fabs(*bound) >= (double)FLT_MAX && signbit(*bound) == signbit(none)) *bound = none;
    return true;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_value *input = node->inputs[0];
    double lo = 0, hi = INFINITY, least, most;
    if (tare_node_is(node, "Clip") && (!read_bound(node, 1, -INFINITY, &lo) || !read_bound(node, 2, INFINITY, &hi)))
        return TARE_OK;
    tare_range_of(input, &least, &most);
    if (!(least >= lo && most <= hi && lo <= hi) || !tare_rewrite_can_replace(node->outputs[0], input)) return TARE_OK;
    tare_pass_changed(context, "node '%s' (%s) removed: '%s' is in its range already", node->name, node->type,
                      input->name);
    return tare_rewrite_bypass(node, input, err);
}

const tare_pass tare_pass_eliminate_redundant_clip = {
    .name = "eliminate-redundant-clip",
    .help = "Relu and Clip whose input provably lies in their range",
    .roots = (const char *const[]){ "Clip", "Relu", NULL },
    .rewrite = rewrite,
};

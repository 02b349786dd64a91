/* Before:  y = Div(Clip(Add(x, 3), 0, 6), 6)
 * After:   y = HardSigmoid<alpha = 1/6, beta = 1/2>(x)      = max(0, min(1, alpha·x + beta))
 * When:    k·Clip(a·x + b, 0, m) with k·m = 1 and a·k > 0: alpha = k·a, beta = k·b; nothing else reads what is between. A
 *          bare Clip to 0…1 (k = 1) counts only with an `a` other than 1: it may as well follow a bias. */
#include <math.h>

#include "ops/attr.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

typedef struct gate {
    tare_value *x;
    double alpha, beta;
} gate;

/* k · Clip, the Clip being noted in the pattern when it is not the root. */
static bool read_gate(tare_node *clip, double k, tare_pattern *pattern, gate *out) {
    double lo, hi, c[TARE_PATTERN_DEGREE + 1];
    if (!tare_node_is(clip, "Clip") || !tare_value_read_scalar(tare_node_input(clip, 1), &lo) ||
        !tare_value_read_scalar(tare_node_input(clip, 2), &hi))
        return false;
    out->x = tare_pattern_source(clip->inputs[0]);
    if (out->x == clip->inputs[0] || !tare_polynomial_read(clip->inputs[0], out->x, pattern, c)) return false;
    out->alpha = k * c[1];
    out->beta = k * c[0];
    return lo == 0 && k > 0 && tare_pattern_close(k * hi, 1) && c[1] > 0 && c[2] == 0 && c[3] == 0;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_product product;
    tare_pattern pattern = { .count = 0 };
    gate g;
    if (!tare_rewrite_op("HardSigmoid")) return TARE_OK;
    if (tare_node_is(node, "Clip")) {
        if (!read_gate(node, 1, &pattern, &g) || g.alpha == 1) return TARE_OK;
    } else if (!tare_product_read(node, &pattern, &product) || product.count != 1 ||
               !tare_pattern_add(&pattern, product.factors[0]) ||
               !read_gate(product.factors[0]->producer, product.coefficient, &pattern, &g)) {
        return TARE_OK;
    }
    tare_pass_changed(context, "node '%s' (%s) and %zu before it are HardSigmoid of '%s'", node->name, node->type,
                      pattern.count, g.x->name);
    TARE_TRY(tare_rewrite_become(node, "HardSigmoid", g.x, err));
    tare_attr_set_float(node, "alpha", (float)g.alpha);
    tare_attr_set_float(node, "beta", (float)g.beta);
    return tare_rewrite_remove(pattern.nodes, pattern.count, node, err);
}

const tare_pass tare_pass_recognise_hardsigmoid = {
    .name = "recognise-hardsigmoid",
    .help = "HardSigmoid written as Add, Clip, Div",
    .roots = (const char *const[]){ "Clip", "Div", "Mul", NULL },
    .rewrite = rewrite,
};

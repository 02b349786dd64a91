/* Before:  y = Div(Mul(x, Clip(Add(x, 3), 0, 6)), 6)
 * After:   y = HardSwish(x)        = x·max(0, min(1, x/6 + 1/2))
 * Before:  y = Mul(x, HardSigmoid<alpha = 1/6, beta = 1/2>(x))
 * After:   y = HardSwish(x)
 * When:    nothing else reads what is between; in any order of the operands, the 1/6 anywhere in the product. A
 *          HardSigmoid of another slope (0.2 is ONNX's default) makes another function and stays. */
#include <math.h>

#include "ops/attr.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

/* Is `coefficient` · gate the gate of HardSwish for x? */
static bool is_gate(tare_value *gate, const tare_value *x, double coefficient, tare_pattern *pattern) {
    const tare_node *node = gate->producer;
    double lo, hi, c[TARE_PATTERN_DEGREE + 1];
    if (tare_node_is(node, "HardSigmoid"))
        return node->inputs[0] == x && tare_pattern_add(pattern, gate) && tare_pattern_close(coefficient, 1) &&
               tare_pattern_close((double)tare_attr_float(node, "alpha", 0.2f), 1.0 / 6) &&
               tare_pattern_close((double)tare_attr_float(node, "beta", 0.5f), 0.5);
    if (!tare_node_is(node, "Clip") || !tare_pattern_add(pattern, gate) ||
        !tare_value_read_scalar(tare_node_input(node, 1), &lo) ||
        !tare_value_read_scalar(tare_node_input(node, 2), &hi) || !tare_polynomial_read(node->inputs[0], x, pattern, c))
        return false;
    return lo == 0 && c[2] == 0 && c[3] == 0 && tare_pattern_close(coefficient * hi, 1) &&
           tare_pattern_close(coefficient * c[1], 1.0 / 6) && tare_pattern_close(coefficient * c[0], 0.5);
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_product product;
    tare_pattern pattern = { .count = 0 };
    if (!tare_rewrite_op("HardSwish") || !tare_product_read(node, &pattern, &product) || product.count != 2)
        return TARE_OK;
    for (int i = 0; i < 2; i++) {
        tare_pattern both = pattern;
        tare_value *x = product.factors[i];
        if (!is_gate(product.factors[1 - i], x, product.coefficient, &both)) continue;
        tare_pass_changed(context, "node '%s' (%s) and %zu before it are HardSwish of '%s'", node->name, node->type,
                          both.count, x->name);
        TARE_TRY(tare_rewrite_become(node, "HardSwish", x, err));
        return tare_rewrite_remove(both.nodes, both.count, node, err);
    }
    return TARE_OK;
}

const tare_pass tare_pass_recognise_hardswish = {
    .name = "recognise-hardswish",
    .help = "HardSwish written as products of Add, Clip, Div or of HardSigmoid",
    .roots = (const char *const[]){ "Div", "Mul", NULL },
    .rewrite = rewrite,
};

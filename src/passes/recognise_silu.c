/* Before:  y = Mul(x, Sigmoid(x))
 * After:   y = Swish<alpha = 1>(x)        = x·sigmoid(alpha·x)
 * When:    nothing else reads what is between; in either order; Sigmoid(Mul(x, c)) gives alpha = c. Files of an opset
 *          before Swish (24) get the two nodes back when they are written. */
#include "ops/attr.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

static bool is_gate(tare_value *gate, const tare_value *x, tare_pattern *pattern, double *alpha) {
    double c[TARE_PATTERN_DEGREE + 1];
    if (!tare_node_is(gate->producer, "Sigmoid") || !tare_pattern_add(pattern, gate) ||
        !tare_polynomial_read(gate->producer->inputs[0], x, pattern, c))
        return false;
    *alpha = c[1];
    return c[0] == 0 && c[1] != 0 && c[2] == 0 && c[3] == 0;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_product product;
    tare_pattern pattern = { .count = 0 };
    double alpha;
    if (!tare_rewrite_op("Swish") || !tare_product_read(node, &pattern, &product) || product.count != 2 ||
        product.coefficient != 1)
        return TARE_OK;
    for (int i = 0; i < 2; i++) {
        tare_pattern both = pattern;
        tare_value *x = product.factors[i];
        if (!is_gate(product.factors[1 - i], x, &both, &alpha)) continue;
        tare_pass_changed(context, "node '%s' (%s) and %zu before it are Swish of '%s'", node->name, node->type,
                          both.count, x->name);
        TARE_TRY(tare_rewrite_become(node, "Swish", x, err));
        tare_attr_set_float(node, "alpha", (float)alpha);
        return tare_rewrite_remove(both.nodes, both.count, node, err);
    }
    return TARE_OK;
}

const tare_pass tare_pass_recognise_silu = {
    .name = "recognise-silu",
    .help = "SiLU (Swish) written as x times Sigmoid of x",
    .roots = (const char *const[]){ "Mul", NULL },
    .rewrite = rewrite,
};

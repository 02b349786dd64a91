/* Before:  y = Mul(Mul(x, Add(Erf(Div(x, √2)), 1)), 0.5)
 * After:   y = Gelu(x)                        = x/2·(1 + erf(x/√2))
 * Before:  y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))), of Mul, Add, Pow, Tanh
 * After:   y = Gelu<approximate = "tanh">(x)
 * When:    nothing else reads what is between; operands in any order, the 1/2 anywhere, the polynomial in any form. Files
 *          of an opset before Gelu (20) get the nodes back when they are written. */
#include <math.h>

#include "ops/attr.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

static bool is_erf(const tare_node *node, const tare_value *x, tare_pattern *pattern) {
    double c[TARE_PATTERN_DEGREE + 1];
    return tare_node_is(node, "Erf") && tare_polynomial_read(node->inputs[0], x, pattern, c) && c[0] == 0 &&
           c[2] == 0 && c[3] == 0 && tare_pattern_close(c[1], sqrt(0.5));
}

static bool is_tanh(const tare_node *node, const tare_value *x, tare_pattern *pattern) {
    static const double root = 0.7978845608028654; /* √(2/π) */
    double c[TARE_PATTERN_DEGREE + 1];
    return tare_node_is(node, "Tanh") && tare_polynomial_read(node->inputs[0], x, pattern, c) && c[0] == 0 &&
           c[2] == 0 && tare_pattern_close(c[1], root) && tare_pattern_close(c[3], root * 0.044715);
}

/* coefficient · gate = 1/2 + 1/2 · (erf or tanh of x)? */
static bool is_gate(tare_value *gate, const tare_value *x, double coefficient, tare_pattern *pattern, bool *is_exact) {
    double c[TARE_PATTERN_DEGREE + 1];
    tare_value *source = tare_pattern_source(gate);
    if (!tare_polynomial_read(gate, source, pattern, c) || !tare_pattern_close(coefficient * c[0], 0.5) ||
        !tare_pattern_close(coefficient * c[1], 0.5) || c[2] != 0 || c[3] != 0 || !tare_pattern_add(pattern, source))
        return false;
    *is_exact = tare_node_is(source->producer, "Erf");
    return *is_exact ? is_erf(source->producer, x, pattern) : is_tanh(source->producer, x, pattern);
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_product product;
    tare_pattern pattern = { .count = 0 };
    bool is_exact;
    if (!tare_rewrite_op("Gelu") || !tare_product_read(node, &pattern, &product) || product.count != 2) return TARE_OK;
    for (int i = 0; i < 2; i++) {
        tare_pattern both = pattern;
        tare_value *x = product.factors[i];
        if (!is_gate(product.factors[1 - i], x, product.coefficient, &both, &is_exact)) continue;
        tare_pass_changed(context, "node '%s' (%s) and %zu before it are Gelu of '%s'", node->name, node->type,
                          both.count, x->name);
        TARE_TRY(tare_rewrite_become(node, "Gelu", x, err));
        tare_attr_set_word(node, "approximate", is_exact ? "none" : "tanh");
        return tare_rewrite_remove(both.nodes, both.count, node, err);
    }
    return TARE_OK;
}

const tare_pass tare_pass_recognise_gelu = {
    .name = "recognise-gelu",
    .help = "GELU written out, by erf or by tanh",
    .roots = (const char *const[]){ "Div", "Mul", NULL },
    .rewrite = rewrite,
};

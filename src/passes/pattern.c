/* Arithmetic read as formulas. */
#include "passes/pattern.h"

#include <math.h>
#include <string.h>

#include "passes/rewrite.h"

/* How deep a formula is looked into. */
enum { DEPTH_MAX = 10 };

bool tare_pattern_close(double a, double b) { return fabs(a - b) <= 1e-5 * fabs(b); }

bool tare_pattern_add(tare_pattern *pattern, const tare_value *value) {
    if (!value->producer || value->producer->graph != value->graph || !tare_rewrite_is_inner(value) ||
        value->producer->output_count != 1 || pattern->count == TARE_PATTERN_NODES)
        return false;
    pattern->nodes[pattern->count++] = value->producer;
    return true;
}

bool tare_pattern_scalar(const tare_value *constant, const tare_value *beside, double *number) {
    if (!tare_value_is_constant(constant) || constant->quant || !tare_value_read_scalar(constant, number)) return false;
    const tare_shape *shape = &constant->constant->shape;
    tare_shape both;
    if (tare_shape_elements(shape) == 1) return shape->rank == 0 || shape->rank <= beside->shape.rank;
    return tare_shape_is_static(&beside->shape) && tare_shape_broadcast(&both, &beside->shape, shape) &&
           tare_shape_equal(&both, &beside->shape);
}

/* ---- products ---- */

typedef struct multiplier {
    tare_pattern *pattern;
    tare_product *product;
} multiplier;

static bool multiply(multiplier *m, tare_node *node, int depth);

static bool take_factor(multiplier *m, tare_value *value, int depth) {
    tare_node *node = value->producer;
    bool is_product = tare_node_is(node, "Mul") || tare_node_is(node, "Div") || tare_node_is(node, "Neg");
    if (is_product && depth < DEPTH_MAX) {
        const tare_pattern pattern = *m->pattern;
        const tare_product product = *m->product;
        if (tare_pattern_add(m->pattern, value) && multiply(m, node, depth + 1)) return true;
        *m->pattern = pattern;
        *m->product = product;
    }
    if (m->product->count == TARE_PATTERN_FACTORS) return false;
    m->product->factors[m->product->count++] = value;
    return true;
}

/* Depth: DEPTH_MAX. */
static bool multiply(multiplier *m, tare_node *node, int depth) {
    double number;
    tare_value *a = node->inputs[0], *b = tare_node_input(node, 1);
    if (tare_node_is(node, "Neg")) {
        m->product->coefficient = -m->product->coefficient;
        return take_factor(m, a, depth);
    }
    if (tare_pattern_scalar(b, a, &number)) {
        m->product->coefficient *= tare_node_is(node, "Div") ? 1 / number : number;
        return isfinite(m->product->coefficient) && take_factor(m, a, depth);
    }
    if (!tare_node_is(node, "Mul")) return false;
    if (tare_pattern_scalar(a, b, &number)) {
        m->product->coefficient *= number;
        return take_factor(m, b, depth);
    }
    return take_factor(m, a, depth) && take_factor(m, b, depth);
}

bool tare_product_read(tare_node *root, tare_pattern *pattern, tare_product *out) {
    multiplier m = { .pattern = pattern, .product = out };
    *out = (tare_product){ .coefficient = 1 };
    if (!tare_node_is(root, "Mul") && !tare_node_is(root, "Div") && !tare_node_is(root, "Neg")) return false;
    return multiply(&m, root, 0);
}

/* ---- polynomials ---- */

enum { TERMS = TARE_PATTERN_DEGREE + 1 };

typedef struct polynomial {
    double c[TERMS];
} polynomial;

typedef struct algebra {
    const tare_value *variable;
    tare_pattern *pattern;
} algebra;

static bool read(algebra *g, const tare_value *value, const tare_value *beside, int depth, polynomial *p);

static bool times(polynomial *p, const polynomial *a, const polynomial *b) {
    *p = (polynomial){ { 0 } };
    for (int i = 0; i < TERMS; i++) {
        for (int j = 0; j < TERMS; j++) {
            double term = a->c[i] * b->c[j];
            if (term == 0) continue;
            if (i + j >= TERMS) return false;
            p->c[i + j] += term;
        }
    }
    return true;
}

static bool power(algebra *g, const tare_node *node, int depth, polynomial *p) {
    double exponent;
    polynomial base, square;
    if (!tare_pattern_scalar(node->inputs[1], node->inputs[0], &exponent) || (exponent != 2 && exponent != 3) ||
        !read(g, node->inputs[0], NULL, depth + 1, &base) || !times(&square, &base, &base))
        return false;
    *p = square;
    return exponent == 2 || times(p, &square, &base);
}

static bool combine(algebra *g, const tare_node *node, int depth, polynomial *p) {
    polynomial a, b;
    if (tare_node_is(node, "Pow")) return power(g, node, depth, p);
    if (!read(g, node->inputs[0], tare_node_input(node, 1), depth + 1, &a)) return false;
    if (tare_node_is(node, "Neg")) {
        for (int i = 0; i < TERMS; i++) p->c[i] = -a.c[i];
        return true;
    }
    if (!read(g, node->inputs[1], node->inputs[0], depth + 1, &b)) return false;
    if (tare_node_is(node, "Mul")) return times(p, &a, &b);
    if (tare_node_is(node, "Div")) {
        if (b.c[1] != 0 || b.c[2] != 0 || b.c[3] != 0 || b.c[0] == 0) return false;
        for (int i = 0; i < TERMS; i++) p->c[i] = a.c[i] / b.c[0];
        return true;
    }
    double sign = tare_node_is(node, "Sub") ? -1 : 1;
    for (int i = 0; i < TERMS; i++) p->c[i] = a.c[i] + sign * b.c[i];
    return true;
}

/* `beside` is what a constant meets. Depth: DEPTH_MAX. */
static bool read(algebra *g, const tare_value *value, const tare_value *beside, int depth, polynomial *p) {
    static const char *const ops[] = { "Add", "Sub", "Mul", "Div", "Neg", "Pow" };
    double number;
    if (value == g->variable) {
        *p = (polynomial){ { 0, 1 } };
        return true;
    }
    if (value->constant) {
        if (!beside || !tare_pattern_scalar(value, beside, &number)) return false;
        *p = (polynomial){ { number } };
        return true;
    }
    if (depth > DEPTH_MAX || !tare_pattern_add(g->pattern, value)) return false;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (tare_node_is(value->producer, ops[i])) return combine(g, value->producer, depth, p);
    return false;
}

bool tare_polynomial_read(const tare_value *value, const tare_value *variable, tare_pattern *pattern,
                          double c[TARE_PATTERN_DEGREE + 1]) {
    algebra g = { .variable = variable, .pattern = pattern };
    polynomial p;
    if (!read(&g, value, NULL, 0, &p)) return false;
    memcpy(c, p.c, sizeof p.c);
    return true;
}

/* The operand that is not a single constant; NULL: there is none. */
static tare_value *variable_operand(const tare_node *node) {
    double number;
    if (node->input_count == 1 || tare_pattern_scalar(node->inputs[1], node->inputs[0], &number))
        return node->inputs[0];
    return tare_pattern_scalar(node->inputs[0], node->inputs[1], &number) ? node->inputs[1] : NULL;
}

tare_value *tare_pattern_source(tare_value *value) {
    static const char *const ops[] = { "Add", "Sub", "Mul", "Div", "Neg" };
    for (int depth = 0; depth < DEPTH_MAX && tare_rewrite_is_inner(value); depth++) {
        const tare_node *node = value->producer;
        tare_value *next = NULL;
        for (size_t i = 0; i < sizeof ops / sizeof *ops && !next; i++)
            if (tare_node_is(node, ops[i])) next = variable_operand(node);
        if (!next || tare_value_is_constant(next)) break;
        value = next;
    }
    return value;
}

/* Reading arithmetic as formulas, so that one rule finds a function however its exporter wrote it down. */
#ifndef TARE_PASSES_PATTERN_H
#define TARE_PASSES_PATTERN_H

#include "graph/graph.h"

enum { TARE_PATTERN_NODES = 32, TARE_PATTERN_FACTORS = 4, TARE_PATTERN_DEGREE = 3 };

/* The nodes a formula was read from, besides its root. Each is read by others of them or the root alone, so that they can
 * go together. */
typedef struct tare_pattern {
    tare_node *nodes[TARE_PATTERN_NODES];
    size_t count;
} tare_pattern;

/* Notes the node that makes `value`, when nothing but one reader in the formula reads it; false: it must stay. */
bool tare_pattern_add(tare_pattern *pattern, const tare_value *value);

/* A constant as one number that leaves the shape of `beside`, which it meets in an elementwise op, as it is. */
bool tare_pattern_scalar(const tare_value *constant, const tare_value *beside, double *number);

/* coefficient · factor · factor …, through Mul, Div by constants and Neg. */
typedef struct tare_product {
    double coefficient;
    tare_value *factors[TARE_PATTERN_FACTORS];
    int count;
} tare_product;

/* Reads the product a node makes; false: it makes none, or one of too many factors. */
bool tare_product_read(tare_node *root, tare_pattern *pattern, tare_product *out);

/* Reads a value as polynomial in `variable`: c[0] + c[1]·x + c[2]·x² + c[3]·x³, through Add, Sub, Mul, Div by constants,
 * Neg and Pow by 2 or 3. False: it is none. */
bool tare_polynomial_read(const tare_value *value, const tare_value *variable, tare_pattern *pattern,
                          double c[TARE_PATTERN_DEGREE + 1]);

/* What a chain of Add, Sub, Mul, Div with single constants, and Neg, starts from, going back as long as nothing else reads
 * what is between: `value` itself when it is no such chain. */
tare_value *tare_pattern_source(tare_value *value);

/* Equal but for the rounding of constants to f32 and what exporters type in by hand: 1e-5 of b. */
bool tare_pattern_close(double a, double b);

#endif

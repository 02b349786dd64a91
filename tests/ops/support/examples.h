/* Graphs of few nodes in the text form, and what must come of them: shapes, errors, numbers. */
#ifndef TARE_TESTS_OPS_EXAMPLES_H
#define TARE_TESTS_OPS_EXAMPLES_H

#include "graph/graph.h"
#include "support/support.h"

typedef struct test_example {
    const char *inputs, *constants, *node;
    const char *want; /* "f32 Nx12" of each output of the last node, or a part of what the error says */
    tare_status status;
} test_example;

/* "g (inputs) => (y) <constants> { node }" at opset 23, parsed and inferred. */
void test_check_inference(const test_example *examples, size_t count);
#define TEST_CHECK_INFERENCE(examples) test_check_inference(examples, sizeof examples / sizeof *examples)

/* Such a graph without inputs, its nodes evaluated in order; output 0 of the last one as f64, at most `capacity` numbers.
 * The count. */
size_t test_evaluate(const char *constants, const char *node, double *numbers, size_t capacity);

/* Fails unless the numbers are `wanted` to `tolerance` times their largest magnitude, NaN for NaN. */
void test_check_numbers(const char *constants, const char *node, const double *wanted, size_t count, double tolerance);

#endif

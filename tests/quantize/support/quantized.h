/* Small graphs quantized for the target onnx with ranges from given numbers, and what the log said meanwhile. */
#ifndef TARE_TESTS_QUANTIZED_H
#define TARE_TESTS_QUANTIZED_H

#include "base/text.h"
#include "quantize/quantize.h"
#include "support/graphs.h"

typedef struct quantized {
    tare_model *model; /* scales chosen, nothing rounded */
    tare_ranges *ranges;
    char log[4096]; /* lines, each ended by '\n' */
} quantized;

/* Parses the model, calibrates it on the numbers (as many samples of its one input as they fill) and chooses scales.
 * `options` may be NULL; its target is set. */
quantized *quantized_open(const char *text, const float *numbers, size_t count, const tare_quantize_options *options);
void quantized_close(quantized *q);

/* Appends "float[SHAPE] NAME = {count random numbers in -1...1}" to initializers begun by '<', with the comma. */
void quantized_add_weight(tare_text *text, const char *name, const char *shape, size_t count);

const tare_value *quantized_value(const quantized *q, const char *name); /* must be there */
const tare_node *quantized_node(const quantized *q, const char *output); /* that makes this value */
/* Does the node multiply codes: are its data and its weight quantized? */
bool quantized_is_integer(const quantized *q, const char *output);

#endif

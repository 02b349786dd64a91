/* Nodes that multiply by constant weights, seen alike: y[c] = Σ w·x + b[c], c the output channel. What is linear per
 * channel before or behind them folds into w and b. Weights that are codes take factors into their scales: the codes
 * stay, but for their signs. */
#ifndef TARE_PASSES_LINEAR_H
#define TARE_PASSES_LINEAR_H

#include "passes/pass.h"

typedef enum tare_linear_kind {
    TARE_LINEAR_CONV,
    TARE_LINEAR_TRANSPOSED,
    TARE_LINEAR_GEMM,
    TARE_LINEAR_MATMUL
} tare_linear_kind;

typedef struct tare_linear {
    tare_node *node;
    tare_linear_kind kind;
    int axis;                  /* of the output channels in the output, from the front; -1: from the back, the last */
    int64_t channels, inputs;  /* output channels; input channels (or columns) */
    int64_t groups, inner;     /* inner: weights of one (output, input) channel pair */
    const tare_tensor *weight; /* f32, or s8 codes: */
    const tare_quant *quant;   /* of the weight, NULL: it is f32; symmetric, one scale or one per output channel */
    const tare_tensor *bias;   /* f32; NULL: none */
    double bias_factor;        /* Gemm's beta */
    bool is_column_major;      /* Gemm transB: the weight is outputs × inputs */
} tare_linear;

/* Conv, ConvTranspose, Gemm or MatMul with one output, whose weight and bias are float constants that are not
 * quantized, or whose weight is symmetric codes; false otherwise. */
bool tare_linear_read(tare_node *node, tare_linear *out);

/* Reads a constant as one number per channel of `shape` along `axis` (-1: the last): a scalar, or a vector that numpy's
 * broadcasting lays along that axis and no other, without making the result bigger. NULL: it is no such constant, or memory is
 * out. */
const double *tare_linear_per_channel(const tare_value *constant, const tare_shape *shape, int axis, int64_t channels,
                                      tare_arena *arena);

/* y' = gain·y + shift per output channel (NULL: 1, 0), in double, rounded once: w' = gain·w, b' = gain·b + shift. A
 * MatMul that gets a shift becomes a Gemm. *done is false, and nothing changed, when a result would not be finite or
 * the node has no place for a bias. Warns when a channel grows out of proportion to the others. */
tare_status tare_linear_scale_output(tare_pass_context *context, const tare_linear *linear, const double *gain,
                                     const double *shift, bool *done, tare_error *err);

/* The same for x' = gain·x + shift per input channel, before the node: w' = w·gain, b' = b + Σ w·shift. Right only where no
 * padding is, or shift is 0. Not for weights that are codes. */
tare_status tare_linear_scale_input(tare_pass_context *context, const tare_linear *linear, const double *gain,
                                    const double *shift, bool *done, tare_error *err);

#endif

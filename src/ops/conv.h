/* What Conv and ConvTranspose share: a convolution with its shapes, and the ways of computing it. Data lie
 * channels-last; weights and bias are packed when the node is prepared, or in each run when they are no constants. */
#ifndef TARE_OPS_CONV_H
#define TARE_OPS_CONV_H

#include "ops/window.h"

typedef struct tare_conv {
    tare_window window;
    int64_t batch, channels, outputs, group; /* images; channels in and out */
    float lo, hi;                            /* a fused clamp */
    size_t threads;
    /* Made by plan(): */
    size_t weights_size, bias_size; /* floats, packed */
    const float *zeros;             /* a pixel of padding */
    void *plan;
} tare_conv;

/* Operands of one run. */
typedef struct tare_conv_run {
    const tare_conv *conv;
    const tare_kernels *kernels;
    tare_pool *pool;
    const float *x, *weights, *bias; /* bias NULL: none; weights and bias as the kernel wants them */
    float *y;
    char *scratch; /* of the size that plan() asked for */
} tare_conv_run;

/* One way of computing. */
typedef struct tare_conv_way {
    /* Sets the sizes, zeros and plan; adds to *scratch the bytes that a run needs. */
    tare_status (*plan)(tare_conv *conv, tare_arena *arena, size_t *scratch, tare_error *err);
    /* ONNX's weights (outputs, channels / group, taps…) and bias in the kernel's order. */
    void (*pack)(const tare_conv *conv, float *weights, const float *from);
    void (*pack_bias)(const tare_conv *conv, float *bias, const float *from);
    void (*run)(const tare_conv_run *run);
} tare_conv_way;
extern const tare_conv_way tare_conv_product, tare_conv_depthwise, tare_conv_transposed;

/* infer()'s beginning: the types agree; the shapes of input and weight, of the same rank (unknown dimensions where they
 * are not known), 3 at least. rank -1: not known; the output's dtype is set then. */
tare_status tare_conv_infer(tare_node *node, tare_dtype *dtype, tare_shape *x, tare_shape *w, tare_error *err);

/* Has input 2, when it is there, a number for each of the outputs (< 0: not known)? */
tare_status tare_conv_check_bias(const tare_node *node, int64_t outputs, tare_error *err);

/* The rest of prepare(), and run(): conv's window, outputs and group are set, the rest is filled in here. */
tare_status tare_conv_prepare(tare_prepare *prepare, const tare_conv *conv, const tare_conv_way *way, tare_error *err);
tare_status tare_conv_call(const tare_call *call, tare_error *err);

#endif

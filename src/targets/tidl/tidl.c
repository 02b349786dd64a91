/* The target tidl: Texas Instruments' accelerators in their symmetric styles, in which a sum becomes a code by a shift alone, half
 * up. Scales may be anything whose ratios are powers of two: power-of-two scales, or those that TIDL derives from its weights'.
 * Source: TIDL's import tool and its documentation of quantization; no runtime of TI's was at hand. */
#include <math.h>

#include "targets/tidl/tidl.h"

static const char *const profiles[] = { "sym", NULL };

#define CODES(op, kind, x) extern const tare_int_row tare_tidl_##x;
#include "targets/tidl/tidl.def"
#undef CODES

static const tare_target_row rows[] = {
#define CODES(op, kind, x) { #op, kind, 0, &tare_tidl_##x },
#include "targets/tidl/tidl.def"
#undef CODES
    { 0 },
};

bool tare_tidl_is_shift(double ratio) {
    int power;
    return frexp(ratio, &power) == 0.5 && power >= -30 && power <= 32;
}

const char *tare_tidl_refuses(const tare_int_node *n) {
    bool has_zero_point = n->output->zero_point[0] != 0;
    for (int i = 0; i < n->node->input_count; i++)
        if (n->node->inputs[i] && tare_node_input_is_data(n->node, i))
            has_zero_point |= n->inputs[i]->zero_point[0] != 0;
    return has_zero_point ? "its data have zero points" : NULL;
}

/* ---- inputs of several scales ---- */

static double largest_scale(const tare_int_node *n) {
    float largest = 0;
    for (int i = 0; i < n->node->input_count; i++)
        if (n->inputs[i]->scale[0] > largest) largest = n->inputs[i]->scale[0];
    return (double)largest;
}

double tare_tidl_factor(const tare_int_node *n, int input, int bits) {
    return ldexp((double)n->inputs[input]->scale[0] / largest_scale(n), bits);
}

double tare_tidl_output_ratio(const tare_int_node *n, int bits) {
    return ldexp(largest_scale(n) / (double)n->output->scale[0], -bits);
}

const char *tare_tidl_common_refuses(const tare_int_node *n, int bits) {
    const char *why = tare_tidl_refuses(n);
    for (int i = 0; !why && i < n->node->input_count; i++) {
        const double factor = tare_tidl_factor(n, i, bits);
        if (!tare_tidl_is_shift(factor)) why = "its scales are not a power of two apart";
        if (!why && factor < 1) why = "the scales of its inputs are too far apart";
    }
    if (!why && !tare_tidl_is_shift(tare_tidl_output_ratio(n, bits))) why = "its scales are not a power of two apart";
    return why;
}

/* A Relu or Clip is merged into what is before it, and its bounds are the codes'. */
static bool fuses_activation(const tare_node *activation, const tare_quant *output) {
    double lo, hi;
    (void)output;
    return tare_activation_read(activation, &lo, &hi);
}

const tare_target tare_target_tidl = {
    .name = "tidl",
    .help = "TI's accelerators, symmetric styles",
    .profiles = profiles,
    .activation = TARE_S8,
    .weight = TARE_S8,
    .bias = TARE_S32,
    .symmetric_activations = true,
    .power_of_two = true,
    .rows = rows,
    .fuses_activation = fuses_activation,
};

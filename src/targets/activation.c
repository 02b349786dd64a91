/* Activations that may be part of the node before them. */
#include <math.h>

#include "targets/codes.h"

/* A bound that is left out is `missing`. */
static bool read_bound(const tare_node *clip, int input, double missing, double *bound) {
    const tare_value *value = tare_node_input(clip, input);
    *bound = missing;
    return !value || tare_value_read_scalar(value, bound);
}

bool tare_activation_read(const tare_node *activation, double *lo, double *hi) {
    *lo = 0;
    *hi = INFINITY;
    if (tare_node_is(activation, "Relu")) return true;
    return tare_node_is(activation, "Clip") && read_bound(activation, 1, -INFINITY, lo) &&
           read_bound(activation, 2, INFINITY, hi);
}

/* Codes of a window whose rounding errors cancel: each weight is rounded down or up so that the sum over the taps of one
 * input channel is off by half a step at most. What lies in a window is alike, so an error of the sum shifts the output where
 * errors that cancel are but noise. The weights turned are those nearest to a tie, where it costs least (the first step of
 * "SQuant", arXiv:2202.07471; what channels add up to is shift.c's, which knows their means). */
#include <math.h>

#include "quantize/scheme.h"

/* Takes a step, in the direction that `sign` says, from the weight whose error is the largest of those that may go. */
static bool turn_one(int8_t *codes, double *errors, size_t taps, int sign) {
    double most = 0;
    size_t at = taps;
    for (size_t t = 0; t < taps; t++) {
        const int turned = codes[t] - sign;
        if (sign * errors[t] <= most || turned <= tare_dtype_lowest(TARE_S8) || turned > tare_dtype_highest(TARE_S8))
            continue;
        most = sign * errors[t], at = t;
    }
    if (at == taps) return false;
    codes[at] = (int8_t)(codes[at] - sign);
    errors[at] -= sign;
    return true;
}

static void keep_sum(int8_t *codes, const float *numbers, double *errors, size_t taps, float scale) {
    double sum = 0;
    for (size_t t = 0; t < taps; t++) {
        errors[t] = (double)codes[t] - (double)numbers[t] / (double)scale;
        sum += errors[t];
    }
    for (int n = (int)fabs(rint(sum)); n > 0; n--)
        if (!turn_one(codes, errors, taps, sum < 0 ? -1 : 1)) break;
}

tare_status tare_keep_sums(const tare_product *p, const float *numbers, tare_tensor *codes, tare_arena *arena,
                           tare_error *err) {
    enum { TAPS_MOST = 1 << 12 /* the work is their square; no window that sees likeness is larger */ };
    const tare_quant *quant = p->weight->quant;
    const tare_shape *shape = &codes->shape;
    if (p->channel_axis != 0 || shape->rank < 3 || quant->code != TARE_S8 || !quant->narrow) return TARE_OK;
    const size_t taps = (size_t)tare_shape_product(shape, 2, shape->rank), channels = (size_t)shape->dim[0],
                 windows = (size_t)shape->dim[1];
    if (taps < 2 || taps > TAPS_MOST) return TARE_OK;
    const tare_arena_mark mark = tare_arena_get_mark(arena);
    double *errors = tare_arena_alloc(arena, taps, sizeof *errors);
    if (!errors) return tare_fail_memory(err, taps * sizeof *errors);
    for (size_t i = 0; i < channels * windows; i++)
        keep_sum((int8_t *)codes->data + i * taps, numbers + i * taps, errors, taps,
                 quant->scale[quant->count > 1 ? i / windows : 0]);
    tare_arena_release(arena, mark);
    return TARE_OK;
}

/* f32 depthwise convolution of a line of pixels, channels last, as kernels.h states it. */
#include "kernels/variants.h"

#include <math.h>

static float dot(const tare_depthwise_f32_args *d, size_t m, size_t channel) {
    float sum = 0, block = 0;
    for (size_t t = 0; t < d->taps; t++) {
        const tare_depthwise_tap *tap = &d->tap[t];
        if (tap->first <= m && m < tap->last)
            block = fmaf(tap->a[(m - tap->first) * d->a_step + channel], tap->w[channel], block);
        if ((t + 1) % TARE_TAP_BLOCK != 0 && t + 1 != d->taps) continue;
        sum = t < TARE_TAP_BLOCK ? block : sum + block;
        block = 0;
    }
    return sum;
}

void tare_depthwise_f32_scalar(const tare_depthwise_f32_args *d) {
    for (size_t m = 0; m < d->pixels; m++) {
        for (size_t channel = 0; channel < d->channels; channel++) {
            float x = dot(d, m, channel);
            if (d->bias) x += d->bias[channel];
            x = x < d->lo ? d->lo : x;
            d->c[m * d->c_stride + channel] = x > d->hi ? d->hi : x;
        }
    }
}

/* f32 depthwise convolution over indirect rows, channels last, as kernels.h states it. */
#include "kernels/variants.h"

#include <math.h>

static float dot(const tare_depthwise_f32_args *d, size_t m, size_t channel) {
    float sum = 0, block = 0;
    for (size_t t = 0; t < d->taps; t++) {
        block = fmaf(d->a[t * d->rows + m][channel], d->w[t * d->w_stride + channel], block);
        if ((t + 1) % TARE_K_BLOCK != 0 && t + 1 != d->taps) continue;
        sum = t < TARE_K_BLOCK ? block : sum + block;
        block = 0;
    }
    return sum;
}

void tare_depthwise_f32_scalar(const tare_depthwise_f32_args *d) {
    for (size_t m = 0; m < d->rows; m++) {
        for (size_t channel = 0; channel < d->channels; channel++) {
            float x = dot(d, m, channel);
            if (d->bias) x += d->bias[channel];
            x = x < d->lo ? d->lo : x;
            d->c[m * d->c_stride + channel] = x > d->hi ? d->hi : x;
        }
    }
}

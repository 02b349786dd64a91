/* Template: f32 depthwise convolution over indirect rows, channels last, in the words of vector.inc.h. Before it:
 * STRIPS(_), the pieces there are as _(pixels, vectors): what fits the registers as sums.
 *
 * Channels are taken a few vectors at a time, and for these, output pixels a few at a time: a tap's weights are loaded
 * once for all of them. */

enum { PIXELS = 4, VECTORS_MAX = 4 };

/* A block of taps for the channels from `channel` on: the next `vectors`, or when that is 0 the last `width` < LANES. */
typedef struct strip {
    const tare_depthwise_f32_args *d;
    size_t first_tap, taps;
    size_t channel, width;
} strip;

/* `pixels` and `vectors` are constants where this is inlined: the sums stay in registers. */
INLINE void convolve(const strip *s, size_t m, size_t pixels, size_t vectors) {
    const tare_depthwise_f32_args *d = s->d;
    bool is_tail = vectors == 0;
    size_t count = is_tail ? 1 : vectors;
    v sum[PIXELS * VECTORS_MAX], weight[VECTORS_MAX];
    unroll (i, pixels * count) sum[i] = v_set(0);
    const float *w = d->w + s->first_tap * d->w_stride + s->channel;
    const float *const *a = d->a + s->first_tap * d->rows + m;
    for (size_t t = 0; t < s->taps; t++, w += d->w_stride, a += d->rows) {
        unroll (j, count) weight[j] = is_tail ? v_load_tail(w, s->width, 0) : v_load(w + j * LANES);
        unroll (p, pixels) {
            const float *x = a[p] + s->channel;
            unroll (j, count)
                sum[p * count + j] =
                    v_fma(is_tail ? v_load_tail(x, s->width, 0) : v_load(x + j * LANES), weight[j], sum[p * count + j]);
        }
    }
    unroll (p, pixels) {
        unroll (j, count) {
            float *c = d->c + (m + p) * d->c_stride + s->channel + j * LANES;
            v x = sum[p * count + j];
            if (s->first_tap > 0) x = v_add(is_tail ? v_load_tail(c, s->width, 0) : v_load(c), x);
            if (s->first_tap + s->taps == d->taps) {
                const float *bias = d->bias + s->channel + j * LANES;
                if (d->bias) x = v_add(x, is_tail ? v_load_tail(bias, s->width, 0) : v_load(bias));
                x = v_clamp(x, v_set(d->lo), v_set(d->hi));
            }
            if (is_tail)
                v_store_tail(c, x, s->width);
            else
                v_store(c, x);
        }
    }
}

#define STRIP(pixels, vectors)                                                                                         \
    static void strip_##pixels##_##vectors(const strip *s, size_t m) { convolve(s, m, pixels, vectors); }
STRIPS(STRIP)
#undef STRIP

static void (*const strips[PIXELS + 1][VECTORS_MAX + 1])(const strip *, size_t) = {
#define STRIP(pixels, vectors) [pixels][vectors] = strip_##pixels##_##vectors,
    STRIPS(STRIP)
#undef STRIP
};

/* All pixels of a strip of channels, PIXELS at a time and the rest at once. */
static void pass(const strip *s, size_t vectors) {
    size_t rows = s->d->rows, m = 0;
    for (; m + PIXELS <= rows; m += PIXELS) strips[PIXELS][vectors](s, m);
    if (m < rows) strips[rows - m][vectors](s, m);
}

static void pass_channels(strip s) {
    size_t channels = s.d->channels, vectors = VECTORS_MAX;
    while (channels - s.channel >= LANES) {
        while (vectors * LANES > channels - s.channel || !strips[PIXELS][vectors]) vectors--;
        pass(&s, vectors);
        s.channel += vectors * LANES;
    }
    s.width = channels - s.channel;
    if (s.width > 0) pass(&s, 0);
}

void VARIANT(depthwise_f32)(const tare_depthwise_f32_args *d) {
    size_t t = 0;
    do {
        size_t taps = d->taps - t < TARE_K_BLOCK ? d->taps - t : TARE_K_BLOCK;
        pass_channels((strip){ .d = d, .first_tap = t, .taps = taps });
        t += taps;
    } while (t < d->taps);
}

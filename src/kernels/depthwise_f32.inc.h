/* Template: f32 depthwise convolution of a line of pixels, in the words of vector.inc.h. Before it: STRIPS(_), the pieces
 * there are as _(pixels, vectors): what fits the registers as sums.
 *
 * Channels are taken a few vectors at a time, and for these, pixels a few at a time: a tap's weights are loaded once for
 * all of them. Pixels near the ends, which not every tap reaches, go one by one. */

enum { PIXELS = 4, VECTORS_MAX = 4 };

/* A block of taps for the channels from `channel` on: the next `vectors`, or when that is 0 the last `width` < LANES. */
typedef struct strip {
    const tare_depthwise_f32_args *d;
    const tare_depthwise_tap *tap;
    size_t taps;
    bool is_first, is_last; /* block: c has no sum yet; bias and clamp follow */
    size_t channel, width;
} strip;

INLINE v load(const float *from, const strip *s, bool is_tail, size_t j) {
    return is_tail ? v_load_tail(from, s->width, 0) : v_load(from + j * LANES);
}

/* `pixels`, `vectors` and `is_inside` (every tap reaches every pixel) are constants where this is inlined: the sums stay
 * in registers. */
INLINE void convolve(const strip *s, size_t m, size_t pixels, size_t vectors, bool is_inside) {
    const tare_depthwise_f32_args *d = s->d;
    bool is_tail = vectors == 0;
    size_t count = is_tail ? 1 : vectors, step = d->a_step;
    v sum[PIXELS * VECTORS_MAX], weight[VECTORS_MAX];
    unroll (i, pixels * count) sum[i] = v_set(0);
    for (const tare_depthwise_tap *tap = s->tap, *end = tap + s->taps; tap < end; tap++) {
        if (!is_inside && (m < tap->first || m >= tap->last)) continue;
        const float *x = tap->a + (m - tap->first) * step + s->channel, *w = tap->w + s->channel;
        unroll (j, count) weight[j] = load(w, s, is_tail, j);
        unroll (p, pixels)
            unroll (j, count)
                sum[p * count + j] = v_fma(load(x + p * step, s, is_tail, j), weight[j], sum[p * count + j]);
    }
    unroll (p, pixels) {
        float *c = d->c + (m + p) * d->c_stride + s->channel;
        unroll (j, count) {
            v y = sum[p * count + j];
            if (!s->is_first) y = v_add(load(c, s, is_tail, j), y);
            if (s->is_last && d->bias) y = v_add(y, load(d->bias + s->channel, s, is_tail, j));
            if (s->is_last) y = v_clamp(y, v_set(d->lo), v_set(d->hi));
            if (is_tail)
                v_store_tail(c, y, s->width);
            else
                v_store(c + j * LANES, y);
        }
    }
}

#define STRIP(pixels, vectors)                                                                                         \
    static void strip_##pixels##_##vectors(const strip *s, size_t m) { convolve(s, m, pixels, vectors, true); }
STRIPS(STRIP)
#undef STRIP

static void (*const strips[PIXELS + 1][VECTORS_MAX + 1])(const strip *, size_t) = {
#define STRIP(pixels, vectors) [pixels][vectors] = strip_##pixels##_##vectors,
    STRIPS(STRIP)
#undef STRIP
};

/* A pixel near an end, all its vectors one by one. */
static void convolve_end(strip s, size_t m, size_t vectors) {
    if (vectors == 0) convolve(&s, m, 1, 0, false);
    for (size_t j = 0; j < vectors; j++, s.channel += LANES) convolve(&s, m, 1, 1, false);
}

/* All pixels of a strip of channels: those of `inside` PIXELS at a time and the rest of them at once. */
static void pass(const strip *s, size_t vectors, const size_t inside[2]) {
    size_t m = 0;
    for (; m < inside[0]; m++) convolve_end(*s, m, vectors);
    for (; m + PIXELS <= inside[1]; m += PIXELS) strips[PIXELS][vectors](s, m);
    if (m < inside[1]) strips[inside[1] - m][vectors](s, m);
    for (m = inside[1]; m < s->d->pixels; m++) convolve_end(*s, m, vectors);
}

static void pass_channels(strip s) {
    size_t channels = s.d->channels, vectors = VECTORS_MAX, inside[2] = { 0, s.d->pixels };
    for (size_t t = 0; t < s.taps; t++) {
        if (s.tap[t].first > inside[0]) inside[0] = s.tap[t].first;
        if (s.tap[t].last < inside[1]) inside[1] = s.tap[t].last;
    }
    if (inside[0] > s.d->pixels) inside[0] = s.d->pixels;
    if (inside[1] < inside[0]) inside[1] = inside[0];
    while (channels - s.channel >= LANES) {
        while (vectors * LANES > channels - s.channel || !strips[PIXELS][vectors]) vectors--;
        pass(&s, vectors, inside);
        s.channel += vectors * LANES;
    }
    s.width = channels - s.channel;
    if (s.width > 0) pass(&s, 0, inside);
}

void VARIANT(depthwise_f32)(const tare_depthwise_f32_args *d) {
    size_t t = 0;
    do {
        size_t taps = d->taps - t < TARE_TAP_BLOCK ? d->taps - t : TARE_TAP_BLOCK;
        pass_channels(
            (strip){ .d = d, .tap = d->tap + t, .taps = taps, .is_first = t == 0, .is_last = t + taps == d->taps });
        t += taps;
    } while (t < d->taps);
}

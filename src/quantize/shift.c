/* What rounding a weight shifts the mean of each output channel by: Σ_ck (ŵ - w) mean(x_c) share_k, share_k the outputs whose
 * tap k is not on padding. The bias takes it out (after "Data-Free Quantization", arXiv:1906.04721, with means that were seen). */
#include "quantize/scheme.h"

typedef struct shift {
    const tare_range *range;
    size_t channels, kernels, taps; /* outputs; input channels of a group; numbers of a kernel */
    size_t groups;
    bool by_column;       /* the weight is (kernels, channels) */
    double *share, *mean; /* by tap; by input channel */
} shift;

static bool fits(const tare_product *p, const tare_ranges *ranges, shift *s) {
    const tare_shape *shape = &p->weight->constant->shape;
    const tare_node *node = p->node;
    if (!ranges || !node->op->quant.tap_shares || p->data_count != 1 || p->channel_axis < 0 || shape->rank < 2)
        return false;
    s->range = tare_ranges_find(ranges, p->data[0]->name);
    s->by_column = p->channel_axis == 1;
    s->channels = (size_t)shape->dim[p->channel_axis];
    s->kernels = (size_t)shape->dim[!s->by_column];
    s->taps = (size_t)tare_shape_product(shape, 2, shape->rank);
    if (!p->bias || tare_shape_elements(&p->bias->constant->shape) != shape->dim[p->channel_axis]) return false;
    if (!s->range || !s->range->summed || !s->kernels || s->range->summed % s->kernels) return false;
    s->groups = s->range->summed / s->kernels;
    return !(s->channels % s->groups);
}

static double shift_of(const shift *s, const float *numbers, const int8_t *codes, double scale, size_t channel) {
    const double *mean = s->mean + channel / (s->channels / s->groups) * s->kernels;
    double sum = 0;
    for (size_t k = 0; k < s->kernels; k++)
        for (size_t t = 0; t < s->taps; t++) {
            const size_t at = s->by_column ? k * s->channels + channel : (channel * s->kernels + k) * s->taps + t;
            sum += ((double)codes[at] * scale - (double)numbers[at]) * s->share[t] * mean[k];
        }
    return sum;
}

tare_status tare_shifts(const tare_product *p, const float *numbers, const tare_tensor *codes,
                        const tare_ranges *ranges, tare_arena *arena, double **out, tare_error *err) {
    const tare_quant *quant = p->weight->quant;
    shift s;
    *out = NULL;
    if (codes->dtype != TARE_S8 || !fits(p, ranges, &s)) return TARE_OK;
    double *shifts = tare_arena_alloc(arena, s.channels + 1, sizeof *shifts);
    const tare_arena_mark mark = tare_arena_get_mark(arena);
    s.share = tare_arena_alloc(arena, s.taps + 1, sizeof *s.share);
    s.mean = tare_arena_alloc(arena, s.range->summed, sizeof *s.mean);
    if (!shifts || !s.share || !s.mean) return tare_fail_memory(err, s.range->summed * sizeof *s.mean);
    const bool is_known = p->node->op->quant.tap_shares(p->node, s.share);
    for (size_t i = 0; i < s.range->summed; i++) s.mean[i] = tare_range_channel_mean(s.range, i);
    for (size_t c = 0; is_known && c < s.channels; c++)
        shifts[c] = shift_of(&s, numbers, codes->data, (double)quant->scale[quant->count > 1 ? c : 0], c);
    if (is_known) *out = shifts;
    tare_arena_release(arena, mark);
    return TARE_OK;
}

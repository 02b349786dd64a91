/* Scales of weights: symmetric, s = max|w| / 127, per output channel; wide enough that the bias fits in 32 bits. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/words.h"
#include "quantize/scheme.h"

/* A channel whose weights are all 0 has codes 0 whatever the scale; with a bias, this many steps carry it. */
static const double bias_steps = 1 << 24;

/* s_x * s_w must stay far from where f32 loses bits; weights below that are as good as 0. */
static const double least_product = 0x1p-110;

typedef struct channels {
    size_t count, inner, outer; /* of the weight: outer × count × inner numbers */
} channels;

static channels channels_of(const tare_product *p) {
    const tare_shape *shape = &p->weight->constant->shape;
    if (p->channel_axis < 0) return (channels){ .count = 1, .inner = (size_t)tare_shape_elements(shape), .outer = 1 };
    return (channels){ .count = (size_t)shape->dim[p->channel_axis],
                       .inner = (size_t)tare_shape_product(shape, p->channel_axis + 1, shape->rank),
                       .outer = (size_t)tare_shape_product(shape, 0, p->channel_axis) };
}

static float largest(const float *weight, const channels *c, size_t channel) {
    float reach = 0;
    for (size_t o = 0; o < c->outer; o++)
        for (size_t i = 0; i < c->inner; i++) {
            float w = fabsf(weight[(o * c->count + channel) * c->inner + i]);
            if (w > reach) reach = w;
        }
    return reach;
}

/* The largest |bias| that meets this channel's scale: of every output channel with it (groups share scales). */
static double largest_bias(const tare_product *p, size_t channel, size_t count) {
    if (!p->bias || p->bias->constant->dtype != TARE_F32) return 0;
    const float *bias = p->bias->constant->data;
    const size_t numbers = p->bias->constant->size / sizeof *bias;
    double reach = 0;
    for (size_t i = numbers == 1 ? 0 : channel; i < numbers; i += count)
        if (fabs((double)bias[i]) > reach) reach = fabs((double)bias[i]);
    return reach;
}

static tare_dtype code_of(const tare_scheme *s) {
    return s->options->weight ? s->options->weight : s->options->target->weight;
}

/* For weights up to `reach`. */
static float scale_for(const tare_scheme *s, double reach) {
    float scale;
    int32_t zero_point;
    tare_scale_from_range((float)-reach, (float)reach, code_of(s), true, tare_wants_powers(s->options), &scale,
                          &zero_point);
    return scale;
}

/* Infinite where its codes would stand for numbers past f32. */
static float raise(const tare_scheme *s, float scale, double least) {
    const double reach = least * tare_dtype_highest(code_of(s));
    if ((double)scale >= least) return scale;
    if (!(reach <= (double)FLT_MAX)) return INFINITY;
    return tare_wants_powers(s->options) ? scale_for(s, reach) : (float)least;
}

static float channel_scale(const tare_scheme *s, const tare_product *p, const float *weight, const channels *c,
                           size_t channel, bool *raised) {
    const float reach = largest(weight, c, channel);
    const double input_scale = (double)p->data[0]->quant->scale[0], bias = largest_bias(p, channel, c->count);
    const double floor = least_product / input_scale;
    if (reach <= 0 && bias > 0) return raise(s, 0, fmax(bias / (input_scale * bias_steps), floor));
    const float scale = raise(s, scale_for(s, (double)reach), floor);
    /* W5: bias codes must fit: s_w >= |b| / (s_x (2^31 - 1)); one part in 2^20 more for the roundings on the way. */
    const double least = bias / (input_scale * INT32_MAX) * (1 + 0x1p-20);
    *raised |= (double)scale < least;
    return raise(s, scale, least);
}

static tare_status make_quant(tare_scheme *s, const tare_product *p, tare_quant **out, tare_error *err) {
    tare_arena *arena = s->model->arena;
    const channels c = channels_of(p);
    tare_quant *quant = tare_arena_alloc(arena, 1, sizeof *quant);
    float *scale = tare_arena_alloc(arena, c.count + 1, sizeof *scale);
    int32_t *zero_point = tare_arena_alloc(arena, c.count + 1, sizeof *zero_point);
    if (!quant || !scale || !zero_point) return tare_fail_memory(err, c.count * sizeof *scale);
    bool raised = false;
    for (size_t i = 0; i < c.count; i++) {
        scale[i] = channel_scale(s, p, p->weight->constant->data, &c, i, &raised);
        if (isinf(scale[i]))
            return tare_fail(err, TARE_E_UNSUPPORTED,
                             "node '%s' (%s): at an input scale of %.9g, channel %zu would need a weight scale past "
                             "float32; keep the node float by a rule",
                             p->node->name, p->node->type, (double)p->data[0]->quant->scale[0], i);
    }
    if (raised) {
        tare_log_note(s->log, "node '%s' (%s): weight scale raised so that the bias fits in 32 bits", p->node->name,
                      p->node->type);
        if (!s->raised++) s->first_raised = p->node->name;
    }
    *quant = (tare_quant){ .code = code_of(s),
                           .axis = c.count == 1 ? -1 : p->channel_axis,
                           .count = c.count,
                           .scale = scale,
                           .zero_point = zero_point,
                           .origin = { .kind = TARE_ORIGIN_WEIGHT,
                                       .was = raised ? "max|w| / 127, too fine for the bias" : NULL },
                           .narrow = true };
    *out = quant;
    return TARE_OK;
}

static bool same_quant(const tare_quant *a, const tare_quant *b) {
    return a->code == b->code && a->axis == b->axis && a->count == b->count &&
           !memcmp(a->scale, b->scale, a->count * sizeof *a->scale) &&
           !memcmp(a->zero_point, b->zero_point, a->count * sizeof *a->zero_point);
}

/* A value with other readers keeps its float numbers for them. */
static bool is_own(const tare_product *p) {
    return p->weight->uses.count == 1 && !p->weight->is_output && !p->weight->is_input;
}

static tare_status assign(tare_scheme *s, tare_product *p, const tare_quant *quant, tare_error *err) {
    if (is_own(p)) {
        p->weight->quant = quant;
        return TARE_OK;
    }
    for (size_t i = 0; i < s->products.count; i++) { /* another reader's copy may serve */
        tare_value *other = s->products.at[i].weight;
        if (!other || !other->quant || other->constant->data != p->weight->constant->data) continue;
        if (!same_quant(other->quant, quant) || other->constant->dtype != TARE_F32) continue;
        p->weight = other;
        return tare_node_set_input(p->node, p->weight_input, other, err);
    }
    tare_value *copy;
    TARE_TRY(tare_graph_add_constant(p->node->graph, p->weight->name, p->weight->constant, quant, true, &copy, err));
    p->weight = copy;
    return tare_node_set_input(p->node, p->weight_input, copy, err);
}

tare_status tare_quantize_weights(tare_scheme *scheme, tare_error *err) {
    for (size_t i = 0; i < scheme->products.count; i++) {
        tare_product *p = &scheme->products.at[i];
        if (!p->weight || p->weight->quant || p->weight->constant->dtype != TARE_F32) continue;
        if (!p->data[0]->quant || p->data[0]->quant->count != 1) continue; /* its data stay float, by a rule */
        if (scheme->options->per_tensor || !scheme->options->target->per_channel) p->channel_axis = -1;
        tare_quant *quant = NULL;
        TARE_TRY(make_quant(scheme, p, &quant, err));
        TARE_TRY(assign(scheme, p, quant, err));
    }
    if (scheme->raised)
        tare_log_warn(
            scheme->log,
            "%zu node%s, the first '%s': weight scales raised so that the bias fits in 32 bits; channels that are "
            "nearly dead do this",
            scheme->raised, tare_plural(scheme->raised, "", "s"), scheme->first_raised);
    return TARE_OK;
}

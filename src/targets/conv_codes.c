/* Conv on codes for every target: rows of pointers to what each output pixel sees, sums of products by the kernel, and
 * the target's requantization. Padding is the code of 0. */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "ops/attr.h"
#include "targets/codes.h"

enum { TILE = 32 /* output pixels at once */, ALIGNMENT = 64 };

/* ---- what it takes ---- */

static bool has_scales_of_outputs(const tare_quant *quant, int64_t outputs) {
    return !quant->block && (quant->count == 1 || (quant->axis == 0 && (int64_t)quant->count == outputs));
}

const char *tare_conv_codes_refuses(const tare_int_node *n) {
    const tare_value *weight = n->node->inputs[1], *bias = tare_node_input(n->node, 2);
    const tare_quant *w = n->inputs[1], *b = bias ? n->inputs[2] : NULL;
    if (!w || !weight->constant) return "its weight is no quantized constant";
    if (w->code != TARE_S8 && w->code != TARE_U8) return "its weight has no codes of 8 bits";
    if (!has_scales_of_outputs(w, weight->shape.dim[0]))
        return "its weight has scales of another axis than the outputs";
    if (bias && (!b || !bias->constant || b->code != TARE_S32)) return "its bias is no constant of s32 codes";
    if (b && !has_scales_of_outputs(b, weight->shape.dim[0])) return "its bias has no scale per output";
    for (size_t c = 0; b && c < b->count; c++)
        if (b->zero_point[c]) return "its bias has a zero point";
    return NULL;
}

float tare_conv_product_scale(const tare_int_node *n, size_t channel) {
    const tare_quant *w = n->inputs[1];
    return n->inputs[0]->scale[0] * w->scale[w->count == 1 ? 0 : channel];
}

double tare_conv_ratio_f64(const tare_int_node *n, size_t channel) {
    const tare_quant *w = n->inputs[1];
    return (double)n->inputs[0]->scale[0] * (double)w->scale[w->count == 1 ? 0 : channel] / (double)n->output->scale[0];
}

const char *tare_conv_weight_refuses(const tare_int_node *n) {
    const tare_quant *w = n->inputs[1];
    for (size_t c = 0; c < w->count; c++)
        if (w->zero_point[c]) return "its weight has a zero point";
    return NULL;
}

const char *tare_conv_bias_refuses(const tare_int_node *n, float absolute, float relative) {
    const tare_quant *bias = n->node->input_count > 2 ? n->inputs[2] : NULL, *weight = n->inputs[1];
    const size_t count = bias && bias->count > weight->count ? bias->count : weight->count;
    for (size_t c = 0; bias && c < count; c++) {
        const float want = tare_conv_product_scale(n, c);
        if (!(fabsf(bias->scale[bias->count == 1 ? 0 : c] - want) <= absolute + relative * fabsf(want)))
            return "the scale of its bias is not that of input times weight";
    }
    return NULL;
}

/* ---- preparing ---- */

/* From ONNX's order (outputs, channels of a group, taps) to group, tap, channel, output; the zero points go off. */
static void pack(const tare_conv_codes *c, int16_t *to, const tare_tensor *weight, const tare_quant *quant) {
    const size_t depth = c->channels / (size_t)c->group, out = c->outputs / (size_t)c->group;
    const uint8_t *codes = weight->data;
    for (size_t m = 0; m < c->outputs; m++) {
        const int32_t zero_point = quant->zero_point[quant->count == 1 ? 0 : m];
        int16_t *group = to + m / out * c->taps * depth * out + m % out;
        for (size_t k = 0; k < depth; k++)
            for (size_t t = 0; t < c->taps; t++)
                group[(t * depth + k) * out] = (int16_t)(tare_code_of(quant->code, *codes++) - zero_point);
    }
}

static tare_status fit_window(tare_window *window, const tare_int_node *n, const tare_prepare *p, tare_error *err) {
    const tare_shape *x = &p->inputs[0]->shape, *w = &n->node->inputs[1]->shape;
    const tare_window_attrs *attrs = n->node->attrs; /* they come first in Conv's */
    TARE_TRY(tare_window_read(window, attrs, x->rank - 2, w->dim + 2, err));
    return tare_window_fit(window, attrs->auto_pad, false, x->dim + 1, err);
}

/* A thread's pointers, then its sums. */
static tare_status size_scratch(tare_conv_codes *c, tare_prepare *p, tare_error *err) {
    size_t sums;
    if (!tare_size_mul(TILE * sizeof(const uint8_t *), c->taps, &c->sums) ||
        !tare_size_mul(TILE * sizeof(int32_t), c->outputs / (size_t)c->group, &sums) ||
        !tare_size_align(c->sums, ALIGNMENT, &c->sums) || !tare_size_align(sums, ALIGNMENT, &sums) ||
        !tare_size_add(c->sums, sums, &c->scratch) || !tare_size_mul(c->scratch, p->threads, &p->scratch_size))
        return tare_fail_memory(err, SIZE_MAX);
    return TARE_OK;
}

static tare_status set_requant(tare_conv_codes *c, const tare_int_node *n, tare_requant_kind kind,
                               tare_conv_ratio *ratio, const tare_prepare *p, tare_error *err) {
    tare_requant_start(&c->requant, kind, n->output, p->clamp_lo, p->clamp_hi);
    TARE_TRY(tare_requant_alloc(&c->requant, c->outputs, p->arena, err));
    for (size_t m = 0; m < c->outputs; m++) tare_requant_set(&c->requant, m, ratio(n, m));
    return TARE_OK;
}

tare_status tare_conv_codes_prepare(const tare_int_node *n, tare_requant_kind kind, tare_conv_ratio *ratio,
                                    tare_prepare *p, tare_error *err) {
    const tare_shape *x = &p->inputs[0]->shape;
    tare_conv_codes *c = tare_arena_alloc(p->arena, 1, sizeof *c);
    if (!c) return tare_fail_memory(err, sizeof *c);
    TARE_TRY(fit_window(&c->window, n, p, err));
    c->group = tare_attr_int(n->node, "group", 1);
    c->channels = (size_t)x->dim[x->rank - 1];
    c->outputs = (size_t)n->node->inputs[1]->shape.dim[0];
    c->taps = (size_t)tare_window_taps(&c->window, c->window.rank);
    c->pixels = x->dim[0] * tare_window_outputs(&c->window, c->window.rank);
    c->tiles = (c->pixels + TILE - 1) / TILE;
    c->zero_point = n->inputs[0]->zero_point[0];
    c->product = n->inputs[0]->code == TARE_S8 ? p->kernels->gemm_s8 : p->kernels->gemm_u8;
    c->bias = p->input_count > 2 && p->inputs[2] ? p->inputs[2]->data : NULL;
    TARE_TRY(size_scratch(c, p, err));
    uint8_t *padding = tare_arena_alloc(p->arena, c->channels + 1, 1);
    int16_t *weights = padding ? tare_room_new(p->kept, p->inputs[1]->size * sizeof *weights) : NULL;
    if (!weights) return tare_fail_memory(err, p->inputs[1]->size * sizeof *weights);
    memset(padding, (uint8_t)c->zero_point, c->channels);
    c->padding = padding;
    pack(c, weights, p->inputs[1], n->inputs[1]);
    c->weights = tare_keep(p->kept, weights, p->inputs[1]->size * sizeof *weights);
    if (!c->weights) return tare_fail_memory(err, p->inputs[1]->size * sizeof *weights);
    p->taken |= 1u << 1;
    p->state = c;
    return set_requant(c, n, kind, ratio, p, err);
}

/* ---- running ---- */

typedef struct job {
    const tare_conv_codes *conv;
    const uint8_t *x;
    uint8_t *y;
    char *scratch;
} job;

/* What output pixel `pixel` sees: a pointer for each tap, `step` apart. */
static void point(const job *j, const uint8_t **a, size_t step, int64_t pixel) {
    const tare_window *window = &j->conv->window;
    const tare_window_axis *axis = &window->axis[window->rank - 1];
    const int64_t lines = tare_window_taps(window, window->rank - 1);
    for (int64_t tap = 0; tap < lines; tap++) {
        const int64_t line = tare_window_line(window, pixel / axis->out, tap);
        for (int64_t k = 0; k < axis->kernel; k++, a += step) {
            const int64_t at = pixel % axis->out * axis->stride + k * axis->dilation - axis->before;
            const bool is_inside = line >= 0 && at >= 0 && at < axis->in;
            *a = is_inside ? j->x + (size_t)(line * axis->in + at) * j->conv->channels : j->conv->padding;
        }
    }
}

static void run_tile(void *context, size_t index, size_t thread) {
    const job *j = context;
    const tare_conv_codes *c = j->conv;
    const int64_t first = (int64_t)index * TILE;
    const size_t rows = (size_t)(c->pixels - first < TILE ? c->pixels - first : TILE);
    const size_t depth = c->channels / (size_t)c->group, out = c->outputs / (size_t)c->group;
    char *room = j->scratch + thread * c->scratch;
    const uint8_t **a = (const uint8_t **)(void *)room;
    for (size_t r = 0; r < rows; r++) point(j, a + r, rows, first + (int64_t)r);
    tare_gemm_codes_args args = { .rows = rows,
                                  .columns = out,
                                  .taps = c->taps,
                                  .depth = depth,
                                  .a = a,
                                  .zero_point = c->zero_point,
                                  .b = c->weights,
                                  .bias = c->bias,
                                  .c = (int32_t *)(void *)(room + c->sums),
                                  .c_stride = out };
    for (size_t g = 0; g < (size_t)c->group; g++) {
        c->product(&args);
        for (size_t r = 0; r < rows; r++)
            tare_requantize(&c->requant, j->y + ((size_t)first + r) * c->outputs + g * out, args.c + r * out, g * out,
                            out);
        args.a_offset += depth;
        args.b += c->taps * depth * out;
        if (args.bias) args.bias += out;
    }
}

tare_status tare_conv_codes_run(const tare_call *call, tare_error *err) {
    (void)err;
    const tare_conv_codes *c = call->state;
    job j = { .conv = c, .x = call->inputs[0]->data, .y = call->outputs[0]->data, .scratch = call->scratch };
    tare_pool_run(call->pool, (size_t)c->tiles, run_tile, &j);
    return TARE_OK;
}

/* From chosen scales to codes: weights rounded (windows.c, shift.c), biases in s32 at exactly s_x * s_w. */
#include <math.h>

#include "quantize/scheme.h"

static void store(void *codes, tare_dtype type, size_t i, int32_t code) {
    switch (tare_dtype_size(type)) {
    case 1: ((uint8_t *)codes)[i] = (uint8_t)code; break;
    case 2: ((uint16_t *)codes)[i] = (uint16_t)code; break;
    default: ((int32_t *)codes)[i] = code;
    }
}

static bool wants_codes(const tare_value *value) {
    return value->quant && value->constant && value->constant->dtype == TARE_F32;
}

/* Codes of the float numbers of a quantized constant, the nearest. */
static tare_status nearest_codes(tare_tensor **out, const tare_value *value, tare_arena *arena, tare_error *err) {
    const tare_quant *quant = value->quant;
    const tare_tensor *from = value->constant;
    tare_tensor *to;
    TARE_TRY(tare_tensor_new(arena, quant->code, &from->shape, &to, err));
    *out = to;
    const float *numbers = from->data;
    const size_t count = from->size / sizeof *numbers;
    const size_t inner =
        quant->axis < 0 ? 1 : (size_t)tare_shape_product(&from->shape, quant->axis + 1, from->shape.rank);
    for (size_t i = 0; i < count; i++)
        store(to->data, quant->code, i,
              tare_quant_code(quant, quant->axis < 0 ? 0 : i / inner % quant->count, numbers[i]));
    return TARE_OK;
}

/* Where the scale is from the file, the weight was trained to be rounded to the nearest. *shifts: what the mean of each output
 * channel is off by then; NULL: not known. */
static tare_status round_weight(const tare_product *p, const tare_ranges *ranges, tare_arena *arena, double **shifts,
                                tare_error *err) {
    tare_tensor *codes;
    *shifts = NULL;
    if (!p->weight || !wants_codes(p->weight) || p->weight->quant->origin.kind != TARE_ORIGIN_WEIGHT) return TARE_OK;
    TARE_TRY(nearest_codes(&codes, p->weight, arena, err));
    TARE_TRY(tare_keep_sums(p, p->weight->constant->data, codes, arena, err));
    TARE_TRY(tare_shifts(p, p->weight->constant->data, codes, ranges, arena, shifts, err));
    p->weight->constant = codes;
    return TARE_OK;
}

/* b = round(b / (s_x s_w)), s_b = f32(s_x * s_w[c]): what the integer sum is measured in. */
static tare_status bias_quant(const tare_product *p, const tare_shape *shape, tare_arena *arena, tare_quant **out,
                              tare_error *err) {
    tare_quant *quant = tare_arena_alloc(arena, 1, sizeof *quant);
    const tare_quant *weight = p->weight->quant;
    const bool per_channel = weight->count > 1;
    const size_t scales = per_channel ? (size_t)tare_shape_elements(shape) : 1;
    float *scale = tare_arena_alloc(arena, scales + 1, sizeof *scale);
    int32_t *zero_point = tare_arena_alloc(arena, scales + 1, sizeof *zero_point);
    if (!quant || !scale || !zero_point) return tare_fail_memory(err, scales * sizeof *scale);
    for (size_t i = 0; i < scales; i++) scale[i] = p->data[0]->quant->scale[0] * weight->scale[i % weight->count];
    *quant = (tare_quant){ .code = TARE_S32,
                           .axis = per_channel ? shape->rank - 1 : -1,
                           .count = scales,
                           .scale = scale,
                           .zero_point = zero_point,
                           .origin = { .kind = TARE_ORIGIN_BIAS } };
    *out = quant;
    return TARE_OK;
}

/* A Gemm's single number becomes one per channel, since channels have scales of their own. */
static tare_shape bias_shape(const tare_product *p) {
    const tare_tensor *from = p->bias->constant;
    const bool is_single = from->size == sizeof(float) && p->weight->quant->count > 1;
    return is_single ? (tare_shape){ .rank = 1, .dim = { (int64_t)p->weight->quant->count } } : from->shape;
}

static tare_status round_bias(tare_product *p, const double *shifts, tare_arena *arena, tare_error *err) {
    const float *numbers = p->bias->constant->data;
    const tare_shape shape = bias_shape(p);
    const size_t count = (size_t)tare_shape_elements(&shape), given = p->bias->constant->size / sizeof *numbers;
    tare_quant *quant = NULL;
    tare_tensor *codes = NULL;
    TARE_TRY(bias_quant(p, &shape, arena, &quant, err));
    TARE_TRY(tare_tensor_new(arena, TARE_S32, &shape, &codes, err));
    for (size_t i = 0; i < count; i++) {
        const double number = (double)numbers[i % given], scale = (double)quant->scale[i % quant->count];
        const double shifted = shifts ? rint((number - shifts[i]) / scale) : NAN;
        const double code = fabs(shifted) <= INT32_MAX ? shifted : rint(number / scale);
        if (!(fabs(code) <= INT32_MAX))
            return tare_fail(err, TARE_E_UNSUPPORTED,
                             "node '%s' (%s): bias %.9g of channel %zu is %.9g steps of s_x*s_w = %.9g, more than 32 "
                             "bits hold; keep the node float by a rule",
                             p->node->name, p->node->type, number, i, code, scale);
        ((int32_t *)codes->data)[i] = (int32_t)code;
    }
    tare_value *value;
    TARE_TRY(tare_graph_add_constant(p->node->graph, p->bias->name, codes, quant, true, &value, err));
    return tare_node_set_input(p->bias_node, p->bias_input, value, err);
}

static bool wants_bias_codes(const tare_product *p) {
    return p->bias && !p->bias->quant && p->bias->dtype == TARE_F32 && p->bias->constant->dtype == TARE_F32 &&
           p->weight && p->weight->quant && p->data[0]->quant && p->data[0]->quant->count == 1 &&
           tare_dtype_size(p->data[0]->quant->code) == 1;
}

/* Scales hold for the constants that were seen: those that were inputs too can be fed no more, and runtimes take them for the
 * constants that they are. */
static void close_inputs(const tare_graph *graph) {
    for (size_t i = graph->inputs.count; i-- > 0;)
        if (graph->inputs.at[i]->constant) tare_value_close_input(graph->inputs.at[i]);
}

/* Float numbers whose codes are read now. */
static void remove_unread(tare_graph *graph) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (value && value->constant && !value->producer && !value->uses.count && !value->is_output)
            tare_value_remove(value);
    }
}

tare_status tare_quantize_round(tare_model *model, const tare_ranges *ranges, const tare_quantize_options *options,
                                tare_error *err) {
    tare_graph *graph = model->graph;
    tare_for_nodes (node, graph) {
        tare_product p;
        const char *why;
        if (!node->op || !tare_product_of(options, node, &p, &why)) continue;
        double *shifts;
        TARE_TRY(round_weight(&p, ranges, model->arena, &shifts, err));
        if (wants_bias_codes(&p)) TARE_TRY(round_bias(&p, shifts, model->arena, err));
    }
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        tare_tensor *codes;
        if (!value || !wants_codes(value)) continue;
        TARE_TRY(nearest_codes(&codes, value, model->arena, err));
        value->constant = codes;
    }
    close_inputs(graph);
    remove_unread(graph);
    return TARE_OK;
}

/* Before:  w = Quant(constant, scale, zero_point, bits)          QONNX's fake quantization of a weight; also BipolarQuant
 * After:   w, a quantized constant: its codes, and the scale it was trained with
 * Before:  y = Quant(x, scale, zero_point, bits)
 * After:   the same, y known to be quantized: its numbers lie on the grid of scale and zero_point already
 * When:    scale, zero point and bits are constant, the codes fit in 8 or 16 bits and give the numbers back to the bit; for
 *          activations one scale. The node of an activation stays: it clamps to fewer codes than a type has, and it rounds
 *          in the float graph too, as it did in training. */
#include <math.h>
#include <string.h>

#include "ops/attr.h"
#include "passes/rewrite.h"

static bool is_named(const tare_node *node, const char *type) {
    return node->op && !strcmp(node->domain, "qonnx.custom_op.general") && !strcmp(node->type, type);
}

typedef struct grid {
    tare_quant *quant;
    float *scale;
    int32_t *zero_point;
} grid;

/* The dimension a constant varies along when it is broadcast to `shape`; -1: none. False: several. */
static bool find_axis(const tare_shape *from, const tare_shape *shape, int *axis) {
    *axis = -1;
    int lead = shape->rank - from->rank;
    if (shape->rank < 0 || lead < 0) return false;
    for (int i = 0; i < from->rank; i++) {
        if (from->dim[i] == 1) continue;
        if (*axis >= 0 || from->dim[i] != shape->dim[i + lead]) return false;
        *axis = i + lead;
    }
    return true;
}

/* Bits, the code type for them, whether the lowest code is left out. False: more than 16. */
static bool read_code(const tare_node *node, tare_quant *quant) {
    double bits = 2; /* BipolarQuant: -1 and 1 */
    bool is_signed = tare_attr_int(node, "signed", 1) != 0;
    if (is_named(node, "Quant") && !tare_value_read_scalar(node->inputs[3], &bits)) return false;
    quant->code = bits <= 8 ? (is_signed ? TARE_S8 : TARE_U8) : is_signed ? TARE_S16 : TARE_U16;
    quant->narrow = bits == 8 && is_signed && tare_attr_int(node, "narrow", 0);
    return bits <= 16;
}

/* Scales, and zero points where the node has them: whole numbers of the code type, one or as many as there are scales. */
static bool fill(const tare_node *node, grid *g) {
    const tare_tensor *scale = node->inputs[1]->constant;
    const tare_value *zero = is_named(node, "Quant") ? node->inputs[2] : NULL;
    size_t zeros = zero ? zero->constant->size / sizeof(float) : 0;
    if (zero && zeros != 1 && zeros != g->quant->count) return false;
    for (size_t i = 0; i < g->quant->count; i++) {
        float z = zero ? ((const float *)zero->constant->data)[zeros == 1 ? 0 : i] : 0;
        g->scale[i] = ((const float *)scale->data)[i];
        if (!isfinite(g->scale[i]) || g->scale[i] <= 0 || z != rintf(z) ||
            z < (float)tare_dtype_lowest(g->quant->code) || z > (float)tare_dtype_highest(g->quant->code))
            return false;
        g->zero_point[i] = (int32_t)z;
    }
    return true;
}

static bool is_f32(const tare_value *value) {
    return tare_value_is_constant(value) && !value->quant && value->constant->dtype == TARE_F32;
}

/* *out is NULL when the node's grid is none that a value can carry. */
static tare_status read_grid(const tare_node *node, const tare_quant **out, tare_error *err) {
    tare_arena *arena = node->graph->model->arena;
    int axis;
    *out = NULL;
    if (!is_f32(node->inputs[1]) ||
        (is_named(node, "Quant") && (!is_f32(node->inputs[2]) || !is_f32(node->inputs[3]))) ||
        !find_axis(&node->inputs[1]->constant->shape, &node->inputs[0]->shape, &axis))
        return TARE_OK;
    size_t count = node->inputs[1]->constant->size / sizeof(float);
    grid g = { .quant = tare_arena_alloc(arena, 1, sizeof *g.quant),
               .scale = tare_arena_alloc(arena, count, sizeof *g.scale),
               .zero_point = tare_arena_alloc(arena, count, sizeof *g.zero_point) };
    if (!g.quant || !g.scale || !g.zero_point) return tare_fail_memory(err, count * sizeof(float));
    *g.quant = (tare_quant){ .axis = axis,
                             .count = count,
                             .scale = g.scale,
                             .zero_point = g.zero_point,
                             .origin = { .kind = TARE_ORIGIN_QONNX } };
    if (count && read_code(node, g.quant) && fill(node, &g)) *out = g.quant;
    return TARE_OK;
}

/* ---- weights ---- */

static void store(const tare_tensor *codes, size_t i, double code) {
    if (tare_dtype_size(codes->dtype) == 1)
        ((int8_t *)codes->data)[i] = (int8_t)(int32_t)code; /* the same bits for u8 */
    else
        ((int16_t *)codes->data)[i] = (int16_t)(int32_t)code;
}

/* The codes of numbers that lie on the grid; false: one does not, to the bit. */
static bool find_codes(const tare_tensor *numbers, const tare_quant *quant, const tare_tensor *codes) {
    size_t inner = 1, channels = quant->count;
    const float *from = numbers->data;
    if (quant->axis >= 0) inner = (size_t)tare_shape_product(&numbers->shape, quant->axis + 1, numbers->shape.rank);
    for (size_t i = 0; i < numbers->size / sizeof *from; i++) {
        size_t c = quant->axis < 0 ? 0 : i / inner % channels;
        float steps = rintf(from[i] / quant->scale[c]), again = steps * quant->scale[c];
        double code = (double)steps + quant->zero_point[c];
        if (again != from[i] || code < tare_dtype_lowest(quant->code) || code > tare_dtype_highest(quant->code))
            return false;
        store(codes, i, code);
    }
    return true;
}

static tare_status absorb_weight(tare_pass_context *context, tare_node *node, const tare_quant *quant,
                                 tare_error *err) {
    bool done;
    tare_tensor *codes;
    tare_value *value = node->outputs[0];
    if (value->is_output || value->quant || value->dtype != TARE_F32) return TARE_OK;
    TARE_TRY(tare_node_evaluate(node, &done, err));
    if (!done) return TARE_OK;
    TARE_TRY(tare_tensor_new(context->model->arena, quant->code, &value->constant->shape, &codes, err));
    bool fits = find_codes(value->constant, quant, codes);
    tare_pass_changed(context, "node '%s' (%s) %s '%s'", node->name, node->type,
                      fits ? "gave its scale to the constant" : "folded into the constant", value->name);
    if (fits) {
        value->constant = codes;
        value->quant = quant;
    }
    value->is_initializer = true;
    tare_value_set_producer(value, NULL, 0);
    tare_node_remove(node);
    return TARE_OK;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    const tare_quant *quant;
    tare_value *value = node->output_count == 1 ? node->outputs[0] : NULL;
    if (!value || value->quant || (!is_named(node, "Quant") && !is_named(node, "BipolarQuant"))) return TARE_OK;
    TARE_TRY(read_grid(node, &quant, err));
    if (!quant) return TARE_OK;
    if (is_f32(node->inputs[0])) return absorb_weight(context, node, quant, err);
    if (quant->axis >= 0 || value->dtype != TARE_F32) return TARE_OK;
    value->quant = quant;
    tare_pass_changed(context, "node '%s' (%s) gave its scale to '%s'", node->name, node->type, value->name);
    return TARE_OK;
}

const tare_pass tare_pass_absorb_qonnx = {
    .name = "absorb-qonnx",
    .help = "QONNX's Quant and BipolarQuant: weights become codes, activations carry the scales they were trained with",
    .rewrite = rewrite,
};

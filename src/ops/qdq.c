/* QuantizeLinear and DequantizeLinear nodes as what they say: scales, zero points, axis. */
#include "ops/attr.h"
#include "ops/op.h"

enum { OPSET_WIDE = 21 /* has 16-bit codes */ };

bool tare_qdq_is(const tare_node *node) {
    return tare_node_is(node, "QuantizeLinear") || tare_node_is(node, "DequantizeLinear");
}

const tare_value *tare_qdq_codes(const tare_node *node) {
    return tare_node_is(node, "QuantizeLinear") ? node->outputs[0] : node->inputs[0];
}

static tare_status read_zero_points(const tare_value *value, size_t count, int32_t *to, tare_arena *arena,
                                    tare_error *err) {
    size_t found;
    if (!value) return TARE_OK; /* zeros: the arena cleared them */
    int64_t *wide = tare_arena_alloc(arena, count, sizeof *wide);
    if (!wide) return tare_fail_memory(err, count * sizeof *wide);
    if (!tare_value_read_s64(value, wide, count, &found) || found != count)
        return tare_fail(err, TARE_E_MALFORMED, "zero point '%s' is not %zu integers, as the scale has", value->name,
                         count);
    for (size_t i = 0; i < count; i++) to[i] = (int32_t)wide[i];
    return TARE_OK;
}

/* What the file says of the codes. */
static tare_origin origin_of(const tare_model *model, const tare_value *codes) {
    const tare_origin *told = tare_map_get(&model->origins, codes->name);
    return told ? *told : (tare_origin){ .kind = TARE_ORIGIN_QDQ };
}

/* Of codes that are computed: a number for each entry of an axis that is the same throughout is one number, said so for a
 * reader's sake (formats/onnx/spell_float.c). */
static bool is_one_number(const tare_node *node, const float *scale, const int32_t *zero_point, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (scale[i] != scale[0] || zero_point[i] != zero_point[0]) return false;
    return !node->inputs[0]->constant;
}

tare_status tare_qdq_read(const tare_node *node, const tare_quant **out, tare_error *err) {
    tare_model *model = node->graph->model;
    const tare_value *scale = node->inputs[1], *zero = tare_node_input(node, 2);
    int64_t axis = tare_attr_int(node, "axis", 1), block = tare_attr_int(node, "block_size", 0);
    *out = NULL;
    if (!scale->constant || scale->constant->dtype != TARE_F32 || (zero && !zero->constant)) return TARE_OK;
    size_t count = scale->constant->size / sizeof(float);
    bool is_single = count == 1 && !block;
    if (!count || (!is_single && !tare_axis_normalize(&axis, node->inputs[0]->shape.rank))) return TARE_OK;
    tare_quant *quant = tare_arena_alloc(model->arena, 1, sizeof *quant);
    int32_t *zero_points = tare_arena_alloc(model->arena, count, sizeof *zero_points);
    if (!quant || !zero_points) return tare_fail_memory(err, count * sizeof *zero_points);
    TARE_TRY(read_zero_points(zero, count, zero_points, model->arena, err));
    if (!block && is_one_number(node, scale->constant->data, zero_points, count)) is_single = true, count = 1;
    const tare_value *codes = tare_qdq_codes(node);
    const tare_dtype code = codes->dtype;
    *quant = (tare_quant){ .code = code,
                           .axis = is_single ? -1 : (int)axis,
                           .block = block,
                           .count = count,
                           .scale = scale->constant->data,
                           .zero_point = zero_points,
                           .origin = origin_of(model, codes),
                           .contrib = (code == TARE_S16 || code == TARE_U16) && model->opset < OPSET_WIDE };
    *out = quant;
    return TARE_OK;
}

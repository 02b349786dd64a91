/* Weights back to float, to tell what their rounding costs. */
#include "api/floats.h"

/* Of the weight's energy: codes that are farther from it are not this weight's. */
static const double most_noise = 0.5;

static tare_status is_like(const tare_value *codes, const tare_value *real, tare_arena *arena, bool *like,
                           tare_error *err) {
    const float *a, *b;
    size_t count, other;
    double signal = 0, noise = 0;
    TARE_TRY(tare_value_read_f32(real, arena, &a, &count, err));
    TARE_TRY(tare_value_read_f32(codes, arena, &b, &other, err));
    for (size_t i = 0; i < count && count == other; i++) {
        const double d = (double)b[i] - (double)a[i];
        signal += (double)a[i] * (double)a[i];
        noise += d * d;
    }
    *like = count == other && noise <= signal * most_noise;
    return TARE_OK;
}

static bool may_be(const tare_value *codes, const tare_value *real) {
    return tare_value_is_constant(codes) && codes->quant && tare_value_is_constant(real) && !real->quant &&
           real->constant->dtype == TARE_F32 && tare_shape_equal(&codes->constant->shape, &real->constant->shape);
}

static tare_status restore(tare_node *node, const tare_node *real, bool keeps_quant, tare_arena *arena,
                           tare_error *err) {
    for (int i = 0; i < node->input_count && i < real->input_count; i++) {
        tare_value *codes = node->inputs[i];
        bool like = false;
        if (!may_be(codes, real->inputs[i])) continue;
        const tare_arena_mark mark = tare_arena_get_mark(arena);
        TARE_TRY(is_like(codes, real->inputs[i], arena, &like, err));
        tare_arena_release(arena, mark);
        if (!like) continue;
        codes->constant = real->inputs[i]->constant;
        if (!keeps_quant) codes->quant = NULL;
    }
    return TARE_OK;
}

tare_status tare_floats_restore(tare_node *node, const tare_node *real, bool keeps_quant, tare_error *err) {
    if (!node->op || node->op != real->op) return TARE_OK;
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    const tare_status status = restore(node, real, keeps_quant, arena, err);
    tare_arena_free(arena);
    return status;
}

/* Who would be on codes, before there are scales for all: what a check tells is then what quantizing does. */
#include "quantize/scheme.h"

/* A scale that stands for one: behind a Relu or Clip of a range within most bounds, since
 * bounds decide which activations vanish in codes. */
static tare_status stand_in(tare_scheme *s, tare_value *value, tare_error *err) {
    tare_quant *quant = tare_arena_alloc(s->model->arena, 1, sizeof *quant);
    float *scale = quant ? tare_arena_alloc(s->model->arena, 1, sizeof *scale) : NULL;
    int32_t *zero_point = scale ? tare_arena_alloc(s->model->arena, 1, sizeof *zero_point) : NULL;
    const bool is_clipped =
        value->producer && (tare_node_is(value->producer, "Relu") || tare_node_is(value->producer, "Clip"));
    if (!zero_point) return tare_fail_memory(err, sizeof *quant);
    const tare_dtype code = tare_code_of(s, value);
    tare_scale_from_range(is_clipped ? 0 : -1, 1, code, tare_wants_symmetric(s->options), tare_wants_powers(s->options),
                          scale, zero_point);
    *quant = (tare_quant){ .code = code, .axis = -1, .count = 1, .scale = scale, .zero_point = zero_point };
    value->quant = quant;
    return TARE_OK;
}

static tare_status mark(tare_scheme *s, const tare_ranges *ranges, tare_error *err) {
    tare_error none = { 0 };
    TARE_TRY(tare_scheme_make(s, ranges, err));
    const tare_status status = ranges ? tare_quantize_activations(s, ranges, &none) : TARE_OK;
    if (status == TARE_E_LIMIT) return *err = none, status;
    for (size_t i = 0; i < s->values.count; i++)
        if (s->values.at[i].quantized && !s->values.at[i].value->quant)
            TARE_TRY(stand_in(s, s->values.at[i].value, err));
    TARE_TRY(tare_quantize_sums(s, err));
    return tare_quantize_weights(s, err);
}

tare_status tare_quantize_mark(tare_model *model, const tare_ranges *ranges, const tare_quantize_options *options,
                               tare_error *err) {
    TARE_TRY(tare_quantize_check_options(options, err));
    tare_scheme scheme = { .arena = tare_arena_new(), .model = model, .options = options };
    if (!scheme.arena) return tare_fail_memory(err, 0);
    const tare_status status = mark(&scheme, ranges, err);
    tare_arena_free(scheme.arena);
    return status;
}

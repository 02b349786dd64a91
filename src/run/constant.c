/* Constants as steps read them: dequantized, rounded to their codes, or the codes themselves; expanded to a rank, in a
 * layout. */
#include <string.h>

#include "run/session.h"

/* The codes of a constant whose numbers are real still. */
static tare_status code_numbers(tare_plan *plan, const tare_value *value, tare_tensor *out, tare_error *err) {
    const tare_quant *quant = value->quant;
    const tare_shape *shape = &value->constant->shape;
    const float *numbers;
    size_t count;
    tare_tensor *codes;
    TARE_TRY(tare_tensor_new(plan->arena, quant->code, shape, &codes, err));
    TARE_TRY(tare_value_read_f32(value, plan->arena, &numbers, &count, err));
    const bool is_one = quant->axis < 0 || quant->count == 1;
    const size_t inner = is_one ? 1 : (size_t)tare_shape_product(shape, quant->axis + 1, shape->rank);
    for (size_t i = 0; i < count; i++) {
        const int32_t code = tare_quant_code(quant, is_one ? 0 : i / inner % quant->count, numbers[i]);
        if (codes->size == count)
            ((uint8_t *)codes->data)[i] = (uint8_t)code;
        else
            ((int32_t *)codes->data)[i] = code;
    }
    *out = *codes;
    return TARE_OK;
}

/* The numbers in ONNX's order, of the value's own type, or its codes. */
static tare_status read_numbers(tare_plan *plan, const tare_session *session, const tare_plan_value *value,
                                tare_tensor *out, tare_error *err) {
    const tare_value *of = value->value;
    *out = *of->constant;
    if (value->is_codes) return out->dtype == of->quant->code ? TARE_OK : code_numbers(plan, of, out, err);
    if (out->dtype == of->dtype && !value->quant) return TARE_OK;
    size_t count;
    const float *numbers;
    tare_tensor *copy;
    TARE_TRY(tare_tensor_new(plan->arena, of->dtype, &of->constant->shape, &copy, err));
    tare_arena_mark mark = tare_arena_get_mark(plan->arena);
    TARE_TRY(tare_value_read_f32(of, plan->arena, &numbers, &count, err));
    tare_write_f32(copy->data, numbers, copy->dtype, count);
    tare_arena_release(plan->arena, mark);
    /* Codes are on their grid already. */
    if (value->quant && tare_dtype_is_float(of->constant->dtype))
        tare_round(copy, TARE_LAYOUT_FIRST, value->quant, session->kernels, NULL);
    *out = *copy;
    return TARE_OK;
}

tare_status tare_plan_constant(tare_plan *plan, const tare_session *session, tare_plan_value *value, tare_layout layout,
                               int rank, tare_slot **out, tare_error *err) {
    bool is_own_rank = rank == value->value->shape.rank;
    if (is_own_rank && value->slot[layout]) {
        *out = value->slot[layout];
        return TARE_OK;
    }
    tare_tensor numbers;
    if (value->slot[TARE_LAYOUT_FIRST])
        numbers = value->slot[TARE_LAYOUT_FIRST]->tensor;
    else
        TARE_TRY(read_numbers(plan, session, value, &numbers, err));
    numbers.shape = tare_shape_expand(&numbers.shape, rank);
    const tare_shape laid = tare_layout_shape(&numbers.shape, layout);
    tare_slot *slot = tare_slot_new(plan, numbers.dtype, &laid, layout, TARE_STORED_CONSTANT);
    if (!slot) return tare_fail_memory(err, sizeof *slot);
    slot->tensor.data = numbers.data;
    if (layout == TARE_LAYOUT_LAST && !tare_layout_is_same(&numbers.shape)) {
        tare_tensor *moved;
        TARE_TRY(tare_tensor_new(plan->arena, numbers.dtype, &laid, &moved, err));
        tare_layout_convert(&numbers, moved, TARE_LAYOUT_LAST, NULL);
        slot->tensor.data = moved->data;
    }
    if (is_own_rank) value->slot[layout] = slot;
    *out = slot;
    return TARE_OK;
}

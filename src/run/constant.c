/* Constants as steps read them: dequantized, rounded to their codes, or the codes themselves; expanded to a rank, in a
 * layout. What differs from the model's own bytes is kept where plans share it. */
#include <string.h>

#include "run/session.h"

/* The codes of a constant whose numbers are real still. */
static void write_codes(const tare_quant *quant, const tare_tensor *to, const float *numbers, size_t count) {
    const bool is_one = quant->axis < 0 || quant->count == 1;
    const size_t inner = is_one ? 1 : (size_t)tare_shape_product(&to->shape, quant->axis + 1, to->shape.rank);
    for (size_t i = 0; i < count; i++) {
        const int32_t code = tare_quant_code(quant, is_one ? 0 : i / inner % quant->count, numbers[i]);
        if (to->size == count)
            ((uint8_t *)to->data)[i] = (uint8_t)code;
        else
            ((int32_t *)to->data)[i] = code;
    }
}

static tare_status write_numbers(tare_plan *plan, const tare_session *session, const tare_plan_value *value,
                                 tare_tensor *to, tare_error *err) {
    const tare_value *of = value->value;
    const tare_arena_mark mark = tare_arena_get_mark(plan->arena);
    const float *numbers;
    size_t count;
    TARE_TRY(tare_value_read_f32(of, plan->arena, &numbers, &count, err));
    if (value->is_codes)
        write_codes(of->quant, to, numbers, count);
    else
        tare_write_f32(to->data, numbers, to->dtype, count);
    tare_arena_release(plan->arena, mark);
    /* Codes are on their grid already. */
    if (!value->is_codes && value->quant && tare_dtype_is_float(of->constant->dtype))
        tare_round(to, TARE_LAYOUT_FIRST, value->quant, session->kernels, NULL);
    return TARE_OK;
}

static tare_status make_room(const tare_plan *plan, tare_dtype dtype, const tare_shape *shape, tare_tensor *out,
                             tare_error *err) {
    *out = (tare_tensor){ .dtype = dtype, .shape = *shape };
    out->data = tare_tensor_size(dtype, shape, &out->size) ? tare_room_new(&plan->kept, out->size) : NULL;
    return out->data ? TARE_OK : tare_fail_memory(err, out->size);
}

/* The numbers in ONNX's order, of the value's own type, or its codes; *made: in a room of their own. */
static tare_status read_numbers(tare_plan *plan, const tare_session *session, const tare_plan_value *value,
                                tare_tensor *out, bool *made, tare_error *err) {
    const tare_value *of = value->value;
    const tare_dtype dtype = value->is_codes ? of->quant->code : of->dtype;
    *out = *of->constant;
    *made = false;
    if (out->dtype == dtype && (value->is_codes || !value->quant)) return TARE_OK;
    TARE_TRY(make_room(plan, dtype, &of->constant->shape, out, err));
    const tare_status status = write_numbers(plan, session, value, out, err);
    *made = status == TARE_OK;
    if (status != TARE_OK) tare_room_free(&plan->kept, out->data);
    return status;
}

/* Brings what is of ONNX's order to channels-last, in a room of its own. */
static tare_status move_last(const tare_plan *plan, tare_tensor *numbers, bool *made, tare_error *err) {
    tare_tensor moved;
    const tare_shape laid = tare_layout_shape(&numbers->shape, TARE_LAYOUT_LAST);
    const tare_status status = make_room(plan, numbers->dtype, &laid, &moved, err);
    if (status == TARE_OK) tare_layout_convert(numbers, &moved, TARE_LAYOUT_LAST, NULL);
    if (*made) tare_room_free(&plan->kept, numbers->data);
    *made = status == TARE_OK;
    *numbers = moved;
    return status;
}

tare_status tare_plan_constant(tare_plan *plan, const tare_session *session, tare_plan_value *value, tare_layout layout,
                               int rank, tare_slot **out, tare_error *err) {
    bool is_own_rank = rank == value->value->shape.rank, made = false;
    if (is_own_rank && value->slot[layout]) {
        *out = value->slot[layout];
        return TARE_OK;
    }
    tare_tensor numbers;
    if (value->slot[TARE_LAYOUT_FIRST])
        numbers = value->slot[TARE_LAYOUT_FIRST]->tensor;
    else
        TARE_TRY(read_numbers(plan, session, value, &numbers, &made, err));
    numbers.shape = tare_shape_expand(&numbers.shape, rank);
    const tare_shape laid = tare_layout_shape(&numbers.shape, layout);
    if (layout == TARE_LAYOUT_LAST && !tare_layout_is_same(&numbers.shape))
        TARE_TRY(move_last(plan, &numbers, &made, err));
    if (made) numbers.data = tare_keep(&plan->kept, numbers.data, numbers.size);
    if (made && !numbers.data) return tare_fail_memory(err, numbers.size);
    tare_slot *slot = tare_slot_new(plan, numbers.dtype, &laid, layout, TARE_STORED_CONSTANT);
    if (!slot) return tare_fail_memory(err, sizeof *slot);
    slot->tensor.data = numbers.data;
    slot->is_kept = made;
    if (is_own_rank) value->slot[layout] = slot;
    *out = slot;
    return TARE_OK;
}

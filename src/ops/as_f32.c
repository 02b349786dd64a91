/* f16, bf16 and f64 tensors for ops whose loop knows f32 only (as_f32.h). */
#include "ops/as_f32.h"

#include <assert.h>

#include "base/size.h"
#include "ops/numbers.h"

enum { ALIGNMENT = 64 };

static bool is_copied(const tare_tensor *tensor) {
    return tensor && tare_dtype_is_float(tensor->dtype) && tensor->dtype != TARE_F32;
}

/* Bytes of the f32 copy, rounded up so that the next one is aligned. */
static bool copy_size(const tare_tensor *tensor, size_t *size) {
    return tare_tensor_size(TARE_F32, &tensor->shape, size) && tare_size_align(*size, ALIGNMENT, size);
}

static bool add_copies(const tare_tensor *const *tensors, int count, size_t *size) {
    for (int i = 0; i < count; i++) {
        size_t more;
        if (!is_copied(tensors[i])) continue;
        if (!copy_size(tensors[i], &more) || !tare_size_add(*size, more, size)) return false;
    }
    return true;
}

tare_status tare_as_f32_prepare(tare_prepare *prepare, tare_error *err) {
    size_t *size = &prepare->scratch_size;
    if (!tare_size_align(*size, ALIGNMENT, size) || !add_copies(prepare->inputs, prepare->input_count, size) ||
        !add_copies(prepare->outputs, prepare->output_count, size))
        return tare_fail(err, TARE_E_LIMIT, "the scratch memory is past what can be counted");
    return TARE_OK;
}

struct copies {
    tare_tensor tensors[TARE_AS_F32_VALUES];
    tare_tensor *links[TARE_AS_F32_VALUES];
    int count;
    char *next; /* free scratch */
};

static tare_tensor *copy_of(struct copies *copies, tare_tensor *tensor) {
    if (!is_copied(tensor)) return tensor;
    tare_tensor *copy = &copies->tensors[copies->count];
    size_t size = 0;
    copy_size(tensor, &size);
    *copy = (tare_tensor){ .dtype = TARE_F32, .shape = tensor->shape, .data = copies->next, .size = size };
    copies->next += size;
    return copy;
}

tare_status tare_as_f32_run(const tare_call *call, size_t own,
                            tare_status (*run)(const tare_call *call, tare_error *err), tare_error *err) {
    bool any = false;
    for (int i = 0; i < call->input_count; i++) any = any || is_copied(call->inputs[i]);
    for (int i = 0; i < call->output_count; i++) any = any || is_copied(call->outputs[i]);
    if (!any) return run(call, err);
    assert(call->input_count + call->output_count <= TARE_AS_F32_VALUES);
    struct copies copies = { .next = (char *)call->scratch + (own + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };
    for (int i = 0; i < call->input_count; i++, copies.count++) {
        tare_tensor *from = call->inputs[i], *to = copies.links[copies.count] = copy_of(&copies, from);
        if (to != from)
            tare_numbers_to_f32(to->data, from->dtype, from->data, 0, (size_t)tare_shape_elements(&from->shape));
    }
    for (int i = 0; i < call->output_count; i++, copies.count++)
        copies.links[copies.count] = copy_of(&copies, call->outputs[i]);
    tare_call narrow = *call;
    narrow.inputs = copies.links;
    narrow.outputs = copies.links + call->input_count;
    TARE_TRY(run(&narrow, err));
    for (int i = 0; i < call->output_count; i++) {
        tare_tensor *to = call->outputs[i], *from = narrow.outputs[i];
        if (to != from)
            tare_numbers_from_f32(to->dtype, to->data, 0, from->data, (size_t)tare_shape_elements(&to->shape));
    }
    return TARE_OK;
}

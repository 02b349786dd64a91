/* What taps get to see: a slot's numbers in ONNX's order, or raw, as they lie; floats as f32. */
#include <string.h>

#include "run/plan.h"

static tare_shape seen_shape(const tare_slot *slot, bool is_raw) {
    const tare_shape *shape = &slot->tensor.shape;
    tare_shape first = *shape;
    for (int i = 0; !is_raw && i < shape->rank; i++)
        first.dim[i] = shape->dim[tare_layout_axis(slot->layout, i, shape->rank)];
    return first;
}

static bool is_moved(const tare_slot *slot, bool is_raw, const tare_shape *first) {
    return !is_raw && slot->layout == TARE_LAYOUT_LAST && !tare_layout_is_same(first);
}

static bool is_narrowed(const tare_slot *slot) {
    return tare_dtype_is_float(slot->tensor.dtype) && slot->tensor.dtype != TARE_F32;
}

/* Where the part of the room begins that holds the f32 numbers: behind a moved copy of another type. */
static size_t narrow_offset(const tare_slot *slot, bool is_raw, const tare_shape *first) {
    return is_moved(slot, is_raw, first) && is_narrowed(slot) ? (slot->tensor.size + 63) / 64 * 64 : 0;
}

void tare_tap_sizes(const tare_slot *slot, bool is_raw, bool is_rounded, size_t *real, size_t *before) {
    const tare_shape first = seen_shape(slot, is_raw);
    size_t size = slot->tensor.size;
    if (is_narrowed(slot))
        size = narrow_offset(slot, is_raw, &first) + (size_t)tare_shape_elements(&first) * sizeof(float);
    *real = is_moved(slot, is_raw, &first) || is_narrowed(slot) ? size : 0;
    *before = is_rounded ? size : 0;
}

tare_tensor tare_tap_read(const tare_slot *slot, bool is_raw, void *room, bool copies, tare_pool *pool) {
    tare_tensor seen = slot->tensor;
    seen.shape = seen_shape(slot, is_raw);
    if (is_moved(slot, is_raw, &seen.shape)) {
        seen.data = room;
        tare_layout_convert(&slot->tensor, &seen, TARE_LAYOUT_FIRST, pool);
        copies = false;
    }
    if (is_narrowed(slot)) {
        size_t count = (size_t)tare_shape_elements(&seen.shape);
        float *wide = (float *)(void *)((char *)room + narrow_offset(slot, is_raw, &seen.shape));
        tare_read_f32(wide, seen.data, seen.dtype, count);
        return (tare_tensor){ .dtype = TARE_F32, .shape = seen.shape, .data = wide, .size = count * sizeof(float) };
    }
    if (copies) {
        if (seen.size) memcpy(room, seen.data, seen.size);
        seen.data = room;
    }
    return seen;
}

/* Where each slot lies: lifetimes over the steps, sharing where an output may lie on its input, and offsets in one slab,
 * the largest buffer first, each at the lowest place that is free while it lives. */
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "run/session.h"

enum { ALIGNMENT = 64 };

/* ---- lifetimes ---- */

static void need(tare_slot *slot, size_t step) {
    if (slot && slot->last < step) slot->last = step; /* END is above every step */
}

static void find_lifetimes(tare_plan *plan) {
    for (size_t s = 0; s < plan->steps.count; s++) {
        tare_step *step = plan->steps.at[s];
        for (int i = 0; i < step->call.input_count; i++) need(step->inputs[i], s);
        for (size_t i = 0; i < step->guards.count; i++) need(step->guards.at[i].slot, s);
        if (step->trial) { /* shown after the step has run */
            need(step->inputs[step->trial->input], s + 1);
            need(step->trial_of->inputs[step->trial->input], s + 1);
        }
        for (int i = 0; i < step->call.output_count; i++) {
            tare_slot *slot = step->outputs[i];
            if (!slot) continue;
            slot->first = s;
            need(slot, s);
            if (step->references) need(step->references[i], s + 1); /* read after the step has rounded its own */
        }
    }
}

/* ---- sharing ---- */

static tare_buffer *buffer_of(tare_plan *plan, const tare_slot *slot) {
    return slot->storage == TARE_STORED_SLAB ? &plan->buffers.at[slot->place] : NULL;
}

/* Nobody needs what lies there once the step has run. */
static bool dies_at(const tare_buffer *buffer, size_t step) { return buffer->last == step; }

static bool is_rounded_here(const tare_step *step, int output) {
    return step->made[output] && step->made[output]->quant && !step->is_rounded;
}

static void share(tare_plan *plan, tare_slot *to, const tare_slot *from) {
    to->storage = from->storage;
    to->place = from->place;
    if (from->storage == TARE_STORED_CONSTANT) to->tensor.data = from->tensor.data;
    tare_buffer *buffer = buffer_of(plan, to);
    if (buffer && to->last > buffer->last) buffer->last = to->last;
}

/* A view that is rounded writes into what it looks at; one that is an output must outlive the caller's tensor. */
static bool may_view(tare_plan *plan, const tare_step *step, size_t index) {
    const tare_slot *from = step->inputs[0], *to = step->outputs[0];
    const tare_buffer *buffer = buffer_of(plan, from);
    if (buffer) return !is_rounded_here(step, 0) || dies_at(buffer, index);
    if (is_rounded_here(step, 0)) return false;
    return from->storage == TARE_STORED_CONSTANT || to->last != TARE_STEP_END;
}

static bool may_overwrite(tare_plan *plan, const tare_step *step, size_t index) {
    if (step->kind != TARE_STEP_NODE || !(step->node->op->flags & TARE_OP_IN_PLACE)) return false;
    const tare_slot *from = step->inputs[0], *to = step->outputs[0];
    const tare_buffer *buffer = from ? buffer_of(plan, from) : NULL;
    if (!buffer || !to || !dies_at(buffer, index)) return false;
    if (from->tensor.dtype != to->tensor.dtype || !tare_shape_equal(&from->tensor.shape, &to->tensor.shape) ||
        from->layout != to->layout)
        return false;
    for (int i = 1; i < step->call.input_count; i++) {
        const tare_slot *other = step->inputs[i];
        if (other && other->storage == TARE_STORED_SLAB && other->place == from->place) return false;
    }
    return true;
}

static tare_status add_buffer(tare_plan *plan, tare_slot *slot, tare_error *err) {
    tare_buffer buffer = { .first = slot->first, .last = slot->last };
    if (!tare_size_align(slot->tensor.size ? slot->tensor.size : 1, ALIGNMENT, &buffer.size))
        return tare_fail_memory(err, slot->tensor.size);
    slot->place = plan->buffers.count;
    return tare_vec_push(plan->arena, &plan->buffers, buffer) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status share_or_add(tare_plan *plan, tare_error *err) {
    for (size_t s = 0; s < plan->steps.count; s++) {
        tare_step *step = plan->steps.at[s];
        for (int i = 0; i < step->call.output_count; i++) {
            tare_slot *slot = step->outputs[i];
            if (!slot) continue;
            bool is_view = step->kind == TARE_STEP_VIEW;
            if (is_view ? may_view(plan, step, s) : i == 0 && may_overwrite(plan, step, s)) {
                share(plan, slot, step->inputs[0]);
                continue;
            }
            if (is_view) step->kind = TARE_STEP_COPY;
            TARE_TRY(add_buffer(plan, slot, err));
        }
    }
    return TARE_OK;
}

/* ---- offsets ---- */

/* Largest first; then in the order of the steps, so that the plan does not depend on how sort() treats equals. */
static int compare_buffers(const void *a, const void *b) {
    const tare_buffer *x = *(tare_buffer *const *)a, *y = *(tare_buffer *const *)b;
    if (x->size != y->size) return x->size > y->size ? -1 : 1;
    return x < y ? -1 : 1;
}

static bool live_together(const tare_buffer *a, const tare_buffer *b) {
    return a->first <= b->last && b->first <= a->last;
}

/* placed: by offset. The lowest gap among those that live at the same time. */
static size_t find_offset(tare_buffer *const *placed, size_t count, const tare_buffer *buffer) {
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        if (!live_together(placed[i], buffer)) continue;
        if (placed[i]->offset >= offset && placed[i]->offset - offset >= buffer->size) return offset;
        size_t end = placed[i]->offset + placed[i]->size;
        if (end > offset) offset = end;
    }
    return offset;
}

static tare_status find_offsets(tare_plan *plan, tare_error *err) {
    size_t count = plan->buffers.count;
    tare_buffer **order = tare_arena_alloc(plan->arena, 2 * count, sizeof(tare_buffer *));
    if (!order) return tare_fail_memory(err, 2 * count * sizeof *order);
    tare_buffer **placed = order + count;
    for (size_t i = 0; i < count; i++) order[i] = &plan->buffers.at[i];
    if (count) qsort(order, count, sizeof *order, compare_buffers);
    for (size_t i = 0; i < count; i++) {
        tare_buffer *buffer = order[i];
        size_t end, at = i;
        buffer->offset = find_offset(placed, i, buffer);
        if (!tare_size_add(buffer->offset, buffer->size, &end)) return tare_fail_memory(err, buffer->size);
        if (end > plan->activations) plan->activations = end;
        for (; at > 0 && placed[at - 1]->offset > buffer->offset; at--) placed[at] = placed[at - 1];
        placed[at] = buffer;
    }
    return TARE_OK;
}

/* ---- the slab ---- */

static void find_tap_room(tare_plan *plan) {
    for (size_t s = 0; s < plan->steps.count; s++) {
        const tare_step *step = plan->steps.at[s];
        for (int i = 0; i < step->call.output_count; i++) {
            if (!step->outputs[i] || !step->made[i] || !step->made[i]->tapped) continue;
            size_t real, before, none;
            tare_tap_sizes(step->outputs[i], step->made[i]->tapped->is_raw, is_rounded_here(step, i), &real, &before);
            if (step->references) tare_tap_sizes(step->references[i], false, false, &before, &none);
            if (real > plan->tap_real) plan->tap_real = real;
            if (before > plan->tap_before) plan->tap_before = before;
        }
    }
    plan->tap_real = (plan->tap_real + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    plan->tap_before = (plan->tap_before + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

tare_status tare_plan_place(tare_plan *plan, tare_error *err) {
    find_lifetimes(plan);
    TARE_TRY(share_or_add(plan, err));
    TARE_TRY(find_offsets(plan, err));
    find_tap_room(plan);
    return tare_size_align(plan->scratch, ALIGNMENT, &plan->scratch) ? TARE_OK : tare_fail_memory(err, plan->scratch);
}

size_t tare_plan_slab(const tare_plan *plan) {
    return plan->activations + plan->scratch + plan->tap_real + plan->tap_before;
}

void tare_plan_bind(tare_plan *plan, void *slab) {
    if (plan->bound_to == slab) return;
    char *base = slab;
    for (size_t i = 0; i < plan->slots.count; i++) {
        tare_slot *slot = plan->slots.at[i];
        if (slot->storage == TARE_STORED_SLAB) slot->tensor.data = base + plan->buffers.at[slot->place].offset;
    }
    for (size_t s = 0; s < plan->steps.count; s++) plan->steps.at[s]->call.scratch = base + plan->activations;
    plan->bound_to = slab;
}

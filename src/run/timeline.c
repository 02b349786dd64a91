/* What of a plan's slab is in use while each step runs. */
#include <string.h>

#include "run/session.h"

static tare_status add_steps(const tare_plan *plan, tare_arena *arena, tare_timeline *out, tare_error *err) {
    out->step_count = plan->steps.count;
    out->steps = tare_arena_alloc(arena, out->step_count + 1, sizeof *out->steps);
    if (!out->steps) return tare_fail_memory(err, out->step_count * sizeof *out->steps);
    for (size_t s = 0; s < out->step_count; s++) {
        const tare_node *node = plan->steps.at[s]->node;
        if (!node) continue;
        out->steps[s].node = tare_arena_strdup(arena, node->name);
        out->steps[s].op = tare_arena_strdup(arena, node->type);
        if (!out->steps[s].node || !out->steps[s].op) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

/* Of the values that lie in a buffer, views and in place, the one that is there first. */
static tare_status name_buffers(const tare_plan *plan, tare_arena *arena, tare_timeline *out, tare_error *err) {
    size_t *since = tare_arena_alloc(arena, out->buffer_count + 1, sizeof *since);
    if (!since) return tare_fail_memory(err, out->buffer_count * sizeof *since);
    for (size_t i = 0; i < plan->values.count; i++) {
        const tare_plan_value *value = plan->values.at[i];
        for (int layout = 0; layout < 2; layout++) {
            const tare_slot *slot = value->slot[layout];
            if (!slot || slot->storage != TARE_STORED_SLAB) continue;
            tare_timeline_buffer *buffer = &out->buffers[slot->place];
            if (buffer->value && since[slot->place] <= slot->first) continue;
            since[slot->place] = slot->first;
            buffer->value = tare_arena_strdup(arena, value->value->name);
            if (!buffer->value) return tare_fail_memory(err, 0);
        }
    }
    return TARE_OK;
}

static tare_status add_buffers(const tare_plan *plan, tare_arena *arena, tare_timeline *out, tare_error *err) {
    out->buffer_count = plan->buffers.count;
    out->buffers = tare_arena_alloc(arena, out->buffer_count + 1, sizeof *out->buffers);
    size_t *begins = tare_arena_alloc(arena, out->step_count + 1, sizeof *begins); /* bytes, by step */
    size_t *ends = tare_arena_alloc(arena, out->step_count + 1, sizeof *ends);
    if (!out->buffers || !begins || !ends) return tare_fail_memory(err, out->buffer_count * sizeof *out->buffers);
    for (size_t i = 0; i < out->buffer_count; i++) {
        const tare_buffer *from = &plan->buffers.at[i];
        const size_t last = from->last < out->step_count ? from->last : out->step_count - 1;
        out->buffers[i] =
            (tare_timeline_buffer){ .offset = from->offset, .size = from->size, .first = from->first, .last = last };
        begins[from->first] += from->size;
        ends[last + 1] += from->size;
    }
    for (size_t s = 0, used = 0; s < out->step_count; s++) out->steps[s].used = used += begins[s] - ends[s];
    return name_buffers(plan, arena, out, err);
}

tare_status tare_session_get_timeline(const tare_session *session, tare_arena *arena, tare_timeline *out,
                                      tare_error *err) {
    const tare_plan *plan = session->plans[0];
    *out = (tare_timeline){ 0 };
    if (!plan) return TARE_OK;
    TARE_TRY(add_steps(plan, arena, out, err));
    return add_buffers(plan, arena, out, err);
}

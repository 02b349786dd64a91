/* A plan as a whole: its parts, its key, and the way from a graph to a plan. */
#include "run/plan.h"

#include <string.h>

#include "run/lay.h"

tare_plan_value *tare_plan_value_of(tare_plan *plan, const tare_session *session, tare_value *value) {
    if (value->mark) return plan->values.at[value->mark - 1];
    tare_plan_value *entry = tare_arena_alloc(plan->arena, 1, sizeof *entry);
    if (!entry || !tare_vec_push(plan->arena, &plan->values, entry)) return NULL;
    value->mark = (uint32_t)plan->values.count;
    entry->value = value;
    entry->original = tare_graph_find_value(session->graph, value->name);
    bool is_local = session->options.backend == TARE_BACKEND_LOCAL;
    if (tare_dtype_is_float(value->dtype))
        *(is_local ? &entry->twin_quant : &entry->quant) = tare_session_quant_of(session, entry->original);
    if (session->options.backend == TARE_BACKEND_INT && !entry->original->quant)
        entry->quant = tare_codes_beside(value);
    if (value->graph == plan->graph && !plan->stop)
        *(is_local ? &entry->twin_tapped : &entry->tapped) = tare_map_get(&session->tapped, value->name);
    for (size_t i = 0; i < plan->pins.count; i++)
        entry->is_pinned |= plan->pins.at[i].tensor->data && !strcmp(plan->pins.at[i].name, value->name);
    return entry;
}

tare_slot *tare_slot_new(tare_plan *plan, tare_dtype dtype, const tare_shape *shape, tare_layout layout,
                         tare_storage storage) {
    tare_slot *slot = tare_arena_alloc(plan->arena, 1, sizeof *slot);
    if (!slot || !tare_vec_push(plan->arena, &plan->slots, slot)) return NULL;
    slot->tensor = (tare_tensor){ .dtype = dtype, .shape = *shape };
    slot->layout = layout;
    slot->storage = storage;
    return tare_tensor_size(dtype, shape, &slot->tensor.size) ? slot : NULL;
}

tare_step *tare_step_new(tare_plan *plan, tare_step_kind kind, int input_count, int output_count) {
    size_t in = (size_t)input_count, out = (size_t)output_count;
    tare_step *step = tare_arena_alloc(plan->arena, 1, sizeof *step);
    tare_slot **slots = tare_arena_alloc(plan->arena, in + out + 1, sizeof(tare_slot *));
    tare_tensor **tensors = tare_arena_alloc(plan->arena, in + out + 1, sizeof(tare_tensor *));
    tare_plan_value **made = tare_arena_alloc(plan->arena, out + 1, sizeof(tare_plan_value *));
    if (!step || !slots || !tensors || !made) return NULL;
    step->kind = kind;
    step->inputs = slots;
    step->outputs = slots + in;
    step->made = made;
    step->tensors = tensors;
    step->call = (tare_call){
        .inputs = tensors, .input_count = input_count, .outputs = tensors + in, .output_count = output_count
    };
    return step;
}

/* ---- the key ---- */

static tare_status set_key(tare_plan *plan, tare_tensor *const *feeds, tare_error *err) {
    plan->feeds = tare_arena_alloc(plan->arena, plan->feed_count + 1, sizeof *plan->feeds);
    if (!plan->feeds) return tare_fail_memory(err, plan->feed_count * sizeof *plan->feeds);
    for (size_t i = 0; i < plan->feed_count; i++)
        if (feeds[i]) plan->feeds[i] = (tare_feed_key){ .dtype = feeds[i]->dtype, .shape = feeds[i]->shape };
    return TARE_OK;
}

bool tare_plan_fits(const tare_plan *plan, tare_tensor *const *feeds) {
    for (size_t i = 0; i < plan->feed_count; i++) {
        const tare_feed_key *key = &plan->feeds[i];
        if (!feeds[i] != !key->dtype) return false;
        if (feeds[i] && (feeds[i]->dtype != key->dtype || !tare_shape_equal(&feeds[i]->shape, &key->shape)))
            return false;
    }
    return true;
}

static tare_status copy_pins(tare_plan *plan, const tare_pin *pins, size_t count, tare_error *err) {
    for (size_t i = 0; i < count; i++) {
        tare_pin pin = { .node = pins[i].node, .name = tare_arena_strdup(plan->arena, pins[i].name) };
        tare_tensor *copy = tare_arena_alloc(plan->arena, 1, sizeof *copy);
        if (!pin.name || !copy) return tare_fail_memory(err, sizeof *copy);
        *copy = *pins[i].tensor;
        if (copy->data) {
            copy->data = tare_arena_copy(plan->arena, copy->data, copy->size);
            if (!copy->data) return tare_fail_memory(err, copy->size);
        }
        pin.tensor = copy;
        if (!tare_vec_push(plan->arena, &plan->pins, pin)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

/* ---- the whole ---- */

static bool is_quantized(const tare_plan *plan, const tare_session *session, const tare_node *node, int input) {
    const tare_value *value = tare_node_input(node, input);
    (void)plan;
    return value && tare_graph_find_value(session->graph, value->name)->quant;
}

/* Codes as inputs (QLinearConv, MatMulInteger) count as quantized, and so do values that carry codes. */
static void count_macs(tare_plan *plan, const tare_session *session) {
    tare_for_nodes (node, plan->graph) {
        if (node->mark != TARE_NODE_NEEDED || !node->op->macs) continue;
        uint64_t macs = node->op->macs(node);
        tare_dtype data = node->inputs[0] ? node->inputs[0]->dtype : TARE_DTYPE_NONE;
        plan->macs += macs;
        if (tare_dtype_is_integer(data) ||
            (is_quantized(plan, session, node, 0) && is_quantized(plan, session, node, 1)))
            plan->quantized_macs += macs;
    }
}

static tare_status build(tare_plan *plan, tare_session *session, tare_tensor *const *feeds, const tare_pin *pins,
                         size_t pin_count, tare_error *err) {
    plan->feed_count = session->graph->inputs.count + session->capture_count;
    TARE_TRY(set_key(plan, feeds, err));
    TARE_TRY(copy_pins(plan, pins, pin_count, err));
    TARE_TRY(tare_plan_specialize(plan, session, err));
    count_macs(plan, session);
    TARE_TRY(tare_plan_lay_steps(plan, session, err));
    TARE_TRY(tare_plan_place(plan, err));
    size_t size = tare_plan_slab(plan), limit = session->options.memory_limit;
    if (limit && size > limit)
        return tare_fail(err, TARE_E_LIMIT, "the plan needs %zu bytes of memory for activations, %zu are allowed", size,
                         limit);
    return TARE_OK;
}

tare_status tare_plan_new(tare_plan **out, tare_session *session, tare_tensor *const *feeds, const tare_pin *pins,
                          size_t pin_count, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_plan *plan = arena ? tare_arena_alloc(arena, 1, sizeof *plan) : NULL;
    if (!plan) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *plan);
    }
    plan->arena = arena;
    plan->packed = tare_arena_new();
    plan->kept = (tare_kept){ .store = session->options.constants, .arena = arena };
    tare_status status =
        plan->packed ? build(plan, session, feeds, pins, pin_count, err) : tare_fail_memory(err, sizeof *plan);
    if (status != TARE_OK) {
        tare_plan_free(plan);
        return status;
    }
    *out = plan;
    return TARE_OK;
}

void tare_plan_free(tare_plan *plan) {
    if (!plan) return;
    tare_model_free(plan->model);
    tare_kept_drop(&plan->kept);
    tare_arena_free(plan->packed);
    tare_arena_free(plan->arena);
}

/* Twins, for the local backend: a node on its float inputs rounded to their codes, beside the node itself. What comes out
 * is shown with the float numbers as `before`, and goes nowhere else. */
#include <math.h>

#include "run/lay.h"

/* The value's float numbers, rounded to its codes: an entry with slots of its own. */
static tare_status rounded_of(const tare_lay *l, tare_plan_value *known, tare_layout layout, tare_plan_value **out,
                              tare_error *err) {
    tare_plan_value *rounded = known->rounded;
    if (!rounded) {
        rounded = known->rounded = tare_arena_alloc(l->plan->arena, 1, sizeof *rounded);
        if (!rounded) return tare_fail_memory(err, sizeof *rounded);
        *rounded = (tare_plan_value){ .value = known->value, .original = known->original, .quant = known->twin_quant };
        rounded->is_pinned = known->is_pinned;
    }
    *out = rounded;
    const tare_value *value = known->value;
    if ((value->constant && !known->is_pinned) || rounded->slot[0] || rounded->slot[1]) return TARE_OK;
    tare_slot *from;
    if (value->shape.rank < 3) layout = TARE_LAYOUT_FIRST;
    TARE_TRY(tare_lay_get(l, known, layout, value->shape.rank, &from, err));
    return tare_lay_plain(l, TARE_STEP_COPY, from, &from->tensor.shape, layout, rounded, &rounded->slot[layout], err);
}

/* What is shown: the twin's output, rounded to the value's codes. */
static tare_status new_made(const tare_lay *l, const tare_plan_value *known, tare_plan_value **out, tare_error *err) {
    tare_plan_value *made = tare_arena_alloc(l->plan->arena, 1, sizeof *made);
    if (!made) return tare_fail_memory(err, sizeof *made);
    *made = (tare_plan_value){ .value = known->value, .original = known->original };
    made->quant = known->twin_quant;
    made->tapped = known->twin_tapped;
    *out = made;
    return TARE_OK;
}

static tare_status read_inputs(const tare_lay *l, const tare_node *node, tare_layout layout, tare_step *step,
                               bool *differs, tare_error *err) {
    for (int i = 0; i < node->input_count; i++) {
        tare_plan_value *known;
        int rank;
        if (!node->inputs[i]) continue;
        tare_layout wanted = tare_lay_input(node, i, layout, &rank);
        TARE_TRY(tare_lay_value(l, node->inputs[i], &known, err));
        if (known->twin_quant) {
            TARE_TRY(rounded_of(l, known, wanted, &known, err));
            *differs = true;
        }
        TARE_TRY(tare_lay_get(l, known, wanted, rank, &step->inputs[i], err));
    }
    return TARE_OK;
}

static tare_status make_outputs(const tare_lay *l, const tare_node *node, tare_layout layout, tare_step *step,
                                tare_error *err) {
    for (int i = 0; i < node->output_count; i++) {
        tare_value *value = node->outputs[i];
        tare_plan_value *known;
        if (!value) continue;
        TARE_TRY(tare_lay_value(l, value, &known, err));
        tare_layout own = value->shape.rank < 3 ? TARE_LAYOUT_FIRST : layout;
        const tare_shape laid = tare_layout_shape(&value->shape, own);
        step->outputs[i] = tare_slot_new(l->plan, value->dtype, &laid, own, TARE_STORED_SLAB);
        if (!step->outputs[i]) return tare_fail_memory(err, 0);
        if (!known->twin_tapped) continue;
        TARE_TRY(new_made(l, known, &step->made[i], err));
        step->references[i] = known->slot[known->slot[own] ? own : !own];
    }
    return TARE_OK;
}

static bool is_wanted(const tare_lay *l, const tare_node *node, tare_error *err, tare_status *status) {
    bool is_tapped = false;
    for (int i = 0; i < node->output_count; i++) {
        tare_plan_value *known;
        if (!node->outputs[i]) continue;
        *status = tare_lay_value(l, node->outputs[i], &known, err);
        if (*status != TARE_OK) return false;
        is_tapped |= known->twin_tapped != NULL && (known->slot[0] || known->slot[1]);
    }
    return is_tapped;
}

static bool has_quantized(const tare_lay *l, const tare_node *node) {
    bool has = false;
    for (int i = 0; i < node->output_count; i++)
        has |= node->outputs[i] && l->plan->values.at[node->outputs[i]->mark - 1]->twin_quant;
    return has;
}

tare_status tare_lay_twin(const tare_lay *l, const tare_node *node, tare_layout layout, tare_error *err) {
    tare_status status = TARE_OK;
    if (!is_wanted(l, node, err, &status)) return status;
    tare_step *step = NULL;
    bool differs = has_quantized(l, node);
    TARE_TRY(tare_lay_node(l, TARE_STEP_NODE, node, 0, node->input_count, &step, err));
    step->call.layout = layout;
    step->references = tare_arena_alloc(l->plan->arena, (size_t)node->output_count, sizeof(tare_slot *));
    if (!step->references) return tare_fail_memory(err, 0);
    TARE_TRY(read_inputs(l, node, layout, step, &differs, err));
    if (!differs) return TARE_OK;
    TARE_TRY(make_outputs(l, node, layout, step, err));
    TARE_TRY(tare_lay_add(l, step, err));
    return tare_lay_prepare(l, step, -INFINITY, INFINITY, err);
}

tare_status tare_lay_feed_twin(const tare_lay *l, tare_plan_value *known, tare_error *err) {
    tare_slot *feed = known->slot[TARE_LAYOUT_FIRST], *out;
    tare_plan_value *made;
    if (!known->twin_quant) return TARE_OK;
    TARE_TRY(new_made(l, known, &made, err));
    TARE_TRY(tare_lay_plain(l, TARE_STEP_COPY, feed, &feed->tensor.shape, TARE_LAYOUT_FIRST, made, &out, err));
    tare_step *step = l->plan->steps.at[l->plan->steps.count - 1];
    step->references = tare_arena_alloc(l->plan->arena, 1, sizeof(tare_slot *));
    if (!step->references) return tare_fail_memory(err, 0);
    step->references[0] = feed;
    return TARE_OK;
}

/* Trials, for the float backend: behind a node's step, the same step with one of its inputs rounded to other codes. What
 * comes out is shown beside the float numbers, and goes nowhere else. */
#include "run/lay.h"

/* The trials of one node, by the name of its first output. */
struct tare_trial_entry {
    const tare_trial *trial;
    const tare_trial_entry *next; /* of the same node; NULL: none */
};

static const char *first_output(const tare_node *node) {
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i]) return node->outputs[i]->name;
    return NULL;
}

tare_status tare_session_list_trials(tare_session *session, tare_error *err) {
    tare_map_init(&session->trials_of, session->arena);
    for (size_t i = session->trial_count; i-- > 0;) {
        const char *name = first_output(session->trials[i].node);
        tare_trial_entry *entry = tare_arena_alloc(session->arena, 1, sizeof *entry);
        if (!entry) return tare_fail_memory(err, sizeof *entry);
        entry->trial = &session->trials[i];
        entry->next = name ? tare_map_get(&session->trials_of, name) : NULL;
        if (name && !tare_map_put(&session->trials_of, name, entry)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

/* The input in the layout that the node reads, rounded: a slot of its own. */
static tare_status round_input(const tare_lay *l, const tare_trial *trial, tare_plan_value *known, tare_layout layout,
                               tare_slot **out, tare_error *err) {
    tare_plan_value *rounded = tare_arena_alloc(l->plan->arena, 1, sizeof *rounded);
    if (!rounded) return tare_fail_memory(err, sizeof *rounded);
    *rounded = (tare_plan_value){ .value = known->value, .original = known->original, .quant = trial->quant };
    int rank;
    const tare_layout wanted = tare_lay_input(trial->node, trial->input, layout, &rank);
    const tare_shape *shape = &known->value->shape;
    const tare_layout own = shape->rank < 3 ? TARE_LAYOUT_FIRST : wanted;
    tare_slot *from;
    TARE_TRY(tare_lay_get(l, known, own, shape->rank, &from, err));
    TARE_TRY(tare_lay_plain(l, TARE_STEP_COPY, from, &from->tensor.shape, own, rounded, &rounded->slot[own], err));
    return tare_lay_get(l, rounded, wanted, rank, out, err);
}

static tare_status lay_trial(const tare_lay *l, const tare_trial *trial, const tare_step *of, tare_plan_value *known,
                             tare_error *err) {
    const int inputs = of->call.input_count, outputs = of->call.output_count;
    tare_step *step = tare_step_new(l->plan, TARE_STEP_NODE, inputs, outputs);
    if (!step) return tare_fail_memory(err, sizeof *step);
    step->node = of->node;
    step->node_index = of->node_index;
    step->call.node = of->call.node;
    step->call.attrs = of->call.attrs;
    step->call.layout = of->call.layout;
    step->call.state = of->call.state;
    step->trial = trial;
    step->trial_of = of;
    step->references = of->outputs;
    for (int i = 0; i < inputs; i++) step->inputs[i] = of->inputs[i];
    TARE_TRY(round_input(l, trial, known, of->call.layout, &step->inputs[trial->input], err));
    for (int i = 0; i < outputs; i++) {
        const tare_slot *like = of->outputs[i];
        if (!like) continue;
        step->outputs[i] =
            tare_slot_new(l->plan, like->tensor.dtype, &like->tensor.shape, like->layout, TARE_STORED_SLAB);
        if (!step->outputs[i]) return tare_fail_memory(err, 0);
    }
    return tare_lay_add(l, step, err);
}

tare_status tare_lay_trials(const tare_lay *l, const tare_step *of, tare_error *err) {
    const char *name = first_output(of->node);
    if (!l->session->trial_count || !name || l->plan->stop) return TARE_OK;
    const tare_trial_entry *entry = tare_map_get(&l->session->trials_of, name);
    for (; entry; entry = entry->next) {
        const int input = entry->trial->input;
        tare_plan_value *known;
        if (input >= of->node->input_count || !of->node->inputs[input]) continue;
        TARE_TRY(tare_lay_value(l, of->node->inputs[input], &known, err));
        if (known->value->constant || known->is_pinned || known->value->dtype != TARE_F32) continue;
        TARE_TRY(lay_trial(l, entry->trial, of, known, err));
    }
    return TARE_OK;
}

/* Samples that are for one model fed to another: which input of theirs goes into which of its. */
#include "samples/samples.h"

#include "base/map.h"

typedef struct matching {
    const tare_samples *samples;
    const tare_graph *own, *other;
    size_t *from;   /* by the other's input */
    bool *is_left;  /* by own input: it has data and no name in common */
    size_t wanting; /* of the other's inputs that need data, those without a name in common */
    size_t left;    /* of own inputs */
} matching;

static tare_status match_names(matching *m, tare_arena *arena, tare_error *err) {
    tare_map places;
    tare_map_init(&places, arena);
    tare_samples_mark_fed(m->samples, m->is_left);
    for (size_t i = 0; i < m->own->inputs.count; i++) {
        if (!tare_map_put(&places, m->own->inputs.at[i]->name, &m->own->inputs.at[i])) return tare_fail_memory(err, 0);
    }
    for (size_t i = 0; i < m->other->inputs.count; i++) {
        tare_value *const *place = tare_map_get(&places, m->other->inputs.at[i]->name);
        m->from[i] = place ? (size_t)(place - m->own->inputs.at) : SIZE_MAX;
        if (place) m->is_left[m->from[i]] = false;
        m->wanting += !place && !m->other->inputs.at[i]->is_initializer;
    }
    for (size_t i = 0; i < m->own->inputs.count; i++) m->left += m->is_left[i];
    return TARE_OK;
}

static tare_status fail_order(const matching *m, const tare_value *input, tare_error *err) {
    return tare_fail(err, TARE_E_USAGE,
                     "input '%s' has no data: samples are for the inputs of the first model, which has none of that "
                     "name, and %zu of other names for %zu such inputs; put the model with more inputs first, or give "
                     "both the same names",
                     input->name, m->left, m->wanting);
}

static tare_status match_rest(const matching *m, tare_error *err) {
    for (size_t i = 0, next = 0; i < m->other->inputs.count; i++) {
        const tare_value *input = m->other->inputs.at[i];
        if (m->from[i] != SIZE_MAX || input->is_initializer) continue;
        if (m->left != m->wanting) return fail_order(m, input, err);
        while (!m->is_left[next]) next++;
        m->from[i] = next++;
    }
    return TARE_OK;
}

tare_status tare_feeding_make(tare_feeding *feeding, const tare_samples *samples, const tare_graph *graph,
                              tare_arena *arena, tare_error *err) {
    matching m = { .samples = samples, .own = tare_samples_graph(samples), .other = graph };
    m.from = tare_arena_alloc(arena, graph->inputs.count + 1, sizeof *m.from);
    m.is_left = tare_arena_alloc(arena, m.own->inputs.count + 1, sizeof *m.is_left);
    if (!m.from || !m.is_left) return tare_fail_memory(err, graph->inputs.count * sizeof *m.from);
    TARE_TRY(match_names(&m, arena, err));
    TARE_TRY(match_rest(&m, err));
    *feeding = (tare_feeding){ graph->inputs.count, m.from };
    return TARE_OK;
}

tare_status tare_feeding_get(const tare_feeding *feeding, const tare_sample *sample, tare_arena *arena,
                             tare_tensor *const **out, tare_error *err) {
    tare_tensor **inputs = tare_arena_alloc(arena, feeding->count + 1, sizeof *inputs);
    if (!inputs) return tare_fail_memory(err, feeding->count * sizeof *inputs);
    for (size_t i = 0; i < feeding->count; i++)
        inputs[i] = feeding->from[i] == SIZE_MAX ? NULL : sample->inputs[feeding->from[i]];
    *out = inputs;
    return TARE_OK;
}

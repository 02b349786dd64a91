/* Running both sides of a sample: sessions advance by turns, so that a value waits for its partner only as long as the two
 * orders differ; dumps are read when the partner is there. */
#include "compare/pairs.h"

#include <string.h>

/* ---- a pair is complete ---- */

static tare_status fail_shapes(const tare_compare_job *job, const tare_pair *pair, const tare_tensor *a,
                               const tare_tensor *b, tare_error *err) {
    char x[128], y[128];
    tare_shape_print(x, sizeof x, &a->shape, NULL);
    tare_shape_print(y, sizeof y, &b->shape, NULL);
    return tare_fail(err, TARE_E_MALFORMED, "value '%s' is %s %s in '%s', but %s %s in '%s'", pair->key[0],
                     tare_dtype_name(a->dtype), x, job->side[0]->name, tare_dtype_name(b->dtype), y,
                     job->side[1]->name);
}

static void judge(const tare_compare_worker *w, const tare_tensor *const both[2], tare_hits hits[2]) {
    const tare_compare_job *job = w->job;
    if (!job->labels || !tare_labels_fit(job->labels, both[0])) return;
    const size_t item = job->batch_start + (size_t)(w->slot - job->slots);
    for (int s = 0; s < 2; s++) tare_labels_judge(job->labels, item, both[s], &hits[s]);
}

/* Replaces the tensor by what the activation makes of it. */
static tare_status go_behind(const tare_compare_worker *w, const tare_node *node, const tare_tensor **tensor,
                             tare_error *err) {
    tare_tensor *out = NULL, *copy = tare_arena_alloc(w->sample, 1, sizeof *copy);
    tare_tensor **inputs = tare_arena_alloc(w->sample, (size_t)node->input_count, sizeof(*inputs));
    if (!copy || !inputs) return tare_fail_memory(err, 0);
    *copy = **tensor;
    inputs[0] = copy;
    for (int i = 1; i < node->input_count; i++) {
        if (!node->inputs[i]) continue;
        inputs[i] = tare_arena_alloc(w->sample, 1, sizeof *copy);
        if (!inputs[i]) return tare_fail_memory(err, 0);
        *inputs[i] = *node->inputs[i]->constant;
    }
    TARE_TRY(tare_node_run_once(node, inputs, &out, w->job->kernels, NULL, w->sample, err));
    *tensor = out;
    return TARE_OK;
}

static tare_status compare_pair(tare_compare_worker *w, size_t index, const tare_tensor *a, const tare_tensor *b,
                                tare_error *err) {
    const tare_pair *pair = &w->job->join->pairs.at[index];
    const tare_tensor *both[2] = { a, b };
    const tare_arena_mark mark = tare_arena_get_mark(w->sample);
    for (int s = 0; s < 2; s++) {
        const tare_alias real = { .factor = pair->codes[s].scale,
                                  .offset = -pair->codes[s].scale * pair->codes[s].zero_point };
        tare_tensor *numbers;
        if (!(real.factor > 0)) continue;
        TARE_TRY(tare_alias_apply(&real, both[s], w->sample, &numbers, err));
        both[s] = numbers;
    }
    if (pair->moved >= 0) {
        tare_tensor *moved;
        TARE_TRY(tare_alias_apply(&pair->alias, both[pair->moved], w->sample, &moved, err));
        both[pair->moved] = moved;
    }
    bool are_alike = tare_dtype_is_float(both[0]->dtype) == tare_dtype_is_float(both[1]->dtype);
    if (!are_alike || both[0]->dtype == TARE_STRING || both[1]->dtype == TARE_STRING ||
        !tare_shape_equal(&both[0]->shape, &both[1]->shape))
        return fail_shapes(w->job, pair, both[0], both[1], err);
    for (int s = 0; s < 2 && pair->behind; s++) TARE_TRY(go_behind(w, pair->behind, &both[s], err));
    TARE_TRY(tare_tally_set(&w->slot->tallies[index], both[0], both[1], w->job->side[1] != NULL, w->slot->arena, err));
    if (pair->said.is_output) judge(w, both, w->slot->tallies[index].hits);
    tare_arena_release(w->sample, mark);
    return TARE_OK;
}

static size_t thread_of(const tare_compare_worker *w) { return (size_t)(w - w->job->workers); }

static const tare_tensor *runner_output(const tare_compare_end *end, const tare_value *value) {
    const tare_graph *graph = end->worker->job->side[end->side]->model->graph;
    for (size_t i = 0; i < graph->outputs.count; i++)
        if (graph->outputs.at[i] == value) return end->runner->output(end->runner->context, thread_of(end->worker), i);
    return NULL;
}

/* What is not made here: the tensor of a dump, or what someone else's run gave. */
static tare_status fetch(const tare_compare_end *end, const tare_pair *pair, tare_arena *arena, const tare_tensor **out,
                         tare_error *err) {
    const char *key = pair->key[end->side];
    if (end->runner) {
        *out = runner_output(end, pair->value[end->side]);
        return *out ? TARE_OK
                    : tare_fail(err, TARE_E_BUG, "value '%s' is no output of a model that is run elsewhere", key);
    }
    size_t index = tare_npz_find(end->npz, key);
    if (index == SIZE_MAX)
        return tare_fail(err, TARE_E_MALFORMED, "'%s' has no array '%s' for this sample, though it has for others",
                         end->worker->job->side[end->side]->name, key);
    tare_tensor *read;
    TARE_TRY(tare_npz_read(end->npz, index, arena, &read, err));
    *out = read;
    return TARE_OK;
}

/* ---- a value arrives ---- */

static tare_status wait_for(tare_waiting *waiting, const tare_tensor *tensor, int side, tare_error *err) {
    void *copy = tare_memory_new(tensor->size ? tensor->size : 1);
    if (!copy) return tare_fail_memory(err, tensor->size);
    if (tensor->size) memcpy(copy, tensor->data, tensor->size);
    waiting->tensor = *tensor;
    waiting->tensor.data = copy;
    waiting->side = side;
    return TARE_OK;
}

static void drop(tare_waiting *waiting) {
    tare_memory_free(waiting->tensor.data);
    waiting->tensor.data = NULL;
}

static tare_status arrive(tare_compare_end *end, size_t index, const tare_tensor *real, tare_error *err) {
    tare_compare_worker *w = end->worker;
    tare_compare_end *other = &w->end[1 - end->side];
    tare_waiting *waiting = &w->waiting[index];
    if (!other->session) {
        const tare_tensor *partner;
        const tare_arena_mark mark = tare_arena_get_mark(w->sample);
        TARE_TRY(fetch(other, &w->job->join->pairs.at[index], w->sample, &partner, err));
        TARE_TRY(compare_pair(w, index, end->side ? partner : real, end->side ? real : partner, err));
        tare_arena_release(w->sample, mark);
        return TARE_OK;
    }
    if (!waiting->tensor.data) return wait_for(waiting, real, end->side, err);
    if (waiting->side == end->side)
        return tare_fail(err, TARE_E_BUG, "value '%s' was made twice", w->job->join->pairs.at[index].key[end->side]);
    const tare_tensor *partner = &waiting->tensor;
    tare_status status = compare_pair(w, index, end->side ? partner : real, end->side ? real : partner, err);
    drop(waiting);
    return status;
}

static tare_status look(void *context, const tare_value *value, const tare_tensor *real, const tare_tensor *before,
                        tare_error *err) {
    tare_compare_end *end = context;
    tare_compare_worker *w = end->worker;
    const tare_join *join = w->job->join;
    end->arrived++;
    for (size_t p = tare_join_first(join, end->side, value->name); p != SIZE_MAX;
         p = join->pairs.at[p].next[end->side]) {
        if (join->pairs.at[p].value[end->side] != value) continue; /* of the same name, in a body */
        TARE_TRY(arrive(end, p, real, err));
        if (end->side == 1) tare_tally_codes(&w->slot->tallies[p], &w->met[p], real, before);
    }
    return TARE_OK;
}

/* The local backend shows both at once. */
static tare_status look_local(void *context, const tare_value *value, const tare_tensor *real,
                              const tare_tensor *before, tare_error *err) {
    tare_compare_end *end = context;
    tare_compare_worker *w = end->worker;
    size_t p = tare_join_first(w->job->join, 0, value->name);
    if (p == SIZE_MAX || w->job->join->pairs.at[p].value[0] != value) return TARE_OK;
    TARE_TRY(compare_pair(w, p, before, real, err));
    tare_tally_codes(&w->slot->tallies[p], &w->met[p], real, NULL);
    return TARE_OK;
}

/* ---- a sample ---- */

/* A model that the samples are not for refuses them: with what that means. */
static tare_status begin_session(tare_compare_worker *w, int side, const tare_sample *sample, tare_error *err) {
    const tare_compare_job *job = w->job;
    tare_tensor *const *feeds;
    TARE_TRY(tare_feeding_get(&job->feeding[side], sample, w->sample, &feeds, err));
    if (tare_session_begin(w->end[side].session, feeds, err) == TARE_OK) return TARE_OK;
    if (err->status != TARE_E_USAGE || job->side[side]->model->graph == tare_samples_graph(job->samples))
        return err->status;
    const tare_error why = *err;
    return tare_fail(err, TARE_E_USAGE,
                     "%s; samples are read for the first model, '%s': compare models with the same inputs", why.text,
                     job->side[0]->name);
}

static tare_status open_ends(tare_compare_worker *w, const tare_compare_item *item, tare_error *err) {
    tare_sample sample = { 0 };
    if (w->job->samples) TARE_TRY(tare_samples_get(w->job->samples, item->index, w->sample, &sample, err));
    for (int s = 0; s < 2 && w->job->side[s]; s++) {
        tare_compare_end *end = &w->end[s];
        end->arrived = 0;
        if (end->session)
            TARE_TRY(begin_session(w, s, &sample, err));
        else if (end->runner)
            TARE_TRY(end->runner->run(end->runner->context, thread_of(w), &sample, err));
        else
            TARE_TRY(tare_side_open_sample(w->job->side[s], item->id, &end->npz, err));
    }
    return TARE_OK;
}

static tare_status advance(tare_compare_worker *w, tare_error *err) {
    bool done[2] = { !w->end[0].session, !w->end[1].session };
    while (!done[0] || !done[1]) {
        int s = done[0] || (!done[1] && w->end[1].arrived < w->end[0].arrived);
        TARE_TRY(tare_session_advance(w->end[s].session, &done[s], err));
    }
    return TARE_OK;
}

static tare_status compare_dumps(tare_compare_worker *w, tare_error *err) {
    const tare_join *join = w->job->join;
    for (size_t p = 0; p < join->pairs.count; p++) {
        const tare_tensor *both[2];
        const tare_arena_mark mark = tare_arena_get_mark(w->sample);
        for (int s = 0; s < 2; s++) TARE_TRY(fetch(&w->end[s], &join->pairs.at[p], w->sample, &both[s], err));
        TARE_TRY(compare_pair(w, p, both[0], both[1], err));
        tare_arena_release(w->sample, mark);
    }
    return TARE_OK;
}

static tare_status run_sample(tare_compare_worker *w, const tare_compare_item *item, tare_error *err) {
    for (size_t p = 0; p < w->job->join->pairs.count; p++) tare_tally_clear(&w->slot->tallies[p]);
    TARE_TRY(open_ends(w, item, err));
    bool are_dumps = !w->end[0].session && !w->end[1].session;
    return are_dumps ? compare_dumps(w, err) : advance(w, err);
}

void tare_compare_sample(void *context, size_t index, size_t thread) {
    tare_compare_job *job = context;
    tare_compare_worker *w = &job->workers[thread];
    const tare_arena_mark mark = tare_arena_get_mark(w->sample);
    w->slot = &job->slots[index];
    w->slot->status = run_sample(w, &job->items.at[job->batch_start + index], &w->slot->error);
    for (size_t p = 0; p < job->join->pairs.count; p++) drop(&w->waiting[p]);
    for (int s = 0; s < 2; s++) {
        tare_npz_close(w->end[s].npz);
        w->end[s].npz = NULL;
    }
    tare_arena_release(w->sample, mark);
}

/* ---- workers ---- */

static tare_status open_session(tare_compare_worker *w, int s, const tare_compare_options *options, tare_error *err) {
    tare_compare_job *job = w->job;
    const tare_side *side = job->side[s];
    tare_compare_end *end = &w->end[s];
    const tare_session_options session = { .backend = side->backend,
                                           .target = side->target,
                                           .profile = side->profile,
                                           .cpu = options->cpu,
                                           .pool = job->worker_count == 1 ? job->pool : NULL,
                                           .constants = job->constants,
                                           .memory_limit = options->memory_limit };
    size_t count = 0;
    end->taps = tare_arena_alloc(w->arena, job->join->pairs.count + 1, sizeof *end->taps);
    if (!end->taps) return tare_fail_memory(err, 0);
    for (size_t p = 0; p < job->join->pairs.count; p++) {
        const tare_pair *pair = &job->join->pairs.at[p];
        if (tare_join_first(job->join, s, pair->key[s]) == p) end->taps[count++] = pair->value[s];
    }
    TARE_TRY(tare_session_new(&end->session, side->model, &session, err));
    tare_session_set_quant_filter(end->session, side->is_quantized, side->filter_context);
    return tare_session_set_tap(end->session, end->taps, count, false, job->side[1] ? look : look_local, end, err);
}

static tare_status open_codes(tare_compare_worker *w, tare_error *err) {
    const tare_compare_job *job = w->job;
    const tare_side *side = job->side[job->side[1] ? 1 : 0];
    w->met = tare_arena_alloc(w->arena, job->join->pairs.count + 1, sizeof *w->met);
    if (!w->met) return tare_fail_memory(err, 0);
    for (size_t p = 0; side->model && side->backend != TARE_BACKEND_FLOAT && p < job->join->pairs.count; p++) {
        const tare_value *value = job->join->pairs.at[p].value[1];
        if (!value->quant || tare_dtype_size(value->quant->code) > 2) continue;
        if (side->is_quantized && !side->is_quantized(side->filter_context, value)) continue;
        w->met[p].quant = value->quant;
        w->met[p].bits = tare_arena_alloc(w->arena, TARE_CODES_WORDS(value->quant), sizeof(uint64_t));
        if (!w->met[p].bits) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static tare_status open_worker(tare_compare_job *job, tare_compare_worker *w, const tare_compare_options *options,
                               tare_error *err) {
    w->job = job;
    w->arena = tare_arena_new();
    w->sample = tare_arena_new();
    if (!w->arena || !w->sample) return tare_fail_memory(err, 0);
    w->waiting = tare_arena_alloc(w->arena, job->join->pairs.count + 1, sizeof *w->waiting);
    if (!w->waiting) return tare_fail_memory(err, 0);
    TARE_TRY(open_codes(w, err));
    for (int s = 0; s < 2; s++) {
        w->end[s].worker = w;
        w->end[s].side = s;
        if (job->side[s] && job->side[s]->runner.run)
            w->end[s].runner = &job->side[s]->runner;
        else if (job->side[s] && job->side[s]->model)
            TARE_TRY(open_session(w, s, options, err));
    }
    return TARE_OK;
}

static tare_status open_slots(tare_compare_job *job, tare_error *err) {
    job->slots = tare_arena_alloc(job->arena, job->slot_count, sizeof *job->slots);
    if (!job->slots) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < job->slot_count; i++) {
        tare_compare_slot *slot = &job->slots[i];
        slot->arena = tare_arena_new();
        slot->tallies =
            slot->arena ? tare_arena_alloc(slot->arena, job->join->pairs.count + 1, sizeof *slot->tallies) : NULL;
        if (!slot->tallies) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

/* One sample has all threads for itself; of many, each worker runs its own. Two samples a worker lie in a batch, so that
 * a slow one holds up fewer. */
tare_status tare_compare_open_workers(tare_compare_job *job, const tare_compare_options *options, tare_error *err) {
    if (!options->pool) job->own_pool = tare_pool_new(options->threads);
    job->kernels = tare_kernels_for(options->cpu);
    job->pool = options->pool ? options->pool : job->own_pool;
    job->constants = tare_constants_new();
    if (!job->pool || !job->constants) return tare_fail_memory(err, 0);
    job->worker_count = job->items.count == 1 ? 1 : tare_pool_size(job->pool);
    job->slot_count = 2 * job->worker_count;
    job->totals = tare_arena_alloc(job->arena, job->join->pairs.count + 1, sizeof *job->totals);
    job->workers = tare_arena_alloc(job->arena, job->worker_count, sizeof *job->workers);
    if (!job->totals || !job->workers) return tare_fail_memory(err, 0);
    TARE_TRY(open_slots(job, err));
    for (int s = 0; s < 2 && job->samples; s++)
        if (job->side[s] && job->side[s]->model)
            TARE_TRY(tare_feeding_make(&job->feeding[s], job->samples, job->side[s]->model->graph, job->arena, err));
    for (size_t i = 0; i < job->worker_count; i++) TARE_TRY(open_worker(job, &job->workers[i], options, err));
    return TARE_OK;
}

void tare_compare_close_workers(tare_compare_job *job) {
    for (size_t i = 0; job->workers && i < job->worker_count; i++) {
        tare_compare_worker *w = &job->workers[i];
        tare_session_free(w->end[0].session);
        tare_session_free(w->end[1].session);
        tare_arena_free(w->sample);
        tare_arena_free(w->arena);
    }
    for (size_t i = 0; job->slots && i < job->slot_count; i++) tare_arena_free(job->slots[i].arena);
    tare_constants_free(job->constants);
    tare_pool_free(job->own_pool);
}

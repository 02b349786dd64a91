/* Running the float model over samples, one session a worker, and adding up what each saw. */
#include "calibrate/calibrate.h"

#include <inttypes.h>
#include <string.h>

#include "calibrate/range.h"
#include "run/each.h"

typedef struct job {
    const tare_model *model;
    const tare_samples *samples;
    const tare_calibrate_options *options;
    tare_log *log;
    TARE_VEC(const tare_value *) observed;
    TARE_VEC(size_t) indexes; /* of the samples in hand */
    const char **ids;         /* by index: as the ranges name samples */
} job;

typedef struct worker {
    const job *job;
    tare_session *session;
    tare_ranges *ranges;
    tare_counter *counter;
    const char *sample; /* id of the one in hand */
} worker;

bool tare_calibrate_observes(const tare_value *value) {
    if (value->dtype != TARE_F32 || value->constant) return false;
    if (!value->producer) return value->is_input;
    tare_quant_kind kind = tare_node_quant_kind(value->producer);
    return kind != TARE_QUANT_PASS && kind != TARE_QUANT_SAME;
}

static bool is_counted(const job *j, const tare_value *value) {
    const tare_map *wanted = j->options->wanted;
    return tare_calibrate_observes(value) && (!wanted || tare_map_get(wanted, value->name));
}

static tare_status list_observed(job *j, tare_arena *arena, tare_error *err) {
    const tare_graph *graph = j->model->graph;
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (is_counted(j, graph->inputs.at[i]) && !tare_vec_push(arena, &j->observed, graph->inputs.at[i]))
            return tare_fail_memory(err, 0);
    tare_for_nodes (node, graph)
        for (int i = 0; i < node->output_count; i++) {
            const tare_value *value = node->outputs[i];
            if (value && is_counted(j, value) && !tare_vec_push(arena, &j->observed, value))
                return tare_fail_memory(err, 0);
        }
    return TARE_OK;
}

static bool is_in_hand(const tare_calibrate_options *o, size_t index) {
    if (o->shards && index % o->shards != o->shard) return false;
    const bool held = o->hold && index % o->hold == o->hold - 1;
    return !o->hold || held == (o->hold_side == 2);
}

static tare_status observe(void *context, const tare_value *value, const tare_tensor *real, tare_layout layout,
                           tare_error *err) {
    worker *w = context;
    tare_range *range = tare_map_get(&w->ranges->by_name, value->name);
    if (!range || real->dtype != TARE_F32) return TARE_OK;
    TARE_TRY(tare_range_count(range, w->counter, w->ranges->arena, real, layout, w->sample, err));
    uint64_t bad = range->nans + range->positive_infinities + range->negative_infinities;
    if (!bad || w->job->options->skip_nonfinite) return TARE_OK;
    const tare_node *producer = value->producer;
    return tare_fail(
        err, TARE_E_MALFORMED,
        "sample '%s': value '%s' of node '%s' (%s) holds %llu NaN and %llu Inf; look at that sample, or pass "
        "--skip-nonfinite",
        w->sample, value->name, producer ? producer->name : "", producer ? producer->type : "graph input",
        (unsigned long long)range->nans, (unsigned long long)(range->positive_infinities + range->negative_infinities));
}

/* The channels of a value that some depthwise product reads, else 0. */
static size_t channels_of(const tare_value *value) {
    for (size_t i = 0; i < value->uses.count; i++)
        if (value->uses.at[i].index == 0 && tare_node_is_depthwise(value->uses.at[i].node) && value->shape.rank > 2 &&
            value->shape.dim[1] > 0)
            return (size_t)value->shape.dim[1];
    return 0;
}

static tare_status open_worker(const job *j, worker *w, tare_error *err) {
    const tare_session_options options = { .backend = TARE_BACKEND_FLOAT,
                                           .cpu = j->options->cpu,
                                           .memory_limit = j->options->memory_limit };
    w->job = j;
    TARE_TRY(tare_ranges_new(&w->ranges, err));
    for (size_t i = 0; i < j->observed.count; i++) {
        tare_range *range;
        TARE_TRY(tare_ranges_add(w->ranges, j->observed.at[i]->name, &range, err));
        const size_t channels = channels_of(j->observed.at[i]);
        if (channels) TARE_TRY(tare_range_want_channels(range, channels, w->ranges->arena, err));
    }
    w->counter = tare_counter_new(w->ranges->arena, tare_kernels_for(j->options->cpu));
    if (!w->counter) return tare_fail_memory(err, 0);
    TARE_TRY(tare_session_new(&w->session, j->model, &options, err));
    return tare_session_set_raw_tap(w->session, j->observed.at, j->observed.count, observe, w, err);
}

static void close_worker(worker *w) {
    tare_session_free(w->session);
    tare_ranges_free(w->ranges);
}

static tare_status see_sample(void *context, const tare_sample *sample, tare_error *err) {
    worker *w = context;
    w->sample = w->job->ids[sample->index];
    return tare_session_run(w->session, sample->inputs, err);
}

static tare_status merge_workers(const job *j, worker *const *workers, size_t count, tare_ranges **out,
                                 tare_error *err) {
    tare_ranges *total = workers[0]->ranges;
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < total->list.count; k++)
            TARE_TRY(tare_range_merge(total->list.at[k], workers[i]->ranges->list.at[k], total->arena, err));
    TARE_TRY(tare_ranges_own_ids(total, err));
    total->samples = j->indexes.count;
    total->synthetic = tare_samples_are_synthetic(j->samples);
    total->model_hash = tare_ranges_fingerprint(j->model);
    workers[0]->ranges = NULL;
    *out = total;
    return TARE_OK;
}

static tare_status run_workers(job *j, tare_pool *pool, tare_arena *arena, tare_ranges **out, tare_error *err) {
    const size_t count = tare_pool_size(pool);
    worker **workers = tare_arena_alloc(arena, count, sizeof *workers);
    worker *states = tare_arena_alloc(arena, count, sizeof *states);
    if (!workers || !states) return tare_fail_memory(err, count * sizeof *states);
    tare_status status = TARE_OK;
    for (size_t i = 0; i < count; i++) workers[i] = &states[i];
    for (size_t i = 0; status == TARE_OK && i < count; i++) status = open_worker(j, workers[i], err);
    const tare_each each = { .samples = j->samples,
                             .indexes = j->indexes.at,
                             .count = j->indexes.count,
                             .pool = pool,
                             .workers = (void *const *)workers,
                             .fn = see_sample,
                             .job = "calibrate",
                             .log = j->log };
    if (status == TARE_OK) status = tare_each_sample(&each, err);
    if (status == TARE_OK) status = merge_workers(j, workers, count, out, err);
    for (size_t i = 0; i < count; i++) close_worker(workers[i]);
    return status;
}

/* Ids come from file names; what is no UTF-8 in them is escaped, as it can stand in no ranges file. They live as long as
 * the job: ranges copy those that they keep. */
static tare_status list_ids(job *j, tare_arena *arena, tare_error *err) {
    j->ids = tare_arena_alloc(arena, tare_samples_count(j->samples) + 1, sizeof *j->ids);
    for (size_t i = 0; j->ids && i < tare_samples_count(j->samples); i++) {
        const char *id = j->ids[i] = tare_samples_id(j->samples, i);
        const size_t length = strlen(id), room = 4 * length + 1; /* each byte at worst \xNN */
        if (tare_utf8_is_valid(id, length)) continue;
        char *escaped = tare_arena_alloc(arena, room, 1);
        if (!escaped) return tare_fail_memory(err, room);
        tare_text_escape(escaped, room, id);
        j->ids[i] = escaped;
    }
    return j->ids ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status calibrate(job *j, tare_arena *arena, tare_ranges **out, tare_error *err) {
    TARE_TRY(list_observed(j, arena, err));
    for (size_t i = 0; i < tare_samples_count(j->samples); i++)
        if (is_in_hand(j->options, i) && !tare_vec_push(arena, &j->indexes, i)) return tare_fail_memory(err, 0);
    if (!j->indexes.count) return tare_fail(err, TARE_E_USAGE, "no samples to calibrate on");
    TARE_TRY(list_ids(j, arena, err));
    tare_pool *pool = tare_pool_new(j->options->threads);
    if (!pool) return tare_fail_memory(err, 0);
    tare_status status = run_workers(j, pool, arena, out, err);
    tare_pool_free(pool);
    return status;
}

tare_status tare_calibrate(tare_ranges **out, const tare_model *model, const tare_samples *samples,
                           const tare_calibrate_options *options, tare_log *log, tare_error *err) {
    job j = { .model = model, .samples = samples, .options = options, .log = log };
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = calibrate(&j, arena, out, err);
    tare_arena_free(arena);
    return status;
}

tare_status tare_ranges_check_finite(const tare_ranges *ranges, tare_log *log, tare_error *err) {
    for (size_t i = 0; i < ranges->list.count; i++) {
        const tare_range *range = ranges->list.at[i];
        const uint64_t infinities = range->positive_infinities + range->negative_infinities;
        if (!range->nans && !infinities) continue;
        if (range->nans + infinities == range->count)
            return tare_fail(err, TARE_E_MALFORMED,
                             "value '%s' holds nothing but NaN (%" PRIu64 ") and Inf (%" PRIu64 ") in all samples, so "
                             "it has no range",
                             range->name, range->nans, infinities);
        tare_log_warn(log, "value '%s': %" PRIu64 " NaN and %" PRIu64 " Inf left out, the first in sample '%s'",
                      range->name, range->nans, infinities, range->nonfinite_sample);
    }
    return TARE_OK;
}

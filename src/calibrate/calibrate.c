/* Running the float model over samples, one session a worker, and adding up what each saw. */
#include "calibrate/calibrate.h"

#include <inttypes.h>
#include <string.h>

#include "calibrate/range.h"
#include "run/each.h"

typedef struct worker {
    const tare_calibrator *calibrator;
    tare_session *session;
    tare_ranges *ranges; /* NULL: nothing was seen since it was taken */
    tare_counter *counter;
    const char *sample; /* id of the one in hand */
} worker;

struct tare_calibrator {
    tare_arena *arena;
    const tare_model *model;
    const tare_samples *samples;
    tare_calibrate_options options;
    tare_log *log;
    TARE_VEC(const tare_value *) observed;
    const char **ids; /* by index: as the ranges name samples */
    tare_pool *pool;
    tare_constants *constants; /* of all workers' sessions */
    worker **workers;
    size_t count;
};

bool tare_calibrate_observes(const tare_value *value) {
    if (value->dtype != TARE_F32 || value->constant) return false;
    if (!value->producer) return value->is_input;
    tare_quant_kind kind = tare_node_quant_kind(value->producer);
    return kind != TARE_QUANT_PASS && kind != TARE_QUANT_SAME;
}

static bool is_counted(const tare_calibrator *c, const tare_value *value) {
    const tare_map *wanted = c->options.wanted;
    return tare_calibrate_observes(value) && (!wanted || tare_map_get(wanted, value->name));
}

static tare_status list_observed(tare_calibrator *c, tare_error *err) {
    const tare_graph *graph = c->model->graph;
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (is_counted(c, graph->inputs.at[i]) && !tare_vec_push(c->arena, &c->observed, graph->inputs.at[i]))
            return tare_fail_memory(err, 0);
    tare_for_nodes (node, graph)
        for (int i = 0; i < node->output_count; i++) {
            const tare_value *value = node->outputs[i];
            if (value && is_counted(c, value) && !tare_vec_push(c->arena, &c->observed, value))
                return tare_fail_memory(err, 0);
        }
    return TARE_OK;
}

bool tare_calibrate_takes(const tare_calibrate_options *options, size_t index) {
    return !options->shards || index % options->shards == options->shard;
}

static tare_status observe(void *context, const tare_value *value, const tare_tensor *real, tare_layout layout,
                           tare_error *err) {
    worker *w = context;
    tare_range *range = tare_map_get(&w->ranges->by_name, value->name);
    if (!range || real->dtype != TARE_F32) return TARE_OK;
    TARE_TRY(tare_range_count(range, w->counter, w->ranges->arena, real, layout, w->sample, err));
    uint64_t bad = range->nans + range->positive_infinities + range->negative_infinities;
    if (!bad || w->calibrator->options.skip_nonfinite) return TARE_OK;
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

/* The channels of a value that some product multiplies by constants, one filter for all places, else 0. */
static size_t multiplied_channels_of(const tare_value *value) {
    for (size_t i = 0; i < value->uses.count; i++) {
        const tare_node *node = value->uses.at[i].node;
        if (value->uses.at[i].index == 0 && node->op && node->op->quant.tap_shares && node->inputs[1]->constant &&
            value->shape.rank >= 2 && value->shape.dim[1] > 0)
            return (size_t)value->shape.dim[1];
    }
    return 0;
}

static tare_status begin_value(tare_ranges *ranges, const tare_value *value, tare_error *err) {
    tare_range *range;
    TARE_TRY(tare_ranges_add(ranges, value->name, &range, err));
    const size_t channels = channels_of(value), multiplied = multiplied_channels_of(value);
    if (channels) TARE_TRY(tare_range_want_channels(range, channels, ranges->arena, err));
    if (multiplied) TARE_TRY(tare_range_want_sums(range, multiplied, ranges->arena, err));
    return TARE_OK;
}

/* Empty counts for what is observed: all of it or none. */
static tare_status begin_counting(worker *w, tare_error *err) {
    const tare_calibrator *c = w->calibrator;
    tare_ranges *ranges;
    TARE_TRY(tare_ranges_new(&ranges, err));
    tare_status status = TARE_OK;
    for (size_t i = 0; status == TARE_OK && i < c->observed.count; i++)
        status = begin_value(ranges, c->observed.at[i], err);
    if (status == TARE_OK)
        w->ranges = ranges;
    else
        tare_ranges_free(ranges);
    return status;
}

static tare_status open_worker(worker *w, tare_error *err) {
    const tare_calibrator *c = w->calibrator;
    const tare_session_options options = { .backend = TARE_BACKEND_FLOAT,
                                           .cpu = c->options.cpu,
                                           .constants = c->constants };
    w->counter = tare_counter_new(c->arena, tare_kernels_for(c->options.cpu));
    if (!w->counter) return tare_fail_memory(err, 0);
    TARE_TRY(tare_session_new(&w->session, c->model, &options, err));
    return tare_session_set_raw_tap(w->session, c->observed.at, c->observed.count, observe, w, err);
}

static tare_status open_workers(tare_calibrator *c, tare_error *err) {
    c->pool = tare_pool_new(c->options.threads);
    c->constants = tare_constants_new();
    if (!c->pool || !c->constants) return tare_fail_memory(err, 0);
    const size_t count = tare_pool_size(c->pool);
    worker *states = tare_arena_alloc(c->arena, count, sizeof *states);
    c->workers = tare_arena_alloc(c->arena, count, sizeof *c->workers);
    if (!c->workers || !states) return tare_fail_memory(err, count * sizeof *states);
    for (c->count = 0; c->count < count; c->count++) {
        worker *w = c->workers[c->count] = &states[c->count];
        w->calibrator = c;
        const tare_status status = open_worker(w, err);
        if (status != TARE_OK) return c->count++, status;
    }
    return TARE_OK;
}

/* Ids come from file names; what is no UTF-8 in them is escaped, as it can stand in no ranges file. They live as long as
 * the calibrator: ranges copy those that they keep. */
static tare_status list_ids(tare_calibrator *c, tare_error *err) {
    c->ids = tare_arena_alloc(c->arena, tare_samples_count(c->samples) + 1, sizeof *c->ids);
    for (size_t i = 0; c->ids && i < tare_samples_count(c->samples); i++) {
        const char *id = c->ids[i] = tare_samples_id(c->samples, i);
        const size_t length = strlen(id), room = 4 * length + 1; /* each byte at worst \xNN */
        if (tare_utf8_is_valid(id, length)) continue;
        char *escaped = tare_arena_alloc(c->arena, room, 1);
        if (!escaped) return tare_fail_memory(err, room);
        tare_text_escape(escaped, room, id);
        c->ids[i] = escaped;
    }
    return c->ids ? TARE_OK : tare_fail_memory(err, 0);
}

tare_status tare_calibrator_open(tare_calibrator **out, const tare_model *model, const tare_samples *samples,
                                 const tare_calibrate_options *options, tare_log *log, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_calibrator *c = arena ? tare_arena_alloc(arena, 1, sizeof *c) : NULL;
    if (!c) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *c);
    }
    *c = (tare_calibrator){ .arena = arena, .model = model, .samples = samples, .options = *options, .log = log };
    tare_status status = list_observed(c, err);
    if (status == TARE_OK) status = list_ids(c, err);
    if (status == TARE_OK) status = open_workers(c, err);
    if (status == TARE_OK)
        *out = c;
    else
        tare_calibrator_close(c);
    return status;
}

static void drop_counts(worker *w) {
    tare_ranges_free(w->ranges);
    w->ranges = NULL;
}

void tare_calibrator_close(tare_calibrator *calibrator) {
    if (!calibrator) return;
    for (size_t i = 0; i < calibrator->count; i++) {
        tare_session_free(calibrator->workers[i]->session);
        drop_counts(calibrator->workers[i]);
    }
    tare_constants_free(calibrator->constants);
    tare_pool_free(calibrator->pool);
    tare_arena_free(calibrator->arena);
}

tare_pool *tare_calibrator_pool(const tare_calibrator *calibrator) { return calibrator->pool; }

static tare_status see_sample(void *context, const tare_sample *sample, tare_error *err) {
    worker *w = context;
    if (!w->ranges) TARE_TRY(begin_counting(w, err));
    w->sample = w->calibrator->ids[sample->index];
    w->ranges->samples++;
    const tare_status status = tare_session_run(w->session, sample->inputs, err);
    if (status != TARE_OK) drop_counts(w); /* some of the sample's values are in them, some not */
    return status;
}

tare_status tare_calibrator_see(tare_calibrator *calibrator, size_t thread, const tare_sample *sample,
                                tare_error *err) {
    return see_sample(calibrator->workers[thread], sample, err);
}

const tare_tensor *tare_calibrator_output(const tare_calibrator *calibrator, size_t thread, size_t index) {
    return tare_session_output(calibrator->workers[thread]->session, index);
}

tare_status tare_calibrator_count(tare_calibrator *calibrator, const size_t *indexes, size_t count, tare_error *err) {
    const tare_each each = { .samples = calibrator->samples,
                             .indexes = indexes,
                             .count = count,
                             .pool = calibrator->pool,
                             .workers = (void *const *)calibrator->workers,
                             .fn = see_sample,
                             .job = "calibrate",
                             .log = calibrator->log };
    return tare_each_sample(&each, err);
}

static tare_status add_worker(tare_ranges *total, worker *w, tare_error *err) {
    for (size_t k = 0; k < total->list.count; k++)
        TARE_TRY(tare_range_merge(total->list.at[k], w->ranges->list.at[k], total->arena, err));
    total->samples += w->ranges->samples;
    return TARE_OK;
}

tare_status tare_calibrator_take(tare_calibrator *calibrator, tare_ranges **out, tare_error *err) {
    tare_ranges *total = NULL;
    tare_status status = TARE_OK;
    for (size_t i = 0; i < calibrator->count; i++) {
        worker *w = calibrator->workers[i];
        if (!w->ranges) continue;
        if (!total) {
            total = w->ranges, w->ranges = NULL;
            continue;
        }
        if (status == TARE_OK) status = add_worker(total, w, err);
        drop_counts(w);
    }
    if (!total) return tare_fail(err, TARE_E_USAGE, "no samples to calibrate on");
    if (status == TARE_OK) status = tare_ranges_own_ids(total, err);
    if (status != TARE_OK) {
        tare_ranges_free(total);
        return status;
    }
    total->synthetic = tare_samples_are_synthetic(calibrator->samples);
    total->model_hash = tare_ranges_fingerprint(calibrator->model);
    *out = total;
    return TARE_OK;
}

/* ---- all at once ---- */

static tare_status count_shard(tare_calibrator *c, tare_ranges **out, tare_error *err) {
    TARE_VEC(size_t) indexes = { 0 };
    for (size_t i = 0; i < tare_samples_count(c->samples); i++)
        if (tare_calibrate_takes(&c->options, i) && !tare_vec_push(c->arena, &indexes, i))
            return tare_fail_memory(err, 0);
    TARE_TRY(tare_calibrator_count(c, indexes.at, indexes.count, err));
    return tare_calibrator_take(c, out, err);
}

tare_status tare_calibrate(tare_ranges **out, const tare_model *model, const tare_samples *samples,
                           const tare_calibrate_options *options, tare_log *log, tare_error *err) {
    tare_calibrator *calibrator;
    TARE_TRY(tare_calibrator_open(&calibrator, model, samples, options, log, err));
    const tare_status status = count_shard(calibrator, out, err);
    tare_calibrator_close(calibrator);
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

/* The comparison: workers run both sides of a sample side by side, tallies are added in the order of ids. */
#include "compare/compare.h"

#include <string.h>

#include "base/text.h"
#include "base/words.h"
#include "compare/pairs.h"

struct tare_comparison {
    tare_arena *arena;
    tare_join join;
};

void tare_comparison_free(tare_comparison *comparison) {
    if (comparison) tare_arena_free(comparison->arena);
}

size_t tare_comparison_count(const tare_comparison *comparison) { return comparison->join.pairs.count; }

const tare_compared *tare_comparison_at(const tare_comparison *comparison, size_t index) {
    return &comparison->join.pairs.at[index].said;
}

const tare_compared *tare_comparison_find(const tare_comparison *comparison, const char *name) {
    size_t index = tare_join_first(&comparison->join, 0, name);
    return index == SIZE_MAX ? NULL : &comparison->join.pairs.at[index].said;
}

size_t tare_comparison_unmatched_count(const tare_comparison *comparison) { return comparison->join.unmatched.count; }

const tare_unmatched *tare_comparison_unmatched_at(const tare_comparison *comparison, size_t index) {
    return &comparison->join.unmatched.at[index];
}

/* ---- the samples ---- */

static bool is_alone(const tare_compare_job *job) { return !job->side[1]; }

/* With samples: theirs, and every dump must have them (one .npz goes with a single sample). */
static tare_status list_samples(tare_compare_job *job, const tare_compare_options *options, tare_error *err) {
    size_t all = tare_samples_count(job->samples), count = options->indexes ? options->index_count : all;
    for (size_t i = 0; i < count; i++) {
        size_t index = options->indexes ? options->indexes[i] : i;
        const tare_compare_item item = { .id = tare_samples_id(job->samples, index), .index = index };
        if (!tare_vec_push(job->arena, &job->items, item)) return tare_fail_memory(err, 0);
    }
    for (int s = 0; s < 2 && job->side[s]; s++) {
        if (job->side[s]->model) continue;
        if (tare_dump_is_single(job->side[s]->dump) && count > 1)
            return tare_fail(err, TARE_E_USAGE, "'%s' has the tensors of one sample, and there are %zu",
                             job->side[s]->name, count);
        for (size_t i = 0; i < count; i++)
            if (tare_side_find(job->side[s], job->items.at[i].id) == SIZE_MAX)
                return tare_fail(
                    err, TARE_E_USAGE,
                    "'%s' has no tensors of sample '%s'; leave it out by --samples or a list, or dump it too",
                    job->side[s]->name, job->items.at[i].id);
    }
    return TARE_OK;
}

/* Two dumps: the ids that both have; two single files go together whatever they are called. */
static tare_status list_dumps(tare_compare_job *job, tare_log *log, tare_error *err) {
    const tare_dump *a = job->side[0]->dump, *b = job->side[1]->dump;
    const size_t count[2] = { tare_dump_count(a), tare_dump_count(b) };
    size_t missing = 0;
    const bool is_single = tare_dump_is_single(a) && tare_dump_is_single(b);
    for (size_t i = 0; i < count[0]; i++) {
        const tare_compare_item item = { .id = tare_dump_id(a, i), .index = i };
        if (!is_single && tare_dump_find(b, item.id) == SIZE_MAX) {
            missing++;
            continue;
        }
        if (!tare_vec_push(job->arena, &job->items, item)) return tare_fail_memory(err, 0);
    }
    if (job->items.count && (missing || (!is_single && count[1] > job->items.count)))
        tare_log_warn(log, "%zu sample%s in both '%s' (%zu) and '%s' (%zu); the others are left out", job->items.count,
                      tare_plural(job->items.count, " is", "s are"), job->side[0]->name, count[0], job->side[1]->name,
                      count[1]);
    return TARE_OK;
}

/* The labels of the samples in hand; those of dumps have the place that they have in the first dump. */
static tare_status open_labels(tare_compare_job *job, const char *path, tare_error *err) {
    const size_t count = job->items.count;
    if (!path) return TARE_OK;
    tare_labelled *list = tare_arena_alloc(job->arena, count, sizeof *list);
    if (!list) return tare_fail_memory(err, count * sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const tare_compare_item *item = &job->items.at[i];
        list[i] = (tare_labelled){ .id = item->id,
                                   .row = job->samples ? tare_samples_row(job->samples, item->index) : item->index };
    }
    const bool are_numbered = job->samples && tare_samples_are_numbered(job->samples);
    return tare_labels_open_for(&job->labels, path, list, count, are_numbered, err);
}

/* ---- joining ---- */

static tare_status join_sides(tare_compare_job *job, tare_comparison *comparison, bool outputs_only, tare_error *err) {
    tare_npz *keys[2] = { NULL, NULL };
    tare_status status = TARE_OK;
    comparison->join.arena = comparison->arena;
    job->join = &comparison->join;
    if (is_alone(job)) return tare_join_alone(&comparison->join, job->side[0]->model, outputs_only, err);
    for (int s = 0; s < 2 && status == TARE_OK; s++)
        if (!job->side[s]->model) status = tare_side_open_sample(job->side[s], job->items.at[0].id, &keys[s], err);
    const tare_side *const sides[2] = { job->side[0], job->side[1] };
    if (status == TARE_OK) status = tare_join_sides(&comparison->join, sides, keys, outputs_only, err);
    tare_npz_close(keys[0]);
    tare_npz_close(keys[1]);
    return status;
}

/* ---- running ---- */

/* Adds what a batch has tallied, in the order of ids; the first failure in that order is the one that is told. */
static tare_status add_batch(tare_compare_job *job, size_t start, size_t count, tare_error *err) {
    for (size_t i = 0; i < count; i++) {
        tare_compare_slot *slot = &job->slots[i];
        if (slot->status != TARE_OK) {
            *err = slot->error;
            return tare_within(err, "sample '%s'", job->items.at[start + i].id);
        }
        for (size_t p = 0; p < job->join->pairs.count; p++) {
            if (!slot->tallies[p].is_set) continue;
            TARE_TRY(tare_total_add(&job->totals[p], &slot->tallies[p], job->items.at[start + i].id, job->arena, err));
        }
    }
    return TARE_OK;
}

static tare_status run_batches(tare_compare_job *job, tare_log *log, tare_error *err) {
    size_t total = job->items.count;
    for (size_t start = 0; start < total; start += job->slot_count) {
        size_t count = total - start < job->slot_count ? total - start : job->slot_count;
        job->batch_start = start;
        if (job->worker_count == 1)
            for (size_t i = 0; i < count; i++) tare_compare_sample(job, i, 0);
        else
            tare_pool_run(job->pool, count, tare_compare_sample, job);
        TARE_TRY(add_batch(job, start, count, err));
        if (!tare_log_progress(log, "compare", start + count, total))
            return tare_fail(err, TARE_E_INTERRUPTED, "compare: stopped");
    }
    return TARE_OK;
}

/* The workers' sets of codes together. */
static tare_status finish_pairs(tare_compare_job *job, tare_log *log, tare_error *err) {
    bool is_judged = false;
    for (size_t p = 0; p < job->join->pairs.count; p++) {
        tare_pair *pair = &job->join->pairs.at[p];
        tare_codes_met *met = &job->workers[0].met[p];
        for (size_t w = 1; w < job->worker_count; w++)
            for (size_t i = 0; met->bits && i < TARE_CODES_WORDS(met->quant); i++)
                met->bits[i] |= job->workers[w].met[p].bits[i];
        tare_total_finish(&job->totals[p], met, &pair->said.metrics);
        memcpy(pair->said.hits, job->totals[p].hits, sizeof pair->said.hits);
        const tare_total *total = &job->totals[p];
        const bool are_vectors = total->samples && total->classes == total->samples;
        pair->said.is_class = pair->classes == TARE_CLASS_YES || (pair->classes == TARE_CLASS_BY_SHAPE && are_vectors);
        is_judged = is_judged || pair->said.hits[0].samples;
        tare_hits_doubt(&pair->said.hits[0], pair->said.name, log);
    }
    return job->labels && !is_judged ? tare_labels_fail_fit(job->labels, err) : TARE_OK;
}

/* Pairs of which nothing was seen: the local comparison shows only what has something quantized. */
static void drop_unseen(tare_compare_job *job) {
    tare_join *join = job->join;
    size_t kept = 0;
    for (size_t p = 0; p < join->pairs.count; p++) {
        size_t *head = tare_map_get(&join->first[0], join->pairs.at[p].key[0]);
        *head = job->totals[p].samples ? kept : SIZE_MAX;
        if (job->totals[p].samples) join->pairs.at[kept++] = join->pairs.at[p];
    }
    join->pairs.count = kept;
}

static tare_status compare(tare_compare_job *job, tare_comparison *comparison, const tare_compare_options *options,
                           tare_log *log, tare_error *err) {
    TARE_TRY(job->samples ? list_samples(job, options, err) : list_dumps(job, log, err));
    if (!job->items.count) return tare_fail(err, TARE_E_USAGE, "there are no samples to compare on");
    TARE_TRY(join_sides(job, comparison, options->outputs_only, err));
    if (options->activations) tare_join_behind(&comparison->join, options->activations);
    if (options->like) tare_join_behind_like(&comparison->join, &options->like->join);
    tare_status status = open_labels(job, options->labels, err);
    if (status == TARE_OK) status = tare_compare_open_workers(job, options, err);
    if (status == TARE_OK) status = run_batches(job, log, err);
    if (status == TARE_OK) status = finish_pairs(job, log, err);
    if (status == TARE_OK && is_alone(job)) drop_unseen(job);
    tare_compare_close_workers(job);
    tare_labels_close(job->labels);
    return status;
}

static tare_status compare_all(tare_comparison **out, tare_compare_job *job, const tare_compare_options *options,
                               tare_log *log, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_comparison *comparison = arena ? tare_arena_alloc(arena, 1, sizeof *comparison) : NULL;
    if (!comparison) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *comparison);
    }
    comparison->arena = job->arena = arena;
    tare_status status = compare(job, comparison, options, log, err);
    if (status != TARE_OK) {
        tare_comparison_free(comparison);
        return status;
    }
    *out = comparison;
    return TARE_OK;
}

tare_status tare_compare(tare_comparison **out, tare_side *a, tare_side *b, const tare_samples *samples,
                         const tare_compare_options *options, tare_log *log, tare_error *err) {
    if (!samples && (a->model || b->model)) return tare_fail(err, TARE_E_USAGE, "a model needs samples to run on");
    tare_compare_job job = { .side = { a, b }, .samples = samples };
    return compare_all(out, &job, options, log, err);
}

tare_status tare_compare_local(tare_comparison **out, const tare_model *model,
                               bool (*filter)(void *context, const tare_value *value), void *context,
                               const tare_samples *samples, const tare_compare_options *options, tare_log *log,
                               tare_error *err) {
    tare_side side = { .name = "model", .model = model, .backend = TARE_BACKEND_LOCAL };
    tare_side_set_quant_filter(&side, filter, context);
    tare_compare_job job = { .side = { &side, NULL }, .samples = samples };
    return compare_all(out, &job, options, log, err);
}

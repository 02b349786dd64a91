/* Held-out samples: every fifth by id is kept out while scales are chosen to be measured with, and some of those, evenly
 * spread, are measured. The model that is written has scales from all. */
#include "api/holdout.h"

enum {
    HOLD = 5,          /* every so many samples one is held out: 4, 9, 14, … */
    ENOUGH = 10,       /* samples; with fewer none is held out */
    MEASURED_MOST = 16 /* more would cost time and hardly change the figures */
};

/* ---- what a comparison says ---- */

/* What is kept of a comparison outlives it. */
static tare_status take_outputs(tare_quantizing *q, const tare_comparison *comparison, tare_error *err) {
    for (size_t i = 0; i < tare_comparison_count(comparison); i++) {
        const tare_compared *c = tare_comparison_at(comparison, i);
        tare_output_loss loss = { .name = tare_arena_strdup(q->arena, c->name),
                                  .is_class = c->is_class,
                                  .metrics = c->metrics };
        const char **worst = &loss.metrics.worst_sample;
        if (*worst) *worst = tare_arena_strdup(q->arena, *worst);
        if (!loss.name || (c->metrics.worst_sample && !*worst) || !tare_vec_push(q->arena, &q->said->outputs, loss))
            return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static tare_status compare(tare_quantizing *q, tare_side *reference, const tare_model *quantized,
                           const tare_samples *samples, tare_pool *pool, const size_t *indexes, size_t count,
                           tare_error *err) {
    const tare_compare_options options = { .threads = q->calibrate.threads,
                                           .pool = pool,
                                           .cpu = q->calibrate.cpu,
                                           .outputs_only = true,
                                           .indexes = indexes,
                                           .index_count = count };
    tare_comparison *comparison = NULL;
    tare_side *side = NULL;
    tare_status status = tare_side_open_model(&side, "int8", quantized, TARE_BACKEND_QDQ, err);
    if (status == TARE_OK) status = tare_compare(&comparison, reference, side, samples, &options, q->log, err);
    if (status == TARE_OK) status = take_outputs(q, comparison, err);
    tare_comparison_free(comparison);
    tare_side_close(side);
    return status;
}

/* A model whose loss cannot be measured, as one whose outputs change their shape, is quantized all the same: that it was not
 * measured is said. True: `status` is of that kind. */
static bool is_no_measure(tare_quantizing *q, tare_status status, tare_error *err) {
    if (status != TARE_E_MALFORMED && status != TARE_E_UNSUPPORTED && status != TARE_E_USAGE) return false;
    q->said->why_not = tare_arena_strdup(q->arena, err->text);
    if (!q->said->why_not) return false;
    tare_log_warn(q->log, "what int8 loses was not measured: %s", err->text);
    *err = (tare_error){ 0 };
    return true;
}

static void said_measured(tare_quantizing *q, tare_measured_on on, size_t count) {
    q->said->on = on;
    q->said->measured = count;
}

tare_status tare_measure(tare_quantizing *q, const tare_model *quantized, const tare_samples *samples,
                         const tare_indexes *some, tare_measured_on on, tare_error *err) {
    tare_side *reference = NULL;
    const size_t count = some ? some->count : tare_samples_count(samples);
    tare_status status = tare_side_open_model(&reference, "float", q->model, TARE_BACKEND_FLOAT, err);
    if (status == TARE_OK) status = compare(q, reference, quantized, samples, NULL, some ? some->at : NULL, count, err);
    tare_side_close(reference);
    if (status == TARE_OK) said_measured(q, on, count);
    if (on == TARE_MEASURED_GIVEN) return status;
    return is_no_measure(q, status, err) ? TARE_OK : status;
}

/* ---- held out ---- */

/* Of those held out, evenly spread. */
static tare_status spread(tare_indexes *out, const tare_indexes *held, tare_arena *arena, tare_error *err) {
    const size_t most = held->count < MEASURED_MOST ? held->count : MEASURED_MOST;
    for (size_t i = 0; i < most; i++)
        if (!tare_vec_push(arena, out, held->at[i * held->count / most])) return tare_fail_memory(err, 0);
    return TARE_OK;
}

tare_status tare_parts_divide(tare_parts *parts, const tare_quantizing *q, tare_error *err) {
    const size_t total = q->samples ? tare_samples_count(q->samples) : 0;
    const bool holds = total >= ENOUGH, tries = tare_quantize_tries(&q->options);
    tare_indexes held = { 0 };
    *parts = (tare_parts){ .rest = { 0 } };
    for (size_t i = 0; i < total; i++) {
        const bool is_held = holds && i % HOLD == HOLD - 1, is_tried = is_held && tries && i / HOLD % 2 == 0;
        tare_indexes *to = is_tried ? &parts->tried : is_held ? &held : &parts->rest;
        if (!tare_vec_push(q->arena, to, i)) return tare_fail_memory(err, 0);
    }
    TARE_TRY(spread(&parts->measured, &held, q->arena, err));
    for (size_t i = 0, m = 0; i < held.count; i++) {
        if (m < parts->measured.count && parts->measured.at[m] == held.at[i])
            m++;
        else if (!tare_vec_push(q->arena, &parts->unmeasured, held.at[i]))
            return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

/* One call of tare_holdout_calibrate. */
typedef struct counting {
    tare_quantizing *q;
    const tare_parts *parts;
    tare_calibrator *calibrator;
    tare_ranges *total;
} counting;

static tare_status count(const counting *c, const tare_indexes *which, tare_error *err) {
    return which->count ? tare_calibrator_count(c->calibrator, which->at, which->count, err) : TARE_OK;
}

/* What was counted since the last time joins the total. */
static tare_status merge(counting *c, tare_error *err) {
    tare_ranges *part = NULL;
    TARE_TRY(tare_calibrator_take(c->calibrator, &part, err));
    const tare_status status = tare_ranges_merge(c->total, part, err);
    tare_ranges_free(part);
    return status;
}

static tare_status try_ranges(counting *c, tare_error *err) {
    const tare_indexes *tried = &c->parts->tried;
    tare_ranges *part = NULL;
    TARE_TRY(count(c, tried, err));
    TARE_TRY(tare_calibrator_take(c->calibrator, &part, err));
    tare_status status = tare_quantizing_try(c->q, c->total, part, tried->at, tried->count, err);
    if (status == TARE_OK) status = tare_ranges_merge(c->total, part, err);
    tare_ranges_free(part);
    return status;
}

static tare_status run_counted(void *context, size_t thread, const tare_sample *sample, tare_error *err) {
    return tare_calibrator_see(context, thread, sample, err);
}

static const tare_tensor *counted_output(void *context, size_t thread, size_t index) {
    return tare_calibrator_output(context, thread, index);
}

/* Counts the measured samples on the way. */
static tare_status measure(const counting *c, tare_error *err) {
    const tare_runner runner = { .run = run_counted, .output = counted_output, .context = c->calibrator };
    const tare_indexes *measured = &c->parts->measured;
    tare_quantizing *q = c->q;
    tare_model *trial = NULL;
    tare_side *reference = NULL;
    tare_status status = tare_quantizing_copy(q, c->total, NULL, NULL, &trial, NULL, err);
    if (status == TARE_OK) status = tare_side_open_runner(&reference, "float", q->model, &runner, err);
    if (status == TARE_OK)
        status = compare(q, reference, trial, q->samples, tare_calibrator_pool(c->calibrator), measured->at,
                         measured->count, err);
    tare_side_close(reference);
    tare_model_free(trial);
    return status;
}

/* What was counted before measuring stopped is counted again from the start. */
static tare_status count_again(const counting *c, tare_error *err) {
    tare_ranges *part = NULL;
    tare_error none = { 0 };
    const tare_status status = tare_calibrator_take(c->calibrator, &part, &none);
    tare_ranges_free(part);
    if (status == TARE_E_LIMIT) return *err = none, status;
    return count(c, &c->parts->measured, err);
}

static tare_status count_measured(const counting *c, tare_error *err) {
    tare_quantizing *q = c->q;
    if (!q->said || q->holdout) return count(c, &c->parts->measured, err);
    const tare_status status = measure(c, err);
    if (status != TARE_OK) return is_no_measure(q, status, err) ? count_again(c, err) : status;
    q->said->held = c->parts->measured.count + c->parts->unmeasured.count;
    said_measured(q, TARE_MEASURED_HELD_OUT, c->parts->measured.count);
    return TARE_OK;
}

static tare_status calibrate(counting *c, tare_error *err) {
    TARE_TRY(count(c, &c->parts->rest, err));
    TARE_TRY(tare_calibrator_take(c->calibrator, &c->total, err));
    if (c->parts->tried.count) TARE_TRY(try_ranges(c, err));
    TARE_TRY(count_measured(c, err));
    TARE_TRY(count(c, &c->parts->unmeasured, err));
    return merge(c, err);
}

tare_status tare_holdout_calibrate(tare_quantizing *q, const tare_parts *parts, tare_ranges **out, tare_error *err) {
    counting c = { .q = q, .parts = parts };
    TARE_TRY(tare_calibrator_open(&c.calibrator, q->model, q->samples, &q->calibrate, q->log, err));
    const tare_status status = calibrate(&c, err);
    tare_calibrator_close(c.calibrator);
    if (status == TARE_OK)
        *out = c.total;
    else
        tare_ranges_free(c.total);
    return status;
}

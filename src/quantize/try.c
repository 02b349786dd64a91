/* Method auto: the ranges of all other methods, each tried alone. A range is as bad as the squared error that it makes at the
 * outputs of the nodes that read the value, relative to the square of these outputs. What becomes of an error behind a node
 * is seen on a few samples; how large the error is, tails and all, is counted over all that are held out. */
#include <float.h>
#include <math.h>

#include "base/words.h"
#include "quantize/scheme.h"
#include "run/each.h"

/* Values that share one scale, and which scales that may be. */
typedef struct choice {
    size_t count;
    const tare_method *method[TARE_METHOD_COUNT];
    const tare_quant *quant[TARE_METHOD_COUNT];
    double error[TARE_METHOD_COUNT];
} choice;

/* What a trial made on one sample: squares of the error put in, of the error that came out, and of the numbers that did. */
typedef struct harm {
    double in, out, power;
} harm;

/* What a trial is to say. */
typedef struct question {
    double *error;   /* of the choice: what it adds to */
    double expected; /* the squared error of a number that it puts in */
    size_t first;    /* trial of those that put the same in, at other readers */
} question;

typedef struct job {
    tare_scheme scheme;
    tare_arena *arena;
    choice *choices; /* by index of the root */
    TARE_VEC(tare_trial) trials;
    TARE_VEC(question) questions; /* by trial */
    const tare_ranges *held_out;  /* what was counted there */
    harm *harms;                  /* by sample in hand, then by trial */
    size_t indexes[TARE_TRY_SAMPLES], samples;
    tare_constants *constants; /* of all workers' sessions */
    const tare_kernels *kernels;
} job;

typedef struct worker {
    const job *job;
    tare_session *session;
    harm *harms; /* of the sample in hand */
} worker;

bool tare_quantize_tries(const tare_quantize_options *options) {
    const tare_method *method = options->method ? tare_method_find(options->method) : tare_method_at(0);
    bool tries = method && method->tries;
    for (size_t i = 0; i < options->rule_count; i++) {
        method = options->rules[i].method ? tare_method_find(options->rules[i].method) : NULL;
        tries |= method && method->tries;
    }
    return tries;
}

/* ---- what is tried ---- */

static void add_candidate(choice *c, const tare_method *method, const tare_quant *quant) {
    for (size_t i = 0; i < c->count; i++)
        if (c->quant[i]->scale[0] == quant->scale[0] && c->quant[i]->zero_point[0] == quant->zero_point[0]) return;
    c->method[c->count] = method;
    c->quant[c->count++] = quant;
}

static tare_status list_candidates(job *j, const tare_ranges *ranges, tare_error *err) {
    const size_t count = j->scheme.values.count;
    j->choices = tare_arena_alloc(j->arena, count + 1, sizeof *j->choices);
    if (!j->choices) return tare_fail_memory(err, count * sizeof *j->choices);
    for (size_t m = 0; m < tare_method_count(); m++) {
        const tare_quant **quants;
        if (tare_method_at(m)->tries) continue;
        TARE_TRY(tare_activation_quants(&j->scheme, ranges, tare_method_at(m), &quants, err));
        for (size_t i = 0; i < count; i++)
            if (quants[i]) add_candidate(&j->choices[i], tare_method_at(m), quants[i]);
    }
    return TARE_OK;
}

/* The values behind a node that hands codes on have readers of their own. */
static bool hands_on(const job *j, const tare_node *node, size_t root) {
    const tare_value *out = node->output_count > 0 ? node->outputs[0] : NULL;
    const tare_scheme_value *entry = out ? tare_scheme_find(&j->scheme, out) : NULL;
    return entry && entry->quantized && tare_scheme_root_of(&j->scheme, entry) == root;
}

typedef struct expectation {
    const tare_quant *quant;
    double error, count;
} expectation;

static void expect(void *context, const tare_value *value, const tare_range *range) {
    expectation *e = context;
    const tare_dtype code = e->quant->code;
    const tare_range_request request = { .code = code };
    const float scale = e->quant->scale[0];
    const int32_t zero_point = e->quant->zero_point[0];
    (void)value;
    if (!(range->min <= range->max)) return;
    e->count += (double)range->count;
    e->error += (double)range->count *
                tare_range_error(range, &request, scale * (float)(tare_dtype_lowest(code) - zero_point),
                                 scale * (float)(tare_dtype_highest(code) - zero_point), tare_clip_weight);
}

/* Of one number of the value. */
static double expected_error(const job *j, const tare_value *value, const tare_quant *quant) {
    expectation e = { .quant = quant };
    tare_sources_visit(j->held_out, value, expect, &e);
    return e.count > 0 ? e.error / e.count : 0;
}

static tare_status list_readers(job *j, size_t index, tare_error *err) {
    const tare_value *value = j->scheme.values.at[index].value;
    const size_t root = tare_scheme_root(&j->scheme, index);
    choice *c = &j->choices[root];
    question questions[TARE_METHOD_COUNT];
    for (size_t k = 0; k < c->count && c->count > 1; k++)
        questions[k] = (question){ &c->error[k], expected_error(j, value, c->quant[k]), j->trials.count + k };
    for (size_t u = 0; u < value->uses.count && c->count > 1; u++) {
        const tare_use *use = &value->uses.at[u];
        if (hands_on(j, use->node, root)) continue;
        for (size_t k = 0; k < c->count; k++) {
            const tare_trial trial = { .node = use->node, .input = use->index, .quant = c->quant[k] };
            if (!tare_vec_push(j->arena, &j->trials, trial) || !tare_vec_push(j->arena, &j->questions, questions[k]))
                return tare_fail_memory(err, sizeof trial);
        }
    }
    return TARE_OK;
}

/* ---- trying ---- */

/* Of numbers that lie alike. What is not finite in float says nothing; what becomes so is as bad as can be. */
static double square_error(const tare_kernels *kernels, const float *tried, const float *real, size_t count) {
    double sum = kernels->square_error_f32(tried, real, count);
    if (isfinite(sum)) return sum;
    sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double error = (double)(tried[i] - real[i]);
        if (isfinite(real[i])) sum += isnan(error) ? INFINITY : error * error;
    }
    return sum;
}

static double square_sum(const tare_kernels *kernels, const float *real, size_t count) {
    double sum = kernels->square_beyond_f32(real, count, 0, 0);
    if (isfinite(sum)) return sum;
    sum = 0;
    for (size_t i = 0; i < count; i++) sum += tare_finite_or_0(real[i]) * tare_finite_or_0(real[i]);
    return sum;
}

/* Of a rounded input, per number, where clipping counts as it does in what is expected. */
static double input_error(const tare_kernels *kernels, const float *rounded, const float *real, size_t count,
                          const tare_quant *quant) {
    const float step = quant->scale[0];
    const float lo = step * (float)(tare_dtype_lowest(quant->code) - quant->zero_point[0]),
                hi = step * (float)(tare_dtype_highest(quant->code) - quant->zero_point[0]);
    const double sum = kernels->square_error_f32(rounded, real, count) +
                       (tare_clip_weight - 1) * kernels->square_beyond_f32(real, count, lo, hi);
    return count && isfinite(sum) ? sum / (double)count : 0;
}

static tare_status see_trial(void *context, const tare_trial *trial, const tare_call *tried, const tare_call *real,
                             tare_error *err) {
    worker *w = context;
    const size_t index = (size_t)(trial - w->job->trials.at);
    const bool is_first = !index || trial[-1].node != trial->node || trial[-1].input != trial->input;
    const tare_kernels *kernels = w->job->kernels;
    harm *to = &w->harms[index];
    (void)err;
    const tare_tensor *input = real->inputs[trial->input];
    *to = (harm){ .power = is_first ? 0 : to[-1].power };
    if (w->job->questions.at[index].first == index)
        to->in = input_error(kernels, tried->inputs[trial->input]->data, input->data, input->size / sizeof(float),
                             trial->quant);
    for (int i = 0; i < tried->output_count; i++) {
        const tare_tensor *a = tried->outputs[i], *b = real->outputs[i];
        if (!a || a->dtype != TARE_F32) continue;
        const size_t numbers = a->size / sizeof(float);
        to->out += square_error(kernels, a->data, b->data, numbers);
        if (is_first) to->power += square_sum(kernels, b->data, numbers);
    }
    return TARE_OK;
}

static tare_status try_sample(void *context, const tare_sample *sample, tare_error *err) {
    worker *w = context;
    size_t at = 0;
    while (w->job->indexes[at] != sample->index) at++;
    w->harms = w->job->harms + at * w->job->trials.count;
    return tare_session_run(w->session, sample->inputs, err);
}

static tare_status run_trials(job *j, const tare_samples *samples, const tare_try_options *how, tare_pool *pool,
                              tare_log *log, tare_error *err) {
    const size_t count = tare_pool_size(pool);
    const tare_session_options options = { .backend = TARE_BACKEND_FLOAT, .cpu = how->cpu, .constants = j->constants };
    worker *states = tare_arena_alloc(j->arena, count, sizeof *states);
    void **workers = tare_arena_alloc(j->arena, count, sizeof *workers);
    j->harms = tare_arena_alloc(j->arena, j->samples * j->trials.count, sizeof *j->harms);
    if (!states || !workers || !j->harms) return tare_fail_memory(err, count * sizeof *states);
    tare_status status = TARE_OK;
    for (size_t i = 0; status == TARE_OK && i < count; i++) {
        workers[i] = &states[i];
        states[i].job = j;
        status = tare_session_new(&states[i].session, j->scheme.model, &options, err);
        if (status == TARE_OK)
            status =
                tare_session_set_trials(states[i].session, j->trials.at, j->trials.count, see_trial, &states[i], err);
    }
    const tare_each each = { .samples = samples,
                             .indexes = j->indexes,
                             .count = j->samples,
                             .pool = pool,
                             .workers = workers,
                             .fn = try_sample,
                             .job = "try ranges",
                             .log = log };
    if (status == TARE_OK) status = tare_each_sample(&each, err);
    for (size_t i = 0; i < count; i++) tare_session_free(states[i].session);
    return status;
}

/* ---- who wins ---- */

static void add_harms(job *j) {
    for (size_t t = 0; t < j->trials.count; t++) {
        const question *q = &j->questions.at[t];
        harm sum = { 0 };
        for (size_t s = 0; s < j->samples; s++) {
            const harm *harms = &j->harms[s * j->trials.count];
            sum.in += harms[q->first].in / (double)j->samples;
            sum.out += harms[t].out;
            sum.power += harms[t].power;
        }
        const double share = sum.out / (sum.power + DBL_MIN);
        const double all = sum.in > 0 ? share * (q->expected / sum.in) : share;
        *q->error += isnan(all) ? INFINITY : all;
    }
}

/* Of equals the first. */
static const tare_method *best_of(const choice *c) {
    size_t best = 0;
    for (size_t k = 1; k < c->count; k++)
        if (c->error[k] < c->error[best]) best = k;
    return c->method[best];
}

static tare_status name_winners(const job *j, tare_map *winners, tare_log *log, tare_error *err) {
    size_t wins[TARE_METHOD_COUNT] = { 0 };
    tare_text text = { .arena = j->arena };
    for (size_t i = 0; i < j->scheme.values.count; i++) {
        const size_t root = tare_scheme_root(&j->scheme, i);
        const choice *c = &j->choices[root];
        if (c->count < 2) continue;
        tare_winner *winner = tare_arena_alloc(winners->arena, 1, sizeof *winner);
        const char *name = winner ? tare_arena_strdup(winners->arena, j->scheme.values.at[i].value->name) : NULL;
        if (!name) return tare_fail_memory(err, sizeof *winner);
        winner->method = best_of(c);
        if (!tare_map_put(winners, name, winner)) return tare_fail_memory(err, 0);
        for (size_t m = 0; root == i && m < tare_method_count(); m++) wins[m] += tare_method_at(m) == winner->method;
    }
    for (size_t m = 0; m < tare_method_count(); m++)
        if (wins[m]) tare_text_printf(&text, "%s%s %zu", text.length ? ", " : "", tare_method_at(m)->name, wins[m]);
    tare_log_note(log, "method auto tried ranges on %zu sample%s; least harm by: %s", j->samples,
                  tare_plural(j->samples, "", "s"), text.length ? text.at : "all alike");
    return TARE_OK;
}

/* ---- the whole ---- */

/* At most so many, spread evenly. */
static void pick_samples(job *j, const tare_try_options *how) {
    j->samples = how->count < TARE_TRY_SAMPLES ? how->count : TARE_TRY_SAMPLES;
    for (size_t i = 0; i < j->samples; i++) {
        const size_t at = (2 * i + 1) * how->count / (2 * j->samples);
        j->indexes[i] = how->indexes[at];
    }
}

static tare_status try_all(job *j, const tare_ranges *ranges, const tare_samples *samples, const tare_try_options *how,
                           tare_map *winners, tare_log *log, tare_error *err) {
    TARE_TRY(tare_scheme_make(&j->scheme, ranges, err));
    TARE_TRY(list_candidates(j, ranges, err));
    for (size_t i = 0; i < j->scheme.values.count; i++)
        if (j->scheme.values.at[i].quantized) TARE_TRY(list_readers(j, i, err));
    pick_samples(j, how);
    if (j->trials.count && j->samples) {
        tare_pool *pool = tare_pool_new(how->threads);
        j->constants = tare_constants_new();
        j->kernels = tare_kernels_for(how->cpu);
        tare_status status =
            pool && j->constants ? run_trials(j, samples, how, pool, log, err) : tare_fail_memory(err, 0);
        tare_constants_free(j->constants);
        tare_pool_free(pool);
        if (status != TARE_OK) return status;
        add_harms(j);
    }
    return name_winners(j, winners, log, err);
}

tare_status tare_quantize_try(tare_map *winners, tare_model *model, const tare_ranges *ranges,
                              const tare_quantize_options *options, const tare_samples *samples,
                              const tare_try_options *how, tare_log *log, tare_error *err) {
    TARE_TRY(tare_quantize_check_options(options, err));
    job j = { .arena = tare_arena_new() };
    if (!j.arena) return tare_fail_memory(err, 0);
    j.held_out = how->held_out ? how->held_out : ranges;
    j.scheme = (tare_scheme){ .arena = j.arena, .model = model, .options = options };
    tare_status status = try_all(&j, ranges, samples, how, winners, log, err);
    tare_arena_free(j.arena);
    return status;
}

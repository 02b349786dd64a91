/* Who is to blame: the quantized model is run again without the rounding of a part of its nodes, and what its worst output
 * gains tells what that part costs. The part that costs most is halved, again and again, until single nodes are left; a few
 * samples are enough for that order. */
#include "api/blame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/floats.h"

enum {
    TRIALS = 24, /* parts that are tried */
    SAMPLES = 6  /* that they are tried on */
};

static const double least_gain = 0.5; /* dB: less is no find */

typedef struct suspect {
    const tare_compared *local, *together;
} suspect;

/* What is not rounded in a trial. */
enum { WEIGHTS = 1, OUTPUTS = 2, ACTIVATIONS = 4 /* of all nodes */ };

typedef struct blamer {
    const tare_blame_request *request;
    tare_compare_options options;
    const char *output;
    tare_arena *arena; /* for the while of it */
    uint64_t done, total;
} blamer;

/* ---- taking rounding away ---- */

static const char *other_name(const tare_compared *c) { return c->other ? c->other : c->name; }

/* What the node gives, before the activation behind it and after that. */
static void free_outputs(const blamer *b, tare_model *copy, const tare_compared *together) {
    tare_value *value = tare_map_get(&copy->graph->values, other_name(together));
    if (value) value->quant = NULL;
    const tare_value *real = tare_map_get(&b->request->model->graph->values, together->name);
    if (!together->behind || !real) return;
    const tare_compared *behind = tare_comparison_find(b->request->together, real->uses.at[0].node->outputs[0]->name);
    value = behind ? tare_map_get(&copy->graph->values, other_name(behind)) : NULL;
    if (value) value->quant = NULL;
}

static tare_status take_away(const blamer *b, tare_model *copy, const suspect *s, unsigned what, tare_error *err) {
    tare_value *value = tare_map_get(&copy->graph->values, other_name(s->together));
    const tare_value *real = tare_map_get(&b->request->model->graph->values, s->together->name);
    if (what & OUTPUTS) free_outputs(b, copy, s->together);
    if (!(what & WEIGHTS) || !value || !value->producer || !real || !real->producer) return TARE_OK;
    return tare_floats_restore(value->producer, real->producer, false, err);
}

static void free_activations(tare_model *copy) {
    const tare_map *values = &copy->graph->values;
    for (size_t i = 0; i < values->entries.count; i++) {
        tare_value *value = values->entries.at[i].value;
        if (value && !tare_value_is_constant(value)) value->quant = NULL;
    }
}

/* ---- measuring ---- */

static tare_status compare(blamer *b, const tare_model *quantized, double *db, tare_error *err) {
    tare_comparison *comparison = NULL;
    tare_side *real = NULL, *codes = NULL;
    tare_status status = tare_side_open_model(&real, "float", b->request->model, TARE_BACKEND_FLOAT, err);
    if (status == TARE_OK) status = tare_side_open_model(&codes, "quantized", quantized, TARE_BACKEND_QDQ, err);
    if (status == TARE_OK) status = tare_compare(&comparison, real, codes, b->request->samples, &b->options, NULL, err);
    const tare_compared *output = status == TARE_OK ? tare_comparison_find(comparison, b->output) : NULL;
    *db = output ? output->metrics.sqnr_db : NAN;
    tare_comparison_free(comparison);
    tare_side_close(real);
    tare_side_close(codes);
    return status;
}

/* The output's dB without the rounding of these. */
static tare_status try_without(blamer *b, const suspect *const *suspects, size_t count, unsigned what, double *db,
                               tare_error *err) {
    tare_model *copy = NULL;
    if (!tare_log_progress(b->request->log, "blame", b->done++, b->total))
        return tare_fail(err, TARE_E_INTERRUPTED, "debug: stopped");
    TARE_TRY(tare_model_copy(&copy, b->request->quantized, err));
    tare_status status = TARE_OK;
    if (what & ACTIVATIONS) free_activations(copy);
    for (size_t i = 0; status == TARE_OK && i < count; i++) status = take_away(b, copy, suspects[i], what, err);
    if (status == TARE_OK) status = compare(b, copy, db, err);
    tare_model_free(copy);
    return status;
}

/* ---- halving ---- */

/* Neighbours in the order of the graph. */
typedef struct part {
    size_t from, count;
    double db; /* of the output without their rounding */
    bool is_split;
} part;

typedef struct search {
    const suspect **suspects;
    size_t count;
    TARE_VEC(part) parts;
} search;

/* All that have something quantized. */
static tare_status list_suspects(const blamer *b, search *s, tare_error *err) {
    const tare_blame_request *r = b->request;
    const size_t all = tare_comparison_count(r->together);
    suspect *list = tare_arena_alloc(b->arena, all + 1, sizeof *list);
    s->suspects = tare_arena_alloc(b->arena, all + 1, sizeof *s->suspects);
    if (!list || !s->suspects) return tare_fail_memory(err, all * sizeof *list);
    for (size_t i = 0; i < all; i++) {
        const tare_compared *together = tare_comparison_at(r->together, i);
        const tare_compared *local = tare_comparison_find(r->local, other_name(together));
        if (!local || !together->node || local->metrics.is_exact) continue;
        list[s->count] = (suspect){ local, together };
        s->suspects[s->count] = &list[s->count];
        s->count++;
    }
    return TARE_OK;
}

static tare_status try_part(blamer *b, search *s, size_t from, size_t count, tare_error *err) {
    part one = { .from = from, .count = count };
    TARE_TRY(try_without(b, s->suspects + from, count, WEIGHTS | OUTPUTS, &one.db, err));
    return tare_vec_push(b->arena, &s->parts, one) ? TARE_OK : tare_fail_memory(err, 0);
}

/* The one that costs most among those that can be halved, and more than nothing. */
static part *next_part(const search *s, double now) {
    part *best = NULL;
    for (size_t i = 0; i < s->parts.count; i++) {
        part *one = &s->parts.at[i];
        if (one->is_split || one->count < 2 || !(one->db - now >= least_gain)) continue;
        if (!best || one->db > best->db) best = one;
    }
    return best;
}

static tare_status halve(blamer *b, search *s, double now, tare_error *err) {
    if (s->count) TARE_TRY(try_part(b, s, 0, s->count, err));
    for (part *best; s->parts.count + 2 <= TRIALS && (best = next_part(s, now));) {
        const size_t from = best->from, count = best->count, half = count / 2;
        best->is_split = true;
        TARE_TRY(try_part(b, s, from, half, err));
        TARE_TRY(try_part(b, s, from + half, count - half, err));
    }
    return TARE_OK;
}

static int by_gain(const void *a, const void *b) {
    const tare_blamed *x = a, *y = b;
    return x->db != y->db ? (x->db > y->db ? -1 : 1) : (x->rank > y->rank) - (x->rank < y->rank);
}

static tare_status take_singles(const blamer *b, const search *s, tare_blame *blame, tare_error *err) {
    for (size_t i = 0; i < s->parts.count; i++) {
        const part *one = &s->parts.at[i];
        if (one->count != 1 || !(one->db - blame->db >= least_gain)) continue;
        const tare_compared *c = s->suspects[one->from]->together;
        const tare_blamed found = { .node = c->node, .op = c->op, .rank = one->from, .db = one->db };
        if (!tare_vec_push(b->request->arena, &blame->nodes, found)) return tare_fail_memory(err, 0);
    }
    if (!blame->nodes.count) return TARE_OK;
    qsort(blame->nodes.at, blame->nodes.count, sizeof *blame->nodes.at, by_gain);
    if (blame->nodes.count > TARE_BLAMED_MOST) blame->nodes.count = TARE_BLAMED_MOST;
    return TARE_OK;
}

/* The few that cost most together, if that is more than the first alone; then with float weights only. */
static tare_status try_few(blamer *b, tare_blame *blame, const search *s, tare_error *err) {
    const suspect *few[TARE_BLAMED_MOST];
    for (size_t i = 0; i < blame->nodes.count; i++) few[i] = s->suspects[blame->nodes.at[i].rank];
    if (!blame->nodes.count) return TARE_OK;
    TARE_TRY(try_without(b, few, blame->nodes.count, WEIGHTS | OUTPUTS, &blame->few_db, err));
    if (!(blame->few_db > blame->nodes.at[0].db)) blame->nodes.count = 1, blame->few_db = blame->nodes.at[0].db;
    return try_without(b, few, blame->nodes.count, WEIGHTS, &blame->weights_db, err);
}

/* ---- */

static const tare_compared *worst_output(const tare_comparison *together) {
    const tare_compared *worst = NULL;
    for (size_t i = 0; i < tare_comparison_count(together); i++) {
        const tare_compared *c = tare_comparison_at(together, i);
        if (!c->is_output || !isfinite(c->metrics.sqnr_db)) continue;
        if (!worst || c->metrics.sqnr_db < worst->metrics.sqnr_db) worst = c;
    }
    return worst;
}

/* The sample on which the output is worst, and others evenly spread. */
static tare_status spread(blamer *b, const char *worst, tare_error *err) {
    const tare_samples *samples = b->request->samples;
    const size_t all = tare_samples_count(samples), some = all < SAMPLES ? all : SAMPLES;
    size_t *indexes = tare_arena_alloc(b->arena, some + 1, sizeof *indexes), count = 0;
    if (!indexes) return tare_fail_memory(err, 0);
    for (size_t i = 0; worst && i < all && !count; i++)
        if (!strcmp(tare_samples_id(samples, i), worst)) indexes[count++] = i;
    for (size_t i = 0, n = 0; n < some && count < some; n++) {
        i = n * all / some;
        if (!count || i != indexes[0]) indexes[count++] = i;
    }
    b->options = *b->request->options;
    b->options.outputs_only = true;
    b->options.indexes = indexes;
    b->options.index_count = count;
    return TARE_OK;
}

static tare_status blame_all(blamer *b, const char *worst, tare_blame *blame, tare_error *err) {
    search s = { .count = 0 };
    TARE_TRY(spread(b, worst, err));
    TARE_TRY(list_suspects(b, &s, err));
    b->total = TRIALS + 4;
    blame->output = b->output;
    blame->samples = b->options.index_count;
    TARE_TRY(try_without(b, NULL, 0, 0, &blame->db, err));
    TARE_TRY(halve(b, &s, blame->db, err));
    TARE_TRY(take_singles(b, &s, blame, err));
    TARE_TRY(try_few(b, blame, &s, err));
    TARE_TRY(try_without(b, NULL, 0, ACTIVATIONS, &blame->activations_db, err));
    tare_log_progress(b->request->log, "blame", b->total, b->total);
    return TARE_OK;
}

tare_status tare_blame_find(tare_blame *blame, const tare_blame_request *request, tare_error *err) {
    const tare_compared *worst = worst_output(request->together);
    *blame = (tare_blame){ .output = NULL };
    if (!worst) return TARE_OK;
    blamer b = { .request = request, .output = worst->name, .arena = tare_arena_new() };
    if (!b.arena) return tare_fail_memory(err, 0);
    const tare_status status = blame_all(&b, worst->metrics.worst_sample, blame, err);
    tare_arena_free(b.arena);
    return status;
}

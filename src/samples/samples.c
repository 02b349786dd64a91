/* The door's functions: sources bound to inputs, joined, sorted, cut to a range, read one by one. */
#include "samples/samples.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "samples/data.h"

/* One source: what it was opened as, and which of its items goes to which sample. */
typedef struct source {
    tare_data data;
    size_t *item_of; /* by sample, before the range is cut; NULL: item 0 goes to all */
} source;

typedef struct row {
    const char *id;
    size_t item; /* of the source whose ids count */
} row;

struct tare_samples {
    tare_arena *arena;
    const tare_model *model;
    tare_log *log;
    source *sources;
    size_t source_count;
    tare_feed *feeds;
    source **feed_sources; /* of each feed */
    size_t feed_count;
    row *rows;               /* sorted by id; [0, count) are the samples */
    size_t count, available; /* before --samples */
    bool is_numbered;
    pthread_mutex_t *hold; /* while a held array is read */
};

/* ---- sources to inputs ---- */

static bool needs_source(const tare_value *input) { return !input->is_initializer; }

/* The input's own source, or the one that feeds all. */
static const tare_source *source_of(const tare_source *sources, size_t count, const tare_value *input) {
    for (size_t i = 0; i < count; i++) {
        if (sources[i].input != NULL && strcmp(sources[i].input, input->name) == 0) return &sources[i];
    }
    return count == 1 && sources[0].input == NULL ? &sources[0] : NULL;
}

static void list_inputs(char *to, size_t size, const tare_graph *graph) {
    size_t used = 0;
    for (size_t i = 0; i < graph->inputs.count && used < size; i++) {
        if (!needs_source(graph->inputs.at[i])) continue;
        used += (size_t)snprintf(to + used, size - used, "%s'%s'", used == 0 ? "" : ", ", graph->inputs.at[i]->name);
    }
}

static size_t count_needing(const tare_graph *graph) {
    size_t count = 0;
    for (size_t i = 0; i < graph->inputs.count; i++) count += needs_source(graph->inputs.at[i]);
    return count;
}

/* NULL: none is near, or there is but one. */
static const char *nearest_input(const tare_graph *graph, const char *name) {
    const char *near = NULL;
    for (size_t i = 0; i < graph->inputs.count && graph->inputs.count > 1; i++) {
        const char *const one[] = { graph->inputs.at[i]->name, NULL };
        const char *found = tare_text_nearest(name, one);
        if (found && (!near || tare_text_distance(name, found) < tare_text_distance(name, near))) near = found;
    }
    return near;
}

static tare_status check_sources(const tare_graph *graph, const tare_source *sources, size_t count, tare_error *err) {
    char names[512] = "none";
    list_inputs(names, sizeof names, graph);
    if (count == 0)
        return tare_fail(err, TARE_E_USAGE, "there are no data: pass --data SOURCE for the inputs %s", names);
    for (size_t i = 0; i < count; i++) {
        if (sources[i].input == NULL) {
            if (count == 1) continue;
            return tare_fail(err, TARE_E_USAGE,
                             "'%s' is one of %zu sources, so it must say its input: pass NAME=SOURCE; the "
                             "inputs are %s",
                             sources[i].path, count, names);
        }
        size_t k = 0;
        while (k < graph->inputs.count && strcmp(graph->inputs.at[k]->name, sources[i].input) != 0) k++;
        if (k == graph->inputs.count) {
            const char *near = nearest_input(graph, sources[i].input);
            return tare_fail(err, TARE_E_USAGE, "the model has no input '%s'; %s%s%s%s", sources[i].input,
                             near ? "did you mean '" : "there is ", near ? near : names, near ? "'? There is " : "",
                             near ? names : "");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(sources[j].input, sources[i].input) != 0) continue;
            return tare_fail(err, TARE_E_USAGE, "input '%s' has two sources, '%s' and '%s'", sources[i].input,
                             sources[j].path, sources[i].path);
        }
    }
    return TARE_OK;
}

static tare_status add_feed(tare_samples *s, size_t input, const tare_source *given, source *opened, tare_error *err) {
    tare_feed *feed = &s->feeds[s->feed_count];
    *feed = (tare_feed){ .value = s->model->graph->inputs.at[input], .input = input, .data = &opened->data };
    s->feed_sources[s->feed_count++] = opened;
    if (tare_preprocess_parse(&feed->plan, &given->preprocess, err) != TARE_OK) {
        return tare_within(err, "input '%s'", feed->value->name);
    }
    return TARE_OK;
}

/* Has the source's first archive an array of that name, beside others? One alone goes to the input that needs it. */
static bool has_array(const tare_data *data, const char *name) {
    tare_error unused;
    tare_npz *npz;
    if (data->kind != TARE_DATA_NPZ || !data->files.count) return false;
    if (tare_npz_open(&npz, data->files.at[0].path, &unused) != TARE_OK) return false; /* binding tells */
    const bool found = tare_npz_count(npz) > 1 && tare_npz_find(npz, name) != SIZE_MAX;
    tare_npz_close(npz);
    return found;
}

/* Is an initializer that may be overridden fed by this source, by name or by an array of its name? */
static bool overrides(const tare_samples *s, const tare_source *sources, const tare_source *given,
                      const tare_value *input) {
    return given && (given->input || has_array(&s->sources[given - sources].data, input->name));
}

/* Every input that needs one gets its feed. */
static tare_status add_feeds(tare_samples *s, const tare_source *sources, size_t count, tare_error *err) {
    const tare_graph *graph = s->model->graph;
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const tare_value *input = graph->inputs.at[i];
        const tare_source *given = source_of(sources, count, input);
        if (!needs_source(input) && !overrides(s, sources, given, input)) continue;
        if (given == NULL) {
            return tare_fail(err, TARE_E_USAGE, "input '%s' has no source: pass --data %s=SOURCE", input->name,
                             input->name);
        }
        TARE_TRY(add_feed(s, i, given, &s->sources[given - sources], err));
    }
    for (size_t i = 0; i < s->feed_count; i++) {
        size_t sharing = 0;
        for (size_t k = 0; k < s->feed_count; k++) sharing += s->feed_sources[k] == s->feed_sources[i];
        s->feeds[i].is_alone = sharing == 1;
    }
    if (s->feed_count == 0) return tare_fail(err, TARE_E_USAGE, "the model has no inputs, so it takes no samples");
    return TARE_OK;
}

/* A source without a name must be able to feed all inputs. */
static tare_status check_anonymous(const tare_samples *s, const tare_source *given, tare_error *err) {
    size_t needing = count_needing(s->model->graph);
    tare_data_kind kind = s->sources[0].data.kind;
    if (given->input != NULL || needing == 1 || kind == TARE_DATA_NPZ || kind == TARE_DATA_RANDOM) return TARE_OK;
    char names[512] = "";
    list_inputs(names, sizeof names, s->model->graph);
    return tare_fail(err, TARE_E_USAGE,
                     "the model has %zu inputs, %s; '%s' can feed one: pass NAME=SOURCE for each, or .npz with "
                     "their names as keys",
                     needing, names, given->path);
}

/* Binds the feeds of one source, which must agree in the number of samples; the arrays of a single .npz that do not may
 * still be one sample as they are. */
static tare_status bind_source(tare_samples *s, source *from, tare_error *err) {
    for (bool retry = false;; retry = true) {
        size_t count = SIZE_MAX;
        const char *first = NULL, *second = NULL;
        for (size_t i = 0; i < s->feed_count; i++) {
            if (s->feed_sources[i] != from) continue;
            TARE_TRY(tare_feed_bind(&s->feeds[i], s->arena, s->log, err));
            if (count != SIZE_MAX && count != from->data.item_count) second = s->feeds[i].value->name;
            if (count == SIZE_MAX) {
                count = from->data.item_count;
                first = s->feeds[i].value->name;
            }
        }
        if (second == NULL) return TARE_OK;
        if (retry || !from->data.is_single) {
            return tare_fail(err, TARE_E_USAGE, "%s: has %zu sample%s for input '%s', but %zu for '%s'",
                             from->data.text, count, tare_plural(count, "", "s"), first, from->data.item_count, second);
        }
        from->data.whole = true;
    }
}

/* ---- joining ---- */

static int by_id(const void *a, const void *b) { return strcmp(((const row *)a)->id, ((const row *)b)->id); }

/* The source whose ids are the samples': one with names before one with numbers, many items before one. */
static source *choose_reference(tare_samples *s) {
    source *best = &s->sources[0];
    for (size_t i = 1; i < s->source_count; i++) {
        source *other = &s->sources[i];
        bool has_more = other->data.item_count > 1 && best->data.item_count == 1;
        bool has_names = best->data.is_indexed && !other->data.is_indexed && other->data.item_count > 1;
        if (has_more || has_names) best = other;
    }
    return best;
}

static tare_status list_rows(tare_samples *s, const source *reference, tare_error *err) {
    s->count = reference->data.item_count;
    s->is_numbered = reference->data.is_indexed;
    s->rows = tare_arena_alloc(s->arena, s->count, sizeof *s->rows);
    if (s->rows == NULL) return tare_fail_memory(err, s->count * sizeof *s->rows);
    for (size_t i = 0; i < s->count; i++) {
        s->rows[i] = (row){ tare_data_id(&reference->data, i, s->arena), i };
        if (s->rows[i].id == NULL) return tare_fail_memory(err, 0);
    }
    qsort(s->rows, s->count, sizeof *s->rows, by_id);
    for (size_t i = 1; i < s->count; i++) {
        if (strcmp(s->rows[i - 1].id, s->rows[i].id) == 0) {
            return tare_fail(err, TARE_E_USAGE, "%s: two samples have the id '%s'", reference->data.text,
                             s->rows[i].id);
        }
    }
    return TARE_OK;
}

/* Items of another source by their ids. */
static tare_status join_by_id(tare_samples *s, source *other, const char *reference, tare_error *err) {
    row *rows = tare_arena_alloc(s->arena, s->count, sizeof *rows);
    if (rows == NULL) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < s->count; i++) {
        rows[i] = (row){ tare_data_id(&other->data, i, s->arena), i };
        if (rows[i].id == NULL) return tare_fail_memory(err, 0);
    }
    qsort(rows, s->count, sizeof *rows, by_id);
    for (size_t i = 0; i < s->count; i++) {
        int order = strcmp(s->rows[i].id, rows[i].id);
        if (order != 0) {
            return tare_fail(err, TARE_E_USAGE,
                             "'%s' has no sample '%s', which '%s' has; samples of several sources go "
                             "together by their names",
                             order < 0 ? other->data.text : reference, order < 0 ? s->rows[i].id : rows[i].id,
                             order < 0 ? reference : other->data.text);
        }
        other->item_of[i] = rows[i].item;
    }
    return TARE_OK;
}

static tare_status join(tare_samples *s, source *other, const source *reference, tare_error *err) {
    if (other->data.item_count == 1 && s->count > 1) {
        tare_log_note(s->log, "%s: its one sample goes with each of the %zu of %s", other->data.text, s->count,
                      reference->data.text);
        return TARE_OK;
    }
    if (other->data.item_count != s->count) {
        return tare_fail(err, TARE_E_USAGE, "'%s' has %zu sample%s, '%s' has %zu; they must be as many, or one",
                         reference->data.text, s->count, tare_plural(s->count, "", "s"), other->data.text,
                         other->data.item_count);
    }
    other->item_of = tare_arena_alloc(s->arena, s->count, sizeof *other->item_of);
    if (other->item_of == NULL) return tare_fail_memory(err, 0);
    bool by_order = other == reference || other->data.is_indexed || reference->data.is_indexed || s->count == 1;
    if (!by_order) return join_by_id(s, other, reference->data.text, err);
    for (size_t i = 0; i < s->count; i++) other->item_of[i] = s->rows[i].item;
    return TARE_OK;
}

static tare_status join_all(tare_samples *s, tare_error *err) {
    source *reference = choose_reference(s);
    TARE_TRY(list_rows(s, reference, err));
    for (size_t i = 0; i < s->source_count; i++) TARE_TRY(join(s, &s->sources[i], reference, err));
    return TARE_OK;
}

/* ---- range ---- */

static bool parse_count(const char **text, size_t *number) {
    char *end;
    if (**text < '0' || **text > '9') return false;
    unsigned long long read = strtoull(*text, &end, 10);
    *text = end;
    *number = (size_t)read;
    return true;
}

/* "N", "A:B", "A:", ":B". */
static tare_status cut_range(tare_samples *s, const char *range, tare_error *err) {
    s->available = s->count;
    if (range == NULL) return TARE_OK;
    const char *at = range;
    size_t first = 0, end = SIZE_MAX;
    bool has_number = parse_count(&at, &end), has_colon = *at == ':';
    if (has_colon) {
        first = has_number ? end : 0;
        end = SIZE_MAX;
        at++;
        has_number = parse_count(&at, &end) || has_number;
    }
    if (!has_number || *at != '\0') {
        return tare_fail(err, TARE_E_USAGE, "samples '%s': N or A:B is wanted", range);
    }
    const size_t there = s->count, asked = end;
    if (end > there) end = there;
    if (first >= end) {
        return tare_fail(err, TARE_E_USAGE,
                         "samples '%s' leaves none of the %zu there are: pass N for the first N, or A:B", range, there);
    }
    if (asked > there && asked != SIZE_MAX) {
        tare_log_warn(s->log, "samples '%s': there are only %zu", range, there);
    }
    for (size_t i = 0; i < s->source_count; i++) {
        if (s->sources[i].item_of != NULL) s->sources[i].item_of += first;
    }
    s->rows += first;
    s->count = end - first;
    return TARE_OK;
}

/* ---- the door ---- */

static tare_status open_all(tare_samples *s, const tare_source *sources, size_t count, const char *range,
                            tare_error *err) {
    const tare_graph *graph = s->model->graph;
    TARE_TRY(check_sources(graph, sources, count, err));
    s->sources = tare_arena_alloc(s->arena, count, sizeof *s->sources);
    s->feeds = tare_arena_alloc(s->arena, graph->inputs.count, sizeof *s->feeds);
    s->feed_sources = tare_arena_alloc(s->arena, graph->inputs.count, sizeof *s->feed_sources);
    if (s->sources == NULL || s->feeds == NULL || s->feed_sources == NULL) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < count; i++) {
        const char *text = tare_arena_strdup(s->arena, sources[i].path);
        if (text == NULL) return tare_fail_memory(err, 0);
        TARE_TRY(tare_data_open(&s->sources[i].data, text, sources[i].whole, s->arena, s->log, err));
        s->source_count++;
    }
    TARE_TRY(check_anonymous(s, &sources[0], err));
    TARE_TRY(add_feeds(s, sources, count, err));
    for (size_t i = 0; i < count; i++) TARE_TRY(bind_source(s, &s->sources[i], err));
    for (size_t i = 0; i < s->feed_count; i++) {
        char doubt[TARE_DOUBT_SIZE];
        if (tare_feed_doubt(&s->feeds[i], doubt)) tare_log_warn(s->log, "%s", doubt);
    }
    TARE_TRY(join_all(s, err));
    return cut_range(s, range, err);
}

tare_status tare_samples_open(tare_samples **out, const tare_model *model, const tare_source *sources, size_t count,
                              const char *range, tare_log *log, tare_error *err) {
    *out = NULL;
    tare_arena *arena = tare_arena_new();
    tare_samples *s = arena == NULL ? NULL : tare_arena_alloc(arena, 1, sizeof *s);
    pthread_mutex_t *hold = s == NULL ? NULL : tare_arena_alloc(arena, 1, sizeof *hold);
    if (hold == NULL) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *s);
    }
    pthread_mutex_init(hold, NULL);
    s->hold = hold;
    s->arena = arena;
    s->model = model;
    s->log = log;
    tare_status status = open_all(s, sources, count, range, err);
    if (status != TARE_OK) {
        tare_samples_close(s);
        return status;
    }
    *out = s;
    return TARE_OK;
}

void tare_samples_close(tare_samples *samples) {
    if (samples == NULL) return;
    for (size_t i = 0; i < samples->source_count; i++) tare_data_close(&samples->sources[i].data);
    pthread_mutex_destroy(samples->hold);
    tare_arena_free(samples->arena);
}

size_t tare_samples_available(const tare_samples *s) { return s->available; }
size_t tare_samples_count(const tare_samples *samples) { return samples->count; }

const char *tare_samples_id(const tare_samples *samples, size_t index) { return samples->rows[index].id; }

size_t tare_samples_row(const tare_samples *samples, size_t index) { return samples->rows[index].item; }

bool tare_samples_are_numbered(const tare_samples *samples) { return samples->is_numbered; }

bool tare_samples_are_synthetic(const tare_samples *samples) {
    for (size_t i = 0; i < samples->source_count; i++) {
        if (samples->sources[i].data.kind == TARE_DATA_RANDOM) return true;
    }
    return false;
}

static tare_status get_input(const tare_samples *s, size_t k, size_t index, tare_tensor **out, tare_arena *arena,
                             tare_error *err) {
    tare_feed *feed = &s->feeds[k];
    if (feed->is_held) {
        pthread_mutex_lock(s->hold);
        tare_status status = tare_feed_hold(feed, s->arena, err);
        pthread_mutex_unlock(s->hold);
        if (status != TARE_OK) return status;
    }
    const size_t *item_of = s->feed_sources[k]->item_of;
    return tare_feed_get(feed, item_of == NULL ? 0 : item_of[index], out, s->log, arena, err);
}

const tare_graph *tare_samples_graph(const tare_samples *samples) { return samples->model->graph; }

void tare_samples_mark_fed(const tare_samples *samples, bool *is_fed) {
    for (size_t k = 0; k < samples->feed_count; k++) is_fed[samples->feeds[k].input] = true;
}

tare_status tare_samples_get(const tare_samples *samples, size_t index, tare_arena *arena, tare_sample *out,
                             tare_error *err) {
    size_t count = samples->model->graph->inputs.count;
    tare_tensor **inputs = tare_arena_alloc(arena, count, sizeof *inputs);
    if (inputs == NULL) return tare_fail_memory(err, count * sizeof *inputs);
    for (size_t k = 0; k < samples->feed_count; k++) {
        TARE_TRY(get_input(samples, k, index, &inputs[samples->feeds[k].input], arena, err));
    }
    *out = (tare_sample){ samples->rows[index].id, index, inputs };
    return TARE_OK;
}

/* ---- what went in, for people ---- */

/* Of the first sample, which says its id. */
static tare_status list_contracts(const tare_samples *s, const char **id, tare_contract *list, tare_arena *arena,
                                  tare_error *err) {
    tare_sample first;
    TARE_TRY(tare_samples_get(s, 0, arena, &first, err));
    *id = first.id;
    for (size_t k = 0; k < s->feed_count; k++)
        TARE_TRY(tare_feed_contract(&list[k], &s->feeds[k], first.inputs[s->feeds[k].input], arena, err));
    return TARE_OK;
}

tare_status tare_samples_contracts(const tare_samples *samples, tare_arena *arena, const tare_contract **out,
                                   size_t *count, tare_error *err) {
    const char *id;
    tare_contract *list = tare_arena_alloc(arena, samples->feed_count + 1, sizeof *list);
    if (!list) return tare_fail_memory(err, 0);
    *out = list;
    *count = samples->feed_count;
    return list_contracts(samples, &id, list, arena, err);
}

static tare_status print_contracts(const tare_samples *s, tare_text *text, tare_arena *arena, tare_error *err) {
    const char *id;
    tare_contract *list = tare_arena_alloc(arena, s->feed_count + 1, sizeof *list);
    if (!list) return tare_fail_memory(err, 0);
    TARE_TRY(list_contracts(s, &id, list, arena, err));
    for (size_t k = 0; k < s->feed_count; k++) {
        const tare_contract *c = &list[k];
        tare_text_printf(text, "input '%s' %s %s from %s: %s; '%s' has ", c->input, c->shape, c->type, c->source,
                         c->text, id);
        if (c->lo <= c->hi)
            tare_text_printf(text, "min %.6g mean %.6g max %.6g\n", c->lo, c->average, c->hi);
        else
            tare_text_puts(text, "no elements\n");
    }
    return text->failed ? tare_fail_memory(err, 0) : TARE_OK;
}

tare_status tare_samples_print(const tare_samples *samples, tare_text *text, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    if (arena == NULL) return tare_fail_memory(err, 0);
    const tare_status status = print_contracts(samples, text, arena, err);
    tare_arena_free(arena);
    return status;
}

tare_status tare_samples_identify(const tare_samples *samples, tare_arena *arena, tare_file_id **ids, size_t *count,
                                  tare_error *err) {
    size_t most = 0;
    for (size_t i = 0; i < samples->source_count; i++) most += samples->sources[i].data.files.count + 1;
    *ids = tare_arena_alloc(arena, most + 1, sizeof **ids);
    if (!*ids) return tare_fail_memory(err, most * sizeof **ids);
    *count = 0;
    for (size_t i = 0; i < samples->source_count; i++) {
        const tare_data *data = &samples->sources[i].data;
        if (data->list && tare_path_identify(data->list, *ids + *count)) ++*count;
        for (size_t k = 0; k < data->files.count; k++)
            *count += tare_path_identify(data->files.at[k].path, *ids + *count);
    }
    qsort(*ids, *count, sizeof **ids, tare_file_id_compare);
    return TARE_OK;
}

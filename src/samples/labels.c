/* Labels joined to samples by name or row, and scores judged by them. */
#include "samples/labels.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "samples/csv.h"
#include "samples/data.h"

struct tare_labels {
    tare_arena *arena;
    size_t count;
    int64_t *at;
    size_t *line; /* that a label came from */
};

/* What a table's rows are joined by. */
typedef struct table {
    const tare_labelled *samples;
    bool are_numbered;
    tare_labels *labels;
    tare_map by_id;           /* id: its index + 1, as a pointer into `indices` */
    size_t *indices, *by_row; /* by_row: index + 1 of the sample of a row, 0: none */
    size_t row_count;
} table;

static tare_status parse_number(const char *text, const char *what, int64_t *number, tare_error *err) {
    char *end;
    errno = 0;
    long long read = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || read < 0 || read > INT32_MAX) {
        return tare_fail(err, TARE_E_MALFORMED, "'%.60s' is no %s, a whole number 0...2^31-1", text, what);
    }
    *number = read;
    return TARE_OK;
}

static tare_status set_label(tare_labels *labels, size_t index, const char *text, size_t line, const char *id,
                             tare_error *err) {
    if (labels->line[index] != 0) {
        return tare_fail(err, TARE_E_MALFORMED, "sample '%s' has a label already, from line %zu", id,
                         labels->line[index]);
    }
    labels->line[index] = line;
    return parse_number(text, "label", &labels->at[index], err);
}

static tare_status index_samples(table *t, tare_error *err) {
    size_t count = t->labels->count;
    tare_arena *arena = t->labels->arena;
    tare_map_init(&t->by_id, arena);
    for (size_t i = 0; i < count; i++) {
        const size_t row = t->samples[i].row + 1;
        if (row > t->row_count) t->row_count = row;
    }
    t->indices = tare_arena_alloc(arena, count, sizeof *t->indices);
    t->by_row = tare_arena_alloc(arena, t->row_count, sizeof *t->by_row);
    if (t->indices == NULL || t->by_row == NULL) return tare_fail_memory(err, 0);
    for (size_t i = 0; i < count; i++) {
        t->indices[i] = i;
        t->by_row[t->samples[i].row] = i + 1;
        if (!tare_map_put(&t->by_id, t->samples[i].id, &t->indices[i])) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

/* The sample of this name: as an id, as a file's name, or as its whole path; SIZE_MAX: none of the samples. */
static size_t find_name(const table *t, const char *name, bool is_file) {
    const size_t *index = tare_map_get(&t->by_id, name);
    if (index == NULL && is_file) {
        const char *stem = tare_name_stem(name, t->labels->arena), *flat = tare_name_flatten(name, t->labels->arena);
        if (flat != NULL) index = tare_map_get(&t->by_id, flat);
        if (index == NULL && stem != NULL) index = tare_map_get(&t->by_id, stem);
    }
    return index == NULL ? SIZE_MAX : *index;
}

static tare_status find_row(const table *t, const char *text, size_t *index, tare_error *err) {
    int64_t row;
    TARE_TRY(parse_number(text, "row", &row, err));
    size_t found = (uint64_t)row < t->row_count ? t->by_row[row] : 0;
    *index = found == 0 ? SIZE_MAX : found - 1;
    return TARE_OK;
}

typedef struct columns {
    size_t label, key;
    bool is_row, is_file;
    size_t count;
} columns;

static tare_status find_columns(const tare_csv *csv, bool is_numbered, columns *c, tare_error *err) {
    size_t row = tare_csv_find(csv, "row"), file = tare_csv_find(csv, "file"), id = tare_csv_find(csv, "id");
    *c = (columns){ .label = tare_csv_find(csv, "label"), .count = csv->fields.count };
    if (c->label == SIZE_MAX)
        return tare_fail(
            err, TARE_E_MALFORMED,
            "line %zu: there is no column 'label'; the first line names the columns, parted by commas, such "
            "as file,label",
            csv->line);
    c->is_row = row != SIZE_MAX && (is_numbered || (file == SIZE_MAX && id == SIZE_MAX));
    c->is_file = !c->is_row && file != SIZE_MAX;
    c->key = c->is_row ? row : c->is_file ? file : id;
    if (c->key != SIZE_MAX) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED,
                     "line %zu: there is no column 'file', 'id' or 'row' to join by; the first line names the columns, "
                     "such as file,label",
                     csv->line);
}

static tare_status read_row(const table *t, const tare_csv *csv, const columns *c, tare_error *err) {
    if (csv->fields.count != c->count) {
        return tare_fail(err, TARE_E_MALFORMED, "has %zu columns, the header has %zu", csv->fields.count, c->count);
    }
    const char *key = csv->fields.at[c->key];
    size_t index;
    if (c->is_row) {
        TARE_TRY(find_row(t, key, &index, err));
    } else {
        index = find_name(t, key, c->is_file);
    }
    if (index == SIZE_MAX) return TARE_OK;
    return set_label(t->labels, index, csv->fields.at[c->label], csv->line, t->samples[index].id, err);
}

static tare_status read_table(const table *t, tare_csv *csv, tare_error *err) {
    columns c;
    TARE_TRY(find_columns(csv, t->are_numbered, &c, err));
    while (tare_csv_next(csv, err)) {
        if (read_row(t, csv, &c, err) != TARE_OK) return tare_within(err, "line %zu", csv->line);
    }
    return err->status;
}

/* The n-th number is the n-th row's; csv has read the first. */
static tare_status read_list(const table *t, tare_csv *csv, tare_error *err) {
    size_t row = 0;
    do {
        if (csv->fields.count != 1) {
            return tare_fail(err, TARE_E_MALFORMED,
                             "line %zu: has %zu columns, a list has one; a table begins with its columns' "
                             "names, of which one is 'label'",
                             csv->line, csv->fields.count);
        }
        size_t index = row < t->row_count ? t->by_row[row] : 0;
        int64_t unused;
        tare_status status =
            index == 0 ? parse_number(csv->fields.at[0], "label", &unused, err)
                       : set_label(t->labels, index - 1, csv->fields.at[0], csv->line, t->samples[index - 1].id, err);
        if (status != TARE_OK) return tare_within(err, "line %zu", csv->line);
        row++;
    } while (tare_csv_next(csv, err));
    return err->status;
}

/* Also one that is no label, so that it is called that, and not a header. */
static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return end != text && end[strspn(end, " \t")] == '\0';
}

static tare_status read_all(table *t, const tare_file *file, tare_error *err) {
    tare_labels *labels = t->labels;
    tare_csv csv;
    TARE_TRY(index_samples(t, err));
    TARE_TRY(tare_csv_init(&csv, file->data, file->size, labels->arena, err));
    err->status = TARE_OK;
    if (!tare_csv_next(&csv, err)) {
        return err->status != TARE_OK ? err->status : tare_fail(err, TARE_E_MALFORMED, "has no labels, it is empty");
    }
    TARE_TRY(is_number(csv.fields.at[0]) && csv.fields.count == 1 ? read_list(t, &csv, err) : read_table(t, &csv, err));
    size_t missing = 0;
    for (size_t i = 0; i < labels->count; i++) missing += labels->line[i] == 0;
    if (missing > 0 && missing == labels->count)
        return tare_fail(err, TARE_E_USAGE, "no line is for any of the samples, whose ids are such as '%s'",
                         t->samples[0].id);
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->line[i] != 0) continue;
        return tare_fail(err, TARE_E_USAGE,
                         "sample '%s' has no label; add a line for it, or leave it out by --samples or a list",
                         t->samples[i].id);
    }
    return TARE_OK;
}

/* What a file of labels is, behind why it could not be opened. */
static tare_status add_form(tare_error *err) {
    const tare_error why = *err;
    return tare_fail(err, why.status, "--labels takes a text with a line 'file,label' and then one for each sample: %s",
                     why.text);
}

static tare_status open_labels(table *t, const char *path, size_t count, tare_error *err) {
    tare_labels *labels = t->labels;
    labels->count = count;
    labels->at = tare_arena_alloc(labels->arena, labels->count, sizeof *labels->at);
    labels->line = tare_arena_alloc(labels->arena, labels->count, sizeof *labels->line);
    if (labels->at == NULL || labels->line == NULL) return tare_fail_memory(err, 0);
    tare_file file;
    if (tare_file_open(&file, path, err) != TARE_OK) return add_form(err);
    tare_status status = read_all(t, &file, err);
    tare_file_close(&file);
    return status == TARE_OK ? TARE_OK : tare_within(err, "--labels %s", path);
}

tare_status tare_labels_open_for(tare_labels **out, const char *path, const tare_labelled *samples, size_t count,
                                 bool are_numbered, tare_error *err) {
    *out = NULL;
    tare_arena *arena = tare_arena_new();
    tare_labels *labels = arena == NULL ? NULL : tare_arena_alloc(arena, 1, sizeof *labels);
    if (labels == NULL) {
        tare_arena_free(arena);
        return tare_fail_memory(err, sizeof *labels);
    }
    labels->arena = arena;
    table t = { .samples = samples, .are_numbered = are_numbered, .labels = labels };
    tare_status status = open_labels(&t, path, count, err);
    if (status != TARE_OK) {
        tare_labels_close(labels);
        return status;
    }
    *out = labels;
    return TARE_OK;
}

tare_status tare_labels_open(tare_labels **out, const char *path, const tare_samples *samples, tare_error *err) {
    const size_t count = tare_samples_count(samples);
    tare_arena *arena = tare_arena_new();
    tare_labelled *list = arena == NULL ? NULL : tare_arena_alloc(arena, count, sizeof *list);
    *out = NULL;
    for (size_t i = 0; list != NULL && i < count; i++)
        list[i] = (tare_labelled){ .id = tare_samples_id(samples, i), .row = tare_samples_row(samples, i) };
    tare_status status = list == NULL
                             ? tare_fail_memory(err, count * sizeof *list)
                             : tare_labels_open_for(out, path, list, count, tare_samples_are_numbered(samples), err);
    tare_arena_free(arena);
    return status;
}

void tare_labels_close(tare_labels *labels) {
    if (labels != NULL) tare_arena_free(labels->arena);
}

int64_t tare_labels_at(const tare_labels *labels, size_t index) { return labels->at[index]; }

int64_t tare_labels_highest(const tare_labels *labels) {
    int64_t highest = 0;
    for (size_t i = 0; i < labels->count; i++) {
        if (labels->at[i] > highest) highest = labels->at[i];
    }
    return highest;
}

/* ---- judging ---- */

bool tare_labels_fit(const tare_labels *labels, const tare_tensor *scores) {
    const tare_shape *shape = &scores->shape;
    int64_t longest = 0;
    for (int d = 0; d < shape->rank; d++)
        if (shape->dim[d] > longest) longest = shape->dim[d];
    return scores->dtype != TARE_STRING && longest > 1 && longest > tare_labels_highest(labels) &&
           tare_shape_elements(shape) == longest;
}

void tare_labels_judge(const tare_labels *labels, size_t index, const tare_tensor *scores, tare_hits *hits) {
    const size_t count = (size_t)tare_shape_elements(&scores->shape), label = (size_t)labels->at[index];
    const double own = tare_dtype_f64_at(scores->dtype, scores->data, label);
    size_t before = 0; /* scores that are larger */
    for (size_t i = 0; i < count; i++) {
        const double other = tare_dtype_f64_at(scores->dtype, scores->data, i);
        before += isnan(other) || other > own || (other == own && i < label);
    }
    hits->samples++;
    hits->classes = count;
    hits->top1 += !isnan(own) && before < 1;
    hits->top5 += !isnan(own) && before < 5;
}

void tare_hits_add(tare_hits *to, const tare_hits *from) {
    to->samples += from->samples;
    to->top1 += from->top1;
    to->top5 += from->top5;
    if (from->classes) to->classes = from->classes;
}

void tare_hits_doubt(const tare_hits *hits, const char *output, tare_log *log) {
    static const uint64_t least = 20; /* samples: of fewer nothing can be told */
    if (hits->samples < least || hits->classes < 3 || hits->top1 * hits->classes > 2 * hits->samples) return;
    tare_log_warn(log,
                  "'%s' has %" PRIu64 " of %" PRIu64
                  " labels right in float, as guessing would: are the labels numbered as "
                  "the model's classes, and the samples preprocessed as in its training?",
                  output, hits->top1, hits->samples);
}

tare_status tare_labels_fail_fit(const tare_labels *labels, tare_error *err) {
    return tare_fail(err, TARE_E_USAGE,
                     "the highest label is %" PRId64 ", and no output is one vector of more than %" PRId64
                     " numbers; `tare info MODEL` lists the outputs",
                     tare_labels_highest(labels), tare_labels_highest(labels));
}

/* What the Python tests of samples run: opens sources for a made-up model and writes what it reads.
 *   driver_samples --input NAME:TYPE:SHAPE... --data [NAME=]SOURCE... [OPTION...]
 *   --input      SHAPE: 1x3x?x?, '?' is open; a name may hold ':'
 *   --begin OP   the model's first node, on the first input and a constant
 *   --resize, --crop, --color, --yuv-range, --layout, --mean, --std, --scale, --pad: the contract of all inputs
 *   --whole, --samples RANGE, --print
 *   --labels F   prints the label of each sample
 *   -o DIR       writes the samples as a dump
 * Ids and rows, or labels, go to stdout, notes and errors to stderr; the exit status is the tare_status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field.h"
#include "samples/dump.h"
#include "samples/labels.h"
#include "samples/samples.h"

enum { MOST = 8 };

typedef struct request {
    const char *inputs[MOST];
    size_t input_count;
    tare_source sources[MOST];
    size_t source_count;
    const char *begin, *range, *labels, *out;
    bool print;
} request;

static void line(void *context, tare_log_level level, const char *text) {
    (void)context;
    fprintf(stderr, "%s: %s\n", level == TARE_LOG_NOTE ? "note" : "warning", text);
}

static tare_log to_stderr = { .line = line };

static void usage(const char *what) {
    fprintf(stderr, "usage: %s\n", what);
    exit(2);
}

static void parse_shape(tare_shape *shape, const char *text) {
    shape->rank = 0;
    while (*text && shape->rank < TARE_RANK_MAX) {
        char *end = NULL;
        shape->dim[shape->rank++] = *text == '?' ? TARE_DIM_UNKNOWN : strtoll(text, &end, 10);
        text = *text == '?' ? text + 1 : end;
        if (*text == 'x') text++;
    }
}

/* NAME:TYPE:SHAPE, read from the right. */
static tare_status add_input(tare_model *model, const char *text, tare_error *err) {
    char name[256];
    snprintf(name, sizeof name, "%s", text);
    char *shape = strrchr(name, ':');
    if (!shape) usage(text);
    *shape++ = '\0';
    char *type = strrchr(name, ':');
    if (!type) usage(text);
    *type++ = '\0';
    tare_value *value;
    TARE_TRY(tare_graph_add_value(model->graph, name, &value, err));
    value->dtype = tare_dtype_find(type);
    parse_shape(&value->shape, shape);
    return tare_graph_add_input(model->graph, value, err);
}

static tare_status add_begin(tare_model *model, const char *op, tare_error *err) {
    tare_value *one, *inputs[2] = { model->graph->inputs.at[0] }, *outputs[1];
    float number = 1;
    tare_tensor tensor = { .dtype = TARE_F32, .data = &number, .size = sizeof number };
    tare_node *node;
    TARE_TRY(tare_graph_add_constant(model->graph, "one", &tensor, NULL, false, &one, err));
    TARE_TRY(tare_graph_add_value(model->graph, "begun", &outputs[0], err));
    inputs[1] = one;
    const tare_op *known = tare_op_find("", op, 21);
    if (!known) return tare_fail(err, TARE_E_BUG, "there is no op %s", op);
    int count = strcmp(op, "Relu") ? 2 : 1;
    return tare_graph_add_node(model->graph, NULL, known, NULL, inputs, count, outputs, 1, &node, err);
}

static tare_status write_all(const tare_samples *samples, const tare_graph *graph, const char *folder,
                             tare_error *err) {
    tare_arena *arena = tare_arena_new();
    tare_dump_writer *dump;
    TARE_TRY(tare_dump_begin(&dump, folder, err));
    tare_status status = TARE_OK;
    for (size_t i = 0; i < tare_samples_count(samples) && status == TARE_OK; i++) {
        tare_arena_mark mark = tare_arena_get_mark(arena);
        tare_sample sample;
        status = tare_samples_get(samples, i, arena, &sample, err);
        tare_npz_array arrays[MOST];
        size_t count = graph->inputs.count;
        for (size_t k = 0; status == TARE_OK && k < count; k++) {
            arrays[k] = (tare_npz_array){ graph->inputs.at[k]->name, sample.inputs[k] };
        }
        if (status == TARE_OK) status = tare_dump_add(dump, sample.id, arrays, count, err);
        tare_arena_release(arena, mark);
    }
    tare_arena_free(arena);
    return tare_dump_end(dump, status, err);
}

static tare_status print_labels(const tare_samples *samples, const char *path, tare_error *err) {
    tare_labels *labels;
    TARE_TRY(tare_labels_open(&labels, path, samples, err));
    for (size_t i = 0; i < tare_samples_count(samples); i++) {
        printf("%s %lld\n", tare_samples_id(samples, i), (long long)tare_labels_at(labels, i));
    }
    tare_labels_close(labels);
    return TARE_OK;
}

static tare_status show(const tare_samples *samples, const tare_graph *graph, const request *r, tare_error *err) {
    if (r->labels) {
        TARE_TRY(print_labels(samples, r->labels, err));
    } else {
        for (size_t i = 0; i < tare_samples_count(samples); i++) {
            printf("%s %zu\n", tare_samples_id(samples, i), tare_samples_row(samples, i));
        }
    }
    if (r->print) {
        tare_text text = { .arena = tare_arena_new() };
        tare_status status = tare_samples_print(samples, &text, err);
        if (status == TARE_OK) fputs(text.at, stdout);
        tare_arena_free(text.arena);
        TARE_TRY(status);
    }
    return r->out ? write_all(samples, graph, r->out, err) : TARE_OK;
}

static tare_status run(const request *r, tare_error *err) {
    tare_model *model;
    tare_samples *samples = NULL;
    TARE_TRY(tare_model_new(&model, err));
    tare_status status = TARE_OK;
    for (size_t i = 0; i < r->input_count && status == TARE_OK; i++) status = add_input(model, r->inputs[i], err);
    if (status == TARE_OK && r->begin) status = add_begin(model, r->begin, err);
    if (status == TARE_OK) {
        status = tare_samples_open(&samples, model, r->sources, r->source_count, r->range, &to_stderr, err);
    }
    if (status == TARE_OK) status = show(samples, model->graph, r, err);
    tare_samples_close(samples);
    tare_model_free(model);
    return status;
}

/* "NAME=SOURCE" or "SOURCE"; a source may hold '=' behind its first '/'. */
static void add_source(request *r, char *text) {
    char *equals = strchr(text, '='), *slash = strchr(text, '/');
    tare_source *source = &r->sources[r->source_count++];
    source->path = text;
    if (equals && (!slash || equals < slash)) {
        *equals = '\0';
        source->input = text;
        source->path = equals + 1;
    }
}

static tare_status parse_option(const char *name, const char *value, tare_preprocess *contract, tare_field_store *store,
                                tare_error *err) {
    const tare_field *field = tare_fields_find(tare_preprocess_fields, name + 2);
    if (!field) usage(name);
    return tare_field_parse(field, contract, value, store, err);
}

static tare_status parse(request *r, int count, char **words, tare_field_store *store, tare_error *err) {
    tare_preprocess contract;
    bool whole = false;
    tare_fields_set_defaults(tare_preprocess_fields, &contract);
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (!strcmp(word, "--whole") || !strcmp(word, "--print")) {
            *(word[2] == 'w' ? &whole : &r->print) = true;
            continue;
        }
        if (++i == count) usage(word);
        if (!strcmp(word, "--input")) {
            r->inputs[r->input_count++] = words[i];
        } else if (!strcmp(word, "--data")) {
            add_source(r, words[i]);
        } else if (!strcmp(word, "--begin")) {
            r->begin = words[i];
        } else if (!strcmp(word, "--samples")) {
            r->range = words[i];
        } else if (!strcmp(word, "--labels")) {
            r->labels = words[i];
        } else if (!strcmp(word, "-o")) {
            r->out = words[i];
        } else {
            TARE_TRY(parse_option(word, words[i], &contract, store, err));
        }
    }
    for (size_t i = 0; i < r->source_count; i++) {
        r->sources[i].preprocess = contract;
        r->sources[i].whole = whole;
    }
    return TARE_OK;
}

int main(int count, char **words) {
    request r = { 0 };
    tare_error err = { 0 };
    tare_field_store *store = tare_field_store_new();
    if (!store) return TARE_E_LIMIT;
    tare_status status = parse(&r, count, words, store, &err);
    if (status == TARE_OK) status = run(&r, &err);
    if (status != TARE_OK) fprintf(stderr, "error: %s\n", err.text);
    tare_field_store_free(store);
    return (int)status;
}

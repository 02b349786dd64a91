/* Samples from the options of a command line or recipe. */
#include <string.h>

#include "base/field.h"
#include "samples/samples.h"

const tare_field tare_data_fields[] = {
    { "data", TARE_FIELD_STRINGS, offsetof(tare_data_options, data), TARE_FIELD_ONE, .metavar = "[NAME=]SRC",
      .help = "a directory or file of images, .npy, .npz, a list file, F.bin:f32:1x3x8x8, random:N; once per input" },
    { "samples", TARE_FIELD_STRING, offsetof(tare_data_options, samples), .metavar = "N|A:B",
      .help = "the first N, or those from A up to B" },
    { "whole", TARE_FIELD_BOOL, offsetof(tare_data_options, whole),
      .help = "an array is one sample, even where its first dimension could be cut into samples" },
    { .type = TARE_FIELD_END },
};

const tare_field tare_input_fields[] = {
    { "name", TARE_FIELD_STRING, offsetof(tare_input_options, name),
      .help = "of the model's input; not needed where there is one, or the data are .npz with names" },
    { "data", TARE_FIELD_STRING, offsetof(tare_input_options, data), TARE_FIELD_REQUIRED | TARE_FIELD_PATH,
      .help = "a directory or file of images, .npy, .npz, a list file, F.bin:f32:1x3x8x8, random:N" },
    { "whole", TARE_FIELD_BOOL, offsetof(tare_input_options, whole),
      .help = "an array file is one sample, even where its first dimension could be cut into samples" },
    { .type = TARE_FIELD_END },
};

/* Is the text, or what stands before ":f32:1x3x8x8", a file? */
static bool is_path(const char *text, tare_arena *arena) {
    tare_file_id unused;
    const char *file = tare_arena_copy(arena, text, strcspn(text, ":"));
    return tare_path_identify(text, &unused) || (file && tare_path_identify(file, &unused));
}

/* Paths may hold '=': "NAME=SRC" names an input if the model has it, or nothing of the whole name is there. */
static const char *split_name(const tare_model *model, const char *text, tare_arena *arena, const char **path) {
    const char *equals = strchr(text, '=');
    *path = text;
    if (!equals) return NULL;
    char *name = tare_arena_copy(arena, text, (size_t)(equals - text));
    const tare_value *value = name ? tare_graph_find_value(model->graph, name) : NULL;
    if ((!value || !value->is_input) && (!name || strchr(name, '/') || is_path(text, arena))) return NULL;
    *path = equals + 1;
    return name;
}

/* What a recipe with several inputs says of one; NULL: nothing. */
static const tare_input_options *find_input(const tare_data_options *options, const char *name) {
    const tare_input_options *inputs = options->inputs.at;
    for (size_t i = 0; name && options->inputs.count > 1 && i < options->inputs.count; i++)
        if (inputs[i].name && !strcmp(inputs[i].name, name)) return &inputs[i];
    return NULL;
}

static void from_texts(tare_source *sources, const tare_model *model, const tare_data_options *options,
                       const tare_preprocess *preprocess, tare_arena *arena) {
    for (size_t i = 0; i < options->data.count; i++) {
        tare_source *source = &sources[i];
        source->input = split_name(model, options->data.at[i], arena, &source->path);
        const tare_input_options *said = find_input(options, source->input);
        if (said)
            source->preprocess = said->preprocess;
        else if (preprocess)
            source->preprocess = *preprocess;
        source->whole = options->whole || (said && said->whole);
    }
}

static bool is_default(const tare_preprocess *preprocess) {
    for (const tare_field *field = tare_preprocess_fields; field->type != TARE_FIELD_END; field++) {
        if (!tare_field_is_default(field, preprocess)) return false;
    }
    return true;
}

static tare_status check_contracts(const tare_data_options *options, const tare_preprocess *preprocess,
                                   tare_error *err) {
    if (options->inputs.count < 2 || !preprocess || is_default(preprocess)) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE,
                     "the recipe has %zu inputs, each with its own preprocessing: change it there, not by options",
                     options->inputs.count);
}

/* An input that only --set speaks of may have none. */
static tare_status check_data(const tare_data_options *options, tare_error *err) {
    const tare_input_options *inputs = options->inputs.at;
    for (size_t i = 0; i < options->inputs.count; i++)
        if (!inputs[i].data)
            return tare_fail(err, TARE_E_USAGE, "--data is needed: the recipe's inputs[%zu] has no data", i);
    return TARE_OK;
}

static void from_inputs(tare_source *sources, const tare_data_options *options, const tare_preprocess *preprocess) {
    const tare_input_options *inputs = options->inputs.at;
    const size_t count = options->inputs.count;
    for (size_t i = 0; i < count; i++) {
        sources[i] = (tare_source){ .input = inputs[i].name,
                                    .path = inputs[i].data,
                                    .whole = inputs[i].whole || options->whole,
                                    .preprocess = inputs[i].preprocess };
        if (count == 1 && preprocess) sources[i].preprocess = *preprocess;
    }
}

/* The contract of each input, and what the first sample is after it: notes, a line each. */
static tare_status echo(const tare_samples *samples, tare_arena *arena, tare_log *log, tare_error *err) {
    tare_text text = { .arena = arena };
    TARE_TRY(tare_samples_print(samples, &text, err));
    for (char *line = text.at, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        tare_log_note(log, "%s", line);
    }
    return TARE_OK;
}

tare_status tare_samples_from_options(tare_samples **out, const tare_model *model, const tare_data_options *options,
                                      const tare_preprocess *preprocess, tare_log *log, tare_error *err) {
    const bool by_recipe = !options->data.count;
    const size_t count = by_recipe ? options->inputs.count : options->data.count;
    if (!count) return tare_fail(err, TARE_E_USAGE, "--data is needed: a directory of images, an .npy, a list …");
    tare_arena *arena = tare_arena_new();
    tare_source *sources = arena ? tare_arena_alloc(arena, count, sizeof *sources) : NULL;
    tare_status status = sources ? TARE_OK : tare_fail_memory(err, 0);
    if (status == TARE_OK) status = check_contracts(options, preprocess, err);
    if (status == TARE_OK && by_recipe) status = check_data(options, err);
    if (status == TARE_OK && by_recipe) from_inputs(sources, options, preprocess);
    if (status == TARE_OK && !by_recipe) from_texts(sources, model, options, preprocess, arena);
    tare_samples *samples = NULL;
    if (status == TARE_OK) status = tare_samples_open(&samples, model, sources, count, options->samples, log, err);
    if (status == TARE_OK && log) status = echo(samples, arena, log, err);
    if (status == TARE_OK)
        *out = samples;
    else
        tare_samples_close(samples);
    tare_arena_free(arena);
    return status;
}

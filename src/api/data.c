/* Samples from the options of a command line or recipe. */
#include <string.h>

#include "samples/samples.h"

const tare_field tare_data_fields[] = {
    { "data", TARE_FIELD_STRINGS, offsetof(tare_data_options, data), TARE_FIELD_ONE, .metavar = "[NAME=]SRC",
      .help = "a directory or file of images, .npy, .npz, a list file, F.bin:f32:1x3x8x8, random:N; once per input" },
    { "samples", TARE_FIELD_STRING, offsetof(tare_data_options, samples), .metavar = "N|A:B",
      .help = "the first N, or those from A up to B" },
    { .type = TARE_FIELD_END },
};

/* "NAME=SRC" names an input only if the model has it: paths may hold '='. */
static const char *split_name(const tare_model *model, const char *text, tare_arena *arena, const char **path) {
    const char *equals = strchr(text, '=');
    *path = text;
    if (!equals) return NULL;
    char *name = tare_arena_copy(arena, text, (size_t)(equals - text));
    const tare_value *value = name ? tare_graph_find_value(model->graph, name) : NULL;
    if (!value || !value->is_input) return NULL;
    *path = equals + 1;
    return name;
}

tare_status tare_samples_from_options(tare_samples **out, const tare_model *model, const tare_data_options *options,
                                      const tare_preprocess *preprocess, tare_log *log, tare_error *err) {
    const size_t count = options->data.count;
    if (!count) return tare_fail(err, TARE_E_USAGE, "--data is needed: a directory of images, an .npy, a list …");
    tare_arena *arena = tare_arena_new();
    tare_source *sources = arena ? tare_arena_alloc(arena, count + 1, sizeof *sources) : NULL;
    if (!sources) {
        tare_arena_free(arena);
        return tare_fail_memory(err, 0);
    }
    for (size_t i = 0; i < count; i++) {
        if (preprocess) sources[i].preprocess = *preprocess;
        sources[i].input = split_name(model, options->data.at[i], arena, &sources[i].path);
    }
    tare_status status = tare_samples_open(out, model, sources, count, options->samples, log, err);
    tare_arena_free(arena);
    return status;
}

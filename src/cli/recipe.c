/* Option --recipe: what the file says goes into the verb's record before the command line does. */
#include <string.h>

#include "cli.h"

const tare_field cli_recipe_fields[] = {
    { "recipe", TARE_FIELD_STRING, offsetof(cli_recipe_options, recipe), TARE_FIELD_PATH, .metavar = "R.yaml",
      .help = "what to do, from a file; options given beside it change it" },
    { .type = TARE_FIELD_END },
};

/* The path behind --recipe; NULL: none is given. The last one counts, as for every option. */
static const char *find_path(int count, char **arguments) {
    const char *path = NULL;
    for (int i = 0; i < count && strcmp(arguments[i], "--"); i++) {
        if (!strncmp(arguments[i], "--recipe=", 9)) path = arguments[i] + 9;
        if (!strcmp(arguments[i], "--recipe") && i + 1 < count) path = arguments[++i];
    }
    return path;
}

/* The part of a recipe that a table's struct gets. */
static void fill(const tare_field *fields, void *member, const tare_recipe *recipe) {
    if (fields == tare_data_fields) {
        tare_data_options *data = member;
        data->samples = recipe->samples;
        data->inputs = recipe->inputs;
    } else if (fields == tare_preprocess_fields && recipe->inputs.count == 1) {
        *(tare_preprocess *)member = ((const tare_input_options *)recipe->inputs.at)->preprocess;
    } else if (fields == tare_calibration_fields) {
        *(tare_calibration_options *)member = recipe->calibration;
    } else if (fields == tare_quantization_fields) {
        *(tare_quantization *)member = recipe->quantization;
    }
}

static void set_output(const tare_field *fields, char *member, const char *output) {
    for (; output && fields->type != TARE_FIELD_END; fields++) {
        if (!strcmp(fields->name, "output") && fields->type == TARE_FIELD_STRING)
            memcpy(member + fields->offset, &output, sizeof output);
    }
}

tare_status cli_apply_recipe(const cli_verb *verb, int count, char **arguments, void *record, const char **model,
                             tare_field_store *store, tare_error *err) {
    bool takes_one = false;
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++)
        takes_one = takes_one || verb->groups[g].fields == cli_recipe_fields;
    const char *path = takes_one ? find_path(count, arguments) : NULL;
    if (!path) return TARE_OK;
    tare_recipe recipe;
    tare_status status = tare_recipe_read(&recipe, path, store, err);
    if (status != TARE_OK) return status;
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++) {
        char *member = (char *)record + verb->groups[g].offset;
        fill(verb->groups[g].fields, member, &recipe);
        set_output(verb->groups[g].fields, member, recipe.output);
    }
    *model = recipe.model;
    return TARE_OK;
}

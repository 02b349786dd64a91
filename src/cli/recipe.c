/* Options --recipe and --set: what they say goes into the verb's record before the command line does. */
#include <string.h>

#include "cli.h"

const tare_field cli_recipe_fields[] = {
    { "recipe", TARE_FIELD_STRING, offsetof(cli_recipe_options, recipe), TARE_FIELD_PATH, .metavar = "R.yaml",
      .help = "what to do, from a file; options given beside it change it" },
    { "set", TARE_FIELD_STRINGS, offsetof(cli_recipe_options, set), TARE_FIELD_ONE, .metavar = "KEY=VALUE",
      .help = "one key of a recipe, with or without --recipe: quantization.defaults.method=mse, inputs[0].data=DIR" },
    { .type = TARE_FIELD_END },
};

/* The value of `--name` if the argument is that option; *at goes on over a value that is an argument of its own. */
static const char *value_of(const char *name, int count, char **arguments, int *at) {
    const char *argument = arguments[*at];
    const size_t length = strlen(name);
    if (strncmp(argument, "--", 2) || strncmp(argument + 2, name, length)) return NULL;
    if (argument[2 + length] == '=') return argument + 3 + length;
    return argument[2 + length] || *at + 1 == count ? NULL : arguments[++*at];
}

/* The path behind --recipe; NULL: none is given. The last one counts, as for every option. */
static const char *find_path(int count, char **arguments, bool *is_set) {
    const char *path = NULL, *found;
    for (int i = 0; i < count && strcmp(arguments[i], "--"); i++) {
        if ((found = value_of("recipe", count, arguments, &i)))
            path = found;
        else if (value_of("set", count, arguments, &i))
            *is_set = true;
    }
    return path;
}

/* Each --set, in the order in which they are given. */
static tare_status set_keys(tare_recipe *recipe, int count, char **arguments, tare_field_store *store,
                            tare_error *err) {
    for (int i = 0; i < count && strcmp(arguments[i], "--"); i++) {
        const char *text = value_of("set", count, arguments, &i);
        if (!text || tare_recipe_set(recipe, text, store, err) == TARE_OK) continue;
        char told[sizeof err->text];
        const tare_status status = err->status == TARE_E_MALFORMED ? TARE_E_USAGE : err->status;
        memcpy(told, err->text, sizeof told);
        cli_usage(err, "--set: %.480s", told);
        return err->status = status;
    }
    return TARE_OK;
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

/* The recipe's output is the quantized model. */
static void set_output(const tare_field *fields, char *member, const char *output) {
    for (; output && fields->type != TARE_FIELD_END; fields++) {
        if (!strcmp(fields->name, "output") && fields->type == TARE_FIELD_STRING)
            memcpy(member + fields->offset, &output, sizeof output);
    }
}

static bool has_table(const cli_verb *verb, const tare_field *table) {
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++)
        if (verb->groups[g].fields == table) return true;
    return false;
}

tare_status cli_apply_recipe(const cli_verb *verb, int count, char **arguments, void *record, const char **model,
                             tare_field_store *store, tare_error *err) {
    const bool quantizes = has_table(verb, tare_quantization_fields);
    bool is_set = false;
    const char *path = has_table(verb, cli_recipe_fields) ? find_path(count, arguments, &is_set) : NULL;
    if (!path && !is_set) return TARE_OK;
    tare_recipe recipe;
    tare_recipe_init(&recipe);
    tare_status status = path ? tare_recipe_read(&recipe, path, store, err) : TARE_OK;
    if (status == TARE_E_IO) {
        const tare_error why = *err;
        cli_usage(err, "--recipe takes a YAML file: %.480s", why.text);
        return err->status = status;
    }
    if (status == TARE_OK) status = set_keys(&recipe, count, arguments, store, err);
    if (status != TARE_OK) return status;
    for (size_t g = 0; g < CLI_GROUPS_MAX && verb->groups[g].fields; g++) {
        char *member = (char *)record + verb->groups[g].offset;
        fill(verb->groups[g].fields, member, &recipe);
        if (quantizes) set_output(verb->groups[g].fields, member, recipe.output);
    }
    *model = recipe.model;
    return TARE_OK;
}

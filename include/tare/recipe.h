/* Recipes: what is wanted of a quantization, as YAML (docs/formats/recipe.md). */
#ifndef TARE_RECIPE_H
#define TARE_RECIPE_H

#include <tare/quantize.h>

TARE_C_BEGIN

typedef struct tare_recipe {
    const char *model;   /* NULL: not said */
    const char *output;  /* the model to write; NULL: not said */
    const char *samples; /* "N" or "A:B"; NULL: all */
    tare_records inputs; /* tare_input_options */
    tare_calibration_options calibration;
    tare_quantization quantization;
} tare_recipe;

/* Reads one: members that the file does not name have their defaults. Files that it names are relative to its own
 * folder, and come out as the program would open them. What points to memory points into `store`, which lives as long
 * as the recipe is used. Errors are "PATH: line:col: key: what". */
TARE_API tare_status tare_recipe_read(tare_recipe *out, const char *path, tare_field_store *store, tare_error *err);

/* One that says nothing: all members have their defaults. */
TARE_API void tare_recipe_init(tare_recipe *out);
/* "KEY=VALUE" on top of it: a key by its path ("quantization.defaults.method", "inputs[1].data"), a value in YAML. Files
 * are relative to the working directory. */
TARE_API tare_status tare_recipe_set(tare_recipe *recipe, const char *text, tare_field_store *store, tare_error *err);

/* The JSON schema of recipes, in `store`; NULL: no memory. */
TARE_API const char *tare_recipe_schema(tare_field_store *store);

TARE_C_END

#endif

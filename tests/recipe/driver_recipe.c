/* What the Python tests of recipes run. driver_recipe FILE...: a line for each, its status and text, 0 for those that
 * are read; with no file: the JSON schema. */
#include <stdio.h>

#include <tare/recipe.h>

int main(int count, char **words) {
    tare_field_store *store = tare_field_store_new();
    if (!store) return TARE_E_LIMIT;
    if (count == 1) {
        const char *schema = tare_recipe_schema(store);
        if (schema) fputs(schema, stdout);
    }
    for (int i = 1; i < count; i++) {
        tare_recipe recipe;
        tare_error err = { 0 };
        tare_status status = tare_recipe_read(&recipe, words[i], store, &err);
        printf("%d %s\n", (int)status, err.text);
    }
    tare_field_store_free(store);
    return 0;
}

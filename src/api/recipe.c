/* What a recipe may say: the options of all rooms under the keys of one file. A new option of a table is a key here at
 * once. */
#include <tare/recipe.h>

#include "quantize/quantize.h"
#include "recipe/recipe.h"

static const tare_section input_sections[] = {
    { .name = "preprocess",
      .help = "how pictures and arrays become this input's numbers",
      .fields = tare_preprocess_fields,
      .offset = offsetof(tare_input_options, preprocess) },
    { .name = NULL },
};

static const char *check_rule(const void *record) {
    const tare_rule_options *rule = record;
    int named = (rule->op != NULL) + (rule->node != NULL) + (rule->value != NULL);
    if (named != 1) return "a rule names one of op, node and value";
    if (rule->range.count == 0) return NULL;
    if (rule->range.count != 2) return "range wants two numbers, the lower first";
    return tare_rule_range_fault((double)rule->range.at[0], (double)rule->range.at[1]);
}

static const char *const elsewhere[] = { "target", NULL };

static const tare_section quantization_sections[] = {
    { .name = "defaults",
      .help = "what holds for everything",
      .fields = tare_quantization_fields,
      .without = elsewhere },
    { .name = "rules",
      .help = "what holds for some nodes or values; for each key the last that fits and has it",
      .fields = tare_rule_fields,
      .check = check_rule,
      .offset = offsetof(tare_quantization, rules),
      .item_size = sizeof(tare_rule_options) },
    { .name = NULL },
};

static const tare_field target_fields[] = {
    { "name", TARE_FIELD_STRING, offsetof(tare_quantization, target), .fallback.s = "onnx",
      .help = "whose arithmetic and constraints: onnx" },
    { .type = TARE_FIELD_END },
};

static const tare_field output_fields[] = {
    { "model", TARE_FIELD_STRING, offsetof(tare_recipe, output), TARE_FIELD_PATH,
      .help = "the model to write; its extension says the format" },
    { .type = TARE_FIELD_END },
};

static const tare_field own_fields[] = {
    { "model", TARE_FIELD_STRING, offsetof(tare_recipe, model), TARE_FIELD_PATH, .help = "the float model" },
    { "samples", TARE_FIELD_STRING, offsetof(tare_recipe, samples),
      .help = "how many: the first N, or those from A up to B (A:B); all by default" },
    { .type = TARE_FIELD_END },
};

static const tare_section sections[] = {
    { .name = "inputs",
      .help = "the data of the model's inputs, one item each",
      .fields = tare_input_fields,
      .inner = input_sections,
      .offset = offsetof(tare_recipe, inputs),
      .item_size = sizeof(tare_input_options),
      .alone = "data" },
    { .name = "calibration",
      .help = "how ranges are seen on the samples",
      .fields = tare_calibration_fields,
      .offset = offsetof(tare_recipe, calibration) },
    { .name = "quantization",
      .help = "what becomes codes, of which type, and how ranges are chosen",
      .inner = quantization_sections,
      .offset = offsetof(tare_recipe, quantization) },
    { .name = "target",
      .help = "whose integers the model is made for",
      .fields = target_fields,
      .offset = offsetof(tare_recipe, quantization),
      .alone = "name" },
    { .name = "outputs", .help = "what is written", .fields = output_fields, .alone = "model" },
    { .name = NULL },
};

static const tare_section root = { .help = "A recipe of tare: what to make of a float model",
                                   .fields = own_fields,
                                   .inner = sections };

tare_status tare_recipe_read(tare_recipe *out, const char *path, tare_field_store *store, tare_error *err) {
    return tare_section_read(&root, out, path, tare_field_store_arena(store), err);
}

void tare_recipe_init(tare_recipe *out) { tare_section_set_defaults(&root, out); }

tare_status tare_recipe_set(tare_recipe *recipe, const char *text, tare_field_store *store, tare_error *err) {
    return tare_section_set(&root, recipe, text, tare_field_store_arena(store), err);
}

const char *tare_recipe_schema(tare_field_store *store) {
    tare_text text = { .arena = tare_field_store_arena(store) };
    tare_error err;
    return tare_section_print_schema(&root, "recipe.schema.json", &text, &err) == TARE_OK ? text.at : NULL;
}

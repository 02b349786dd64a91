/* Recipes, by the tables that real ones have: read or refused, with the same answer for the same bytes. */
#include <stdlib.h>
#include <string.h>

#include <tare/recipe.h>

#include "recipe/recipe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct wishes {
    tare_records inputs, rules;
    tare_quantization quantization;
    tare_calibration_options calibration;
} wishes;

static const tare_section preprocess[] = {
    { .name = "preprocess", .fields = tare_preprocess_fields, .offset = offsetof(tare_input_options, preprocess) },
    { .name = NULL },
};

static const tare_section sections[] = {
    { .name = "inputs",
      .fields = tare_input_fields,
      .inner = preprocess,
      .offset = offsetof(wishes, inputs),
      .item_size = sizeof(tare_input_options),
      .alone = "data" },
    { .name = "rules",
      .fields = tare_rule_fields,
      .offset = offsetof(wishes, rules),
      .item_size = sizeof(tare_rule_options) },
    { .name = "quantization", .fields = tare_quantization_fields, .offset = offsetof(wishes, quantization) },
    { .name = NULL },
};

static const tare_section root = { .fields = tare_calibration_fields,
                                   .inner = sections,
                                   .offset = offsetof(wishes, calibration) };

static tare_status read_once(const uint8_t *data, size_t size, char *text) {
    tare_arena *arena = tare_arena_new();
    tare_error err = { 0 };
    wishes w;
    tare_status status = TARE_E_LIMIT;
    if (arena != NULL) {
        status = tare_section_read_bytes(&root, &w, "a/r.yaml", data, size, arena, &err);
        if (status != TARE_OK && strncmp(err.text, "a/r.yaml: ", 10) != 0) abort();
    }
    memcpy(text, err.text, sizeof err.text);
    tare_arena_free(arena);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char once[TARE_ERROR_SIZE], again[TARE_ERROR_SIZE];
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL) return 0;
    memcpy(copy, data, size);
    tare_status first = read_once(copy, size, once), second = read_once(copy, size, again);
    bool is_short = first == TARE_E_LIMIT || second == TARE_E_LIMIT; /* of memory, once */
    if (!is_short && (first != second || strcmp(once, again) != 0)) abort();
    free(copy);
    return 0;
}

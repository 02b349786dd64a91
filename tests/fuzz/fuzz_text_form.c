/* Graphs as text from strangers: what is read prints as text that reads back and prints the same; and whatever is read,
 * inferred, normalized and optimized ends well, with the graph's rules kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text_form.h"
#include "passes/pass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool is_true, const char *what, const char *text) {
    if (is_true) return;
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

static void check_round_trip(tare_arena *arena, const tare_model *model, tare_error *err) {
    tare_text once = { .arena = arena }, twice = { .arena = arena };
    tare_model *again;
    tare_model_print(&once, model, SIZE_MAX);
    if (once.failed) return;
    tare_status status = tare_model_parse(&again, once.at, once.length, err);
    if (status == TARE_E_LIMIT) return; /* memory is out */
    expect(status == TARE_OK, "does not read back", err->text);
    tare_model_print(&twice, again, SIZE_MAX);
    expect(twice.failed || !strcmp(once.at, twice.at), "prints otherwise", twice.at);
    tare_model_free(again);
}

static void check_passes(tare_model *model, tare_error *err) {
    if (tare_passes_normalize(model, NULL, NULL, err) != TARE_OK) return;
    tare_status status = tare_passes_run(model, NULL, NULL, NULL, err);
    expect(status != TARE_E_BUG, "a bug of ours", err->text);
    if (status == TARE_OK) expect(tare_graph_verify(model->graph, err) == TARE_OK, "breaks the rules", err->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tare_model *model;
    tare_error err = { 0 };
    tare_arena *arena = tare_arena_new();
    if (arena && size <= 65536 && tare_model_parse(&model, (const char *)data, size, &err) == TARE_OK) {
        check_round_trip(arena, model, &err);
        check_passes(model, &err);
        tare_model_free(model);
    }
    tare_arena_free(arena);
    return 0;
}

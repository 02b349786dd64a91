/* Which model ranges belong to. */
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "calibrate/range.h"

/* The NUL that ends it counts: two names are not one. */
static uint64_t add(uint64_t hash, const char *text) { return XXH64(text, strlen(text) + 1, hash); }

uint64_t tare_ranges_fingerprint(const tare_model *model) {
    const tare_graph *graph = model->graph;
    uint64_t hash = 0;
    for (size_t i = 0; i < graph->inputs.count; i++) hash = add(hash, graph->inputs.at[i]->name);
    tare_for_nodes (node, graph) {
        hash = add(hash, node->domain);
        hash = add(hash, node->type);
        for (int i = 0; i < node->output_count; i++) hash = add(hash, node->outputs[i] ? node->outputs[i]->name : "");
    }
    return hash;
}

tare_status tare_ranges_check(const tare_ranges *ranges, const tare_model *model, tare_error *err) {
    const uint64_t own = tare_ranges_fingerprint(model);
    const char *missing = NULL;
    if (own == ranges->model_hash) return TARE_OK;
    for (size_t i = 0; !missing && i < ranges->list.count; i++)
        if (!tare_graph_find_value(model->graph, ranges->list.at[i]->name)) missing = ranges->list.at[i]->name;
    return tare_fail(err, TARE_E_MALFORMED,
                     "the ranges are of another model: fingerprint %016" PRIx64 ", this one has %016" PRIx64
                     "%s%s%s; make them of this one: tare calibrate MODEL --data SRC -o RANGES",
                     ranges->model_hash, own, missing ? ", and no value '" : "", missing ? missing : "",
                     missing ? "'" : "");
}

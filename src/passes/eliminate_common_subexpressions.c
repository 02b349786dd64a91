/* Before:  a = Relu(x), b = Relu(x)
 * After:   a = Relu(x), every reader of b reads a
 * When:    the same op with the same attributes and inputs (in either order where the op commutes), results that do not
 *          depend on chance, no bodies; quantized alike. Also initializers with the same contents, but for the weights and
 *          biases of products, which stay each node's own: their scales may have to differ. */
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/text.h"
#include "ops/attr.h"
#include "passes/rewrite.h"

/* Pointers in the key only ever meet equal ones: the order of nodes decides which of two stays. */
static tare_status key_of(const tare_node *node, tare_arena *arena, const char **key, tare_error *err) {
    tare_text text = { .arena = arena };
    bool commutes = node->op->flags & TARE_OP_COMMUTES && node->input_count == 2;
    bool swap = commutes && (uintptr_t)node->inputs[0] > (uintptr_t)node->inputs[1];
    tare_text_printf(&text, "%p %d", (const void *)node->op, node->output_count);
    for (int i = 0; i < node->input_count; i++)
        tare_text_printf(&text, " %p", (const void *)node->inputs[swap ? 1 - i : i]);
    if (text.failed) return tare_fail_memory(err, 0);
    *key = text.at;
    return TARE_OK;
}

static bool can_merge(const tare_node *node, const tare_node *first) {
    if (!tare_attrs_equal(node, first)) return false;
    for (int i = 0; i < node->output_count; i++) {
        if (!node->outputs[i]) continue;
        if (!first->outputs[i] || !tare_rewrite_same_quant(node->outputs[i]->quant, first->outputs[i]->quant) ||
            !tare_rewrite_can_replace(node->outputs[i], first->outputs[i]))
            return false;
    }
    return true;
}

/* Nodes of one key in a chain, since equal inputs may go with other attributes. */
typedef struct seen {
    tare_node *node;
    struct seen *next;
} seen;

static tare_status merge_node(tare_pass_context *context, tare_node *node, tare_map *map, tare_error *err) {
    const char *key = NULL;
    TARE_TRY(key_of(node, map->arena, &key, err));
    seen *chain = tare_map_get(map, key);
    for (seen *s = chain; s; s = s->next) {
        if (!can_merge(node, s->node)) continue;
        tare_pass_changed(context, "node '%s' (%s) removed: '%s' computes the same", node->name, node->type,
                          s->node->name);
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i]) TARE_TRY(tare_rewrite_replace(node->outputs[i], s->node->outputs[i], NULL, err));
        tare_node_remove(node);
        return TARE_OK;
    }
    seen *entry = tare_arena_alloc(map->arena, 1, sizeof *entry);
    if (!entry) return tare_fail_memory(err, sizeof *entry);
    *entry = (seen){ .node = node, .next = chain };
    return tare_map_put(map, key, entry) ? TARE_OK : tare_fail_memory(err, 0);
}

/* ---- initializers ---- */

static bool is_parameter(const tare_value *value) {
    for (size_t i = 0; i < value->uses.count; i++) {
        const tare_use *use = &value->uses.at[i];
        if (use->node->op && use->node->op->quant.has_weight && use->index > 0) return true;
    }
    return false;
}

static bool is_same_constant(const tare_value *a, const tare_value *b) {
    return a->constant->dtype == b->constant->dtype && a->dtype == b->dtype &&
           tare_shape_equal(&a->constant->shape, &b->constant->shape) && tare_rewrite_same_quant(a->quant, b->quant) &&
           !memcmp(a->constant->data, b->constant->data, a->constant->size);
}

static tare_status merge_initializer(tare_pass_context *context, tare_value *value, tare_map *map, tare_error *err) {
    const char *key =
        tare_arena_printf(map->arena, "%016" PRIx64 " %zu",
                          (uint64_t)XXH3_64bits(value->constant->data, value->constant->size), value->constant->size);
    if (!key) return tare_fail_memory(err, 0);
    tare_value *first = tare_map_get(map, key);
    if (!first) return tare_map_put(map, key, value) ? TARE_OK : tare_fail_memory(err, 0);
    if (!is_same_constant(value, first)) return TARE_OK;
    tare_pass_changed(context, "initializer '%s' removed: '%s' has the same contents", value->name, first->name);
    TARE_TRY(tare_rewrite_replace(value, first, NULL, err));
    tare_value_remove(value);
    return TARE_OK;
}

static tare_status merge_all(tare_pass_context *context, tare_graph *graph, tare_arena *arena, tare_error *err) {
    tare_map nodes, constants;
    tare_map_init(&nodes, arena);
    tare_map_init(&constants, arena);
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (!value || !value->constant || value->producer || value->is_input || value->is_output ||
            !value->uses.count || value->constant->dtype == TARE_STRING || is_parameter(value))
            continue;
        TARE_TRY(merge_initializer(context, value, &constants, err));
    }
    tare_for_nodes_safe (node, graph) {
        if (!node->op || node->op->flags & (TARE_OP_NO_FOLD | TARE_OP_CONTROL)) continue;
        TARE_TRY(merge_node(context, node, &nodes, err));
    }
    return TARE_OK;
}

static tare_status run(tare_pass_context *context, tare_graph *graph, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = merge_all(context, graph, arena, err);
    tare_arena_free(arena);
    return status;
}

const tare_pass tare_pass_eliminate_common_subexpressions = {
    .name = "eliminate-common-subexpressions",
    .help = "Nodes that compute the same, and initializers with the same contents, become one",
    .run = run,
};

/* Before:  y = Squeeze<axes = [1]>(x)        an old form, as the file has it
 * After:   y = Squeeze(x, axes)              the one form the rest of tare knows
 * When:    the op says so (op->upgrade). In order, each node inferred before: old forms may need the ranks of their inputs. */
#include "passes/normalize.h"

/* A node may become another old form, which is upgraded in its turn. */
enum { STEPS_MAX = 16 };

static tare_status upgrade_node(tare_graph *graph, tare_node *node, tare_error *err) {
    const char *name = node->name, *type = node->type;
    if (node->op->upgrade(graph, node, err) == TARE_OK) return TARE_OK;
    return tare_within(err, "node '%s' (%s)", name, type);
}

/* A branch that never runs may hold nodes that are wrong for the shapes at hand; the If itself was inferred before. */
static bool is_branch(const tare_graph *graph) {
    for (; graph; graph = graph->outer)
        if (graph->owner && tare_node_is(graph->owner, "If")) return true;
    return false;
}

static tare_status settle_node(tare_graph *graph, tare_node *node, tare_node **next, tare_error *err) {
    tare_graph *body;
    tare_status status = tare_node_infer(node, err);
    bool is_refusal = status == TARE_E_MALFORMED || status == TARE_E_UNSUPPORTED;
    if (status != TARE_OK && !(is_refusal && is_branch(graph))) return status;
    if (status != TARE_OK) *err = (tare_error){ 0 };
    for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(tare_upgrade_graph(body, err));
    *next = node->next;
    if (!node->op || !node->op->upgrade) return TARE_OK;
    /* What the upgrade put in its place starts behind what was before it. */
    tare_node *previous = node->previous;
    const tare_op *op = node->op;
    TARE_TRY(upgrade_node(graph, node, err));
    *next = previous ? previous->next : graph->first;
    /* An upgrade may only fill in what old opsets left unsaid: then the node stands where it was, as it was. */
    if (*next == node && node->op == op) *next = node->next;
    return TARE_OK;
}

/* Depth: tare_node_infer bounds how deep graphs nest. */
tare_status tare_upgrade_graph(tare_graph *graph, tare_error *err) {
    size_t left = (graph->node_count + 1) * STEPS_MAX;
    for (tare_node *node = graph->first, *next; node; node = next) {
        if (!left--) return tare_fail(err, TARE_E_BUG, "old forms upgrade to each other without end");
        TARE_TRY(settle_node(graph, node, &next, err));
    }
    return TARE_OK;
}

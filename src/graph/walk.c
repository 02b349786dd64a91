/* Looking at graphs: bodies, order. */
#include <string.h>

#include "base/text.h"
#include "graph/graph.h"

tare_graph *tare_node_body(const tare_node *node, int index) {
    if (!node->op) return NULL;
    size_t size;
    const tare_field *field = tare_op_attrs(node->op, &size);
    for (; field && field->type != TARE_FIELD_END; field++) {
        if (field->type != TARE_FIELD_GRAPH) continue;
        tare_graph *const *body = tare_field_get(field, node->attrs);
        if (*body && index-- == 0) return *body;
    }
    return NULL;
}

bool tare_node_is(const tare_node *node, const char *op_name) {
    return node && node->op && !*node->domain && !strcmp(node->type, op_name);
}

bool tare_value_has_one_use(const tare_value *value) { return value->uses.count == 1 && !value->is_output; }

/* Marks of the walk below. */
enum { UNSEEN, OPEN, DONE };

typedef TARE_VEC(tare_node *) node_list;

/* Depth-first over what nodes depend on, in file order, so that a sorted graph stays as it is. */
typedef struct sorter {
    tare_graph *graph;
    tare_arena *arena;
    node_list stack, sorted;
} sorter;

/* "'a' -> 'b' -> 'a'": the open nodes on the stack from `node` on. */
static tare_status fail_cycle(const sorter *s, const tare_node *node, tare_error *err) {
    tare_text text = { .arena = s->arena };
    bool inside = false;
    for (size_t i = 0; i < s->stack.count && text.length < 512; i++) {
        const tare_node *open = s->stack.at[i];
        if (open == node) inside = true;
        if (!inside || open->mark != OPEN) continue;
        tare_text_printf(&text, "'%s' needs ", open->name);
    }
    tare_text_printf(&text, "'%s'", node->name);
    if (text.failed) return tare_fail_memory(err, 0);
    return tare_fail(err, TARE_E_MALFORMED, "nodes form a cycle: %s", text.at);
}

static tare_status push(sorter *s, tare_node *node, tare_error *err) {
    return tare_vec_push(s->arena, &s->stack, node) ? TARE_OK : tare_fail_memory(err, 0);
}

static tare_status need(sorter *s, const tare_value *value, tare_error *err) {
    tare_node *producer = value && value->graph == s->graph ? value->producer : NULL;
    if (!producer || producer->mark == DONE) return TARE_OK;
    if (producer->mark == OPEN) return fail_cycle(s, producer, err);
    return push(s, producer, err);
}

/* What a node reads, and what the nodes of its bodies read from this graph. Graphs nest at most 32 deep. */
static tare_status need_inputs(sorter *s, const tare_node *node, tare_error *err) {
    for (int i = node->input_count - 1; i >= 0; i--) TARE_TRY(need(s, node->inputs[i], err));
    tare_graph *body;
    for (int i = 0; (body = tare_node_body(node, i)); i++) {
        tare_for_nodes (inner, body) TARE_TRY(need_inputs(s, inner, err));
        for (size_t j = 0; j < body->outputs.count; j++) TARE_TRY(need(s, body->outputs.at[j], err));
    }
    return TARE_OK;
}

static tare_status visit(sorter *s, tare_node *root, tare_error *err) {
    TARE_TRY(push(s, root, err));
    while (s->stack.count) {
        tare_node *node = s->stack.at[s->stack.count - 1];
        if (node->mark == UNSEEN) {
            node->mark = OPEN;
            TARE_TRY(need_inputs(s, node, err));
            continue;
        }
        s->stack.count--;
        if (node->mark == DONE) continue;
        node->mark = DONE;
        if (!tare_vec_push(s->arena, &s->sorted, node)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static tare_status sort_graph(tare_graph *graph, tare_arena *arena, tare_log *log, tare_error *err) {
    sorter s = { .graph = graph, .arena = arena };
    tare_for_nodes (node, graph) node->mark = UNSEEN;
    tare_for_nodes (node, graph)
        if (node->mark == UNSEEN) TARE_TRY(visit(&s, node, err));
    bool moved = false;
    const tare_node *old = graph->first;
    for (size_t i = 0; i < s.sorted.count; i++, old = old->next) moved |= s.sorted.at[i] != old;
    if (moved) {
        tare_log_note(log, "graph '%s': nodes were not in topological order; sorted", graph->name);
        for (size_t i = 0; i < s.sorted.count; i++) tare_node_move_before(s.sorted.at[i], NULL);
    }
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(tare_graph_sort(body, log, err));
    }
    return TARE_OK;
}

tare_status tare_graph_sort(tare_graph *graph, tare_log *log, tare_error *err) {
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = sort_graph(graph, arena, log, err);
    tare_arena_free(arena);
    return status;
}

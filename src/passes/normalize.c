/* What every model goes through when it is read. */
#include "passes/normalize.h"

#include "ops/op.h"

/* What the file declares of an output of a pool that may count windows otherwise than onnx's inference did (ops/window.c). */
typedef struct declared {
    const char *node, *type;
    const tare_value *value;
    tare_shape shape;
} declared;

typedef TARE_VEC(declared) declarations;

static bool counts_beyond(const tare_node *node) {
    const tare_field *ceil = node->op && node->op->attrs ? tare_fields_find(node->op->attrs, "ceil_mode") : NULL;
    return ceil && !tare_field_is_default(ceil, node->attrs);
}

/* Bodies nest at most as deep as the reader lets by. */
static tare_status note_declared(declarations *noted, const tare_graph *graph, tare_error *err) {
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(note_declared(noted, body, err));
        const tare_value *y = counts_beyond(node) ? tare_node_output(node, 0) : NULL;
        if (!y || y->shape.rank < 0) continue;
        const declared one = { .node = node->name, .type = node->type, .value = y, .shape = y->shape };
        if (!tare_vec_push(graph->model->arena, noted, one)) return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static bool contradict(const tare_shape *a, const tare_shape *b) {
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] >= 0 && b->dim[i] >= 0 && a->dim[i] != b->dim[i]) return true;
    return false;
}

static void warn_of_declared(const declarations *noted, const tare_model *model, tare_log *log) {
    for (size_t i = 0; i < noted->count; i++) {
        const declared *one = &noted->at[i];
        char was[128], is[128];
        if (one->value->shape.rank != one->shape.rank || !contradict(&one->value->shape, &one->shape)) continue;
        tare_shape_print(was, sizeof was, &one->shape, model->symbols.at);
        tare_shape_print(is, sizeof is, &one->value->shape, model->symbols.at);
        tare_log_warn(log,
                      "node '%s' (%s): output '%s' is declared %s, but the operator gives %s, which holds: "
                      "with ceil_mode no window begins in the padding",
                      one->node, one->type, one->value->name, was, is);
    }
}

tare_status tare_passes_normalize(tare_model *model, const tare_normalize_options *options, tare_log *log,
                                  tare_error *err) {
    static const tare_normalize_options none;
    declarations noted = { 0 };
    TARE_TRY(tare_graph_sort(model->graph, log, err));
    TARE_TRY(note_declared(&noted, model->graph, err));
    TARE_TRY(tare_upgrade_graph(model->graph, err));
    warn_of_declared(&noted, model, log);
    TARE_TRY(tare_absorb_qdq(model->graph, options ? options : &none, log, err));
    TARE_TRY(tare_graph_infer(model->graph, err));
#ifndef NDEBUG
    TARE_TRY(tare_graph_verify(model->graph, err));
#endif
    return TARE_OK;
}

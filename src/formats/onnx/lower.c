/* Writing ONNX: the opset of the file. A copy of the model is lifted to the opset that its nodes and its quantization need,
 * nodes that a lower opset can say by others are expanded, old forms that the new opset has no more are upgraded. */
#include <string.h>

#include "formats/onnx/schema.h"
#include "formats/onnx/writer.h"

/* The IR version that came with an opset (onnx 1.23's table; reference: onnxruntime.md §10). */
static int64_t ir_version_of(int64_t opset) {
    static const struct {
        int64_t opset, version;
    } table[] = { { 25, 13 }, { 24, 12 }, { 23, 11 }, { 21, 10 }, { 19, 9 },
                  { 15, 8 },  { 12, 7 },  { 11, 6 },  { 10, 5 },  { 9, 4 } };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (opset >= table[i].opset) return table[i].version;
    return IR_VERSION_MIN;
}
enum { IR_BARE_INITIALIZERS = 4 }; /* from here on an initializer need not be an input */

bool tare_onnx_fits_dual(const tare_value *value, const tare_op_dual *dual) {
    bool is_float = dual->type == TARE_FIELD_FLOAT || dual->type == TARE_FIELD_FLOATS;
    bool is_list = dual->type == TARE_FIELD_INTS || dual->type == TARE_FIELD_FLOATS;
    const tare_tensor *tensor = value->constant;
    if (!tensor || value->producer || value->is_input || value->quant) return false;
    if (tensor->dtype != (is_float ? TARE_F32 : TARE_S64)) return false;
    return is_list ? tensor->shape.rank == 1 : tensor->size == tare_dtype_size(tensor->dtype);
}

const tare_op_dual *tare_onnx_dual_of(const tare_node *node, int input, int64_t opset) {
    const tare_op_dual *dual = node->op ? node->op->duals : NULL;
    for (; dual && dual->attribute; dual++)
        if (dual->input == input && opset <= dual->until) return dual;
    return NULL;
}

/* ---- what the nodes need ---- */

static void raise(int64_t *opset, int64_t needed) {
    if (needed > *opset) *opset = needed;
}

static bool is_main(const tare_node *node) { return !*node->domain; }

static void need_node(const tare_node *node, int64_t *opset) {
    const tare_op *op = node->op;
    if (!op || !is_main(node)) return;
    raise(opset, op->needs ? op->needs(node) : op->expand ? 0 : op->since);
    for (const tare_op_dual *dual = op->duals; dual && dual->attribute; dual++) {
        const tare_value *value = tare_node_input(node, dual->input);
        if (value && !tare_onnx_fits_dual(value, dual)) raise(opset, dual->until + 1);
    }
}

/* Graphs nest at most 32 deep, here and below. */
static void need_graph(const tare_graph *graph, int64_t *opset) {
    tare_for_nodes (node, graph) {
        need_node(node, opset);
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) need_graph(body, opset);
    }
}

/* ---- rewriting ---- */

static bool is_in(const tare_graph *graph, const tare_node *node) {
    return (node->previous ? node->previous->next : graph->first) == node;
}

static bool needs_expansion(const tare_node *node, int64_t opset) {
    /* Ops of other domains decide by themselves: QONNX's Quant, once its output carries the grid. */
    return node->op && node->op->expand && (!is_main(node) || node->op->since > opset);
}

/* Old forms go first when the file is lifted, then what the file's opset does not have. Either may change the node in
 * place; *changed: other nodes stand there now. */
static tare_status rewrite_node(tare_graph *graph, tare_node *node, int64_t opset, bool is_lifted, bool *changed,
                                tare_error *err) {
    const tare_op *op = node->op;
    if (op && op->upgrade && is_lifted) TARE_TRY(op->upgrade(graph, node, err));
    if (is_in(graph, node) && needs_expansion(node, opset)) TARE_TRY(node->op->expand(graph, node, opset, err));
    *changed |= !is_in(graph, node) || node->op != op;
    return TARE_OK;
}

static tare_status rewrite_graph(tare_graph *graph, int64_t opset, bool is_lifted, bool *changed, tare_error *err) {
    tare_for_nodes_safe (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++)
            TARE_TRY(rewrite_graph(body, opset, is_lifted, changed, err));
        const char *name = node->name, *type = node->type;
        if (rewrite_node(graph, node, opset, is_lifted, changed, err) != TARE_OK)
            return tare_within(err, "node '%s' (%s)", name, type);
    }
    return TARE_OK;
}

static tare_status check_forms(const tare_graph *graph, int64_t opset, int64_t source, tare_log *log, tare_error *err) {
    tare_for_nodes (node, graph) {
        tare_graph *body;
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(check_forms(body, opset, source, log, err));
        if (!is_main(node)) continue;
        if (!node->op && opset != source)
            tare_log_warn(log, "node '%s' (%s): lifted from opset %lld to %lld without knowing the operator",
                          node->name, node->type, (long long)source, (long long)opset);
        if (!node->op || !node->op->until || opset <= node->op->until) continue;
        return tare_fail(err, TARE_E_UNSUPPORTED,
                         "node '%s' (%s): this form ends with opset %d, and the file needs opset %lld", node->name,
                         node->type, node->op->until, (long long)opset);
    }
    return TARE_OK;
}

enum { ROUNDS_MAX = 8 }; /* a rewrite's nodes may need one themselves; more than this is a ring */

static tare_status settle_opset(tare_model *model, int64_t source, tare_log *log, tare_error *err) {
    raise(&model->opset, tare_onnx_quant_opset(model->graph));
    int64_t before = source;
    bool changed = true;
    for (int round = 0; changed || model->opset != before; round++) {
        if (round == ROUNDS_MAX) return tare_fail(err, TARE_E_BUG, "operators expand to each other without end");
        need_graph(model->graph, &model->opset);
        before = model->opset;
        changed = false;
        TARE_TRY(rewrite_graph(model->graph, before, before > source, &changed, err));
        need_graph(model->graph, &model->opset);
    }
    if (model->opset != source)
        tare_log_note(log, "written with opset %lld; the model had %lld", (long long)model->opset, (long long)source);
    return check_forms(model->graph, model->opset, source, log, err);
}

static bool has_bare_initializer(const tare_graph *graph) {
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        const tare_value *value = graph->values.entries.at[i].value;
        if (value && value->constant && !value->producer && !value->is_input) return true;
    }
    return false;
}

static tare_status lower(tare_model *model, const tare_write_options *options, tare_error *err) {
    TARE_TRY(settle_opset(model, model->opset, options->log, err));
    TARE_TRY(tare_onnx_spell_quant(model->graph, options, err));
    TARE_TRY(tare_onnx_spell_float(model->graph, options, err));
    raise(&model->ir_version, ir_version_of(model->opset));
    TARE_TRY(tare_onnx_write_origins(model, options->log, err));
    if (has_bare_initializer(model->graph)) raise(&model->ir_version, IR_BARE_INITIALIZERS);
    return tare_graph_verify(model->graph, err);
}

tare_status tare_onnx_lower(tare_model **out, const tare_model *model, const tare_write_options *options,
                            tare_error *err) {
    tare_model *copy;
    TARE_TRY(tare_model_copy(&copy, model, err));
    tare_status status = lower(copy, options, err);
    if (status != TARE_OK) {
        tare_model_free(copy);
        return status;
    }
    *out = copy;
    return TARE_OK;
}

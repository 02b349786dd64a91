/* Check unknown-op: a node that tare cannot run. */
#include "diagnose/diagnose.h"

static tare_status look_graph(tare_findings *f, const tare_graph *graph, tare_error *err) {
    tare_for_nodes (node, graph) {
        const tare_graph *body;
        if (!node->op)
            tare_finding_add(f, node, NULL, 0, "no operator %s%s%s is known at opset %lld", node->domain,
                             *node->domain ? "." : "", node->type, (long long)f->model->opset);
        for (int i = 0; (body = tare_node_body(node, i)); i++) TARE_TRY(look_graph(f, body, err));
    }
    return TARE_OK;
}

static tare_status look(tare_findings *f, tare_error *err) { return look_graph(f, f->model->graph, err); }

const tare_check tare_check_unknown_op = {
    .name = "unknown-op",
    .cause = "tare has no such operator: it reads and writes the node, but cannot run what needs it",
    .repair = "cut the model before it (tare cut --to), or export it with ONNX's own operators",
    .severity = TARE_SEVERITY_BLOCKER,
    .look = look,
};

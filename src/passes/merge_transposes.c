/* Before:  y = Transpose<q>(Transpose<p>(x))
 * After:   y = Transpose<p∘q>(x)          dimension i of y is dimension p[q[i]] of x; none at all when that is i
 * Before:  y = Transpose<q>(f(Transpose<p>(a), Transpose<p>(b), c))
 * After:   y = Transpose<p∘q>(f(a, b, c))
 * When:    f is elementwise, c a constant of one element, nothing else reads what is between; several f in a row too. An f
 *          of two transposed inputs is drawn through also when no Transpose follows: one is left of two. Moves only: every
 *          number stays.
 * A quantization between stays where it is per tensor; the Transposes themselves must not be quantized differently. */
#include <string.h>

#include "ops/attr.h"
#include "passes/rewrite.h"

enum { INPUTS_MAX = 16, STEPS_MAX = 64 };

typedef struct permutation {
    int rank;
    int64_t at[TARE_RANK_MAX]; /* dimension i comes from at[i] */
} permutation;

static bool read_permutation(const tare_node *node, permutation *out) {
    tare_ints perm = tare_attr_ints(node, "perm");
    int rank = node->inputs[0]->shape.rank;
    if (rank < 0) return false;
    out->rank = rank;
    for (int i = 0; i < rank; i++) out->at[i] = perm.count ? perm.at[i] : rank - 1 - i;
    return true;
}

static bool is_equal(const permutation *a, const permutation *b) {
    return a->rank == b->rank && !memcmp(a->at, b->at, (size_t)a->rank * sizeof a->at[0]);
}

static permutation compose(const permutation *first, const permutation *then) {
    permutation both = { .rank = first->rank };
    for (int i = 0; i < both.rank; i++) both.at[i] = first->at[then->at[i]];
    return both;
}

static bool is_identity(const permutation *p) {
    for (int i = 0; i < p->rank; i++)
        if (p->at[i] != i) return false;
    return true;
}

/* Of t = Transpose<p>(x): dimension i of t is dimension p[i] of x. */
static tare_alias alias_of(const permutation *p) {
    tare_alias alias = { .has_permutation = true, .factor = 1 };
    for (int i = 0; i < TARE_RANK_MAX; i++) alias.permutation[i] = i < p->rank ? (int)p->at[i] : i;
    return alias;
}

/* A Transpose whose output only carries elements: what makes `value`, or NULL. */
static tare_node *transpose_before(const tare_value *value, permutation *p) {
    tare_node *node = value->producer;
    if (!tare_node_is(node, "Transpose") || node->graph != value->graph || !read_permutation(node, p)) return NULL;
    return !value->quant || tare_rewrite_same_quant(value->quant, node->inputs[0]->quant) ? node : NULL;
}

/* ---- two in a row ---- */

static tare_status merge(tare_pass_context *context, tare_node *node, bool *done, tare_error *err) {
    permutation first, second, both;
    tare_value *between = node->inputs[0];
    tare_node *before = transpose_before(between, &first);
    if (!before || !read_permutation(node, &second) || first.rank != second.rank) return TARE_OK;
    tare_value *origin = before->inputs[0];
    both = compose(&first, &second);
    if (is_identity(&both)) {
        if (!tare_rewrite_can_replace(node->outputs[0], origin)) return TARE_OK;
        tare_pass_changed(context, "nodes '%s' and '%s' (Transpose) cancel", before->name, node->name);
        TARE_TRY(tare_rewrite_bypass(node, origin, err));
    } else {
        tare_pass_changed(context, "node '%s' (Transpose) merged into '%s'", before->name, node->name);
        TARE_TRY(tare_attr_set_ints(node, "perm", both.at, (size_t)both.rank, err));
        TARE_TRY(tare_node_set_input(node, 0, origin, err));
    }
    *done = true;
    if (between->uses.count || between->is_output) return TARE_OK;
    tare_alias alias = alias_of(&first);
    alias.target = origin->name;
    TARE_TRY(tare_model_add_alias(context->model, between->name, &alias, err));
    tare_node_remove(before);
    return TARE_OK;
}

/* ---- through an elementwise node ---- */

typedef struct elementwise {
    tare_node *node;
    permutation p;
    tare_node *transposes[INPUTS_MAX]; /* NULL: that input is a single constant */
    int count;                         /* of transposes */
} elementwise;

static bool is_single(const tare_value *value) {
    return value && value->constant && tare_shape_elements(&value->constant->shape) == 1;
}

static bool read_elementwise(tare_node *node, elementwise *e) {
    if (!node || !node->op || !(node->op->flags & TARE_OP_ELEMENTWISE) || node->output_count != 1 ||
        !node->outputs[0] || node->input_count > INPUTS_MAX ||
        (node->outputs[0]->quant && node->outputs[0]->quant->axis >= 0))
        return false;
    *e = (elementwise){ .node = node };
    for (int i = 0; i < node->input_count; i++) {
        permutation p;
        const tare_value *input = node->inputs[i];
        if (!input || (is_single(input) && input->shape.rank <= node->outputs[0]->shape.rank)) continue;
        e->transposes[i] = transpose_before(input, &p);
        if (!e->transposes[i] || input->uses.count != 1 || input->is_output || (e->count && !is_equal(&p, &e->p)))
            return false;
        if (p.rank != node->outputs[0]->shape.rank) return false;
        e->p = p;
        e->count++;
    }
    return e->count > 0;
}

/* A Transpose<p> takes the place of the elementwise node's output, which is computed before it now. */
static tare_status draw_through(tare_pass_context *context, elementwise *e, tare_error *err) {
    tare_node *node = e->node, *transpose;
    tare_graph *graph = node->graph;
    tare_value *output = node->outputs[0], *fresh;
    for (int i = 0; i < node->input_count; i++) {
        if (!e->transposes[i]) continue;
        tare_node *before = e->transposes[i];
        tare_value *between = node->inputs[i], *origin = before->inputs[0];
        tare_alias alias = alias_of(&e->p);
        alias.target = origin->name;
        TARE_TRY(tare_node_set_input(node, i, origin, err));
        TARE_TRY(tare_model_add_alias(context->model, between->name, &alias, err));
        tare_node_remove(before);
    }
    const char *name = tare_graph_unique_name(graph, output->name);
    if (!name) return tare_fail_memory(err, 0);
    TARE_TRY(tare_graph_add_value(graph, name, &fresh, err));
    fresh->quant = output->quant;
    tare_value_set_producer(output, NULL, 0);
    tare_value_set_producer(fresh, node, 0);
    TARE_TRY(tare_node_infer(node, err));
    TARE_TRY(tare_graph_add_node(graph, node->next, tare_rewrite_op("Transpose"), NULL, &fresh, 1, &output, 1,
                                 &transpose, err));
    TARE_TRY(tare_attr_set_ints(transpose, "perm", e->p.at, (size_t)e->p.rank, err));
    return tare_node_infer(transpose, err);
}

/* Goes back from a Transpose through elementwise nodes of one input each to one that reads a Transpose. */
static bool find_before(const tare_node *transpose, elementwise *e) {
    const tare_value *value = transpose->inputs[0];
    for (int steps = 0; steps < STEPS_MAX; steps++) {
        tare_node *node = value->producer;
        if (!node || !tare_value_has_one_use(value) || node->graph != transpose->graph) return false;
        if (read_elementwise(node, e)) return true;
        if (!node->op || !(node->op->flags & TARE_OP_ELEMENTWISE)) return false;
        value = NULL;
        for (int i = 0; i < node->input_count; i++) {
            if (!node->inputs[i] || is_single(node->inputs[i])) continue;
            if (value) return false;
            value = node->inputs[i];
        }
        if (!value) return false;
    }
    return false;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    bool done = false;
    elementwise e;
    if (tare_node_is(node, "Transpose")) {
        TARE_TRY(merge(context, node, &done, err));
        if (done || !find_before(node, &e)) return TARE_OK;
    } else if (!read_elementwise(node, &e) || e.count < 2) {
        return TARE_OK;
    }
    tare_pass_changed(context, "node '%s' (%s) drawn before the Transpose of its inputs", e.node->name, e.node->type);
    return draw_through(context, &e, err);
}

const tare_pass tare_pass_merge_transposes = {
    .name = "merge-transposes",
    .help = "Transposes in a row become one or none, also with elementwise nodes between them",
    .rewrite = rewrite,
};

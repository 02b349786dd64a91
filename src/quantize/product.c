/* Products: which nodes multiply weights, and what melts into them without a rounding between. */
#include "quantize/scheme.h"

/* The only reader of a value that is nobody's output, or NULL. */
static tare_node *only_reader(const tare_value *value) {
    return value && tare_value_has_one_use(value) && value->uses.at[0].node->graph == value->graph
               ? value->uses.at[0].node
               : NULL;
}

static int64_t channels_of(const tare_product *p) {
    return p->channel_axis < 0 ? 0 : p->weight->shape.dim[p->channel_axis];
}

/* A float constant that adds one number per output channel to a MatMul or Gemm (last dimension), or to a Conv. */
static bool is_bias(const tare_product *p, const tare_value *value) {
    if (!tare_value_is_constant(value) || value->quant || value->dtype != TARE_F32 || value->shape.rank < 1)
        return false;
    for (int i = 0; i + 1 < value->shape.rank; i++)
        if (value->shape.dim[i] != 1) return false;
    return p->weight && value->shape.dim[value->shape.rank - 1] == channels_of(p);
}

/* One number per output channel, or one for all. A Gemm's C may differ by row: such a one is added in float. */
static bool is_own_bias(const tare_product *p, const tare_value *value) {
    if (!tare_value_is_constant(value)) return false;
    const tare_shape *shape = &value->constant->shape;
    const int64_t count = tare_shape_elements(shape);
    return count == 1 || !tare_node_is(p->node, "Gemm") || count == shape->dim[shape->rank - 1];
}

/* By a rule for it or for what it gives. */
static bool is_kept(const tare_quantize_options *options, const tare_node *node) {
    return tare_keeps_node_float(options, node) || tare_keeps_value_float(options, node->outputs[0]);
}

static void take_bias(const tare_quantize_options *options, tare_product *p) {
    const int last = tare_node_is(p->node, "MatMul") ? 2 : p->node->input_count;
    if (last > 2 && is_own_bias(p, p->node->inputs[2])) {
        p->bias = p->node->inputs[2];
        p->bias_node = p->node;
        p->bias_input = 2;
    }
    tare_node *next = only_reader(p->out);
    if (!tare_node_is(p->node, "MatMul") || !tare_node_is(next, "Add")) return;
    const int other = next->inputs[0] == p->out ? 1 : 0;
    if (next->outputs[0]->quant || p->out->quant || !is_bias(p, next->inputs[other])) return;
    if (is_kept(options, next)) return;
    p->bias = next->inputs[other];
    p->bias_node = next;
    p->bias_input = other;
    p->out = next->outputs[0];
}

/* The Relu or Clip that alone reads a sum without codes, so that it can melt into what makes the sum; NULL: there is none. */
static tare_node *activation_of(const tare_quantize_options *options, const tare_value *sum) {
    tare_node *next = only_reader(sum);
    if (!next || sum->quant || !(tare_node_is(next, "Relu") || tare_node_is(next, "Clip"))) return NULL;
    if (next->inputs[0] != sum) return NULL;
    double bound;
    for (int i = 1; i < next->input_count; i++)
        if (next->inputs[i] && !tare_value_read_scalar(next->inputs[i], &bound)) return NULL;
    return is_kept(options, next) ? NULL : next;
}

tare_node *tare_melting_activation(const tare_quantize_options *options, const tare_node *node) {
    const bool may = tare_target_row_of(options->target, node)->kind == TARE_INT_CODES &&
                     tare_node_quant_kind(node) == TARE_QUANT_OBSERVE;
    return may ? activation_of(options, node->outputs[0]) : NULL;
}

static void take_activation(const tare_quantize_options *options, tare_product *p) {
    p->activation = activation_of(options, p->out);
    if (p->activation) p->out = p->activation->outputs[0];
}

static bool take_operands(tare_product *p, unsigned flags, const char **why) {
    const int operands = 2;
    for (int i = 0; i < operands; i++) {
        tare_value *value = tare_node_input(p->node, i);
        if (!value || value->dtype != TARE_F32) return *why = "an operand is not f32", false;
        if (!tare_value_is_constant(value)) {
            p->data[p->data_count++] = value;
            continue;
        }
        if (p->weight) return *why = "both operands are constant", false;
        p->weight = value;
        p->weight_input = i;
    }
    if (!p->weight && !(flags & TARE_INT_DYNAMIC_OK)) return *why = "the weight is computed", false;
    const tare_value *bias = tare_node_input(p->node, 2);
    return bias && !tare_value_is_constant(bias) ? *why = "the bias is computed", false : true;
}

static const tare_value *nonfinite_input(const tare_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && tare_value_nonfinite(node->inputs[i])) return node->inputs[i];
    return NULL;
}

static const char *why_nonfinite(const tare_product *p) {
    if (p->nonfinite == tare_node_input(p->node, 2)) return "the bias holds NaN or Inf";
    return p->nonfinite == p->bias ? "what is added to it holds NaN or Inf" : "the weight holds NaN or Inf";
}

/* Codes of a value that has none by a rule would be missing for it. */
static const char *why_kept(const tare_quantize_options *options, const tare_product *p, unsigned flags) {
    const bool may_give_float = (flags & TARE_INT_FLOAT_OUT) && !p->bias && !p->activation;
    for (int i = 0; i < p->node->input_count; i++)
        if (p->node->inputs[i] && tare_keeps_value_float(options, p->node->inputs[i]))
            return "a rule keeps what it reads float";
    if (p->bias && tare_keeps_value_float(options, p->bias)) return "a rule keeps what is added to it float";
    return !may_give_float && tare_keeps_value_float(options, p->out) ? "a rule keeps what it gives float" : NULL;
}

bool tare_product_of(const tare_quantize_options *options, tare_node *node, tare_product *product, const char **why) {
    const tare_target_row *row = tare_target_row_of(options->target, node);
    *why = NULL;
    *product = (tare_product){ .node = node };
    if (row->kind != TARE_INT_PRODUCT || !node->op->quant.has_weight) return false;
    if (tare_keeps_node_float(options, node)) return *why = "a rule keeps it float", false;
    tare_product p = { .node = node, .out = node->outputs[0], .nonfinite = nonfinite_input(node) };
    product->nonfinite = p.nonfinite;
    if (p.nonfinite) return *why = why_nonfinite(&p), false;
    if (!take_operands(&p, row->flags, why)) return false;
    p.channel_axis = -1;
    if (p.weight && p.weight_input == 1 && node->op->quant.weight_axis) {
        p.channel_axis = node->op->quant.weight_axis(node);
        take_bias(options, &p);
    }
    if (p.bias && tare_value_nonfinite(p.bias)) {
        product->nonfinite = p.nonfinite = p.bias;
        return *why = why_nonfinite(&p), false;
    }
    take_activation(options, &p);
    *why = why_kept(options, &p, row->flags);
    if (!*why) *product = p;
    return !*why;
}

const char *tare_quantize_why_float(const tare_quantize_options *options, tare_node *node) {
    tare_product product;
    const char *why = NULL;
    if (!node->op) return "no such operator is known";
    return tare_product_of(options, node, &product, &why) ? NULL : why;
}

/* Who is computed on codes. Products are the seeds: their data and what they give become codes. Between products, nodes
 * that the target computes on codes join when their inputs are codes already, so that no rounding is added that a float
 * node between DQ and Q would not have; nodes that only move codes join when a neighbour has codes. Behind the last
 * product everything stays float: no output pays for a rounding that nobody needs. */
#include "quantize/scheme.h"

/* What flows through the graph: bits of scheme->sides. */
enum { AFTER_PRODUCT = 1, BEFORE_PRODUCT = 2, PRODUCT = 4 };

size_t tare_number_nodes(tare_graph *graph) {
    uint32_t count = 0;
    tare_for_nodes (node, graph) node->mark = ++count;
    return count;
}

static unsigned *sides_of(const tare_scheme *s, const tare_node *node) { return &s->sides[tare_number_of(node)]; }

static tare_scheme_value *at(const tare_scheme *s, const tare_value *value) {
    return value->mark ? &s->values.at[value->mark - 1] : NULL;
}

tare_scheme_value *tare_scheme_find(const tare_scheme *scheme, const tare_value *value) { return at(scheme, value); }

size_t tare_scheme_root(const tare_scheme *scheme, size_t index) {
    while (scheme->values.at[index].parent != index) {
        size_t parent = scheme->values.at[index].parent;
        scheme->values.at[index].parent = scheme->values.at[parent].parent;
        index = parent;
    }
    return index;
}

/* Scales along an axis, kept from a file, hold for this value alone: behind it the axis may be another. */
static bool has_scale_per_channel(const tare_value *value) { return value->quant && value->quant->count != 1; }

void tare_scheme_join(tare_scheme *scheme, const tare_value *a, const tare_value *b) {
    if (has_scale_per_channel(a) || has_scale_per_channel(b)) return;
    size_t x = tare_scheme_root_of(scheme, at(scheme, a)), y = tare_scheme_root_of(scheme, at(scheme, b));
    if (scheme->values.at[x].kept && scheme->values.at[y].kept) return; /* two scales of the file stay two */
    bool kept = scheme->values.at[x].kept || scheme->values.at[y].kept;
    scheme->values.at[x].kept = scheme->values.at[y].kept = kept;
    /* The smaller index leads: it stands earlier in the graph, and the result does not depend on the order of joins. */
    if (x < y)
        scheme->values.at[y].parent = x;
    else
        scheme->values.at[x].parent = y;
}

static tare_status list_values(tare_scheme *s, tare_error *err) {
    tare_graph *graph = s->model->graph;
    for (size_t i = 0; i < graph->values.entries.count; i++) {
        tare_value *value = graph->values.entries.at[i].value;
        if (!value) continue;
        value->mark = 0;
        if (value->dtype != TARE_F32) continue;
        const tare_scheme_value entry = { .value = value, .parent = s->values.count, .kept = value->quant != NULL };
        if (!tare_vec_push(s->arena, &s->values, entry)) return tare_fail_memory(err, 0);
        value->mark = (uint32_t)s->values.count;
        tare_scheme_value *added = &s->values.at[s->values.count - 1];
        added->quantized = value->quant != NULL;
        tare_said_add_value(&added->said, s->options, value);
        if (value->quant && tare_keeps_value_float(s->options, value))
            tare_log_warn(s->log, "value '%s' keeps the scale that the file gives it, though a rule keeps it float",
                          value->name);
    }
    return TARE_OK;
}

/* A rule for a node speaks of what the node gives with what melts into it. */
static void say_units(tare_scheme *s) {
    for (size_t i = 0; i < s->products.count; i++) {
        const tare_product *p = &s->products.at[i];
        if (!at(s, p->out)) continue;
        tare_said_add_node(&at(s, p->out)->said, s->options, p->node);
        if (p->bias_node) tare_said_add_node(&at(s, p->out)->said, s->options, p->bias_node);
    }
    tare_for_nodes (node, s->model->graph) {
        const tare_node *activation = node->op ? tare_melting_activation(s->options, node) : NULL;
        if (activation && at(s, activation->outputs[0]))
            tare_said_add_node(&at(s, activation->outputs[0])->said, s->options, node);
    }
}

static void note_float(tare_scheme *s, const tare_node *node, const char *why) {
    if (why) tare_log_note(s->log, "node '%s' (%s) stays float: %s", node->name, node->type, why);
}

static tare_status list_products(tare_scheme *s, tare_error *err) {
    tare_for_nodes (node, s->model->graph) {
        tare_product product;
        const char *why;
        if (!node->op) continue;
        if (!tare_product_of(s->options, node, &product, &why))
            note_float(s, node, why);
        else if (!tare_vec_push(s->arena, &s->products, product))
            return tare_fail_memory(err, 0);
    }
    return TARE_OK;
}

static unsigned producer_sides(const tare_scheme *s, const tare_value *value) {
    return value && value->producer ? *sides_of(s, value->producer) : 0;
}

/* Marks what lies behind some product and what lies before one. */
static tare_status mark_sides(tare_scheme *s, tare_error *err) {
    tare_graph *graph = s->model->graph;
    s->sides = tare_arena_alloc(s->arena, s->node_count + 1, sizeof *s->sides);
    if (!s->sides) return tare_fail_memory(err, s->node_count * sizeof *s->sides);
    for (size_t i = 0; i < s->products.count; i++) *sides_of(s, s->products.at[i].node) = PRODUCT;
    tare_for_nodes (node, graph) {
        for (int i = 0; i < node->input_count; i++)
            if (producer_sides(s, node->inputs[i]) & (AFTER_PRODUCT | PRODUCT)) *sides_of(s, node) |= AFTER_PRODUCT;
    }
    for (tare_node *node = graph->last; node; node = node->previous) {
        if (!(*sides_of(s, node) & (BEFORE_PRODUCT | PRODUCT))) continue;
        for (int i = 0; i < node->input_count; i++)
            if (node->inputs[i] && node->inputs[i]->producer) *sides_of(s, node->inputs[i]->producer) |= BEFORE_PRODUCT;
    }
    return TARE_OK;
}

static bool may_quantize(const tare_scheme *s, const tare_value *value) {
    return at(s, value) && !tare_keeps_value_float(s->options, value);
}

static void quantize_value(tare_scheme *s, const tare_value *value) {
    if (may_quantize(s, value)) at(s, value)->quantized = true;
}

/* A product may hand out float at no cost when nobody behind it wants codes. */
static bool gives_float(const tare_scheme *s, const tare_product *p) {
    const tare_target_row *row = tare_target_row_of(s->options->target, p->node);
    return (row->flags & TARE_INT_FLOAT_OUT) && !(*sides_of(s, p->node) & BEFORE_PRODUCT) && !p->bias && !p->activation;
}

static void seed(tare_scheme *s) {
    for (size_t i = 0; i < s->products.count; i++) {
        const tare_product *p = &s->products.at[i];
        for (int j = 0; j < p->data_count; j++) quantize_value(s, p->data[j]);
        if (!gives_float(s, p)) quantize_value(s, p->out);
    }
}

static bool has_codes(const tare_scheme *s, const tare_value *value) {
    return value && at(s, value) && at(s, value)->quantized;
}

/* Are all computed data inputs codes, and is there one? Constant operands can be made codes. */
static bool inputs_have_codes(const tare_scheme *s, const tare_node *node) {
    bool any = false;
    for (int i = 0; i < node->input_count; i++) {
        if (!node->inputs[i] || !tare_node_input_is_data(node, i) || tare_value_is_constant(node->inputs[i])) continue;
        if (!has_codes(s, node->inputs[i])) return false;
        any = true;
    }
    return any;
}

/* No codes stand for such a constant; its node is computed in float. */
static bool has_nonfinite(const tare_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && tare_node_input_is_data(node, i) && tare_value_nonfinite(node->inputs[i])) return true;
    return false;
}

static void quantize_constants(tare_scheme *s, const tare_node *node) {
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && tare_node_input_is_data(node, i) && tare_value_is_constant(node->inputs[i]) &&
            node->inputs[i]->dtype == TARE_F32)
            quantize_value(s, node->inputs[i]);
}

/* What a node that computes on codes gives: behind the activation that melts into it. */
static const tare_value *given_by(const tare_scheme *s, const tare_node *node) {
    const tare_node *activation = tare_melting_activation(s->options, node);
    return activation && may_quantize(s, activation->outputs[0]) ? activation->outputs[0] : node->outputs[0];
}

static bool joins_codes(tare_scheme *s, const tare_node *node) {
    const unsigned between = AFTER_PRODUCT | BEFORE_PRODUCT;
    return (*sides_of(s, node) & between) == between && inputs_have_codes(s, node) &&
           !has_codes(s, given_by(s, node)) && !has_nonfinite(node);
}

/* A node that moves codes: forward between products, or backward when what it gives is codes. */
static bool joins_move(tare_scheme *s, const tare_node *node) {
    if (tare_node_quant_kind(node) != TARE_QUANT_PASS) return false;
    bool in = has_codes(s, node->inputs[0]), out = false;
    for (int i = 0; i < node->output_count; i++) out |= has_codes(s, node->outputs[i]);
    if (in && !out) return (*sides_of(s, node) & (AFTER_PRODUCT | BEFORE_PRODUCT)) == (AFTER_PRODUCT | BEFORE_PRODUCT);
    return out && !in && !tare_value_is_constant(node->inputs[0]);
}

static bool join_node(tare_scheme *s, const tare_node *node) {
    const tare_target_row *row = tare_target_row_of(s->options->target, node);
    if (!node->input_count || !node->inputs[0] || !node->output_count || !node->outputs[0]) return false;
    if (tare_keeps_node_float(s->options, node)) return false;
    if (!at(s, node->outputs[0]) || !at(s, node->inputs[0])) return false;
    if (row->kind == TARE_INT_CODES && joins_codes(s, node)) {
        quantize_value(s, given_by(s, node));
        quantize_constants(s, node);
        return has_codes(s, given_by(s, node));
    }
    if (row->kind != TARE_INT_MOVE || !joins_move(s, node)) return false;
    quantize_value(s, node->inputs[0]);
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i]) quantize_value(s, node->outputs[i]);
    return has_codes(s, node->inputs[0]) && has_codes(s, node->outputs[0]);
}

/* With int_outputs they are codes, also those that are computed in float behind the last product. */
static tare_status seed_outputs(tare_scheme *s, tare_error *err) {
    const tare_graph *graph = s->model->graph;
    for (size_t i = 0; i < graph->outputs.count; i++) {
        const tare_value *value = graph->outputs.at[i];
        if (!at(s, value) || tare_value_is_constant(value) || value->is_input) {
            tare_log_note(s->log, "output '%s' stays as it is: it is no computed f32", value->name);
            continue;
        }
        if (!may_quantize(s, value))
            return tare_fail(err, TARE_E_USAGE, "output '%s': a rule keeps it float, but --int-outputs wants codes",
                             value->name);
        quantize_value(s, value);
    }
    return TARE_OK;
}

/* To the fixed point: each round either adds a value or is the last. Moves are followed backward too. */
static void spread(tare_scheme *s) {
    bool grew = true;
    while (grew) {
        grew = false;
        tare_for_nodes (node, s->model->graph) grew |= join_node(s, node);
        for (tare_node *node = s->model->graph->last; node; node = node->previous) grew |= join_node(s, node);
    }
}

/* Codes are moved only between equal parameters. */
static void join_moves(tare_scheme *s) {
    tare_for_nodes (node, s->model->graph) {
        const tare_target_row *row = tare_target_row_of(s->options->target, node);
        if (row->kind != TARE_INT_MOVE || tare_node_quant_kind(node) != TARE_QUANT_PASS) continue;
        if (tare_keeps_node_float(s->options, node)) continue;
        for (int i = 0; i < node->output_count; i++)
            if (has_codes(s, node->inputs[0]) && has_codes(s, node->outputs[i]) &&
                !tare_value_is_constant(node->inputs[0]))
                tare_scheme_join(s, node->inputs[0], node->outputs[i]);
    }
}

/* Values whose codes are moved have one scale: what is said of one is said of all. */
static void share_said(tare_scheme *s) {
    for (size_t i = 0; i < s->values.count; i++)
        if (s->values.at[i].quantized)
            tare_said_merge(&s->values.at[tare_scheme_root(s, i)].said, &s->values.at[i].said);
    for (size_t i = 0; i < s->values.count; i++)
        if (s->values.at[i].quantized) s->values.at[i].said = s->values.at[tare_scheme_root(s, i)].said;
}

static float width(const tare_scheme *s, const tare_ranges *ranges, const tare_value *value) {
    const tare_rule *rule = at(s, value)->said.range;
    float lo = 0, hi = 0;
    if (!rule) tare_sources_extremes(ranges, value, &lo, &hi);
    if (rule && rule->lo < 0) lo = (float)rule->lo;
    if (rule && rule->hi > 0) hi = (float)rule->hi;
    return hi - lo;
}

/* Rules may tell an output's codes from those of what it is joined of. */
static bool says_other(const tare_scheme *s, const tare_value *input, const tare_value *output) {
    const tare_said *in = &at(s, input)->said, *out = &at(s, output)->said;
    return (out->type != in->type && tare_code_of(s, input) != tare_code_of(s, output)) ||
           (out->range && out->range != in->range) || (out->method && out->method != in->method) ||
           (out->percentile && out->percentile != in->percentile);
}

/* Concat and Max: an input shares the output's scale, and its codes are copied, unless that would waste more than half of
 * its codes; then it keeps its own and is rescaled on the way. */
static void join_same(tare_scheme *s, const tare_ranges *ranges) {
    tare_for_nodes (node, s->model->graph) {
        if (tare_node_quant_kind(node) != TARE_QUANT_SAME || !has_codes(s, node->outputs[0])) continue;
        if (tare_keeps_node_float(s->options, node)) continue;
        float whole = width(s, ranges, node->outputs[0]);
        for (int i = 0; i < node->input_count; i++) {
            const tare_value *input = node->inputs[i];
            if (!input || !has_codes(s, input) || tare_value_is_constant(input)) continue;
            if (says_other(s, input, node->outputs[0])) continue;
            float part = width(s, ranges, input);
            if (part * 2 >= whole)
                tare_scheme_join(s, input, node->outputs[0]);
            else
                tare_log_note(s->log, "node '%s' (%s): input '%s' spans %.9g of %.9g and keeps a scale of its own",
                              node->name, node->type, input->name, (double)part, (double)whole);
        }
    }
}

tare_status tare_scheme_make(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err) {
    scheme->used = tare_arena_alloc(scheme->arena, scheme->options->rule_count + 1, sizeof *scheme->used);
    if (!scheme->used) return tare_fail_memory(err, scheme->options->rule_count);
    TARE_TRY(list_values(scheme, err));
    scheme->node_count = tare_number_nodes(scheme->model->graph);
    TARE_TRY(list_products(scheme, err));
    say_units(scheme);
    TARE_TRY(tare_scheme_spare(scheme, ranges, err));
    TARE_TRY(mark_sides(scheme, err));
    seed(scheme);
    if (scheme->options->int_outputs) TARE_TRY(seed_outputs(scheme, err));
    spread(scheme);
    join_moves(scheme);
    share_said(scheme);
    join_same(scheme, ranges);
    return TARE_OK;
}

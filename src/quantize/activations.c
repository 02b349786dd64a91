/* Scales of activations: one for each group of values that share it, from what was seen of their sources. */
#include "quantize/scheme.h"

/* What a group of values with one scale has come to. */
typedef struct group {
    const tare_quant *kept;   /* from the file */
    const tare_value *leader; /* whose range decided */
    float lo, hi;
    tare_origin origin;
    bool seen;
    bool is_fixed;           /* the target says the scale */
    bool is_mixed;           /* members come from several places */
    const tare_node *source; /* else the producer; NULL: an input of the graph */
    tare_dtype code;
} group;

typedef struct chooser {
    tare_scheme *scheme;
    const tare_ranges *ranges;
    const tare_method *standin; /* what method auto means; NULL: what the trials say */
    tare_arena *arena;          /* of the scales */
    group *groups;              /* by root index */
    group *now;                 /* the one being widened, */
    const tare_value *member;   /* by this value */
} chooser;

static tare_range_request request_for(const tare_quantize_options *options, tare_dtype code, const tare_said *said) {
    tare_range_request request = { .code = code,
                                   .symmetric = tare_wants_symmetric(options),
                                   .power_of_two = tare_wants_powers(options),
                                   .percentile = options->percentile > 0 ? options->percentile : 99.99 };
    if (said->percentile) request.percentile = said->percentile->percentile;
    return request;
}

/* *is_tried: it won over others. */
static const tare_method *method_for(const chooser *c, const tare_said *said, bool *is_tried) {
    const tare_quantize_options *options = c->scheme->options;
    const char *name = said->method ? said->method->method : options->method;
    const tare_method *method = name ? tare_method_find(name) : tare_method_at(0);
    *is_tried = false;
    if (!method->tries) return method;
    if (c->standin) return c->standin;
    const tare_winner *winner = tare_map_get(options->winners, c->member->name);
    *is_tried = winner != NULL;
    return winner ? winner->method : method;
}

/* The bounds an op's output has by nature. */
static void clip_to_nature(const tare_value *value, float *lo, float *hi) {
    const tare_node *producer = value->producer;
    if (!producer || tare_node_quant_kind(producer) != TARE_QUANT_FIXED) return;
    if (*lo < producer->op->quant.lo) *lo = producer->op->quant.lo;
    if (*hi > producer->op->quant.hi) *hi = producer->op->quant.hi;
}

/* The function that every reader applies to the numbers, when it is one and the same. */
static void find_curve(const tare_value *value, tare_range_request *request) {
    if (value->is_output || !value->uses.count) return;
    const tare_node *first = value->uses.at[0].node;
    for (size_t i = 0; i < value->uses.count; i++) {
        const tare_node *node = value->uses.at[i].node;
        if (!node->op || !node->op->curve || node->op != first->op || value->uses.at[i].index != 0) return;
    }
    request->curve = first->op->curve;
    request->curve_attrs = first->attrs;
}

static void add_range(group *g, const tare_value *value, float lo, float hi, const tare_origin *origin) {
    if (g->seen && g->source != value->producer) g->is_mixed = true;
    g->source = value->producer;
    if (!g->seen || hi - lo > g->hi - g->lo) g->leader = value, g->origin = *origin;
    g->lo = g->seen && g->lo < lo ? g->lo : lo;
    g->hi = g->seen && g->hi > hi ? g->hi : hi;
    g->seen = true;
}

/* What is said of the value, and of the one in hand whose numbers come from it. */
static tare_said said_of(const chooser *c, const tare_value *value) {
    const tare_scheme_value *entry = tare_scheme_find(c->scheme, value);
    tare_said said = tare_scheme_find(c->scheme, c->member)->said;
    if (entry) tare_said_merge(&said, &entry->said);
    return said;
}

static void add_said(chooser *c, const tare_value *value, const tare_said *said) {
    const tare_origin origin = { .kind = TARE_ORIGIN_RECIPE };
    add_range(c->now, value, (float)said->range->lo, (float)said->range->hi, &origin);
}

static void widen_group(void *context, const tare_value *value, const tare_range *range) {
    chooser *c = context;
    const tare_said said = said_of(c, value);
    bool is_tried;
    if (said.range) {
        add_said(c, value, &said);
        return;
    }
    const tare_method *method = method_for(c, &said, &is_tried);
    tare_range_request request = request_for(c->scheme->options, c->now->code, &said);
    find_curve(value, &request);
    float lo = 0, hi = 0;
    const tare_origin origin = { .kind = method->origin, .number = request.percentile, .is_tried = is_tried };
    if (range->min <= range->max) {
        method->choose(range, &request, &lo, &hi);
        clip_to_nature(value, &lo, &hi);
    }
    add_range(c->now, value, lo, hi, &origin);
}

tare_dtype tare_code_of(const tare_scheme *scheme, const tare_value *value) {
    const tare_scheme_value *entry = tare_scheme_find(scheme, value);
    const tare_rule *rule = entry ? entry->said.type : NULL;
    if (value->quant) return value->quant->code;
    if (rule) return tare_dtype_find(rule->type);
    return scheme->options->activation ? scheme->options->activation : scheme->options->target->activation;
}

static void scale_for(const tare_scheme *s, float lo, float hi, tare_dtype code, float *scale, int32_t *zero_point) {
    tare_scale_from_range(lo, hi, code, tare_wants_symmetric(s->options), tare_wants_powers(s->options), scale,
                          zero_point);
}

float tare_step_of(const tare_scheme *scheme, const tare_value *value, const tare_range *range) {
    float scale;
    int32_t zero_point;
    scale_for(scheme, range->min, range->max, tare_code_of(scheme, value), &scale, &zero_point);
    return scale;
}

static bool is_activation(const tare_scheme_value *entry) {
    return entry->quantized && !tare_value_is_constant(entry->value);
}

/* Does the value share its scale with the index-th? */
static bool is_member(const tare_scheme *s, const tare_value *value, size_t index) {
    const tare_scheme_value *entry = tare_scheme_find(s, value);
    return entry && entry->quantized && tare_scheme_root_of(s, entry) == tare_scheme_root(s, index);
}

static tare_status gather(chooser *c, tare_error *err) {
    tare_scheme *s = c->scheme;
    for (size_t i = 0; i < s->values.count; i++) {
        const tare_scheme_value *entry = &s->values.at[i];
        if (!is_activation(entry)) continue;
        group *g = &c->groups[tare_scheme_root(s, i)];
        tare_dtype code = tare_code_of(s, entry->value);
        if (!g->code || tare_dtype_size(code) > tare_dtype_size(g->code)) g->code = code;
        if (entry->value->quant) g->kept = entry->value->quant, g->leader = entry->value;
    }
    for (size_t i = 0; i < s->values.count; i++) {
        const tare_scheme_value *entry = &s->values.at[i];
        if (!is_activation(entry)) continue;
        group *g = &c->groups[tare_scheme_root(s, i)];
        if (g->kept) continue;
        c->now = g;
        c->member = entry->value;
        if (entry->said.range) {
            add_said(c, entry->value, &entry->said);
            continue;
        }
        if (tare_sources_visit(c->ranges, entry->value, widen_group, c) && g->seen) {
            if (!is_member(s, g->leader, i)) g->leader = entry->value;
            continue;
        }
        return tare_fail(err, TARE_E_USAGE,
                         "value '%s' must be quantized but was never calibrated; run `tare calibrate` on this very "
                         "model, or keep its node float by a rule",
                         entry->value->name);
    }
    return TARE_OK;
}

/* One number for scale and zero point of a group. */
static tare_status make_quant(const tare_scheme *s, group *g, tare_arena *arena, tare_quant **out, tare_error *err) {
    tare_quant *quant = tare_arena_alloc(arena, 1, sizeof *quant);
    float *scale = quant ? tare_arena_alloc(arena, 1, sizeof *scale) : NULL;
    int32_t *zero_point = scale ? tare_arena_alloc(arena, 1, sizeof *zero_point) : NULL;
    if (!zero_point) return tare_fail_memory(err, sizeof *quant);
    *quant = (tare_quant){ .code = g->code,
                           .axis = -1,
                           .count = 1,
                           .scale = scale,
                           .zero_point = zero_point,
                           .origin = g->origin,
                           .contrib = tare_dtype_size(g->code) > 1 };
    const tare_target *target = s->options->target;
    if (!g->is_mixed && g->source && target->fixed_scale &&
        target->fixed_scale(g->source, g->code, scale, zero_point)) {
        quant->origin = (tare_origin){ .kind = TARE_ORIGIN_FIXED, .detail = g->source->type };
        g->is_fixed = true;
        *out = quant;
        return TARE_OK;
    }
    scale_for(s, g->lo, g->hi, g->code, scale, zero_point);
    *out = quant;
    return TARE_OK;
}

/* Members other than the leader say whose scale they share. */
static tare_status share_quant(tare_scheme *s, const tare_quant *quant, const group *g, tare_value *value,
                               tare_error *err) {
    if (value == g->leader) {
        value->quant = quant;
        return TARE_OK;
    }
    tare_quant *copy = tare_arena_alloc(s->model->arena, 1, sizeof *copy);
    if (!copy) return tare_fail_memory(err, sizeof *copy);
    *copy = *quant;
    if (quant->origin.kind != TARE_ORIGIN_FIXED)
        copy->origin = (tare_origin){ .kind = TARE_ORIGIN_SAME, .detail = g->leader->name };
    value->quant = copy;
    return TARE_OK;
}

/* A constant operand of an Add or Mul: its own range, exactly. */
static tare_status quantize_constant(tare_scheme *s, tare_value *value, tare_error *err) {
    if (value->quant || value->constant->dtype != TARE_F32) return TARE_OK;
    const float *numbers = value->constant->data;
    group g = { .code = tare_code_of(s, value), .origin = { .kind = TARE_ORIGIN_CONSTANT } };
    for (size_t i = 0; i < value->constant->size / sizeof *numbers; i++) {
        if (numbers[i] < g.lo) g.lo = numbers[i];
        if (numbers[i] > g.hi) g.hi = numbers[i];
    }
    tare_quant *quant = NULL;
    TARE_TRY(make_quant(s, &g, s->model->arena, &quant, err));
    value->quant = quant;
    return TARE_OK;
}

static void use_source(void *context, const tare_value *value, const tare_range *range) {
    const chooser *c = context;
    const tare_said said = said_of(c, value);
    bool is_tried;
    (void)range;
    const bool is_percentile = !said.range && method_for(c, &said, &is_tried)->origin == TARE_ORIGIN_PERCENTILE;
    tare_said_use(c->scheme, &said, said.range ? TARE_KEY_RANGE : TARE_KEY_METHOD);
    if (is_percentile) tare_said_use(c->scheme, &said, TARE_KEY_PERCENTILE);
}

/* Notes which of the rules led to the scales. */
static void note_rules(chooser *c) {
    const tare_scheme *s = c->scheme;
    for (size_t i = 0; s->options->rule_count && i < s->values.count; i++) {
        const tare_scheme_value *entry = &s->values.at[i];
        const group *g = &c->groups[tare_scheme_root(s, i)];
        if (!is_activation(entry) || g->kept) continue;
        tare_said_use(s, &entry->said, TARE_KEY_TYPE);
        if (g->is_fixed) continue;
        c->member = entry->value;
        if (entry->said.range)
            tare_said_use(s, &entry->said, TARE_KEY_RANGE);
        else
            tare_sources_visit(c->ranges, entry->value, use_source, c);
    }
}

/* The groups, and their scales by root index; those of the file as they are. */
static tare_status choose_quants(chooser *c, const tare_quant ***out, tare_error *err) {
    const tare_scheme *s = c->scheme;
    const size_t count = s->values.count;
    c->groups = tare_arena_alloc(s->arena, count + 1, sizeof *c->groups);
    const tare_quant **quants = tare_arena_alloc(s->arena, count + 1, sizeof *quants);
    if (!c->groups || !quants) return tare_fail_memory(err, count * sizeof *c->groups);
    TARE_TRY(gather(c, err));
    for (size_t i = 0; i < count; i++) {
        const size_t root = tare_scheme_root(s, i);
        group *g = &c->groups[root];
        tare_quant *made = NULL;
        if (!is_activation(&s->values.at[i]) || quants[root]) continue;
        if (!g->kept) TARE_TRY(make_quant(s, g, c->arena, &made, err));
        quants[root] = g->kept ? g->kept : made;
    }
    *out = quants;
    return TARE_OK;
}

tare_status tare_activation_quants(tare_scheme *scheme, const tare_ranges *ranges, const tare_method *standin,
                                   const tare_quant ***out, tare_error *err) {
    chooser c = { .scheme = scheme, .ranges = ranges, .standin = standin, .arena = scheme->arena };
    return choose_quants(&c, out, err);
}

tare_status tare_quantize_activations(tare_scheme *scheme, const tare_ranges *ranges, tare_error *err) {
    chooser c = { .scheme = scheme, .ranges = ranges, .arena = scheme->model->arena };
    const tare_quant **quants;
    TARE_TRY(choose_quants(&c, &quants, err));
    note_rules(&c);
    for (size_t i = 0; i < scheme->values.count; i++) {
        const tare_scheme_value *entry = &scheme->values.at[i];
        if (!entry->quantized || entry->value->quant) continue;
        if (!is_activation(entry)) {
            TARE_TRY(quantize_constant(scheme, entry->value, err));
            continue;
        }
        const size_t root = tare_scheme_root(scheme, i);
        TARE_TRY(share_quant(scheme, quants[root], &c.groups[root], entry->value, err));
    }
    return TARE_OK;
}

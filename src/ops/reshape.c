/* Reshape, Flatten, Squeeze, Unsqueeze: the same elements in the same order under another shape. */
#include "base/size.h"
#include "ops/entries.h"
#include "ops/move.h"

#define VIEW_OP .flags = TARE_OP_MOVES | TARE_OP_IN_PLACE | TARE_OP_VIEW, .quant = { .kind = TARE_QUANT_PASS }

typedef struct reshape_attrs {
    bool allowzero;
} reshape_attrs;

static const tare_field reshape_fields[] = {
    { .name = "allowzero", .type = TARE_FIELD_BOOL, .offset = offsetof(reshape_attrs, allowzero) },
    { .type = TARE_FIELD_END },
};

/* The dimensions of both sides that are the same, by number: they stay out of the sum. */
typedef struct pairs {
    unsigned from, to;
} pairs;

/* One entry of the wanted shape; *open counts the -1s. An unknown entry may turn out to be any number, -1 as well. */
static tare_status read_entry(const tare_entry *entry, const tare_shape *from, int at, bool allowzero, int64_t *dim,
                              int *open, pairs *same, tare_error *err) {
    *dim = tare_entry_dim(entry);
    if (entry->kind != TARE_ENTRY_NUMBER) return TARE_OK;
    if (entry->number < -1)
        return tare_fail(err, TARE_E_MALFORMED, "dimension %d of the wanted shape is %lld, want -1 or more", at,
                         (long long)entry->number);
    if (entry->number == -1 && ++*open > 1)
        return tare_fail(err, TARE_E_MALFORMED, "the wanted shape has -1 twice, want once at most");
    if (entry->number != 0 || allowzero) return TARE_OK;
    if (from->rank >= 0 && at >= from->rank)
        return tare_fail(err, TARE_E_MALFORMED,
                         "dimension %d of the wanted shape is 0, which copies a dimension, but the input has %d", at,
                         from->rank);
    *dim = from->rank >= 0 ? from->dim[at] : TARE_DIM_UNKNOWN;
    same->from |= 1u << at;
    same->to |= 1u << at;
    return TARE_OK;
}

/* The product of a shape's dimensions that have no pair. */
typedef struct factors {
    int64_t known, symbol; /* symbol: the only one; 0: none */
    int open;              /* unknown dimensions, and symbols past the first */
} factors;

static bool count_factors(factors *out, const tare_shape *shape, unsigned paired) {
    *out = (factors){ .known = 1 };
    for (int i = 0; i < shape->rank; i++) {
        int64_t dim = shape->dim[i];
        if (paired & 1u << i) continue;
        if (dim >= 0) {
            if (!tare_i64_mul(out->known, dim, &out->known)) return false;
        } else if (dim == TARE_DIM_UNKNOWN || out->symbol) {
            out->open++;
        } else {
            out->symbol = dim;
        }
    }
    return true;
}

static void pair_symbols(const tare_shape *from, const tare_shape *to, pairs *same) {
    for (int i = 0; i < from->rank; i++) {
        if (from->dim[i] >= TARE_DIM_UNKNOWN || same->from & 1u << i) continue;
        for (int j = 0; j < to->rank; j++) {
            if (same->to & 1u << j || to->dim[j] != from->dim[i]) continue;
            same->from |= 1u << i;
            same->to |= 1u << j;
            break;
        }
    }
}

/* Could a dimension that both have be 0, so that the others need not agree? */
static bool may_be_empty(const tare_shape *from, const pairs *same) {
    for (int i = 0; i < from->rank; i++)
        if (same->from & 1u << i && from->dim[i] <= 0) return true;
    return false;
}

/* Both shapes have the same number of elements: that gives the one dimension that is not known, and is checked. */
static tare_status solve(const tare_shape *from, tare_shape *to, pairs same, tare_error *err) {
    factors have, want;
    pair_symbols(from, to, &same);
    if (!count_factors(&have, from, same.from) || !count_factors(&want, to, same.to))
        return tare_fail(err, TARE_E_LIMIT, "the shapes have more elements than the 2^40 a tensor may have");
    if (have.open || want.symbol || want.open > 1) return TARE_OK;
    bool is_certain = !have.symbol && !may_be_empty(from, &same);
    if (want.open == 0 || want.known == 0) {
        if (is_certain && have.known != want.known)
            return tare_fail(err, TARE_E_MALFORMED, "the input has %lld elements, the wanted shape %lld",
                             (long long)have.known, (long long)want.known);
        return TARE_OK;
    }
    if (is_certain && have.known % want.known)
        return tare_fail(err, TARE_E_MALFORMED,
                         "the input has %lld elements, not a multiple of the %lld of the dimensions that are given",
                         (long long)have.known, (long long)want.known);
    int64_t dim = TARE_DIM_UNKNOWN;
    if (!have.symbol) dim = have.known / want.known;
    if (have.symbol && have.known == want.known) dim = have.symbol;
    for (int i = 0; i < to->rank; i++)
        if (to->dim[i] == TARE_DIM_UNKNOWN && !(same.to & 1u << i)) to->dim[i] = dim;
    return TARE_OK;
}

static tare_status wanted_shape(const tare_entries *entries, const tare_shape *from, bool allowzero, tare_shape *to,
                                tare_error *err) {
    *to = tare_shape_unknown();
    if (entries->count < 0) return TARE_OK;
    if (entries->count > TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "the wanted shape has rank %d, more than %d", entries->count,
                         TARE_RANK_MAX);
    int open = 0;
    bool zero = false;
    pairs same = { 0 };
    to->rank = entries->count;
    for (int i = 0; i < entries->count; i++) {
        TARE_TRY(read_entry(&entries->at[i], from, i, allowzero, &to->dim[i], &open, &same, err));
        zero |= entries->at[i].kind == TARE_ENTRY_NUMBER && entries->at[i].number == 0;
    }
    if (open && zero && allowzero)
        return tare_fail(err, TARE_E_MALFORMED, "the wanted shape has both -1 and 0, and allowzero is on");
    if (from->rank >= 0) TARE_TRY(solve(from, to, same, err));
    if (open && tare_shape_is_static(from) && !tare_shape_is_static(to) && tare_shape_elements(from) == 0)
        return tare_fail(err, TARE_E_MALFORMED,
                         "the wanted shape has -1, and any number fits an input without elements");
    return TARE_OK;
}

/* The rule of all ops here: what was declared for the output may only regroup the input's elements. */
static tare_status set_view(tare_node *node, const tare_shape *to, tare_error *err) {
    TARE_TRY(tare_infer_set(node, 0, tare_input_dtype(node, 0), to, err));
    tare_shape from = tare_input_shape(node, 0);
    const tare_value *value = node->outputs[0];
    int64_t have, want;
    if (!value || !tare_shape_is_static(&from) || !tare_shape_is_static(&value->shape)) return TARE_OK;
    if (tare_shape_count(&from, &have) && tare_shape_count(&value->shape, &want) && have == want) return TARE_OK;
    char from_text[128], to_text[128];
    tare_shape_print(from_text, sizeof from_text, &from, NULL);
    tare_shape_print(to_text, sizeof to_text, &value->shape, NULL);
    return tare_fail(err, TARE_E_MALFORMED, "the output is declared %s, but the input is %s", to_text, from_text);
}

static tare_status reshape_infer(tare_node *node, tare_error *err) {
    const reshape_attrs *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to;
    tare_entries entries;
    TARE_TRY(tare_infer_entries(node, 1, &entries, err));
    TARE_TRY(wanted_shape(&entries, &from, attrs->allowzero, &to, err));
    return set_view(node, &to, err);
}

/* The shape may have come from the file, and the entries from data. */
static tare_status reshape_run(const tare_call *call, tare_error *err) {
    const reshape_attrs *attrs = call->attrs;
    const tare_value list = tare_value_of(call->inputs[1]);
    tare_shape to;
    tare_entries entries;
    tare_entries_read(&entries, &list);
    TARE_TRY(wanted_shape(&entries, &call->inputs[0]->shape, attrs->allowzero, &to, err));
    TARE_TRY(tare_run_check_shape(call->outputs[0], &to, err));
    return tare_run_copy(call, err);
}

static int reshape_needs(const tare_node *node) {
    const reshape_attrs *attrs = node->attrs;
    return attrs->allowzero ? 14 : 5;
}

const tare_op tare_op_reshape = {
    .name = "Reshape",
    .since = 14,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .attrs = reshape_fields,
    .attrs_size = sizeof(reshape_attrs),
    VIEW_OP,
    .needs = reshape_needs,
    .infer = reshape_infer,
    .run = reshape_run,
};

/* ---- Flatten ---- */

typedef struct flatten_attrs {
    int64_t axis;
} flatten_attrs;

static const tare_field flatten_fields[] = {
    { .name = "axis",
      .type = TARE_FIELD_INT,
      .offset = offsetof(flatten_attrs, axis),
      .flags = TARE_FIELD_AXIS,
      .fallback = { .i = 1 } },
    { .type = TARE_FIELD_END },
};

static tare_status flatten_infer(tare_node *node, tare_error *err) {
    const flatten_attrs *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0);
    tare_shape to = { .rank = 2, .dim = { TARE_DIM_UNKNOWN, TARE_DIM_UNKNOWN } };
    if (from.rank >= 0) {
        int64_t axis = attrs->axis < 0 ? attrs->axis + from.rank : attrs->axis;
        if (axis < 0 || axis > from.rank)
            return tare_fail(err, TARE_E_MALFORMED, "axis %lld is outside %d…%d", (long long)attrs->axis, -from.rank,
                             from.rank);
        to.dim[0] = tare_dim_product(&from, 0, (int)axis);
        to.dim[1] = tare_dim_product(&from, (int)axis, from.rank);
    }
    return set_view(node, &to, err);
}

const tare_op tare_op_flatten = {
    .name = "Flatten",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = flatten_fields,
    .attrs_size = sizeof(flatten_attrs),
    VIEW_OP,
    .infer = flatten_infer,
    .run = tare_run_copy,
};

/* ---- Squeeze, Unsqueeze ---- */

static const tare_op_dual axes_duals[] = {
    { .attribute = "axes", .input = 1, .until = 12, .type = TARE_FIELD_INTS },
    { 0 },
};

/* Without axes every dimension of 1 goes. Unknown ones may be 1: then the rank is not known. */
static bool find_ones(const tare_shape *from, unsigned *mask) {
    *mask = 0;
    for (int i = 0; i < from->rank; i++) {
        if (from->dim[i] < 0) return false;
        if (from->dim[i] == 1) *mask |= 1u << i;
    }
    return true;
}

static tare_status squeeze_shape(const tare_shape *from, const tare_axes *axes, bool all, tare_shape *to,
                                 tare_error *err) {
    unsigned mask = axes->mask;
    *to = tare_shape_unknown();
    if (all && !find_ones(from, &mask)) return TARE_OK;
    if (!all && !axes->known) {
        if (axes->count < 0) return TARE_OK;
        to->rank = from->rank - axes->count;
        for (int i = 0; i < to->rank; i++) to->dim[i] = TARE_DIM_UNKNOWN;
        return TARE_OK;
    }
    to->rank = 0;
    for (int i = 0; i < from->rank; i++) {
        if (!(mask & 1u << i))
            to->dim[to->rank++] = from->dim[i];
        else if (from->dim[i] >= 0 && from->dim[i] != 1)
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d is %lld, only one of 1 can be squeezed", i,
                             (long long)from->dim[i]);
    }
    return TARE_OK;
}

static tare_status squeeze_infer(tare_node *node, tare_error *err) {
    tare_shape from = tare_input_shape(node, 0), to = tare_shape_unknown();
    tare_axes axes;
    if (from.rank >= 0) {
        TARE_TRY(tare_infer_axes(node, 1, from.rank, &axes, err));
        TARE_TRY(squeeze_shape(&from, &axes, !tare_node_input(node, 1), &to, err));
    }
    return set_view(node, &to, err);
}

const tare_op tare_op_squeeze = {
    .name = "Squeeze",
    .since = 1,
    .inputs = { 1, 2 },
    .outputs = { 1, 1 },
    .duals = axes_duals,
    VIEW_OP,
    .infer = squeeze_infer,
    .run = tare_run_copy,
};

static tare_status unsqueeze_infer(tare_node *node, tare_error *err) {
    tare_shape from = tare_input_shape(node, 0), to = tare_shape_unknown();
    tare_entries entries;
    TARE_TRY(tare_infer_entries(node, 1, &entries, err));
    if (from.rank >= 0 && entries.count >= 0) {
        tare_axes axes;
        to.rank = from.rank + entries.count;
        if (to.rank > TARE_RANK_MAX)
            return tare_fail(err, TARE_E_UNSUPPORTED, "the result would have rank %d, more than %d", to.rank,
                             TARE_RANK_MAX);
        TARE_TRY(tare_infer_axes(node, 1, to.rank, &axes, err));
        for (int i = 0, next = 0; i < to.rank; i++)
            to.dim[i] = !axes.known ? TARE_DIM_UNKNOWN : axes.mask & 1u << i ? 1 : from.dim[next++];
    }
    return set_view(node, &to, err);
}

const tare_op tare_op_unsqueeze = {
    .name = "Unsqueeze",
    .since = 1,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .duals = axes_duals,
    VIEW_OP,
    .infer = unsqueeze_infer,
    .run = tare_run_copy,
};

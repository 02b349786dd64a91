/* Reads the integer lists that shapes are made of; see entries.h. */
#include "ops/entries.h"

#include <assert.h>
#include <string.h>

#include "base/size.h"

/* Nodes looked at for one list: hostile graphs may share a producer exponentially often. */
enum { BUDGET = 256, DEPTH_MAX = 32 };

static void read(tare_entries *out, const tare_value *value, int depth, int *budget);

static tare_entry number_entry(int64_t number) { return (tare_entry){ TARE_ENTRY_NUMBER, number }; }

static tare_entry dim_entry(int64_t dim) {
    if (dim >= 0) return number_entry(dim);
    return dim == TARE_DIM_UNKNOWN ? (tare_entry){ 0 } : (tare_entry){ TARE_ENTRY_SYMBOL, dim };
}

int64_t tare_entry_dim(const tare_entry *entry) {
    if (entry->kind == TARE_ENTRY_SYMBOL || (entry->kind == TARE_ENTRY_NUMBER && entry->number >= 0))
        return entry->number;
    return TARE_DIM_UNKNOWN;
}

static bool read_number(const tare_value *value, int64_t *number) {
    size_t count;
    return tare_value_read_s64(value, number, 1, &count) && count == 1;
}

static void read_shape(tare_entries *out, const tare_node *node) {
    const tare_value *value = node->inputs[0];
    const tare_value *list = node->outputs[0];
    if (value->shape.rank < 0 || !list || list->shape.rank != 1 || list->shape.dim[0] < 0) return;
    int64_t start = 0;
    const tare_field *field = tare_fields_find(node->op->attrs, "start");
    if (field) start = *(const int64_t *)tare_field_get(field, node->attrs);
    int rank = value->shape.rank;
    if (start < 0) start += rank;
    if (start < 0) start = 0;
    if (start > rank || list->shape.dim[0] > rank - start) return;
    out->count = (int)list->shape.dim[0];
    for (int i = 0; i < out->count; i++) out->at[i] = dim_entry(value->shape.dim[start + i]);
}

static void read_concat(tare_entries *out, const tare_node *node, int depth, int *budget) {
    tare_entries all = { 0 };
    for (int i = 0; i < node->input_count; i++) {
        tare_entries part;
        read(&part, node->inputs[i], depth, budget);
        if (part.count < 0 || all.count + part.count > TARE_ENTRIES_MAX) return;
        for (int j = 0; j < part.count; j++) all.at[all.count++] = part.at[j];
    }
    *out = all;
}

static void read_gather(tare_entries *out, const tare_node *node, int depth, int *budget) {
    tare_entries from, picks;
    read(&from, node->inputs[0], depth, budget);
    read(&picks, tare_node_input(node, 1), depth, budget);
    if (from.count < 0 || picks.count < 0) return;
    out->count = picks.count;
    for (int i = 0; i < picks.count; i++) {
        int64_t at = picks.at[i].kind == TARE_ENTRY_NUMBER ? picks.at[i].number : INT64_MIN;
        if (at < 0 && at >= -from.count) at += from.count;
        out->at[i] = at >= 0 && at < from.count ? from.at[at] : (tare_entry){ 0 };
    }
}

static void read_slice(tare_entries *out, const tare_node *node, int depth, int *budget) {
    tare_entries from;
    int64_t start, end, step = 1;
    read(&from, node->inputs[0], depth, budget);
    if (from.count < 0 || !read_number(tare_node_input(node, 1), &start) ||
        !read_number(tare_node_input(node, 2), &end))
        return;
    if (tare_node_input(node, 4) && !read_number(node->inputs[4], &step)) return;
    if (step != 1) return;
    if (start < 0) start += from.count;
    if (end < 0) end += from.count;
    start = start < 0 ? 0 : start;
    end = end > from.count ? from.count : end;
    out->count = end > start ? (int)(end - start) : 0;
    for (int i = 0; i < out->count; i++) out->at[i] = from.at[start + i];
}

static bool compute(char op, int64_t a, int64_t b, int64_t *result) {
    switch (op) {
    case '+': return tare_i64_add(a, b, result);
    case '-': return tare_i64_sub(a, b, result);
    case '*': return tare_i64_mul(a, b, result);
    default:
        if (b == 0 || (a == INT64_MIN && b == -1)) return false;
        *result = a / b;
        return true;
    }
}

static tare_entry combine(char op, tare_entry a, tare_entry b) {
    tare_entry none = { 0 };
    bool a_known = a.kind == TARE_ENTRY_NUMBER, b_known = b.kind == TARE_ENTRY_NUMBER;
    if (a_known && b_known) {
        int64_t result;
        return compute(op, a.number, b.number, &result) ? number_entry(result) : none;
    }
    /* x + 0, x - 0, x * 1, x / 1 */
    int64_t neutral = op == '*' || op == '/';
    if (b_known && b.number == neutral) return a;
    if (a_known && a.number == neutral && (op == '+' || op == '*')) return b;
    return none;
}

static void read_arithmetic(tare_entries *out, char op, const tare_node *node, int depth, int *budget) {
    tare_entries a, b;
    read(&a, node->inputs[0], depth, budget);
    read(&b, tare_node_input(node, 1), depth, budget);
    if (a.count < 0 || b.count < 0) return;
    if (a.count != b.count && a.count != 1 && b.count != 1) return;
    out->count = a.count == 1 ? b.count : a.count;
    for (int i = 0; i < out->count; i++)
        out->at[i] = combine(op, a.at[a.count == 1 ? 0 : i], b.at[b.count == 1 ? 0 : i]);
}

static void read_node(tare_entries *out, const tare_node *node, int depth, int *budget) {
    static const char *const same[] = { "Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Flatten" };
    static const struct {
        const char *name;
        char op;
    } arithmetic[] = { { "Add", '+' }, { "Sub", '-' }, { "Mul", '*' }, { "Div", '/' } };
    if (node->input_count < 1 || !node->inputs[0]) return;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (tare_node_is(node, same[i])) read(out, node->inputs[0], depth, budget);
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++)
        if (tare_node_is(node, arithmetic[i].name)) read_arithmetic(out, arithmetic[i].op, node, depth, budget);
    if (tare_node_is(node, "Shape")) read_shape(out, node);
    if (tare_node_is(node, "Concat")) read_concat(out, node, depth, budget);
    if (tare_node_is(node, "Gather")) read_gather(out, node, depth, budget);
    if (tare_node_is(node, "Slice")) read_slice(out, node, depth, budget);
}

/* Depth and work are bounded. */
static void read(tare_entries *out, const tare_value *value, int depth, int *budget) {
    *out = (tare_entries){ .count = value ? -1 : 0 };
    if (!value) return;
    int64_t numbers[TARE_ENTRIES_MAX];
    size_t count;
    if (value->constant) {
        if (!tare_value_read_s64(value, numbers, TARE_ENTRIES_MAX, &count)) return;
        out->count = (int)count;
        for (size_t i = 0; i < count; i++) out->at[i] = number_entry(numbers[i]);
        return;
    }
    int64_t length = value->shape.rank == 0 ? 1 : value->shape.rank == 1 ? value->shape.dim[0] : -1;
    if (value->shape.rank > 1) return;
    if (value->producer && depth < DEPTH_MAX && (*budget)-- > 0 && !tare_dtype_is_float(value->dtype))
        read_node(out, value->producer, depth + 1, budget);
    if (length < 0 || length == out->count) return;
    *out = (tare_entries){ .count = length <= TARE_ENTRIES_MAX ? (int)length : -1 };
}

void tare_entries_read(tare_entries *entries, const tare_value *value) {
    int budget = BUDGET;
    read(entries, value, 0, &budget);
}

tare_status tare_infer_entries(const tare_node *node, int input, tare_entries *entries, tare_error *err) {
    const tare_value *value = tare_node_input(node, input);
    TARE_TRY(tare_infer_check(node, input, TARE_TYPES_INDEX, err));
    if (value && value->shape.rank > 1)
        return tare_fail(err, TARE_E_MALFORMED, "input %d ('%s') has rank %d, want a list of integers", input,
                         value->name, value->shape.rank);
    tare_entries_read(entries, value);
    return TARE_OK;
}

tare_status tare_infer_axes(const tare_node *node, int input, int rank, tare_axes *axes, tare_error *err) {
    tare_entries entries;
    TARE_TRY(tare_infer_entries(node, input, &entries, err));
    *axes = (tare_axes){ .known = entries.count >= 0, .count = entries.count };
    if (entries.count > rank)
        return tare_fail(err, TARE_E_MALFORMED, "%d axes are named, but there are %d dimensions", entries.count, rank);
    for (int i = 0; i < entries.count; i++) {
        if (entries.at[i].kind != TARE_ENTRY_NUMBER) {
            axes->known = false;
            return TARE_OK;
        }
        TARE_TRY(tare_infer_axis(entries.at[i].number, rank, &axes->at[i], err));
        if (axes->mask & 1u << axes->at[i])
            return tare_fail(err, TARE_E_MALFORMED, "axis %d is named twice", axes->at[i]);
        axes->mask |= 1u << axes->at[i];
    }
    return TARE_OK;
}

int64_t tare_dim_product(const tare_shape *shape, int first, int last) {
    int64_t product = 1, symbol = 0;
    bool unknown = false;
    for (int i = first; i < last; i++) {
        int64_t dim = shape->dim[i];
        if (dim == 0) return 0;
        if (dim > 0) {
            if (!tare_i64_mul(product, dim, &product)) return TARE_DIM_UNKNOWN;
        } else {
            unknown = unknown || symbol || dim == TARE_DIM_UNKNOWN;
            symbol = dim;
        }
    }
    if (unknown || (symbol && product != 1)) return TARE_DIM_UNKNOWN;
    return symbol ? symbol : product;
}

tare_value tare_value_of(const tare_tensor *tensor) {
    return (tare_value){ .name = "", .dtype = tensor->dtype, .shape = tensor->shape, .constant = tensor };
}

void tare_call_node_set(tare_call_node *self, const tare_call *call) {
    assert(call->input_count <= TARE_CALL_INPUTS);
    *self = (tare_call_node){ .node = { .inputs = self->inputs, .input_count = call->input_count } };
    for (int i = 0; i < call->input_count; i++) {
        if (!call->inputs[i]) continue;
        self->values[i] = tare_value_of(call->inputs[i]);
        self->inputs[i] = &self->values[i];
    }
}

tare_status tare_run_check_shape(const tare_tensor *output, const tare_shape *want, tare_error *err) {
    if (tare_shape_equal(&output->shape, want)) return TARE_OK;
    char planned[128], asked[128];
    tare_shape_print(planned, sizeof planned, &output->shape, NULL);
    tare_shape_print(asked, sizeof asked, want, NULL);
    return tare_fail(err, TARE_E_MALFORMED, "the result is %s by its inputs, but was declared %s", asked, planned);
}

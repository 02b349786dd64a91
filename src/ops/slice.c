/* Slice: numpy's start:end:step along some axes, for any steps but 0. */
#include "ops/entries.h"
#include "ops/move.h"

static const tare_op_dual duals[] = {
    { .attribute = "starts", .input = 1, .until = 9, .type = TARE_FIELD_INTS },
    { .attribute = "ends", .input = 2, .until = 9, .type = TARE_FIELD_INTS },
    { .attribute = "axes", .input = 3, .until = 9, .type = TARE_FIELD_INTS },
    { 0 },
};

/* The elements first, first + step, … of one dimension. */
typedef struct range {
    int64_t first, step, count;
} range;

/* Negative bounds count from the end; then they are clamped to the dimension (to -1 for an end when going down). */
static range clamp_range(int64_t dim, int64_t start, int64_t end, int64_t step) {
    /* Longer steps leave the dimension all the same, and these can be negated. */
    if (step > INT32_MAX) step = INT32_MAX;
    if (step < -INT32_MAX) step = -INT32_MAX;
    if (start < 0) start += dim;
    if (end < 0) end += dim;
    int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? dim : dim - 1;
    start = start < 0 ? 0 : start > highest ? highest : start;
    end = end < lowest ? lowest : end > highest ? highest : end;
    int64_t distance = step > 0 ? end - start : start - end, pace = step > 0 ? step : -step;
    return (range){ start, step, distance > 0 ? (distance - 1) / pace + 1 : 0 };
}

/* Of a dimension that is not known: the whole, or unknown. */
static int64_t open_dim(int64_t dim, const tare_entry *start, const tare_entry *end, int64_t step) {
    bool is_whole = step == 1 && start->kind == TARE_ENTRY_NUMBER && start->number == 0 &&
                    ((end->kind == TARE_ENTRY_NUMBER && end->number >= INT32_MAX) ||
                     (end->kind == TARE_ENTRY_SYMBOL && end->number == dim));
    return is_whole ? dim : TARE_DIM_UNKNOWN;
}

/* What one node takes: per axis of the input. */
typedef struct window {
    tare_entries starts, ends, steps;
    tare_axes axes;
} window;

static tare_status check_counts(const window *w, tare_error *err) {
    int count = w->starts.count;
    if (count < 0 || w->ends.count < 0 || w->steps.count < 0 || w->axes.count < 0) return TARE_OK;
    if (w->ends.count != count || (w->axes.count != count) || (w->steps.count && w->steps.count != count))
        return tare_fail(err, TARE_E_MALFORMED, "has %d starts, %d ends, %d axes, %d steps", count, w->ends.count,
                         w->axes.count, w->steps.count);
    for (int i = 0; i < w->steps.count; i++)
        if (w->steps.at[i].kind == TARE_ENTRY_NUMBER && w->steps.at[i].number == 0)
            return tare_fail(err, TARE_E_MALFORMED, "step %d is 0", i);
    return TARE_OK;
}

static tare_status read_window(tare_node *node, int rank, window *w, tare_error *err) {
    TARE_TRY(tare_infer_entries(node, 1, &w->starts, err));
    TARE_TRY(tare_infer_entries(node, 2, &w->ends, err));
    TARE_TRY(tare_infer_entries(node, 4, &w->steps, err));
    if (tare_node_input(node, 3)) {
        TARE_TRY(tare_infer_axes(node, 3, rank, &w->axes, err));
    } else {
        w->axes = (tare_axes){ .known = w->starts.count >= 0, .count = w->starts.count };
        if (w->starts.count > rank)
            return tare_fail(err, TARE_E_MALFORMED, "has %d starts, but the input has %d dimensions", w->starts.count,
                             rank);
        for (int i = 0; i < w->starts.count; i++) w->axes.at[i] = i;
    }
    return check_counts(w, err);
}

/* ranges NULL: only the shape is asked for. */
static void apply(const window *w, const tare_shape *from, tare_shape *to, range *ranges) {
    *to = *from;
    bool known = w->axes.known && w->starts.count >= 0 && w->ends.count >= 0 && w->steps.count >= 0;
    for (int i = 0; i < from->rank; i++) {
        if (!known) to->dim[i] = TARE_DIM_UNKNOWN;
        if (ranges) ranges[i] = (range){ 0, 1, from->dim[i] };
    }
    for (int i = 0; known && i < w->axes.count; i++) {
        int axis = w->axes.at[i];
        const tare_entry *start = &w->starts.at[i], *end = &w->ends.at[i];
        tare_entry one = { TARE_ENTRY_NUMBER, 1 };
        const tare_entry *step = w->steps.count ? &w->steps.at[i] : &one;
        int64_t dim = from->dim[axis];
        if (step->kind != TARE_ENTRY_NUMBER) {
            to->dim[axis] = TARE_DIM_UNKNOWN;
        } else if (dim < 0) {
            to->dim[axis] = open_dim(dim, start, end, step->number);
        } else if (start->kind != TARE_ENTRY_NUMBER || end->kind != TARE_ENTRY_NUMBER) {
            to->dim[axis] = TARE_DIM_UNKNOWN;
        } else {
            range r = clamp_range(dim, start->number, end->number, step->number);
            to->dim[axis] = r.count;
            if (ranges) ranges[axis] = r;
        }
    }
}

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape from = tare_input_shape(node, 0), to = tare_shape_unknown();
    window w;
    if (from.rank >= 0) {
        TARE_TRY(read_window(node, from.rank, &w, err));
        apply(&w, &from, &to, NULL);
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

static tare_status run(const tare_call *call, tare_error *err) {
    const tare_tensor *from = call->inputs[0];
    tare_tensor *to = call->outputs[0];
    int rank = from->shape.rank;
    size_t size = tare_dtype_size(from->dtype);
    window w;
    range ranges[TARE_RANK_MAX];
    tare_shape plain = from->shape, result, laid;
    for (int i = 0; i < rank; i++) plain.dim[i] = from->shape.dim[tare_layout_axis(call->layout, i, rank)];
    tare_call_node node;
    tare_call_node_set(&node, call);
    TARE_TRY(read_window(&node.node, rank, &w, err));
    apply(&w, &plain, &result, ranges);
    laid = result;
    for (int i = 0; i < rank; i++) laid.dim[tare_layout_axis(call->layout, i, rank)] = result.dim[i];
    TARE_TRY(tare_run_check_shape(to, &laid, err));
    int64_t strides[TARE_RANK_MAX], offset = 0;
    tare_shape_strides(strides, &from->shape);
    tare_move move = { .to = to->data, .size = size, .rank = rank };
    for (int i = 0; i < rank; i++) {
        int at = tare_layout_axis(call->layout, i, rank);
        move.dim[at] = ranges[i].count;
        move.from_stride[at] = ranges[i].step * strides[at];
        if (ranges[i].count) offset += ranges[i].first * strides[at];
    }
    move.from = (const char *)from->data + (size_t)offset * size;
    tare_move_dense(&move);
    if (to->size) tare_move_run(&move, call->pool);
    return TARE_OK;
}

/* Attributes cannot say steps. */
static int needs(const tare_node *node) {
    const tare_value *steps = tare_node_input(node, 4);
    double step;
    return steps && !(tare_value_read_scalar(steps, &step) && step == 1) ? 10 : 1;
}

const tare_op tare_op_slice = {
    .name = "Slice",
    .since = 1,
    .inputs = { 3, 5 },
    .outputs = { 1, 1 },
    .duals = duals,
    .flags = TARE_OP_MOVES,
    .layout = TARE_LAYOUT_EITHER,
    .layout_inputs = 1,
    .quant = { .kind = TARE_QUANT_PASS },
    .needs = needs,
    .infer = infer,
    .run = run,
};

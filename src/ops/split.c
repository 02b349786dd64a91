/* Split: cuts a tensor into parts along one axis, of given sizes or equal ones (the last may be smaller). */
#include "ops/entries.h"
#include "ops/move.h"

typedef struct attributes {
    int64_t axis, num_outputs;
} attributes;

static const tare_field fields[] = {
    { .name = "axis", .type = TARE_FIELD_INT, .offset = offsetof(attributes, axis), .flags = TARE_FIELD_AXIS },
    { .name = "num_outputs", .type = TARE_FIELD_INT, .offset = offsetof(attributes, num_outputs), .hi = INT32_MAX },
    { .type = TARE_FIELD_END },
};

static const tare_op_dual duals[] = {
    { .attribute = "split", .input = 1, .until = 12, .type = TARE_FIELD_INTS },
    { 0 },
};

static tare_status check_given(const tare_value *split, const int64_t *sizes, size_t count, int64_t dim, int outputs,
                               tare_error *err) {
    int64_t sum = 0;
    if (count != (size_t)outputs)
        return tare_fail(err, TARE_E_MALFORMED, "input 1 ('%s') has %zu sizes for %d outputs", split->name, count,
                         outputs);
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] < 0 || sizes[i] > INT32_MAX)
            return tare_fail(err, TARE_E_MALFORMED, "input 1 ('%s') has size %lld for output %zu", split->name,
                             (long long)sizes[i], i);
        sum += sizes[i];
    }
    if (dim >= 0 && sum != dim)
        return tare_fail(err, TARE_E_MALFORMED, "the sizes of input 1 ('%s') sum up to %lld, the dimension is %lld",
                         split->name, (long long)sum, (long long)dim);
    return TARE_OK;
}

/* Parts of ceil(dim / count), the last one takes what is left (ONNX Split-18). */
static tare_status equal_part(const attributes *attrs, int64_t dim, int count, int index, int64_t *size,
                              tare_error *err) {
    int64_t part = (dim + count - 1) / count, last = dim - part * (count - 1);
    if (!attrs->num_outputs && last != part)
        return tare_fail(err, TARE_E_MALFORMED, "a dimension of %lld does not split into %d equal parts",
                         (long long)dim, count);
    if (last < 0)
        return tare_fail(err, TARE_E_MALFORMED, "a dimension of %lld does not split into %d parts of %lld",
                         (long long)dim, count, (long long)part);
    *size = index == count - 1 ? last : part;
    return TARE_OK;
}

static tare_status set_outputs(tare_node *node, const int64_t *sizes, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0), to = from;
    int axis = 0;
    if (from.rank >= 0) TARE_TRY(tare_infer_axis(attrs->axis, from.rank, &axis, err));
    for (int i = 0; i < node->output_count; i++) {
        if (from.rank >= 0) {
            to.dim[axis] = sizes ? sizes[i] : TARE_DIM_UNKNOWN;
            if (!tare_node_input(node, 1) && from.dim[axis] >= 0)
                TARE_TRY(equal_part(attrs, from.dim[axis], node->output_count, i, &to.dim[axis], err));
        }
        TARE_TRY(tare_infer_set(node, i, tare_input_dtype(node, 0), &to, err));
    }
    return TARE_OK;
}

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    const tare_value *split = tare_node_input(node, 1);
    if (attrs->num_outputs && attrs->num_outputs != node->output_count)
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'num_outputs' is %lld, but there are %d outputs",
                         (long long)attrs->num_outputs, node->output_count);
    if (split && attrs->num_outputs)
        return tare_fail(err, TARE_E_MALFORMED, "input 1 ('%s') and attribute 'num_outputs' are both given, want one",
                         split->name);
    if (!split || !split->constant) return set_outputs(node, NULL, err);
    TARE_TRY(tare_infer_check(node, 1, TARE_TYPES_INDEX, err));
    tare_arena *arena = tare_arena_new();
    size_t limit = (size_t)node->output_count, count = 0;
    int64_t *sizes = arena ? tare_arena_alloc(arena, limit, sizeof *sizes) : NULL;
    tare_status status = sizes ? TARE_OK : tare_fail_memory(err, limit * sizeof *sizes);
    if (status == TARE_OK && !tare_value_read_s64(split, sizes, limit, &count))
        status = tare_fail(err, TARE_E_MALFORMED, "input 1 ('%s') has not one size for each of the %zu outputs",
                           split->name, limit);
    int64_t axis = attrs->axis, dim = TARE_DIM_UNKNOWN;
    tare_shape from = tare_input_shape(node, 0);
    if (from.rank >= 0 && tare_axis_normalize(&axis, from.rank)) dim = from.dim[axis];
    if (status == TARE_OK) status = check_given(split, sizes, count, dim, node->output_count, err);
    if (status == TARE_OK) status = set_outputs(node, sizes, err);
    tare_arena_free(arena);
    return status;
}

static tare_status run(const tare_call *call, tare_error *err) {
    const attributes *attrs = call->attrs;
    const tare_tensor *from = call->inputs[0];
    size_t size = tare_dtype_size(from->dtype);
    int rank = from->shape.rank;
    int64_t normal = attrs->axis;
    tare_axis_normalize(&normal, rank);
    int axis = tare_layout_axis(call->layout, (int)normal, rank);
    int64_t outer = tare_shape_product(&from->shape, 0, axis), row = tare_shape_product(&from->shape, axis, rank);
    int64_t step = tare_shape_product(&from->shape, axis + 1, rank), at = 0;
    const tare_tensor *sizes = call->input_count > 1 ? call->inputs[1] : NULL;
    if (sizes && sizes->size != (size_t)call->output_count * tare_dtype_size(sizes->dtype))
        return tare_fail(err, TARE_E_MALFORMED, "input 1 has not one size for each of the %d outputs",
                         call->output_count);
    for (int i = 0; i < call->output_count; i++) {
        /* An output that nobody wants still takes its place. */
        int64_t part = 0;
        if (!sizes)
            TARE_TRY(equal_part(attrs, from->shape.dim[axis], call->output_count, i, &part, err));
        else
            part = sizes->dtype == TARE_S32 ? ((const int32_t *)sizes->data)[i] : ((const int64_t *)sizes->data)[i];
        tare_tensor *to = call->outputs[i];
        if (part < 0 || part > from->shape.dim[axis] - at || (to && to->shape.dim[axis] != part))
            return tare_fail(err, TARE_E_MALFORMED, "output %d should have %lld of a dimension of %lld", i,
                             (long long)part, (long long)from->shape.dim[axis]);
        if (to) {
            tare_move move = { .to = to->data,
                               .from = (const char *)from->data + (size_t)(at * step) * size,
                               .size = size,
                               .rank = 2,
                               .dim = { outer, part * step },
                               .to_stride = { part * step, 1 },
                               .from_stride = { row, 1 } };
            tare_move_run(&move, call->pool);
        }
        at += part;
    }
    return TARE_OK;
}

static int64_t split_dim(const tare_node *node) {
    const attributes *attrs = node->attrs;
    tare_shape from = tare_input_shape(node, 0);
    int64_t axis = attrs->axis;
    return from.rank >= 0 && tare_axis_normalize(&axis, from.rank) ? from.dim[axis] : TARE_DIM_UNKNOWN;
}

static int needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    return attrs->num_outputs && !tare_node_input(node, 1) && split_dim(node) < 0 ? 18 : 2;
}

/* Below opset 18 equal parts have no attribute, and unequal ones need their sizes. */
static tare_status expand(tare_graph *graph, tare_node *node, int64_t opset, tare_error *err) {
    attributes *attrs = node->attrs;
    int64_t dim = split_dim(node), count = node->output_count;
    if (opset >= 18 || !attrs->num_outputs) return TARE_OK;
    if (!tare_node_input(node, 1) && dim >= 0 && dim % count) {
        tare_arena *arena = graph->model->arena;
        int64_t *sizes = tare_arena_alloc(arena, (size_t)count, sizeof *sizes);
        tare_value *value;
        if (!sizes) return tare_fail_memory(err, (size_t)count * sizeof *sizes);
        for (int i = 0; i < count; i++) TARE_TRY(equal_part(attrs, dim, (int)count, i, &sizes[i], err));
        TARE_TRY(tare_graph_add_s64(graph, "split", sizes, (size_t)count, false, &value, err));
        if (node->input_count < 2) TARE_TRY(tare_node_resize_inputs(node, 2, err));
        TARE_TRY(tare_node_set_input(node, 1, value, err));
    }
    attrs->num_outputs = 0;
    return TARE_OK;
}

const tare_op tare_op_split = {
    .name = "Split",
    .since = 18,
    .inputs = { 1, 2 },
    .outputs = { 1, -1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .duals = duals,
    .flags = TARE_OP_MOVES,
    .layout = TARE_LAYOUT_EITHER,
    .layout_inputs = 1,
    .quant = { .kind = TARE_QUANT_PASS },
    .expand = expand,
    .needs = needs,
    .infer = infer,
    .run = run,
};

/* ---- before opset 18 ---- */

typedef struct old_attributes {
    int64_t axis;
} old_attributes;

static const tare_field old_fields[] = {
    { .name = "axis", .type = TARE_FIELD_INT, .offset = offsetof(old_attributes, axis), .flags = TARE_FIELD_AXIS },
    { .type = TARE_FIELD_END },
};

/* Equal parts were what no sizes mean. */
static tare_status upgrade(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    const old_attributes *old = node->attrs;
    TARE_TRY(tare_node_become(node, &tare_op_split, err));
    attributes *attrs = node->attrs;
    attrs->axis = old->axis;
    if (!tare_node_input(node, 1)) attrs->num_outputs = node->output_count;
    return TARE_OK;
}

static tare_status old_infer(tare_node *node, tare_error *err) {
    const old_attributes *old = node->attrs;
    attributes attrs = { .axis = old->axis };
    tare_node same = *node;
    same.attrs = &attrs;
    return infer(&same, err);
}

const tare_op tare_op_split_2 = {
    .name = "Split",
    .since = 2,
    .until = 17,
    .inputs = { 1, 2 },
    .outputs = { 1, -1 },
    .attrs = old_fields,
    .attrs_size = sizeof(old_attributes),
    .duals = duals,
    .upgrade = upgrade,
    .infer = old_infer,
};

/* Constant and ConstantOfShape: numbers that stand in the file. */
#include <string.h>

#include "ops/entries.h"
#include "ops/move.h"

typedef struct constant_attrs {
    const tare_tensor *value;
    tare_floats value_float, value_floats;
    tare_ints value_int, value_ints;
    const char *value_string;
    tare_strings value_strings;
} constant_attrs;

#define FIELD(member, kind, bits)                                                                                      \
    { .name = #member, .type = kind, .offset = offsetof(constant_attrs, member), .flags = bits }

static const tare_field constant_fields[] = {
    FIELD(value, TARE_FIELD_TENSOR, 0),
    FIELD(value_float, TARE_FIELD_FLOATS, TARE_FIELD_ONE | TARE_FIELD_ANY_REAL),
    FIELD(value_floats, TARE_FIELD_FLOATS, TARE_FIELD_ANY_REAL),
    FIELD(value_int, TARE_FIELD_INTS, TARE_FIELD_ONE),
    FIELD(value_ints, TARE_FIELD_INTS, 0),
    FIELD(value_string, TARE_FIELD_STRING, 0),
    FIELD(value_strings, TARE_FIELD_STRINGS, 0),
    { .type = TARE_FIELD_END },
};

#undef FIELD

/* A list or a bare number as a tensor that points at the attribute. */
static tare_status point_at(tare_arena *arena, tare_dtype dtype, const void *numbers, size_t count, bool scalar,
                            const tare_tensor **out, tare_error *err) {
    tare_tensor *tensor = tare_arena_alloc(arena, 1, sizeof *tensor);
    void *copy = tensor ? tare_arena_copy(arena, numbers, count * tare_dtype_size(dtype)) : NULL;
    if (!copy) return tare_fail_memory(err, count * tare_dtype_size(dtype));
    tensor->dtype = dtype;
    tensor->shape.rank = scalar ? 0 : 1;
    tensor->shape.dim[0] = scalar ? 0 : (int64_t)count;
    tensor->data = copy;
    tensor->size = count * tare_dtype_size(dtype);
    *out = tensor;
    return TARE_OK;
}

static tare_status make_constant(const tare_node *node, const tare_tensor **out, tare_error *err) {
    const constant_attrs *attrs = node->attrs;
    tare_arena *arena = node->graph->model->arena;
    int given = (attrs->value != NULL) + (attrs->value_float.at != NULL) + (attrs->value_floats.at != NULL) +
                (attrs->value_int.at != NULL) + (attrs->value_ints.at != NULL) + (attrs->value_string != NULL) +
                (attrs->value_strings.at != NULL);
    if (given == 0)
        return tare_fail(err, TARE_E_UNSUPPORTED,
                         "holds none of the values that tare reads (sparse_value it does not)");
    if (given > 1) return tare_fail(err, TARE_E_MALFORMED, "holds %d values, want one", given);
    *out = attrs->value;
    if (attrs->value) return TARE_OK;
    if (attrs->value_float.at) return point_at(arena, TARE_F32, attrs->value_float.at, 1, true, out, err);
    if (attrs->value_int.at) return point_at(arena, TARE_S64, attrs->value_int.at, 1, true, out, err);
    if (attrs->value_floats.at)
        return point_at(arena, TARE_F32, attrs->value_floats.at, attrs->value_floats.count, false, out, err);
    if (attrs->value_string) return point_at(arena, TARE_STRING, &attrs->value_string, 1, true, out, err);
    if (attrs->value_strings.at)
        return point_at(arena, TARE_STRING, attrs->value_strings.at, attrs->value_strings.count, false, out, err);
    return point_at(arena, TARE_S64, attrs->value_ints.at, attrs->value_ints.count, false, out, err);
}

/* The only rule that makes a constant: there is nothing to compute. */
static tare_status constant_infer(tare_node *node, tare_error *err) {
    tare_value *value = node->outputs[0];
    if (!value) return TARE_OK;
    if (!value->constant) TARE_TRY(make_constant(node, &value->constant, err));
    return tare_infer_set(node, 0, value->constant->dtype, &value->constant->shape, err);
}

static tare_status constant_run(const tare_call *call, tare_error *err) {
    const tare_tensor *from;
    TARE_TRY(make_constant(call->node, &from, err));
    tare_tensor *to = call->outputs[0];
    TARE_TRY(tare_run_check_shape(to, &from->shape, err));
    if (to->size) memcpy(to->data, from->data, to->size);
    return TARE_OK;
}

static int constant_needs(const tare_node *node) {
    const constant_attrs *attrs = node->attrs;
    return attrs->value ? 1 : 12;
}

const tare_op tare_op_constant = {
    .name = "Constant",
    .since = 12,
    .inputs = { 0, 0 },
    .outputs = { 1, 1 },
    .attrs = constant_fields,
    .attrs_size = sizeof(constant_attrs),
    .needs = constant_needs,
    .infer = constant_infer,
    .run = constant_run,
};

/* ---- ConstantOfShape ---- */

typedef struct fill_attrs {
    const tare_tensor *value;
} fill_attrs;

static const tare_field fill_fields[] = {
    { .name = "value", .type = TARE_FIELD_TENSOR, .offset = offsetof(fill_attrs, value) },
    { .type = TARE_FIELD_END },
};

static tare_status read_dims(const tare_entries *entries, tare_shape *shape, tare_error *err) {
    *shape = tare_shape_unknown();
    if (entries->count < 0) return TARE_OK;
    if (entries->count > TARE_RANK_MAX)
        return tare_fail(err, TARE_E_UNSUPPORTED, "the result would have rank %d, more than %d", entries->count,
                         TARE_RANK_MAX);
    shape->rank = entries->count;
    for (int i = 0; i < entries->count; i++) {
        if (entries->at[i].kind == TARE_ENTRY_NUMBER && entries->at[i].number < 0)
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d is %lld, want 0 or more", i,
                             (long long)entries->at[i].number);
        shape->dim[i] = tare_entry_dim(&entries->at[i]);
    }
    return TARE_OK;
}

static tare_status fill_infer(tare_node *node, tare_error *err) {
    const fill_attrs *attrs = node->attrs;
    tare_entries entries;
    tare_shape shape;
    TARE_TRY(tare_infer_entries(node, 0, &entries, err));
    TARE_TRY(read_dims(&entries, &shape, err));
    if (attrs->value && attrs->value->size != tare_dtype_size(attrs->value->dtype))
        return tare_fail(err, TARE_E_MALFORMED, "attribute 'value' holds %zu bytes, want one element",
                         attrs->value->size);
    return tare_infer_set(node, 0, attrs->value ? attrs->value->dtype : TARE_F32, &shape, err);
}

static tare_status fill_run(const tare_call *call, tare_error *err) {
    const fill_attrs *attrs = call->attrs;
    const tare_value list = tare_value_of(call->inputs[0]);
    tare_tensor *to = call->outputs[0];
    tare_entries entries;
    tare_shape shape;
    tare_entries_read(&entries, &list);
    TARE_TRY(read_dims(&entries, &shape, err));
    TARE_TRY(tare_run_check_shape(to, &shape, err));
    float zero = 0;
    size_t size = tare_dtype_size(to->dtype);
    tare_move_fill(to->data, attrs->value ? attrs->value->data : &zero, size, (int64_t)(to->size / size));
    return TARE_OK;
}

const tare_op tare_op_constant_of_shape = {
    .name = "ConstantOfShape",
    .since = 9,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = fill_fields,
    .attrs_size = sizeof(fill_attrs),
    .infer = fill_infer,
    .run = fill_run,
};

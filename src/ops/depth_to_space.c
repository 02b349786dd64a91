/* DepthToSpace and SpaceToDepth: blocks of channels to blocks of pixels and back. */
#include "base/size.h"
#include "ops/move.h"

enum { DCR, CRD }; /* which of block and depth varies faster in the channels */

typedef struct attributes {
    int64_t blocksize;
    int mode;
} attributes;

static const char *const modes[] = { "DCR", "CRD", NULL }; /* ORDER: the enum above */

static const tare_field to_space_fields[] = {
    { .name = "blocksize",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, blocksize),
      .flags = TARE_FIELD_REQUIRED,
      .lo = 1,
      .hi = INT32_MAX },
    { .name = "mode", .type = TARE_FIELD_ENUM, .offset = offsetof(attributes, mode), .names = modes },
    { .type = TARE_FIELD_END },
};

static const tare_field to_depth_fields[] = {
    { .name = "blocksize",
      .type = TARE_FIELD_INT,
      .offset = offsetof(attributes, blocksize),
      .flags = TARE_FIELD_REQUIRED,
      .lo = 1,
      .hi = INT32_MAX },
    { .type = TARE_FIELD_END },
};

static tare_status divide(int64_t dim, int64_t by, int axis, int64_t *out, tare_error *err) {
    *out = dim < 0 ? TARE_DIM_UNKNOWN : dim / by;
    if (dim < 0 || dim % by == 0) return TARE_OK;
    return tare_fail(err, TARE_E_MALFORMED, "dimension %d is %lld, not a multiple of %lld", axis, (long long)dim,
                     (long long)by);
}

static tare_status multiply(int64_t dim, int64_t by, int axis, int64_t *out, tare_error *err) {
    *out = TARE_DIM_UNKNOWN;
    if (dim < 0 || tare_i64_mul(dim, by, out)) return TARE_OK;
    return tare_fail(err, TARE_E_LIMIT, "dimension %d would be %lld times %lld", axis, (long long)by, (long long)dim);
}

static tare_status to_space_infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    int64_t block = attrs->blocksize;
    tare_shape from = tare_input_shape(node, 0), to = from;
    TARE_TRY(tare_infer_rank(node, 0, 4, err));
    if (from.rank == 4) {
        TARE_TRY(divide(from.dim[1], block * block, 1, &to.dim[1], err));
        for (int i = 2; i < 4; i++) TARE_TRY(multiply(from.dim[i], block, i, &to.dim[i], err));
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

static tare_status to_depth_infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    int64_t block = attrs->blocksize;
    tare_shape from = tare_input_shape(node, 0), to = from;
    TARE_TRY(tare_infer_rank(node, 0, 4, err));
    if (from.rank == 4) {
        TARE_TRY(multiply(from.dim[1], block * block, 1, &to.dim[1], err));
        for (int i = 2; i < 4; i++) TARE_TRY(divide(from.dim[i], block, i, &to.dim[i], err));
    }
    return tare_infer_set(node, 0, tare_input_dtype(node, 0), &to, err);
}

/* Both ops are one copy over (n, h, block row, w, block column, depth): `deep` has the channels, `wide` the pixels. */
static void set_strides(int64_t deep_stride[6], int64_t wide_stride[6], const tare_tensor *deep,
                        const tare_tensor *wide, tare_layout layout, int64_t block, int mode) {
    int64_t d[TARE_RANK_MAX], w[TARE_RANK_MAX];
    int c = tare_layout_axis(layout, 1, 4), y = tare_layout_axis(layout, 2, 4), x = tare_layout_axis(layout, 3, 4);
    int64_t depth = wide->shape.dim[c];
    tare_shape_strides(d, &deep->shape);
    tare_shape_strides(w, &wide->shape);
    const int64_t deep_strides[6] = { d[0],
                                      d[y],
                                      mode == DCR ? block * depth * d[c] : block * d[c],
                                      d[x],
                                      mode == DCR ? depth * d[c] : d[c],
                                      mode == DCR ? d[c] : block * block * d[c] };
    const int64_t wide_strides[6] = { w[0], block * w[y], w[y], block * w[x], w[x], w[c] };
    for (int i = 0; i < 6; i++) {
        deep_stride[i] = deep_strides[i];
        wide_stride[i] = wide_strides[i];
    }
}

static void move_blocks(const tare_call *call, tare_tensor *deep, tare_tensor *wide, bool to_space) {
    const attributes *attrs = call->attrs;
    int64_t block = attrs->blocksize;
    int c = tare_layout_axis(call->layout, 1, 4);
    int y = tare_layout_axis(call->layout, 2, 4), x = tare_layout_axis(call->layout, 3, 4);
    int64_t deep_stride[6], wide_stride[6];
    set_strides(deep_stride, wide_stride, deep, wide, call->layout, block, to_space ? attrs->mode : DCR);
    const int64_t dims[6] = { deep->shape.dim[0], deep->shape.dim[y], block, deep->shape.dim[x], block,
                              wide->shape.dim[c] };
    /* The order of dimensions in the output, outermost first, so that rows are written in order. */
    static const int space_first[6] = { 0, 5, 1, 2, 3, 4 }, space_last[6] = { 0, 1, 2, 3, 4, 5 };
    static const int depth_first[6] = { 0, 2, 4, 5, 1, 3 }, depth_last[6] = { 0, 1, 3, 2, 4, 5 };
    const int *order = call->layout == TARE_LAYOUT_FIRST ? (to_space ? space_first : depth_first)
                                                         : (to_space ? space_last : depth_last);
    tare_move move = { .size = tare_dtype_size(deep->dtype), .rank = 6 };
    move.to = to_space ? wide->data : deep->data;
    move.from = to_space ? deep->data : wide->data;
    for (int i = 0; i < 6; i++) {
        move.dim[i] = dims[order[i]];
        move.to_stride[i] = (to_space ? wide_stride : deep_stride)[order[i]];
        move.from_stride[i] = (to_space ? deep_stride : wide_stride)[order[i]];
    }
    tare_move_run(&move, call->pool);
}

static tare_status to_space_run(const tare_call *call, tare_error *err) {
    (void)err;
    move_blocks(call, call->inputs[0], call->outputs[0], true);
    return TARE_OK;
}

static tare_status to_depth_run(const tare_call *call, tare_error *err) {
    (void)err;
    move_blocks(call, call->outputs[0], call->inputs[0], false);
    return TARE_OK;
}

static int to_space_needs(const tare_node *node) {
    const attributes *attrs = node->attrs;
    return attrs->mode == CRD ? 11 : 1;
}

const tare_op tare_op_depth_to_space = {
    .name = "DepthToSpace",
    .since = 11,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = to_space_fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES,
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_PASS },
    .needs = to_space_needs,
    .infer = to_space_infer,
    .run = to_space_run,
};

const tare_op tare_op_space_to_depth = {
    .name = "SpaceToDepth",
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .attrs = to_depth_fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_MOVES,
    .layout = TARE_LAYOUT_EITHER,
    .quant = { .kind = TARE_QUANT_PASS },
    .infer = to_depth_infer,
    .run = to_depth_run,
};

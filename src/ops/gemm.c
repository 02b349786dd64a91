/* Gemm: y = alpha a' b' + beta c, a' and b' the matrices or their transposes, c broadcast to y's shape. A c with one number
 * per column, alpha = beta = 1, is a bias of the product; else alpha, beta c and their sum round one after the other. With
 * beta = 0 c is not looked at, whatever it holds (as in BLAS and ONNX Runtime). */
#include <stddef.h>
#include <string.h>

#include "base/size.h"
#include "ops/as_f32.h"
#include "ops/product.h"

typedef struct attributes {
    float alpha, beta;
    bool trans_a, trans_b;
} attributes;

static const tare_field fields[] = {
    { .name = "alpha", .type = TARE_FIELD_FLOAT, .offset = offsetof(attributes, alpha), .fallback.f = 1 },
    { .name = "beta", .type = TARE_FIELD_FLOAT, .offset = offsetof(attributes, beta), .fallback.f = 1 },
    { .name = "transA", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, trans_a) },
    { .name = "transB", .type = TARE_FIELD_BOOL, .offset = offsetof(attributes, trans_b) },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) {
    const attributes *attrs = node->attrs;
    tare_dtype dtype;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    TARE_TRY(tare_infer_one_type(node, 7, &dtype, err));
    TARE_TRY(tare_infer_rank(node, 0, 2, err));
    TARE_TRY(tare_infer_rank(node, 1, 2, err));
    tare_shape a = tare_input_shape(node, 0), b = tare_input_shape(node, 1), c = tare_input_shape(node, 2);
    tare_shape y = { .rank = 2, .dim = { TARE_DIM_UNKNOWN, TARE_DIM_UNKNOWN } }, all;
    if (a.rank == 2) y.dim[0] = a.dim[attrs->trans_a];
    if (b.rank == 2) y.dim[1] = b.dim[!attrs->trans_b];
    if (a.rank == 2 && b.rank == 2) {
        int64_t depth = a.dim[!attrs->trans_a], other = b.dim[attrs->trans_b];
        if (depth >= 0 && other >= 0 && depth != other)
            return tare_fail(err, TARE_E_MALFORMED, "rows of %lld numbers meet columns of %lld", (long long)depth,
                             (long long)other);
    }
    bool fits = c.rank < 0 || (c.rank <= 2 && tare_shape_broadcast(&all, &c, &y));
    for (int i = 0; fits && c.rank > 0 && i < 2; i++)
        if (y.dim[i] >= 0 && all.dim[i] >= 0 && all.dim[i] != y.dim[i]) fits = false;
    if (!fits) {
        char got[128], want[128];
        tare_shape_print(got, sizeof got, &c, NULL);
        tare_shape_print(want, sizeof want, &y, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "input 2 ('%s') of shape %s does not broadcast to %s",
                         node->inputs[2]->name, got, want);
    }
    return tare_infer_set(node, 0, dtype, &y, err);
}

static int weight_axis(const tare_node *node) { return ((const attributes *)node->attrs)->trans_b ? 0 : 1; }

static bool tap_shares(const tare_node *node, double *shares) {
    const attributes *attrs = node->attrs;
    shares[0] = 1;
    return !attrs->trans_a && attrs->alpha == 1 && attrs->beta == 1;
}

static uint64_t macs(const tare_node *node) {
    tare_shape a = tare_input_shape(node, 0), y = node->outputs[0]->shape;
    if (!tare_shape_is_static(&a) || !tare_shape_is_static(&y)) return 0;
    return (uint64_t)tare_shape_elements(&y) * (uint64_t)a.dim[!((const attributes *)node->attrs)->trans_a];
}

/* Input 2 may be left out since 11. */
static int needs(const tare_node *node) { return tare_node_input(node, 2) ? 7 : 11; }

enum { ALIGNMENT = 64 };

/* What is added to the product; NULL: nothing. */
static const tare_tensor *addend(const attributes *attrs, const tare_tensor *c) { return attrs->beta != 0 ? c : NULL; }

typedef struct state {
    size_t rows, columns, depth;
    const float *packed, *bias; /* constants; NULL: made in each run, or none */
    bool has_bias;              /* c is one; else it is added after the product */
    size_t packed_at, bias_at, a_at,
        c_at; /* in the scratch: b packed, the bias padded, a transposed, a row of beta c */
    size_t scratch;
    float lo, hi;
} state;

static tare_status add_floats(state *s, size_t count, size_t *at, tare_error *err) {
    size_t size;
    *at = s->scratch;
    if (!tare_size_mul(count, sizeof(float), &size) || !tare_size_align(size, ALIGNMENT, &size) ||
        !tare_size_add(s->scratch, size, &s->scratch))
        return tare_fail_memory(err, SIZE_MAX);
    return TARE_OK;
}

static bool is_ready(const tare_tensor *tensor) { return tensor->data && tensor->dtype == TARE_F32; }

static void pack_b(const state *s, const attributes *attrs, float *to, const float *from, tare_pool *pool) {
    size_t k_stride = attrs->trans_b ? 1 : s->columns, n_stride = attrs->trans_b ? s->depth : 1;
    tare_product_pack(to, from, 1, s->depth, s->columns, k_stride, n_stride, pool);
}

static void pack_bias(const state *s, float *to, const float *from) { tare_pack_f32(to, 1, from, 1, s->columns, 1, 1); }

static tare_status prepare_sides(state *s, tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    const tare_tensor *b = p->inputs[1], *c = addend(attrs, p->input_count > 2 ? p->inputs[2] : NULL);
    size_t packed_size = tare_packed_f32_size(s->depth, s->columns), bias_size = tare_packed_f32_size(1, s->columns);
    if (is_ready(b)) {
        float *packed = tare_room_new(p->kept, packed_size * sizeof *packed);
        if (!packed) return tare_fail_memory(err, packed_size * sizeof *packed);
        pack_b(s, attrs, packed, b->data, NULL);
        s->packed = tare_keep(p->kept, packed, packed_size * sizeof *packed);
        p->taken |= 1u << 1;
        if (!s->packed) return tare_fail_memory(err, packed_size * sizeof *packed);
    } else {
        TARE_TRY(add_floats(s, packed_size, &s->packed_at, err));
    }
    if (attrs->trans_a) TARE_TRY(add_floats(s, s->rows * s->depth, &s->a_at, err));
    if (!c) return TARE_OK;
    s->has_bias = attrs->alpha == 1 && attrs->beta == 1 && c->shape.rank > 0 &&
                  c->shape.dim[c->shape.rank - 1] == (int64_t)s->columns &&
                  (c->shape.rank == 1 || c->shape.dim[0] == 1);
    if (!s->has_bias) return add_floats(s, s->columns, &s->c_at, err);
    if (!is_ready(c)) return add_floats(s, bias_size, &s->bias_at, err);
    float *bias = tare_room_new(p->kept, bias_size * sizeof *bias);
    if (!bias) return tare_fail_memory(err, bias_size * sizeof *bias);
    pack_bias(s, bias, c->data);
    s->bias = tare_keep(p->kept, bias, bias_size * sizeof *bias);
    p->taken |= 1u << 2;
    return s->bias ? TARE_OK : tare_fail_memory(err, bias_size * sizeof *bias);
}

static tare_status prepare(tare_prepare *p, tare_error *err) {
    const attributes *attrs = p->attrs;
    const tare_shape *a = &p->inputs[0]->shape, *b = &p->inputs[1]->shape;
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    *s = (state){ .rows = (size_t)a->dim[attrs->trans_a],
                  .depth = (size_t)a->dim[!attrs->trans_a],
                  .columns = (size_t)b->dim[!attrs->trans_b],
                  .lo = p->clamp_lo,
                  .hi = p->clamp_hi };
    TARE_TRY(prepare_sides(s, p, err));
    p->state = s;
    p->scratch_size = s->scratch;
    return tare_as_f32_prepare(p, err);
}

/* y = alpha y + beta c, row by row. */
static void finish(const tare_call *call, const state *s) {
    const attributes *attrs = call->attrs;
    const tare_kernels *k = call->kernels;
    const tare_tensor *c = addend(attrs, call->input_count > 2 ? call->inputs[2] : NULL);
    float *term = (float *)(void *)((char *)call->scratch + s->c_at), *y = call->outputs[0]->data;
    int rank = c ? c->shape.rank : 0;
    bool has_columns = rank > 0 && c->shape.dim[rank - 1] != 1, has_rows = rank > 1 && c->shape.dim[0] != 1;
    size_t width = has_columns ? s->columns : 1;
    for (size_t row = 0; row < s->rows; row++, y += s->columns) {
        if (attrs->alpha != 1) k->mul_f32(y, y, 1, &attrs->alpha, 0, s->columns);
        if (c) {
            const float *from = (const float *)c->data + (has_rows ? row * width : 0);
            if (attrs->beta != 1) {
                k->mul_f32(term, from, 1, &attrs->beta, 0, width);
                from = term;
            }
            k->add_f32(y, y, 1, from, has_columns, s->columns);
        }
        k->clamp_f32(y, y, s->columns, s->lo, s->hi);
    }
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    const attributes *attrs = call->attrs;
    const tare_tensor *c = addend(attrs, call->input_count > 2 ? call->inputs[2] : NULL);
    char *scratch = call->scratch;
    bool is_finished = attrs->alpha == 1 && (!c || s->has_bias);
    tare_product product = { .rows = s->rows,
                             .columns = s->columns,
                             .depth = s->depth,
                             .a = call->inputs[0]->data,
                             .b = s->packed,
                             .bias = s->bias,
                             .c = call->outputs[0]->data,
                             .lo = is_finished ? s->lo : -__builtin_inff(),
                             .hi = is_finished ? s->hi : __builtin_inff() };
    (void)err;
    if (attrs->trans_a) {
        call->kernels->transpose_32((uint32_t *)(void *)(scratch + s->a_at), s->depth, call->inputs[0]->data, s->rows,
                                    s->depth, s->rows);
        product.a = (const float *)(const void *)(scratch + s->a_at);
    }
    if (!s->packed) {
        float *packed = (float *)(void *)(scratch + s->packed_at);
        pack_b(s, attrs, packed, call->inputs[1]->data, call->pool);
        product.b = packed;
    }
    if (s->has_bias && !s->bias) {
        float *bias = (float *)(void *)(scratch + s->bias_at);
        pack_bias(s, bias, c->data);
        product.bias = bias;
    }
    tare_product_run(&product, call->kernels, call->pool);
    if (!is_finished) finish(call, s);
    return TARE_OK;
}

static tare_status run(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, ((const state *)call->state)->scratch, run_f32, err);
}

const tare_op tare_op_gemm = {
    .name = "Gemm",
    .since = 7,
    .inputs = { 2, 3 },
    .outputs = { 1, 1 },
    .attrs = fields,
    .attrs_size = sizeof(attributes),
    .flags = TARE_OP_FUSES_CLAMP,
    .quant = { .kind = TARE_QUANT_OBSERVE, .has_weight = true, .weight_axis = weight_axis, .tap_shares = tap_shares },
    .needs = needs,
    .infer = infer,
    .prepare = prepare,
    .macs = macs,
    .run = run,
};

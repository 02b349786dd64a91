/* MatMul: numpy's matmul. The last two dimensions are matrices (a vector counts as a row on the left, a column on the
 * right), those before broadcast. */
#include "base/size.h"
#include "ops/as_f32.h"
#include "ops/product.h"

static tare_status infer(tare_node *node, tare_error *err) {
    tare_dtype dtype;
    unsigned types = TARE_TYPES_FLOAT | 1u << TARE_S32 | 1u << TARE_U32 | 1u << TARE_S64 | 1u << TARE_U64;
    TARE_TRY(tare_infer_check(node, 0, types, err));
    TARE_TRY(tare_infer_one_type(node, 3, &dtype, err));
    tare_shape a = tare_input_shape(node, 0), b = tare_input_shape(node, 1), y;
    if (a.rank < 0 || b.rank < 0) return tare_infer_set(node, 0, dtype, NULL, err);
    if (a.rank == 0 || b.rank == 0)
        return tare_fail(err, TARE_E_MALFORMED, "input %d is a scalar, want a matrix", a.rank == 0 ? 0 : 1);
    bool is_row = a.rank == 1, is_column = b.rank == 1;
    a = tare_matmul_widen(&a, true);
    b = tare_matmul_widen(&b, false);
    int64_t depth = a.dim[a.rank - 1], other = b.dim[b.rank - 2];
    if (depth >= 0 && other >= 0 && depth != other)
        return tare_fail(err, TARE_E_MALFORMED, "rows of %lld numbers meet columns of %lld", (long long)depth,
                         (long long)other);
    tare_shape a_lead = tare_matmul_leading(&a), b_lead = tare_matmul_leading(&b);
    if (!tare_shape_broadcast(&y, &a_lead, &b_lead)) {
        char left[128], right[128];
        tare_shape_print(left, sizeof left, &a_lead, NULL);
        tare_shape_print(right, sizeof right, &b_lead, NULL);
        return tare_fail(err, TARE_E_MALFORMED, "the leading dimensions %s and %s do not broadcast", left, right);
    }
    if (!is_row) y.dim[y.rank++] = a.dim[a.rank - 2];
    if (!is_column) y.dim[y.rank++] = b.dim[b.rank - 1];
    return tare_infer_set(node, 0, dtype, &y, err);
}

/* Whole numbers since 9. */
static int needs(const tare_node *node) { return 1u << tare_input_dtype(node, 0) & TARE_TYPES_INTEGER ? 9 : 1; }

static int weight_axis(const tare_node *node) {
    int rank = tare_input_shape(node, 1).rank;
    return rank >= 2 ? rank - 1 : -1;
}

static uint64_t macs(const tare_node *node) {
    tare_shape a = tare_input_shape(node, 0), y = node->outputs[0]->shape;
    if (!tare_shape_is_static(&a) || !tare_shape_is_static(&y) || a.rank == 0) return 0;
    return (uint64_t)tare_shape_elements(&y) * (uint64_t)a.dim[a.rank - 1];
}

typedef struct state {
    tare_matmul geometry;
    const float *packed; /* NULL: in each run, in the scratch */
    size_t scratch;
    float lo, hi;
} state;

static tare_status prepare(tare_prepare *p, tare_error *err) {
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    *s = (state){ .geometry = tare_matmul_measure(&p->inputs[0]->shape, &p->inputs[1]->shape),
                  .lo = p->clamp_lo,
                  .hi = p->clamp_hi };
    const tare_matmul *g = &s->geometry;
    const tare_tensor *b = p->inputs[1];
    size_t one = tare_packed_f32_size((size_t)g->depth, (size_t)g->columns), size;
    p->state = s;
    if (!(1u << b->dtype & TARE_TYPES_FLOAT) || b->dtype == TARE_F64) return TARE_OK;
    if (!tare_size_mul(one * sizeof(float), (size_t)g->b_count, &size)) return tare_fail_memory(err, SIZE_MAX);
    if (b->data && b->dtype == TARE_F32) {
        float *packed = tare_room_new(p->kept, size);
        if (!packed) return tare_fail_memory(err, size);
        tare_product_pack(packed, b->data, (size_t)g->b_count, (size_t)g->depth, (size_t)g->columns, (size_t)g->columns,
                          1, NULL);
        s->packed = tare_keep(p->kept, packed, size);
        p->taken |= 1u << 1;
        if (!s->packed) return tare_fail_memory(err, size);
    } else {
        s->scratch = p->scratch_size = size;
    }
    return tare_as_f32_prepare(p, err);
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    const tare_matmul *g = &s->geometry;
    tare_product product = { .rows = (size_t)g->rows,
                             .columns = (size_t)g->columns,
                             .depth = (size_t)g->depth,
                             .matrices = g->matrices,
                             .a = call->inputs[0]->data,
                             .b = s->packed,
                             .c = call->outputs[0]->data,
                             .lo = s->lo,
                             .hi = s->hi };
    (void)err;
    if (!s->packed) {
        tare_product_pack(call->scratch, call->inputs[1]->data, (size_t)g->b_count, product.depth, product.columns,
                          product.columns, 1, call->pool);
        product.b = call->scratch;
    }
    tare_product_run(&product, call->kernels, call->pool);
    return TARE_OK;
}

/* Other types, plainly. Whole numbers wrap; those of 32 bits are the lower half of the sum in 64. */
#define PLAIN(name, type, sum_type)                                                                                    \
    static void multiply_##name(const tare_matmul *g, const void *left, const void *right, void *to) {                 \
        const type *a = left, *b = right;                                                                              \
        type *c = to;                                                                                                  \
        for (int64_t m = 0; m < g->rows; m++) {                                                                        \
            for (int64_t n = 0; n < g->columns; n++) {                                                                 \
                sum_type sum = 0;                                                                                      \
                for (int64_t k = 0; k < g->depth; k++)                                                                 \
                    sum += (sum_type)a[m * g->depth + k] * (sum_type)b[k * g->columns + n];                            \
                c[m * g->columns + n] = (type)sum;                                                                     \
            }                                                                                                          \
        }                                                                                                              \
    }
PLAIN(f64, double, double)
PLAIN(32, uint32_t, uint64_t)
PLAIN(64, uint64_t, uint64_t)

static void run_plain(const tare_call *call) {
    const tare_matmul *g = &((const state *)call->state)->geometry;
    size_t size = tare_dtype_size(call->outputs[0]->dtype);
    size_t a_size = (size_t)(g->rows * g->depth) * size, b_size = (size_t)(g->depth * g->columns) * size;
    size_t c_size = (size_t)(g->rows * g->columns) * size;
    const int64_t count = tare_matrices_count(&g->matrices);
    for (int64_t matrix = 0; matrix < count; matrix++) {
        int64_t a_matrix, b_matrix;
        tare_matrices_find(&g->matrices, matrix, &a_matrix, &b_matrix);
        const char *a = (const char *)call->inputs[0]->data + (size_t)a_matrix * a_size;
        const char *b = (const char *)call->inputs[1]->data + (size_t)b_matrix * b_size;
        char *c = (char *)call->outputs[0]->data + (size_t)matrix * c_size;
        if (call->outputs[0]->dtype == TARE_F64)
            multiply_f64(g, a, b, c);
        else if (size == sizeof(uint32_t))
            multiply_32(g, a, b, c);
        else
            multiply_64(g, a, b, c);
    }
}

static tare_status run(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    tare_dtype dtype = call->outputs[0]->dtype;
    if (!call->outputs[0]->size) return TARE_OK; /* matrices of nothing may be many */
    if (1u << dtype & TARE_TYPES_FLOAT && dtype != TARE_F64) return tare_as_f32_run(call, s->scratch, run_f32, err);
    run_plain(call);
    return TARE_OK;
}

const tare_op tare_op_matmul = {
    .name = "MatMul",
    .since = 1,
    .inputs = { 2, 2 },
    .outputs = { 1, 1 },
    .flags = TARE_OP_FUSES_CLAMP,
    .quant = { .kind = TARE_QUANT_OBSERVE, .has_weight = true, .weight_axis = weight_axis, .data_inputs = 3 },
    .needs = needs,
    .infer = infer,
    .prepare = prepare,
    .macs = macs,
    .run = run,
};

/* MatMul and Gemm on codes for every target: sums of products by the kernel, a tile of rows at a time, and the target's
 * requantization; or real numbers, a scale for each column. */
#include "base/size.h"
#include "ops/attr.h"
#include "ops/matrices.h"
#include "targets/codes.h"

enum { TILE = 32 /* rows at once */, ALIGNMENT = 64 };

typedef struct state {
    tare_matmul matmul;
    int64_t tiles; /* of a matrix */
    tare_gemm_codes_fn *product;
    tare_dtype b_code;
    int32_t zero_point, b_zero_point; /* b's where it is packed in each run */
    bool trans_a, trans_b;
    const int16_t *weights;                /* b packed, matrix by matrix; NULL: in each run, in the scratch */
    const int32_t *bias;                   /* NULL: none */
    size_t a_at, threads_at, sums, thread; /* bytes in the scratch: a transposed, the threads' rooms; in such a room */
    tare_requant requant;
    const float *scale; /* of real numbers by column, instead of requant; NULL: codes come out */
} state;

/* ---- what it takes ---- */

static bool is_trans(const tare_node *node, const char *name) { return tare_attr_int(node, name, 0) != 0; }

static int column_axis(const tare_node *node) { return is_trans(node, "transB") ? 0 : node->inputs[1]->shape.rank - 1; }

static int64_t count_columns(const tare_node *node) {
    const tare_shape *b = &node->inputs[1]->shape;
    return b->rank < 2 ? 1 : b->dim[column_axis(node)];
}

static const char *check_bias(const tare_int_node *n) {
    const tare_value *bias = tare_node_input(n->node, 2);
    const tare_quant *quant = bias ? n->inputs[2] : NULL;
    if (!bias) return NULL;
    if (!quant || !bias->constant || quant->code != TARE_S32) return "its bias is no constant of s32 codes";
    const tare_shape *shape = &bias->shape;
    if (shape->rank < 1 || shape->dim[shape->rank - 1] != count_columns(n->node) ||
        tare_shape_elements(shape) != count_columns(n->node))
        return "its bias has no number per column";
    if (quant->block || (quant->count != 1 && quant->count != (size_t)count_columns(n->node)))
        return "its bias has no scale per column";
    for (size_t c = 0; c < quant->count; c++)
        if (quant->zero_point[c]) return "its bias has a zero point";
    return NULL;
}

const char *tare_product_codes_refuses(const tare_int_node *n) {
    const tare_value *weight = n->node->inputs[1];
    const tare_quant *w = n->inputs[1];
    if (!w) return "its second input is not quantized";
    if (w->code != TARE_S8 && w->code != TARE_U8) return "its second input has no codes of 8 bits";
    if (w->block || (w->count != 1 && (!weight->constant || w->axis != column_axis(n->node) ||
                                       w->count != (size_t)count_columns(n->node))))
        return "its second input has scales of another axis than the columns";
    return check_bias(n);
}

/* ---- preparing ---- */

/* A matrix of b, `depth` × `columns` less their zero points, from codes that lie so or transposed. */
static void pack(const state *s, int16_t *to, const uint8_t *from, const int32_t *zero_point, size_t step) {
    const size_t depth = (size_t)s->matmul.depth, columns = (size_t)s->matmul.columns;
    const size_t k_stride = s->trans_b ? 1 : columns, n_stride = s->trans_b ? depth : 1;
    for (size_t k = 0; k < depth; k++)
        for (size_t n = 0; n < columns; n++)
            *to++ = (int16_t)(tare_code_of(s->b_code, from[k * k_stride + n * n_stride]) - zero_point[n * step]);
}

static size_t matrix_size(const state *s) { return (size_t)(s->matmul.depth * s->matmul.columns); }

static tare_status pack_weights(state *s, const tare_int_node *n, tare_prepare *p, tare_error *err) {
    const size_t size = p->inputs[1]->size * sizeof(int16_t), step = n->inputs[1]->count == 1 ? 0 : 1;
    int16_t *weights = tare_room_new(p->kept, size);
    if (!weights) return tare_fail_memory(err, size);
    for (size_t i = 0; i < (size_t)s->matmul.b_count; i++)
        pack(s, weights + i * matrix_size(s), (const uint8_t *)p->inputs[1]->data + i * matrix_size(s),
             n->inputs[1]->zero_point, step);
    s->weights = tare_keep(p->kept, weights, size);
    p->taken |= 1u << 1;
    return s->weights ? TARE_OK : tare_fail_memory(err, size);
}

static bool add_room(size_t *total, size_t size, size_t *at) {
    *at = *total;
    return tare_size_align(size, ALIGNMENT, &size) && tare_size_add(*total, size, total);
}

/* b packed, a transposed, and for each thread pointers to rows and sums. */
static tare_status size_scratch(state *s, tare_prepare *p, tare_error *err) {
    size_t b_at, sums, rooms, packed = 0, transposed = s->trans_a ? p->inputs[0]->size : 0, total = 0;
    if ((!s->weights && !tare_size_mul(p->inputs[1]->size, sizeof(int16_t), &packed)) ||
        !tare_size_mul(TILE * sizeof(int32_t), (size_t)s->matmul.columns, &sums) ||
        !add_room(&s->thread, TILE * sizeof(const uint8_t *), &b_at) || !add_room(&s->thread, sums, &s->sums) ||
        !tare_size_mul(s->thread, p->threads, &rooms) || !add_room(&total, packed, &b_at) ||
        !add_room(&total, transposed, &s->a_at) || !add_room(&total, rooms, &s->threads_at))
        return tare_fail_memory(err, SIZE_MAX);
    p->scratch_size = total;
    return TARE_OK;
}

static tare_status set_scales(state *s, const tare_int_node *n, tare_requant_kind kind, tare_conv_ratio *ratio,
                              const tare_prepare *p, tare_error *err) {
    const size_t columns = (size_t)s->matmul.columns;
    if (!n->output) {
        float *scale = tare_arena_alloc(p->arena, columns + 1, sizeof *scale);
        if (!scale) return tare_fail_memory(err, columns * sizeof *scale);
        for (size_t c = 0; c < columns; c++) scale[c] = tare_conv_product_scale(n, c);
        s->scale = scale;
        return TARE_OK;
    }
    tare_requant_start(&s->requant, kind, n->output, p->clamp_lo, p->clamp_hi);
    TARE_TRY(tare_requant_alloc(&s->requant, columns, p->arena, err));
    for (size_t c = 0; c < columns; c++) tare_requant_set(&s->requant, c, ratio(n, c));
    return TARE_OK;
}

/* Gemm's sides as MatMul's. */
static tare_matmul measure(const tare_node *node, const tare_prepare *p) {
    tare_shape a = p->inputs[0]->shape, b = p->inputs[1]->shape;
    if (is_trans(node, "transA")) a = (tare_shape){ .rank = 2, .dim = { a.dim[1], a.dim[0] } };
    if (is_trans(node, "transB")) b = (tare_shape){ .rank = 2, .dim = { b.dim[1], b.dim[0] } };
    return tare_matmul_measure(&a, &b);
}

tare_status tare_product_codes_prepare(const tare_int_node *n, tare_requant_kind kind, tare_conv_ratio *ratio,
                                       tare_prepare *p, tare_error *err) {
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    s->matmul = measure(n->node, p);
    s->tiles = (s->matmul.rows + TILE - 1) / TILE;
    s->product = n->inputs[0]->code == TARE_S8 ? p->kernels->gemm_s8 : p->kernels->gemm_u8;
    s->b_code = n->inputs[1]->code;
    s->zero_point = n->inputs[0]->zero_point[0];
    s->b_zero_point = n->inputs[1]->zero_point[0];
    s->trans_a = is_trans(n->node, "transA");
    s->trans_b = is_trans(n->node, "transB");
    if (p->input_count > 2 && p->inputs[2]) s->bias = p->inputs[2]->data;
    if (p->inputs[1]->data) TARE_TRY(pack_weights(s, n, p, err));
    TARE_TRY(size_scratch(s, p, err));
    p->state = s;
    return set_scales(s, n, kind, ratio, p, err);
}

/* ---- running ---- */

typedef struct job {
    const tare_call *call;
    const state *state;
    const uint8_t *a;
    const int16_t *b;
} job;

static void pack_matrix(void *context, size_t index, size_t thread) {
    const job *j = context;
    const state *s = j->state;
    (void)thread;
    pack(s, (int16_t *)j->call->scratch + index * matrix_size(s),
         (const uint8_t *)j->call->inputs[1]->data + index * matrix_size(s), &s->b_zero_point, 0);
}

static void transpose(const state *s, uint8_t *to, const uint8_t *from) {
    for (int64_t m = 0; m < s->matmul.rows; m++)
        for (int64_t k = 0; k < s->matmul.depth; k++) *to++ = from[k * s->matmul.rows + m];
}

/* Rows of sums to what comes out. */
static void finish(const job *j, const int32_t *sums, size_t first, size_t rows) {
    const state *s = j->state;
    const size_t columns = (size_t)s->matmul.columns;
    for (size_t r = 0; r < rows; r++, sums += columns) {
        if (!s->scale) {
            tare_requantize(&s->requant, (uint8_t *)j->call->outputs[0]->data + (first + r) * columns, sums, 0,
                            columns);
            continue;
        }
        float *y = (float *)j->call->outputs[0]->data + (first + r) * columns;
        for (size_t c = 0; c < columns; c++) y[c] = (float)sums[c] * s->scale[c];
    }
}

static void run_tile(void *context, size_t index, size_t thread) {
    const job *j = context;
    const state *s = j->state;
    const int64_t first = (int64_t)index % s->tiles * TILE, matrix = (int64_t)index / s->tiles;
    const size_t rows = (size_t)(s->matmul.rows - first < TILE ? s->matmul.rows - first : TILE);
    char *room = (char *)j->call->scratch + s->threads_at + thread * s->thread;
    const uint8_t **a = (const uint8_t **)(void *)room;
    int32_t *sums = (int32_t *)(void *)(room + s->sums);
    int64_t a_matrix, b_matrix;
    tare_matrices_find(&s->matmul.matrices, matrix, &a_matrix, &b_matrix);
    for (size_t r = 0; r < rows; r++)
        a[r] = j->a + (size_t)((a_matrix * s->matmul.rows + first + (int64_t)r) * s->matmul.depth);
    s->product(&(tare_gemm_codes_args){ .rows = rows,
                                        .columns = (size_t)s->matmul.columns,
                                        .taps = 1,
                                        .depth = (size_t)s->matmul.depth,
                                        .a = a,
                                        .zero_point = s->zero_point,
                                        .b = j->b + (size_t)b_matrix * matrix_size(s),
                                        .bias = s->bias,
                                        .c = sums,
                                        .c_stride = (size_t)s->matmul.columns });
    finish(j, sums, (size_t)(matrix * s->matmul.rows + first), rows);
}

tare_status tare_product_codes_run(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    job j = { .call = call, .state = s, .a = call->inputs[0]->data, .b = s->weights };
    (void)err;
    if (!s->weights) {
        tare_pool_run(call->pool, (size_t)s->matmul.b_count, pack_matrix, &j);
        j.b = call->scratch;
    }
    if (s->trans_a) {
        transpose(s, (uint8_t *)call->scratch + s->a_at, j.a);
        j.a = (const uint8_t *)call->scratch + s->a_at;
    }
    tare_pool_run(call->pool, (size_t)(tare_matrices_count(&s->matmul.matrices) * s->tiles), run_tile, &j);
    return TARE_OK;
}

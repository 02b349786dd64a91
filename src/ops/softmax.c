/* Softmax, LogSoftmax, Hardmax along one axis, and their forms before opset 13, which flatten to a matrix first.
 *   e = exp(x - max), s = Σ e in the 16-lane order;  Softmax e · (1 / s);  LogSoftmax (x - max) - log(s);  Hardmax: 1 at
 * the first maximum, 0 elsewhere. */
#include <math.h>
#include <sleef.h>
#include <stddef.h>
#include <string.h>

#include "ops/attr.h"
#include "ops/rows.h"
#include "ops/spans.h"
#include "ops/upgrade.h"

typedef struct softmax_attrs {
    int64_t axis;
} softmax_attrs;

static const tare_field fields[] = {
    { "axis", TARE_FIELD_INT, offsetof(softmax_attrs, axis), .flags = TARE_FIELD_AXIS, .fallback.i = -1 },
    { 0 },
};
static const tare_field fields_1[] = {
    { "axis", TARE_FIELD_INT, offsetof(softmax_attrs, axis), .flags = TARE_FIELD_AXIS, .fallback.i = 1 },
    { 0 },
};

static tare_status infer(tare_node *node, tare_error *err) {
    tare_shape shape = tare_input_shape(node, 0);
    int axis;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    if (shape.rank >= 0) TARE_TRY(tare_infer_axis(((const softmax_attrs *)node->attrs)->axis, shape.rank, &axis, err));
    return tare_infer_same(node, err);
}

enum { BLOCK = 64 /* rows side by side that are done at once */ };
enum kind { SOFTMAX, LOG_SOFTMAX, HARDMAX };

struct job {
    const tare_call *call;
    enum kind kind;
    tare_rows rows;
    int64_t stride; /* of the axis */
};

/* One row that lies together, in f32. */
static void row_f32(const struct job *job, float *to, const float *from) {
    const tare_kernels *k = job->call->kernels;
    size_t count = (size_t)job->rows.length;
    float largest = k->reduce_max_f32(from, count);
    if (job->kind == HARDMAX) {
        size_t first = 0;
        while (first + 1 < count && !(from[first] == largest)) first++;
        memset(to, 0, count * sizeof *to);
        to[first] = 1;
        return;
    }
    if (job->kind == SOFTMAX) {
        k->sub_f32(to, from, 1, &largest, 0, count);
        k->exp_f32(to, to, count);
        float factor = 1 / k->reduce_sum_f32(to, count);
        k->mul_f32(to, to, 1, &factor, 0, count);
        return;
    }
    tare_lanes lanes = { 0 };
    float e[TARE_NUMBERS_CHUNK];
    for (size_t i = 0; i < count; i += TARE_NUMBERS_CHUNK) {
        size_t part = count - i < TARE_NUMBERS_CHUNK ? count - i : TARE_NUMBERS_CHUNK;
        k->sub_f32(e, from + i, 1, &largest, 0, part);
        k->exp_f32(e, e, part);
        tare_lanes_add(&lanes, e, part);
    }
    float log_sum = tare_lanes_sum(&lanes);
    k->log_f32(&log_sum, &log_sum, 1);
    k->sub_f32(to, from, 1, &largest, 0, count);
    k->sub_f32(to, to, 1, &log_sum, 0, count);
}

/* The largest of each of `count` rows side by side; the first of equal ones. */
static void block_max(const struct job *job, float *largest, const float *from, size_t count) {
    for (size_t c = 0; c < count; c++) largest[c] = -INFINITY;
    for (int64_t i = 0; i < job->rows.length; i++)
        job->call->kernels->max_f32(largest, from + i * job->stride, 1, largest, 1, count);
}

static void block_hardmax(const struct job *job, float *to, const float *from, const float *largest, size_t count) {
    bool found[BLOCK] = { false };
    for (int64_t i = 0; i < job->rows.length; i++) {
        for (size_t c = 0; c < count; c++) {
            float x = from[i * job->stride + (int64_t)c];
            bool is_it = !found[c] && (x == largest[c] || i + 1 == job->rows.length);
            to[i * job->stride + (int64_t)c] = is_it ? 1 : 0;
            found[c] = found[c] || is_it;
        }
    }
}

/* `count` rows side by side, in f32. */
static void block_f32(const struct job *job, float *to, const float *from, size_t count) {
    const tare_kernels *k = job->call->kernels;
    float largest[BLOCK], e[BLOCK], lanes[TARE_LANES][BLOCK] = { { 0 } };
    block_max(job, largest, from, count);
    if (job->kind == HARDMAX) {
        block_hardmax(job, to, from, largest, count);
        return;
    }
    for (int64_t i = 0; i < job->rows.length; i++) {
        float *target = job->kind == SOFTMAX ? to + i * job->stride : e;
        k->sub_f32(target, from + i * job->stride, 1, largest, 1, count);
        k->exp_f32(target, target, count);
        k->add_f32(lanes[i % TARE_LANES], lanes[i % TARE_LANES], 1, target, 1, count);
    }
    tare_lanes_tree(lanes[0], BLOCK, count, k->add_f32);
    for (size_t c = 0; c < count; c++) e[c] = job->kind == SOFTMAX ? 1 / lanes[0][c] : lanes[0][c];
    if (job->kind == LOG_SOFTMAX) k->log_f32(e, e, count);
    for (int64_t i = 0; i < job->rows.length; i++) {
        float *target = to + i * job->stride;
        if (job->kind == SOFTMAX) {
            k->mul_f32(target, target, 1, e, 1, count);
            continue;
        }
        k->sub_f32(target, from + i * job->stride, 1, largest, 1, count);
        k->sub_f32(target, target, 1, e, 1, count);
    }
}

/* One row in any type, computed in f64. */
static void row_wide(const struct job *job, int64_t to, int64_t from) {
    const tare_tensor *input = job->call->inputs[0], *output = job->call->outputs[0];
    bool is_double = input->dtype == TARE_F64;
    double largest = -(double)INFINITY, sum = 0;
    int64_t first = 0;
    tare_numbers x;
#define LOAD(i)                                                                                                        \
    (tare_numbers_load(&x, input->dtype, input->data, from + (i)*job->stride, 1),                                      \
     is_double ? x.f64[0] : (double)x.f32[0])
    for (int64_t i = 0; i < job->rows.length; i++) {
        double real = LOAD(i);
        if (!(real > largest) && !isnan(real)) continue;
        largest = real;
        first = i;
    }
    for (int64_t i = 0; i < job->rows.length; i++) sum += Sleef_cinz_expd1_u10purec(LOAD(i) - largest);
    double log_sum = Sleef_cinz_logd1_u10purec(sum);
    for (int64_t i = 0; i < job->rows.length; i++) {
        double shifted = LOAD(i) - largest, y;
        if (job->kind == HARDMAX)
            y = i == first ? 1 : 0;
        else
            y = job->kind == SOFTMAX ? Sleef_cinz_expd1_u10purec(shifted) / sum : shifted - log_sum;
        if (is_double)
            x.f64[0] = y;
        else
            x.f32[0] = (float)y;
        tare_numbers_store(output->dtype, output->data, to + i * job->stride, &x, 1);
    }
#undef LOAD
}

static void range(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const tare_tensor *input = job->call->inputs[0], *output = job->call->outputs[0];
    int64_t inner = job->rows.inner, blocks = (inner + BLOCK - 1) / BLOCK, from, to;
    for (int64_t i = first; i < last; i++) {
        int64_t c = i % blocks * BLOCK, count = inner - c < BLOCK ? inner - c : BLOCK;
        tare_rows_start(&job->rows, i / blocks, &from, &to);
        from += c;
        if (input->dtype != TARE_F32)
            for (int64_t row = 0; row < count; row++) row_wide(job, from + row, from + row);
        else if (job->stride == 1 && inner == 1) /* rows of one number lie side by side, too */
            row_f32(job, tare_element(output, from), tare_element(input, from));
        else
            block_f32(job, tare_element(output, from), tare_element(input, from), (size_t)count);
    }
}

static tare_status run(const tare_call *call, enum kind kind) {
    const tare_shape *shape = &call->inputs[0]->shape;
    int64_t axis = ((const softmax_attrs *)call->attrs)->axis;
    tare_axis_normalize(&axis, shape->rank);
    struct job job = { .call = call, .kind = kind, .stride = 1 };
    tare_rows_init(&job.rows, shape, call->layout, 1u << axis, true);
    for (int i = tare_layout_axis(call->layout, (int)axis, shape->rank) + 1; i < shape->rank; i++)
        job.stride *= shape->dim[i];
    if (!job.rows.length) return TARE_OK;
    int64_t blocks = (job.rows.inner + BLOCK - 1) / BLOCK;
    int64_t rows = job.rows.inner < BLOCK ? job.rows.inner : BLOCK;
    tare_ranges_run(call->pool, job.rows.outer * blocks, job.rows.length * rows * 4, range, &job);
    return TARE_OK;
}

static tare_status run_softmax(const tare_call *call, tare_error *err) { return (void)err, run(call, SOFTMAX); }
static tare_status run_log(const tare_call *call, tare_error *err) { return (void)err, run(call, LOG_SOFTMAX); }
static tare_status run_hardmax(const tare_call *call, tare_error *err) { return (void)err, run(call, HARDMAX); }

/* Before opset 13 the axis and all after it are one row. Where nothing but ones comes after the axis, that is the new
 * form; else Flatten → op along axis 1 → Reshape to the shape that was. */
static tare_status upgrade(tare_graph *graph, tare_node *node, tare_error *err) {
    (void)graph;
    tare_value *input = node->inputs[0];
    int64_t axis = ((const softmax_attrs *)node->attrs)->axis;
    TARE_TRY(tare_node_become(node, tare_op_find("", node->type, 13), err));
    softmax_attrs *attrs = node->attrs;
    bool is_row = input->shape.rank >= 0 && tare_axis_normalize(&axis, input->shape.rank);
    for (int i = (int)axis + 1; is_row && i < input->shape.rank; i++) is_row = input->shape.dim[i] == 1;
    attrs->axis = is_row ? axis : 1;
    if (is_row) return TARE_OK;
    tare_value *flat, *links[2];
    tare_node *flatten, *added;
    TARE_TRY(tare_insert_node(node, &tare_op_flatten, input->name, &input, 1, &flat, &flatten, err));
    TARE_TRY(tare_insert_node(node, &tare_op_shape, input->name, &input, 1, &links[1], &added, err));
    tare_attr_set_int(flatten, "axis", axis);
    TARE_TRY(tare_node_set_input(node, 0, flat, err));
    return tare_append_node(node, &tare_op_reshape, links, 2, &added, err);
}

#define OP(op, symbol, run_function, ...)                                                                              \
    const tare_op tare_op_##symbol = { .name = #op,                                                                    \
                                       .since = 13,                                                                    \
                                       .inputs = { 1, 1 },                                                             \
                                       .outputs = { 1, 1 },                                                            \
                                       .attrs = fields,                                                                \
                                       .attrs_size = sizeof(softmax_attrs),                                            \
                                       .flags = TARE_OP_IN_PLACE,                                                      \
                                       .layout = TARE_LAYOUT_EITHER,                                                   \
                                       .quant = { __VA_ARGS__ },                                                       \
                                       .infer = infer,                                                                 \
                                       .run = run_function };                                                          \
    const tare_op tare_op_##symbol##_1 = { .name = #op,                                                                \
                                           .since = 1,                                                                 \
                                           .until = 12,                                                                \
                                           .inputs = { 1, 1 },                                                         \
                                           .outputs = { 1, 1 },                                                        \
                                           .attrs = fields_1,                                                          \
                                           .attrs_size = sizeof(softmax_attrs),                                        \
                                           .upgrade = upgrade,                                                         \
                                           .infer = infer };
OP(Softmax, softmax, run_softmax, .kind = TARE_QUANT_FIXED, .lo = 0, .hi = 1)
OP(LogSoftmax, log_softmax, run_log, .kind = TARE_QUANT_OBSERVE)
OP(Hardmax, hardmax, run_hardmax, .kind = TARE_QUANT_FIXED, .lo = 0, .hi = 1)

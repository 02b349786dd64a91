/* Rounding to codes and back, in place: how the qdq backend gives a value the numbers that its codes can say. */
#include <string.h>

#include "run/plan.h"

enum { CHUNK = 16384 }; /* numbers of one piece of work: 64 KiB stay in the cache */

bool tare_quant_is_equal(const tare_quant *a, const tare_quant *b) {
    return a->code == b->code && a->axis == b->axis && a->block == b->block && a->count == b->count &&
           a->narrow == b->narrow && !memcmp(a->scale, b->scale, a->count * sizeof *a->scale) &&
           !memcmp(a->zero_point, b->zero_point, a->count * sizeof *a->zero_point);
}

static tare_codes codes_of(const tare_quant *quant, size_t index) {
    return (tare_codes){ .scale = quant->scale[index],
                         .zero_point = quant->zero_point[index],
                         .lo = tare_dtype_lowest(quant->code) + (quant->narrow ? 1 : 0),
                         .hi = tare_dtype_highest(quant->code) };
}

void tare_read_f32(float *to, const void *from, tare_dtype dtype, size_t count) {
    for (size_t i = 0; i < count; i++) {
        switch (dtype) {
        case TARE_F16: to[i] = tare_f16_to_f32(((const uint16_t *)from)[i]); break;
        case TARE_BF16: to[i] = tare_bf16_to_f32(((const uint16_t *)from)[i]); break;
        case TARE_F64: to[i] = (float)((const double *)from)[i]; break;
        default: to[i] = ((const float *)from)[i]; break;
        }
    }
}

void tare_write_f32(void *to, const float *from, tare_dtype dtype, size_t count) {
    for (size_t i = 0; i < count; i++) {
        switch (dtype) {
        case TARE_F16: ((uint16_t *)to)[i] = tare_f32_to_f16(from[i]); break;
        case TARE_BF16: ((uint16_t *)to)[i] = tare_f32_to_bf16(from[i]); break;
        case TARE_F64: ((double *)to)[i] = (double)from[i]; break;
        default: ((float *)to)[i] = from[i]; break;
        }
    }
}

typedef struct job {
    char *data;
    tare_dtype dtype;
    size_t count;         /* one scale: of all numbers */
    size_t length, inner; /* per channel: of the axis, and of what lies behind it */
    size_t block;         /* elements of the axis that share a scale; 0: each its own */
    const tare_quant *quant;
    const tare_kernels *kernels;
} job;

/* Numbers start … start + count - 1 by one scale. */
static void round_run(const job *j, size_t start, size_t count, size_t scale) {
    const tare_codes codes = codes_of(j->quant, scale);
    char *at = j->data + start * tare_dtype_size(j->dtype);
    if (j->dtype == TARE_F32) {
        j->kernels->fake_quantize_f32((float *)(void *)at, (float *)(void *)at, count, &codes);
        return;
    }
    float few[256];
    for (size_t step; count; count -= step, at += step * tare_dtype_size(j->dtype)) {
        step = count < 256 ? count : 256;
        tare_read_f32(few, at, j->dtype, step);
        j->kernels->fake_quantize_f32(few, few, step, &codes);
        tare_write_f32(at, few, j->dtype, step);
    }
}

static void round_chunk(void *context, size_t index, size_t thread) {
    const job *j = context;
    size_t start = index * CHUNK, rest = j->count - start;
    round_run(j, start, rest < CHUNK ? rest : CHUNK, 0);
    (void)thread;
}

/* One index of what lies before the axis. */
static void round_channels(void *context, size_t index, size_t thread) {
    const job *j = context;
    for (size_t c = 0; c < j->length; c++) round_run(j, (index * j->length + c) * j->inner, j->inner, c);
    (void)thread;
}

/* Blocked scales have the value's shape but for the axis, which counts blocks (QuantizeLinear 21). */
static void round_blocks(void *context, size_t index, size_t thread) {
    const job *j = context;
    size_t blocks = (j->length + j->block - 1) / j->block;
    for (size_t c = 0; c < j->length; c++)
        for (size_t i = 0; i < j->inner; i++)
            round_run(j, (index * j->length + c) * j->inner + i, 1, (index * blocks + c / j->block) * j->inner + i);
    (void)thread;
}

void tare_round(tare_tensor *tensor, tare_layout layout, const tare_quant *quant, const tare_kernels *kernels,
                tare_pool *pool) {
    job j = { .data = tensor->data, .dtype = tensor->dtype, .quant = quant, .kernels = kernels };
    const tare_shape *shape = &tensor->shape;
    if (quant->axis < 0 || quant->count == 1) {
        j.count = (size_t)tare_shape_elements(shape);
        tare_pool_run(pool, (j.count + CHUNK - 1) / CHUNK, round_chunk, &j);
        return;
    }
    int axis = tare_layout_axis(layout, quant->axis, shape->rank);
    j.length = (size_t)shape->dim[axis];
    j.inner = (size_t)tare_shape_product(shape, axis + 1, shape->rank);
    j.block = (size_t)quant->block;
    tare_pool_run(pool, (size_t)tare_shape_product(shape, 0, axis), j.block ? round_blocks : round_channels, &j);
}

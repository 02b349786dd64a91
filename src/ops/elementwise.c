/* The loops of elementwise ops over all types and shapes (elementwise.h). */
#include "ops/elementwise.h"

#include <math.h>
#include <string.h>

static size_t chunk_of(size_t count, size_t done) {
    return count - done < TARE_NUMBERS_CHUNK ? count - done : TARE_NUMBERS_CHUNK;
}

typedef struct unary_job {
    const tare_call *call;
    const tare_unary *unary;
} unary_job;

static void unary_chunk(const unary_job *job, tare_dtype dtype, void *to, const void *from, size_t count) {
    const tare_unary *unary = job->unary;
    switch (tare_number_of(dtype)) {
    case TARE_NUMBER_F32: unary->f32(job->call, to, from, count); break;
    case TARE_NUMBER_F64:
        for (size_t i = 0; i < count; i++) ((double *)to)[i] = unary->f64(job->call->attrs, ((const double *)from)[i]);
        break;
    case TARE_NUMBER_S64:
        for (size_t i = 0; i < count; i++)
            ((int64_t *)to)[i] = unary->s64(job->call->attrs, ((const int64_t *)from)[i]);
        break;
    default: /* u64 */
        for (size_t i = 0; i < count; i++)
            ((uint64_t *)to)[i] = unary->u64(job->call->attrs, ((const uint64_t *)from)[i]);
    }
}

static void unary_range(void *context, int64_t first, int64_t last) {
    const unary_job *job = context;
    const tare_tensor *from = job->call->inputs[0], *to = job->call->outputs[0];
    tare_numbers chunk;
    size_t count = (size_t)(last - first);
    for (size_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t part = chunk_of(count, done);
        int64_t at = first + (int64_t)done;
        if (tare_number_is_own(from->dtype)) {
            unary_chunk(job, from->dtype, tare_element(to, at), tare_element(from, at), part);
            continue;
        }
        tare_numbers_load(&chunk, from->dtype, from->data, at, part);
        unary_chunk(job, from->dtype, &chunk, &chunk, part);
        tare_numbers_store(to->dtype, to->data, at, &chunk, part);
    }
}

tare_status tare_unary_run(const tare_call *call, const tare_unary *unary) {
    unary_job job = { call, unary };
    tare_ranges_run(call->pool, tare_shape_elements(&call->outputs[0]->shape), 1, unary_range, &job);
    return TARE_OK;
}

struct clamp {
    float lo, hi;
};

tare_status tare_binary_prepare(tare_prepare *prepare, tare_error *err) {
    if (isinf(prepare->clamp_lo) && isinf(prepare->clamp_hi)) return TARE_OK;
    struct clamp *state = tare_arena_alloc(prepare->arena, 1, sizeof *state);
    if (!state) return tare_fail_memory(err, sizeof *state);
    *state = (struct clamp){ prepare->clamp_lo, prepare->clamp_hi };
    prepare->state = state;
    return TARE_OK;
}

typedef struct binary_job {
    const tare_call *call;
    const tare_binary *binary;
    const struct clamp *clamp; /* NULL: none */
    const tare_spans *spans;
    tare_tensor *to;
    const tare_tensor *a, *b;
} binary_job;

/* The operand's numbers where they lie when they are their own number type, else loaded into the chunk. */
static const void *operand(const tare_tensor *tensor, tare_numbers *chunk, int64_t at, size_t stride, size_t count) {
    if (tare_number_is_own(tensor->dtype)) return tare_element(tensor, at);
    tare_numbers_load(chunk, tensor->dtype, tensor->data, at, stride ? count : 1);
    return chunk;
}

static void binary_span(void *context, int64_t to_at, const int64_t *at, size_t count) {
    const binary_job *job = context;
    tare_binary_loop *loop = job->binary->loop[tare_number_of(job->a->dtype)];
    size_t a_stride = tare_spans_stride(job->spans, 0), b_stride = tare_spans_stride(job->spans, 1);
    if (tare_number_is_own(job->a->dtype) && !job->clamp) { /* the output is its own too, or bool */
        loop(job->call, tare_element(job->to, to_at), tare_element(job->a, at[0]), a_stride,
             tare_element(job->b, at[1]), b_stride, count);
        return;
    }
    tare_numbers chunk_a, chunk_b, chunk_to;
    for (size_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t part = chunk_of(count, done);
        const void *a = operand(job->a, &chunk_a, at[0] + (int64_t)(done * a_stride), a_stride, part);
        const void *b = operand(job->b, &chunk_b, at[1] + (int64_t)(done * b_stride), b_stride, part);
        int64_t first = to_at + (int64_t)done;
        if (job->binary->to_bool) {
            loop(job->call, tare_element(job->to, first), a, a_stride, b, b_stride, part);
            continue;
        }
        void *made = tare_number_is_own(job->to->dtype) ? tare_element(job->to, first) : &chunk_to;
        loop(job->call, made, a, a_stride, b, b_stride, part);
        if (job->clamp) job->call->kernels->clamp_f32(made, made, part, job->clamp->lo, job->clamp->hi);
        if (made == &chunk_to) tare_numbers_store(job->to->dtype, job->to->data, first, &chunk_to, part);
    }
}

static void apply(const tare_call *call, const tare_binary *binary, const struct clamp *clamp, tare_tensor *to,
                  const tare_tensor *a, const tare_tensor *b) {
    tare_spans spans;
    tare_spans_init(&spans, &to->shape, (const tare_shape *const[]){ &a->shape, &b->shape }, 2);
    binary_job job = { call, binary, clamp, &spans, to, a, b };
    tare_spans_run(&spans, call->pool, binary_span, &job);
}

void tare_binary_apply(const tare_call *call, const tare_binary *binary, tare_tensor *to, const tare_tensor *a,
                       const tare_tensor *b) {
    apply(call, binary, NULL, to, a, b);
}

tare_status tare_binary_run(const tare_call *call, const tare_binary *binary) {
    apply(call, binary, call->state, call->outputs[0], call->inputs[0], call->inputs[1]);
    return TARE_OK;
}

tare_status tare_binary_fold(const tare_call *call, const tare_binary *binary) {
    tare_tensor *to = call->outputs[0];
    if (call->input_count == 1) {
        if (to->data != call->inputs[0]->data) memcpy(to->data, call->inputs[0]->data, to->size);
        return TARE_OK;
    }
    tare_binary_apply(call, binary, to, call->inputs[0], call->inputs[1]);
    for (int i = 2; i < call->input_count; i++) tare_binary_apply(call, binary, to, to, call->inputs[i]);
    return TARE_OK;
}

tare_status tare_infer_elementwise(tare_node *node, unsigned mask, tare_dtype dtype, tare_error *err) {
    for (int i = 0; i < node->input_count; i++) {
        if (!node->inputs[i]) return tare_fail(err, TARE_E_MALFORMED, "input %d is left out, but it is required", i);
        TARE_TRY(tare_infer_check(node, i, mask, err));
    }
    tare_dtype common;
    tare_shape shape;
    TARE_TRY(tare_infer_broadcast_shape(node, &common, &shape, err));
    return tare_infer_set(node, 0, dtype ? dtype : common, &shape, err);
}

tare_status tare_check_divisor(const tare_tensor *divisor, tare_error *err) {
    if (tare_dtype_is_float(divisor->dtype)) return TARE_OK;
    int64_t count = tare_shape_elements(&divisor->shape);
    tare_numbers chunk;
    for (int64_t at = 0; at < count; at += TARE_NUMBERS_CHUNK) {
        int64_t part = count - at < TARE_NUMBERS_CHUNK ? count - at : TARE_NUMBERS_CHUNK;
        tare_numbers_load(&chunk, divisor->dtype, divisor->data, at, (size_t)part);
        for (int64_t i = 0; i < part; i++)
            if (!chunk.u64[i])
                return tare_fail(err, TARE_E_MALFORMED, "element %lld of the divisor is 0", (long long)(at + i));
    }
    return TARE_OK;
}

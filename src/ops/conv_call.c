/* The frame around the ways of computing a convolution: shapes, packing, other types than f32. */
#include "base/size.h"
#include "ops/as_f32.h"
#include "ops/conv.h"

tare_status tare_conv_infer(tare_node *node, tare_dtype *dtype, tare_shape *x, tare_shape *w, tare_error *err) {
    *x = tare_input_shape(node, 0);
    *w = tare_input_shape(node, 1);
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT, err));
    TARE_TRY(tare_infer_one_type(node, 7, dtype, err));
    int rank = x->rank >= 0 ? x->rank : w->rank;
    if (rank < 0) return tare_infer_set(node, 0, *dtype, NULL, err);
    if (rank < 3)
        return tare_fail(err, TARE_E_MALFORMED, "the input has rank %d, want 3 at least: there is no spatial dimension",
                         rank);
    TARE_TRY(tare_infer_rank(node, 1, rank, err));
    for (int i = 0; i < rank; i++) {
        if (x->rank < 0) x->dim[i] = TARE_DIM_UNKNOWN;
        if (w->rank < 0) w->dim[i] = TARE_DIM_UNKNOWN;
    }
    x->rank = w->rank = rank;
    return TARE_OK;
}

tare_status tare_conv_check_bias(const tare_node *node, int64_t outputs, tare_error *err) {
    tare_shape bias = tare_input_shape(node, 2);
    TARE_TRY(tare_infer_rank(node, 2, 1, err));
    if (bias.rank == 1 && bias.dim[0] >= 0 && outputs >= 0 && bias.dim[0] != outputs)
        return tare_fail(err, TARE_E_MALFORMED, "the bias has %lld numbers, want %lld", (long long)bias.dim[0],
                         (long long)outputs);
    return TARE_OK;
}

enum { ALIGNMENT = 64 };

typedef struct state {
    tare_conv conv;
    const tare_conv_way *way;
    const float *weights, *bias; /* packed constants; NULL: packed in each run, at these places of the scratch */
    size_t weights_at, bias_at;
    size_t scratch; /* bytes, without the copies of other types */
} state;

typedef void packer(const tare_conv *conv, float *to, const float *from);

/* Packs a constant; for others makes room in the scratch of a run. */
static tare_status pack_constant(state *s, tare_prepare *p, int input, packer *pack, size_t count, const float **packed,
                                 size_t *at, tare_error *err) {
    const tare_tensor *from = input < p->input_count ? p->inputs[input] : NULL;
    size_t size;
    if (!from) return TARE_OK;
    if (!tare_size_mul(count, sizeof(float), &size)) return tare_fail_memory(err, SIZE_MAX);
    if (!from->data || from->dtype != TARE_F32) {
        *at = s->scratch;
        return tare_size_align(size, ALIGNMENT, &size) && tare_size_add(s->scratch, size, &s->scratch)
                   ? TARE_OK
                   : tare_fail_memory(err, SIZE_MAX);
    }
    float *to = tare_room_new(p->kept, size);
    if (!to) return tare_fail_memory(err, size);
    pack(&s->conv, to, from->data);
    *packed = tare_keep(p->kept, to, size);
    p->taken |= 1u << input;
    return *packed ? TARE_OK : tare_fail_memory(err, size);
}

tare_status tare_conv_prepare(tare_prepare *p, const tare_conv *conv, const tare_conv_way *way, tare_error *err) {
    state *s = tare_arena_alloc(p->arena, 1, sizeof *s);
    if (!s) return tare_fail_memory(err, sizeof *s);
    *s = (state){ .conv = *conv, .way = way };
    s->conv.batch = p->inputs[0]->shape.dim[0];
    s->conv.channels = p->inputs[0]->shape.dim[p->inputs[0]->shape.rank - 1];
    s->conv.lo = p->clamp_lo;
    s->conv.hi = p->clamp_hi;
    s->conv.threads = p->threads;
    TARE_TRY(way->plan(&s->conv, p->arena, &s->scratch, err));
    TARE_TRY(pack_constant(s, p, 1, way->pack, s->conv.weights_size, &s->weights, &s->weights_at, err));
    TARE_TRY(pack_constant(s, p, 2, way->pack_bias, s->conv.bias_size, &s->bias, &s->bias_at, err));
    p->state = s;
    p->scratch_size = s->scratch;
    return tare_as_f32_prepare(p, err);
}

static tare_status run_f32(const tare_call *call, tare_error *err) {
    const state *s = call->state;
    const tare_tensor *bias = call->input_count > 2 ? call->inputs[2] : NULL;
    tare_conv_run run = { .conv = &s->conv,
                          .kernels = call->kernels,
                          .pool = call->pool,
                          .x = call->inputs[0]->data,
                          .weights = s->weights,
                          .bias = s->bias,
                          .y = call->outputs[0]->data,
                          .scratch = call->scratch };
    (void)err;
    if (!run.weights) {
        float *packed = (float *)(void *)(run.scratch + s->weights_at);
        s->way->pack(&s->conv, packed, call->inputs[1]->data);
        run.weights = packed;
    }
    if (bias && !run.bias) {
        float *packed = (float *)(void *)(run.scratch + s->bias_at);
        s->way->pack_bias(&s->conv, packed, bias->data);
        run.bias = packed;
    }
    s->way->run(&run);
    return TARE_OK;
}

tare_status tare_conv_call(const tare_call *call, tare_error *err) {
    return tare_as_f32_run(call, ((const state *)call->state)->scratch, run_f32, err);
}

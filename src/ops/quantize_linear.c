/* QuantizeLinear and DequantizeLinear, per tensor, per axis and in blocks, with ONNX Runtime 1.32's arithmetic:
 *   q = (int)rne(clamp(x / scale, lo - zero_point, hi - zero_point)) + zero_point, NaN gives lo;
 *   x = (float)(int32)(q - zero_point) · scale. */
#include <math.h>
#include <stddef.h>

#include "ops/numbers.h"
#include "ops/spans.h"
#include "ops/upgrade.h"

typedef struct linear_attrs {
    int64_t axis, block_size, output_dtype, precision, saturate;
} linear_attrs;

#define AXIS                                                                                                           \
    { "axis", TARE_FIELD_INT, offsetof(linear_attrs, axis), .flags = TARE_FIELD_AXIS, .fallback.i = 1 }
#define BLOCK_AND_TYPE                                                                                                 \
    { "block_size", TARE_FIELD_INT, offsetof(linear_attrs, block_size), .hi = INT32_MAX }, {                           \
        "output_dtype", TARE_FIELD_INT, offsetof(linear_attrs, output_dtype), .hi = 100                                \
    }

static const tare_field quantize_fields[] = {
    AXIS,
    BLOCK_AND_TYPE,
    { "precision", TARE_FIELD_INT, offsetof(linear_attrs, precision), .hi = 100 },
    { "saturate", TARE_FIELD_INT, offsetof(linear_attrs, saturate), .fallback.i = 1, .hi = 1 }, /* of 8-bit floats */
    { 0 },
};
static const tare_field dequantize_fields[] = { AXIS, BLOCK_AND_TYPE, { 0 } };

enum {
    CODES = 1u << TARE_S8 | 1u << TARE_U8 | 1u << TARE_S16 | 1u << TARE_U16 | 1u << TARE_S4 | 1u << TARE_U4,
    SCALES = 1u << TARE_F32 | 1u << TARE_F16 | 1u << TARE_BF16
};

/* ---- checks ---- */

static tare_status check_same_shape(const tare_node *node, const tare_shape *scale, tare_error *err) {
    tare_shape zero = tare_input_shape(node, 2);
    if (!node->inputs[2] || zero.rank < 0 || scale->rank < 0) return TARE_OK;
    int64_t a, b;
    bool is_static = tare_shape_is_static(&zero) && tare_shape_is_static(scale);
    bool single = is_static && tare_shape_count(&zero, &a) && tare_shape_count(scale, &b) && a == 1 && b == 1;
    if (!is_static || single || tare_shape_equal(&zero, scale)) return TARE_OK;
    char got[128], want[128];
    tare_shape_print(got, sizeof got, &zero, NULL);
    tare_shape_print(want, sizeof want, scale, NULL);
    return tare_fail(err, TARE_E_MALFORMED, "the zero point has shape %s, but the scale %s", got, want);
}

static tare_status check_blocks(const tare_shape *x, const tare_shape *scale, int axis, int64_t block,
                                tare_error *err) {
    if (scale->rank != x->rank)
        return tare_fail(err, TARE_E_MALFORMED, "the scale of a blocked quantization has rank %d, want the input's %d",
                         scale->rank, x->rank);
    for (int i = 0; i < x->rank; i++) {
        if (x->dim[i] < 0 || scale->dim[i] < 0) continue;
        int64_t want = i == axis ? (x->dim[i] + block - 1) / block : x->dim[i];
        if (scale->dim[i] != want)
            return tare_fail(err, TARE_E_MALFORMED, "dimension %d of the scale is %lld, want %lld", i,
                             (long long)scale->dim[i], (long long)want);
    }
    return TARE_OK;
}

/* One scale for all; one for each element of the axis; or one for each block along it. */
static tare_status check_scale(const tare_node *node, tare_error *err) {
    static const char *const parts[] = { NULL, "scale", "zero point" };
    const linear_attrs *attrs = node->attrs;
    tare_shape x = tare_input_shape(node, 0), scale = tare_input_shape(node, 1);
    for (int i = 1; i <= 2 && !attrs->block_size; i++)
        if (tare_input_shape(node, i).rank > 1)
            return tare_fail(err, TARE_E_MALFORMED, "the %s has rank %d, want 0 or 1 where block_size is not given",
                             parts[i], tare_input_shape(node, i).rank);
    if (node->input_count > 2) TARE_TRY(check_same_shape(node, &scale, err));
    int axis;
    if (scale.rank < 0 || x.rank < 0) return TARE_OK;
    if (!attrs->block_size && (scale.rank == 0 || scale.dim[0] == 1)) return TARE_OK;
    TARE_TRY(tare_infer_axis(attrs->axis, x.rank, &axis, err));
    if (attrs->block_size) return check_blocks(&x, &scale, axis, attrs->block_size, err);
    if (scale.dim[0] >= 0 && x.dim[axis] >= 0 && scale.dim[0] != x.dim[axis])
        return tare_fail(err, TARE_E_MALFORMED, "there are %lld scales for axis %d of %lld", (long long)scale.dim[0],
                         axis, (long long)x.dim[axis]);
    return TARE_OK;
}

/* The code type is that of the zero point, or the attribute's, or u8. */
static tare_status infer_quantize(tare_node *node, tare_error *err) {
    const linear_attrs *attrs = node->attrs;
    TARE_TRY(tare_infer_check(node, 0, TARE_TYPES_FLOAT | 1u << TARE_S32, err));
    TARE_TRY(tare_infer_check(node, 1, SCALES, err));
    TARE_TRY(tare_infer_check(node, 2, CODES, err));
    TARE_TRY(check_scale(node, err));
    tare_dtype code = tare_input_dtype(node, 2);
    if (attrs->output_dtype) {
        tare_dtype wanted = tare_dtype_from_onnx(attrs->output_dtype);
        if (!wanted || !(CODES & 1u << wanted))
            return tare_fail(err, TARE_E_UNSUPPORTED, "attribute 'output_dtype' is %lld, which is no integer code",
                             (long long)attrs->output_dtype);
        if (code && code != wanted)
            return tare_fail(err, TARE_E_MALFORMED, "attribute 'output_dtype' says %s, but the zero point is %s",
                             tare_dtype_name(wanted), tare_dtype_name(code));
        code = wanted;
    }
    if (!code && !tare_node_input(node, 2)) code = TARE_U8;
    tare_shape shape = tare_input_shape(node, 0);
    return tare_infer_set(node, 0, code, &shape, err);
}

/* Sums of products have none. */
static tare_status check_s32(const tare_node *node, tare_error *err) {
    const tare_value *zero = tare_node_input(node, 2);
    if (!zero || zero->dtype != TARE_S32 || !tare_value_is_constant(zero)) return TARE_OK;
    const int32_t *numbers = zero->constant->data;
    for (size_t i = 0; i < zero->constant->size / sizeof *numbers; i++)
        if (numbers[i])
            return tare_fail(err, TARE_E_MALFORMED, "the zero point of s32 codes is %d, want 0", numbers[i]);
    return TARE_OK;
}

static tare_status infer_dequantize(tare_node *node, tare_error *err) {
    const linear_attrs *attrs = node->attrs;
    tare_dtype code, real = tare_input_dtype(node, 1);
    TARE_TRY(tare_infer_check(node, 0, CODES | 1u << TARE_S32, err));
    TARE_TRY(tare_infer_check(node, 1, SCALES, err));
    TARE_TRY(tare_infer_one_type(node, 5, &code, err));
    TARE_TRY(check_scale(node, err));
    TARE_TRY(check_s32(node, err));
    if (attrs->output_dtype) {
        real = tare_dtype_from_onnx(attrs->output_dtype);
        if (!real || !(SCALES & 1u << real))
            return tare_fail(err, TARE_E_MALFORMED, "attribute 'output_dtype' is %lld, which is no float type",
                             (long long)attrs->output_dtype);
    }
    tare_shape shape = tare_input_shape(node, 0);
    return tare_infer_set(node, 0, real, &shape, err);
}

/* ---- loops ---- */

typedef void span_fn(const tare_call *call, int64_t at, int64_t count, const tare_codes *codes);

struct job {
    const tare_call *call;
    span_fn *span;
    int64_t inner;  /* elements that lie together and share a scale */
    int64_t axis;   /* size of the axis */
    int64_t block;  /* elements of the axis that share a scale; 0: one scale for all */
    int64_t blocks; /* along the axis; scales: [outer,] blocks [, inner] */
    bool is_blocked;
    tare_dtype code;
};

static tare_codes codes_at(const struct job *job, int64_t index) {
    const tare_call *call = job->call;
    const tare_tensor *scale = call->inputs[1], *zero = call->input_count > 2 ? call->inputs[2] : NULL;
    tare_codes codes = { .lo = tare_dtype_lowest(job->code), .hi = tare_dtype_highest(job->code) };
    int64_t zero_point = 0;
    tare_numbers_to_f32(&codes.scale, scale->dtype, scale->data, index, 1);
    if (zero) tare_numbers_load(&zero_point, zero->dtype, zero->data, index, 1);
    codes.zero_point = (int32_t)zero_point;
    return codes;
}

/* The tensor's elements first … last-1, all of one scale. */
static void tensor_range(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    tare_codes codes = codes_at(job, 0);
    job->span(job->call, first, last - first, &codes);
}

/* Rows of `inner` elements at one index of the axis. */
static void axis_range(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    for (int64_t row = first; row < last; row++) {
        int64_t outer = row / job->axis, index = row % job->axis / job->block;
        if (!job->is_blocked) {
            tare_codes codes = codes_at(job, index);
            job->span(job->call, row * job->inner, job->inner, &codes);
            continue;
        }
        for (int64_t i = 0; i < job->inner; i++) {
            tare_codes codes = codes_at(job, (outer * job->blocks + index) * job->inner + i);
            job->span(job->call, row * job->inner + i, 1, &codes);
        }
    }
}

static tare_status run(const tare_call *call, tare_dtype code, span_fn *span) {
    const linear_attrs *attrs = call->attrs;
    const tare_shape *shape = &call->inputs[0]->shape;
    struct job job = { .call = call, .span = span, .code = code };
    if (tare_shape_elements(&call->inputs[1]->shape) == 1) {
        tare_ranges_run(call->pool, tare_shape_elements(shape), 1, tensor_range, &job);
        return TARE_OK;
    }
    int64_t axis = attrs->axis;
    tare_axis_normalize(&axis, shape->rank);
    job.axis = shape->dim[axis];
    job.inner = tare_shape_product(shape, (int)axis + 1, shape->rank);
    job.is_blocked = attrs->block_size != 0;
    job.block = job.is_blocked ? attrs->block_size : 1;
    job.blocks = (job.axis + job.block - 1) / job.block;
    int64_t rows = tare_shape_product(shape, 0, (int)axis) * job.axis;
    tare_ranges_run(call->pool, rows, job.inner, axis_range, &job);
    return TARE_OK;
}

static tare_quantize_fn *quantizer(const tare_kernels *kernels, tare_dtype code) {
    switch (code) {
    case TARE_S4:
    case TARE_S8: return kernels->quantize_s8;
    case TARE_S16: return kernels->quantize_s16;
    case TARE_U16: return kernels->quantize_u16;
    default: return kernels->quantize_u8;
    }
}

static void quantize_span(const tare_call *call, int64_t at, int64_t count, const tare_codes *codes) {
    const tare_tensor *from = call->inputs[0], *to = call->outputs[0];
    tare_quantize_fn *quantize = quantizer(call->kernels, to->dtype);
    if (from->dtype == TARE_F32) {
        quantize(tare_element(to, at), tare_element(from, at), (size_t)count, codes);
        return;
    }
    float real[TARE_NUMBERS_CHUNK];
    for (int64_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t part = (size_t)(count - done < TARE_NUMBERS_CHUNK ? count - done : TARE_NUMBERS_CHUNK);
        tare_numbers_to_f32(real, from->dtype, from->data, at + done, part);
        quantize(tare_element(to, at + done), real, part, codes);
    }
}

/* A chunk of codes as f32; the s32 difference wraps, as ONNX Runtime's does. */
static void dequantize_chunk(const tare_call *call, float *to, int64_t at, size_t count, const tare_codes *codes) {
    const tare_tensor *from = call->inputs[0];
    const void *source = tare_element(from, at);
    switch (from->dtype) {
    case TARE_S4:
    case TARE_S8: call->kernels->dequantize_s8(to, source, count, codes); break;
    case TARE_U4:
    case TARE_U8: call->kernels->dequantize_u8(to, source, count, codes); break;
    case TARE_S16: call->kernels->dequantize_s16(to, source, count, codes); break;
    case TARE_U16: call->kernels->dequantize_u16(to, source, count, codes); break;
    default:
        for (size_t i = 0; i < count; i++) {
            uint32_t steps = (uint32_t)((const int32_t *)source)[i] - (uint32_t)codes->zero_point;
            to[i] = (float)(int32_t)steps * codes->scale;
        }
    }
}

static void dequantize_span(const tare_call *call, int64_t at, int64_t count, const tare_codes *codes) {
    const tare_tensor *to = call->outputs[0];
    if (to->dtype == TARE_F32) {
        dequantize_chunk(call, tare_element(to, at), at, (size_t)count, codes);
        return;
    }
    float real[TARE_NUMBERS_CHUNK];
    for (int64_t done = 0; done < count; done += TARE_NUMBERS_CHUNK) {
        size_t part = (size_t)(count - done < TARE_NUMBERS_CHUNK ? count - done : TARE_NUMBERS_CHUNK);
        dequantize_chunk(call, real, at + done, part, codes);
        tare_numbers_store(to->dtype, to->data, at + done, real, part);
    }
}

static tare_status run_quantize(const tare_call *call, tare_error *err) {
    return (void)err, run(call, call->outputs[0]->dtype, quantize_span);
}
static tare_status run_dequantize(const tare_call *call, tare_error *err) {
    return (void)err, run(call, call->inputs[0]->dtype, dequantize_span);
}

/* ---- older and other spellings ---- */

static int needs(const tare_node *node, tare_dtype code) {
    const linear_attrs *attrs = node->attrs;
    bool is_narrow = code == TARE_S4 || code == TARE_U4, is_wide = code == TARE_S16 || code == TARE_U16;
    if (is_narrow || is_wide || attrs->block_size || attrs->output_dtype) return 21;
    const tare_value *scale = tare_node_input(node, 1);
    return scale && scale->shape.rank == 1 && scale->shape.dim[0] != 1 ? 13 : 10;
}
static int needs_quantize(const tare_node *node) {
    const tare_value *out = tare_node_output(node, 0);
    return needs(node, out ? out->dtype : TARE_U8);
}
static int needs_dequantize(const tare_node *node) { return needs(node, tare_input_dtype(node, 0)); }

/* com.microsoft's, for 16-bit codes before opset 21: the same but for the domain. */
static tare_status upgrade(tare_node *node, const tare_op *op, tare_error *err) {
    const linear_attrs old = *(const linear_attrs *)node->attrs;
    TARE_TRY(tare_node_become(node, op, err));
    *(linear_attrs *)node->attrs = old;
    return TARE_OK;
}
static tare_status upgrade_quantize(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade(node, &tare_op_quantize_linear, err);
}
static tare_status upgrade_dequantize(tare_graph *graph, tare_node *node, tare_error *err) {
    return (void)graph, upgrade(node, &tare_op_dequantize_linear, err);
}

const tare_op tare_op_quantize_linear = {
    .name = "QuantizeLinear",
    .since = 10,
    .inputs = { 2, 3 },
    .outputs = { 1, 1 },
    .attrs = quantize_fields,
    .attrs_size = sizeof(linear_attrs),
    .needs = needs_quantize,
    .infer = infer_quantize,
    .run = run_quantize,
};

const tare_op tare_op_dequantize_linear = {
    .name = "DequantizeLinear",
    .since = 10,
    .inputs = { 2, 3 },
    .outputs = { 1, 1 },
    .attrs = dequantize_fields,
    .attrs_size = sizeof(linear_attrs),
    .needs = needs_dequantize,
    .infer = infer_dequantize,
    .run = run_dequantize,
};

const tare_op tare_op_microsoft_quantize_linear = {
    .name = "QuantizeLinear",
    .domain = "com.microsoft",
    .since = 1,
    .inputs = { 2, 3 },
    .outputs = { 1, 1 },
    .attrs = quantize_fields,
    .attrs_size = sizeof(linear_attrs),
    .upgrade = upgrade_quantize,
    .infer = infer_quantize,
    .run = run_quantize,
};

const tare_op tare_op_microsoft_dequantize_linear = {
    .name = "DequantizeLinear",
    .domain = "com.microsoft",
    .since = 1,
    .inputs = { 2, 3 },
    .outputs = { 1, 1 },
    .attrs = dequantize_fields,
    .attrs_size = sizeof(linear_attrs),
    .upgrade = upgrade_dequantize,
    .infer = infer_dequantize,
    .run = run_dequantize,
};

/* DynamicQuantizeLinear: u8 codes over the range that a tensor happens to have, zero included:
 *   s = (max(0, max x) - min(0, min x)) / 255 (1 when that is 0); z = sat(rne(0 - min / s)); then QuantizeLinear. */
#include <math.h>

#include "ops/numbers.h"
#include "ops/op.h"
#include "ops/spans.h"

static tare_status infer(tare_node *node, tare_error *err) {
    static const tare_shape scalar = { .rank = 0 };
    tare_shape shape = tare_input_shape(node, 0);
    TARE_TRY(tare_infer_check(node, 0, 1u << TARE_F32, err));
    TARE_TRY(tare_infer_set(node, 0, TARE_U8, &shape, err));
    TARE_TRY(tare_infer_set(node, 1, TARE_F32, &scalar, err));
    return tare_infer_set(node, 2, TARE_U8, &scalar, err);
}

struct job {
    const tare_call *call;
    tare_codes codes;
};

static void range(void *context, int64_t first, int64_t last) {
    const struct job *job = context;
    const tare_call *call = job->call;
    call->kernels->quantize_u8(tare_element(call->outputs[0], first), tare_element(call->inputs[0], first),
                               (size_t)(last - first), &job->codes);
}

static tare_status run(const tare_call *call, tare_error *err) {
    (void)err;
    const float *from = call->inputs[0]->data;
    int64_t count = tare_shape_elements(&call->inputs[0]->shape);
    float lo = 0, hi = 0;
    for (int64_t i = 0; i < count; i++) {
        lo = from[i] < lo ? from[i] : lo;
        hi = from[i] > hi ? from[i] : hi;
    }
    struct job job = { .call = call, .codes = { .lo = 0, .hi = UINT8_MAX } };
    job.codes.scale = hi == lo ? 1 : (hi - lo) / UINT8_MAX;
    float zero = rintf(0 - lo / job.codes.scale);
    job.codes.zero_point = zero > UINT8_MAX ? UINT8_MAX : zero > 0 ? (int32_t)zero : 0;
    if (call->outputs[0]) tare_ranges_run(call->pool, count, 1, range, &job);
    if (call->output_count > 1 && call->outputs[1]) *(float *)call->outputs[1]->data = job.codes.scale;
    if (call->output_count > 2 && call->outputs[2]) *(uint8_t *)call->outputs[2]->data = (uint8_t)job.codes.zero_point;
    return TARE_OK;
}

const tare_op tare_op_dynamic_quantize_linear = {
    .name = "DynamicQuantizeLinear",
    .since = 11,
    .inputs = { 1, 1 },
    .outputs = { 3, 3 },
    .infer = infer,
    .run = run,
};

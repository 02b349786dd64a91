/* Functions of one number on codes: a table of what the function gives for each of 256 codes. */
#include <string.h>

#include "targets/codes.h"

/* Which constants the function has beside its data: none but single numbers, or it is another one for each channel. */
const char *tare_table_codes_refuses(const tare_int_node *n) {
    for (int i = 1; i < n->node->input_count; i++) {
        const tare_value *value = n->node->inputs[i];
        if (!value) continue;
        if (!value->constant) return "an input beside its data is no constant";
        if (n->inputs[i]) return "an input beside its data is quantized";
        if (tare_shape_elements(&value->shape) != 1) return "an input beside its data is more than one number";
    }
    return NULL;
}

/* The node on 256 numbers, all its other inputs as they are. */
static tare_status apply(const float *numbers, const float **results, const tare_prepare *p, tare_error *err) {
    const tare_shape shape = { .rank = 1, .dim = { 256 } };
    tare_tensor **inputs = tare_arena_alloc(p->arena, (size_t)p->input_count + 1, sizeof(*inputs)), *output;
    if (!inputs) return tare_fail_memory(err, 0);
    TARE_TRY(tare_tensor_new(p->arena, TARE_F32, &shape, &inputs[0], err));
    memcpy(inputs[0]->data, numbers, 256 * sizeof *numbers);
    for (int i = 1; i < p->input_count; i++) {
        if (!p->inputs[i]) continue;
        inputs[i] = tare_arena_alloc(p->arena, 1, sizeof(**inputs));
        if (!inputs[i]) return tare_fail_memory(err, 0);
        *inputs[i] = *p->inputs[i];
    }
    TARE_TRY(tare_node_run_once(p->node, inputs, &output, p->kernels, NULL, p->arena, err));
    *results = output->data;
    return TARE_OK;
}

static tare_codes codes_of(const tare_quant *quant) {
    return (tare_codes){ quant->scale[0], quant->zero_point[0], tare_quant_lowest(quant),
                         tare_dtype_highest(quant->code) };
}

void tare_requantize_bytes(uint8_t *table, const tare_quant *from, const tare_quant *to, const tare_kernels *kernels) {
    float numbers[256];
    tare_dequantize_bytes(numbers, from, kernels);
    tare_quantize_bytes(table, numbers, to, kernels);
}

void tare_dequantize_bytes(float *numbers, const tare_quant *quant, const tare_kernels *kernels) {
    const tare_codes codes = codes_of(quant);
    uint8_t bytes[256];
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    (quant->code == TARE_S8 ? kernels->dequantize_s8 : kernels->dequantize_u8)(numbers, bytes, 256, &codes);
}

void tare_quantize_bytes(uint8_t *table, const float *numbers, const tare_quant *quant, const tare_kernels *kernels) {
    const tare_codes codes = codes_of(quant);
    (quant->code == TARE_S8 ? kernels->quantize_s8 : kernels->quantize_u8)(table, numbers, 256, &codes);
}

tare_status tare_table_codes_prepare(const tare_int_node *n, tare_prepare *p, tare_error *err) {
    float numbers[256];
    const float *results;
    uint8_t *table = tare_arena_alloc(p->arena, 256, 1);
    if (!table) return tare_fail_memory(err, 256);
    tare_dequantize_bytes(numbers, n->inputs[0], p->kernels);
    TARE_TRY(apply(numbers, &results, p, err));
    tare_quantize_bytes(table, results, n->output, p->kernels);
    p->state = table;
    return TARE_OK;
}

static void range(void *context, int64_t first, int64_t last) {
    const tare_call *call = context;
    const uint8_t *table = call->state, *from = call->inputs[0]->data;
    uint8_t *to = call->outputs[0]->data;
    for (int64_t i = first; i < last; i++) to[i] = table[from[i]];
}

tare_status tare_table_codes_run(const tare_call *call, tare_error *err) {
    tare_call own = *call;
    (void)err;
    tare_ranges_run(call->pool, tare_shape_elements(&call->outputs[0]->shape), 1, range, &own);
    return TARE_OK;
}

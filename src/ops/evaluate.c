/* Runs single nodes: on constants, for folding; and on given tensors, for replay and tests. */
#include <string.h>

#include "base/size.h"
#include "ops/op.h"

/* A fold may not make more bytes than this, unless its inputs had as many. */
static const size_t fold_limit = (size_t)1 << 26;

/* A node like the given one whose values are these tensors: what the op's rules see when all is known. */
typedef struct stand_in {
    tare_node node;
    tare_value *values; /* of the inputs, then of the outputs */
} stand_in;

static tare_status make_probe(stand_in *probe, const tare_node *node, tare_tensor *const *inputs, tare_arena *arena,
                              tare_error *err) {
    size_t count = (size_t)node->input_count + (size_t)node->output_count;
    tare_value *values = tare_arena_alloc(arena, count, sizeof *values);
    tare_value **links = tare_arena_alloc(arena, count, sizeof(*links));
    if (!values || !links) return tare_fail_memory(err, count * sizeof *values);
    probe->node = *node;
    probe->values = values;
    probe->node.inputs = links;
    probe->node.outputs = links + node->input_count;
    for (int i = 0; i < node->input_count; i++) {
        if (!inputs[i]) continue;
        values[i] = (tare_value){ .name = node->inputs[i] ? node->inputs[i]->name : "",
                                  .dtype = inputs[i]->dtype,
                                  .shape = inputs[i]->shape,
                                  .constant = inputs[i],
                                  .graph = node->graph };
        links[i] = &values[i];
    }
    for (int i = 0; i < node->output_count; i++) {
        if (!node->outputs[i]) continue;
        tare_value *value = &values[node->input_count + i];
        *value = (tare_value){ .name = node->outputs[i]->name, .shape = tare_shape_unknown(), .graph = node->graph };
        links[node->input_count + i] = value;
    }
    return tare_node_infer(&probe->node, err);
}

static tare_status make_output(const tare_value *value, tare_arena *arena, tare_tensor **out, tare_error *err) {
    if (!value->dtype || !tare_shape_is_static(&value->shape))
        return tare_fail(err, TARE_E_BUG, "the type or shape of output '%s' does not follow from constant inputs",
                         value->name);
    return tare_tensor_new(arena, value->dtype, &value->shape, out, err);
}

static bool is_last(const tare_op *op, int input) {
    unsigned inputs = op->layout_inputs ? op->layout_inputs : 1u;
    return op->layout == TARE_LAYOUT_LAST_ONLY && input < 32 && inputs & 1u << input;
}

/* A tensor with the shape that `shape` has channels-last, and room. */
static tare_status make_last(tare_dtype dtype, const tare_shape *shape, tare_arena *arena, tare_tensor **out,
                             tare_error *err) {
    tare_shape last = *shape;
    for (int i = 0; i < shape->rank; i++) last.dim[tare_layout_axis(TARE_LAYOUT_LAST, i, shape->rank)] = shape->dim[i];
    return tare_tensor_new(arena, dtype, &last, out, err);
}

/* The call on tensors that lie as the op wants them. */
static tare_status prepare_and_run(const tare_node *node, tare_tensor *const *inputs, tare_tensor *const *outputs,
                                   const tare_kernels *kernels, tare_pool *pool, tare_arena *arena, tare_error *err) {
    const tare_op *op = node->op;
    tare_layout layout = op->layout == TARE_LAYOUT_LAST_ONLY ? TARE_LAYOUT_LAST : TARE_LAYOUT_FIRST;
    tare_call call = { .node = node,
                       .attrs = node->attrs,
                       .inputs = inputs,
                       .input_count = node->input_count,
                       .outputs = outputs,
                       .output_count = node->output_count,
                       .layout = layout,
                       .kernels = kernels,
                       .pool = pool };
    if (op->prepare) {
        /* prepare() may only look at the numbers of constants. */
        size_t count = (size_t)node->input_count;
        tare_tensor *copies = tare_arena_alloc(arena, count, sizeof *copies);
        const tare_tensor **seen = tare_arena_alloc(arena, count, sizeof *seen);
        if (!copies || !seen) return tare_fail_memory(err, count * sizeof *copies);
        for (int i = 0; i < node->input_count; i++) {
            if (!inputs[i]) continue;
            copies[i] = *inputs[i];
            if (!node->inputs[i] || !node->inputs[i]->constant) copies[i].data = NULL;
            seen[i] = &copies[i];
        }
        tare_kept kept = { .arena = arena };
        tare_prepare prepare = { .node = node,
                                 .attrs = node->attrs,
                                 .inputs = seen,
                                 .input_count = node->input_count,
                                 .outputs = (const tare_tensor *const *)outputs,
                                 .output_count = node->output_count,
                                 .layout = layout,
                                 .kernels = kernels,
                                 .threads = tare_pool_size(pool),
                                 .arena = arena,
                                 .kept = &kept,
                                 .clamp_lo = -__builtin_inff(),
                                 .clamp_hi = __builtin_inff() };
        TARE_TRY(op->prepare(&prepare, err));
        call.state = prepare.state;
        if (prepare.scratch_size) {
            call.scratch = tare_arena_alloc_raw(arena, prepare.scratch_size < 64 ? 64 : prepare.scratch_size, 1);
            if (!call.scratch) return tare_fail_memory(err, prepare.scratch_size);
        }
    }
    return op->run(&call, err);
}

static tare_status run_probe(const tare_node *node, const stand_in *probe, tare_tensor *const *inputs,
                             tare_tensor **outputs, const tare_kernels *kernels, tare_pool *pool, tare_arena *arena,
                             tare_error *err) {
    size_t count = (size_t)node->input_count + (size_t)node->output_count;
    tare_tensor **laid = tare_arena_alloc(arena, count, sizeof(*laid));
    if (!laid) return tare_fail_memory(err, count * sizeof *laid);
    tare_tensor **laid_outputs = laid + node->input_count;
    for (int i = 0; i < node->input_count; i++) {
        laid[i] = inputs[i];
        if (!inputs[i] || inputs[i]->shape.rank < 3 || !is_last(node->op, i)) continue;
        TARE_TRY(make_last(inputs[i]->dtype, &inputs[i]->shape, arena, &laid[i], err));
        tare_layout_convert(inputs[i], laid[i], TARE_LAYOUT_LAST, pool);
    }
    for (int i = 0; i < node->output_count; i++) {
        outputs[i] = NULL;
        if (!node->outputs[i]) continue;
        TARE_TRY(make_output(probe->node.outputs[i], arena, &outputs[i], err));
        laid_outputs[i] = outputs[i];
        if (node->op->layout == TARE_LAYOUT_LAST_ONLY && outputs[i]->shape.rank >= 3)
            TARE_TRY(make_last(outputs[i]->dtype, &outputs[i]->shape, arena, &laid_outputs[i], err));
    }
    TARE_TRY(prepare_and_run(node, laid, laid_outputs, kernels, pool, arena, err));
    for (int i = 0; i < node->output_count; i++)
        if (outputs[i] && laid_outputs[i] != outputs[i])
            tare_layout_convert(laid_outputs[i], outputs[i], TARE_LAYOUT_FIRST, pool);
    return TARE_OK;
}

tare_status tare_node_run_once(const tare_node *node, tare_tensor *const *inputs, tare_tensor **outputs,
                               const tare_kernels *kernels, tare_pool *pool, tare_arena *arena, tare_error *err) {
    if (!node->op || !node->op->run) {
        tare_fail(err, TARE_E_UNSUPPORTED, "tare cannot run this operator");
        return tare_within(err, "node '%s' (%s)", node->name, node->type);
    }
    stand_in probe;
    TARE_TRY(make_probe(&probe, node, inputs, arena, err));
    if (run_probe(node, &probe, inputs, outputs, kernels, pool, arena, err) == TARE_OK) return TARE_OK;
    return tare_within(err, "node '%s' (%s)", node->name, node->type);
}

/* The real numbers of a constant, a quantized one dequantized; of an input whose shape is all that matters, the shape. */
static tare_status read_input(const tare_value *value, tare_arena *arena, tare_tensor **out, tare_error *err) {
    tare_tensor *tensor = tare_arena_alloc(arena, 1, sizeof *tensor);
    if (!tensor) return tare_fail_memory(err, sizeof *tensor);
    *out = tensor;
    if (!value->constant) {
        *tensor = (tare_tensor){ .dtype = value->dtype, .shape = value->shape };
        return TARE_OK;
    }
    *tensor = *value->constant;
    if (tensor->dtype == value->dtype) return TARE_OK;
    size_t count;
    const float *numbers;
    TARE_TRY(tare_value_read_f32(value, arena, &numbers, &count, err));
    tare_tensor *real;
    TARE_TRY(tare_tensor_new(arena, TARE_F32, &tensor->shape, &real, err));
    if (count) memcpy(real->data, numbers, count * sizeof *numbers);
    *out = real;
    return TARE_OK;
}

/* Would the results be more than folding may make? */
static bool is_too_big(const stand_in *probe) {
    size_t in = 0, out = 0, size = 0;
    for (int i = 0; i < probe->node.input_count; i++)
        if (probe->node.inputs[i]) in += probe->node.inputs[i]->constant->size; /* 0 where only the shape is known */
    for (int i = 0; i < probe->node.output_count; i++) {
        const tare_value *value = probe->node.outputs[i];
        if (value && tare_tensor_size(value->dtype, &value->shape, &size) && !tare_size_add(out, size, &out))
            return true;
    }
    return out > fold_limit && out > in;
}

static tare_status keep_outputs(tare_node *node, tare_tensor *const *outputs, tare_error *err) {
    for (int i = 0; i < node->output_count; i++) {
        if (!outputs[i]) continue;
        TARE_TRY(tare_infer_set(node, i, outputs[i]->dtype, &outputs[i]->shape, err));
        tare_tensor *kept;
        TARE_TRY(tare_tensor_new(node->graph->model->arena, outputs[i]->dtype, &outputs[i]->shape, &kept, err));
        if (kept->size) memcpy(kept->data, outputs[i]->data, kept->size);
        node->outputs[i]->constant = kept;
    }
    return TARE_OK;
}

static tare_status evaluate(tare_node *node, tare_arena *arena, bool *done, tare_error *err) {
    size_t in = (size_t)node->input_count, out = (size_t)node->output_count;
    tare_tensor **inputs = tare_arena_alloc(arena, in + out, sizeof(*inputs));
    if (!inputs) return tare_fail_memory(err, (in + out) * sizeof *inputs);
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i]) TARE_TRY(read_input(node->inputs[i], arena, &inputs[i], err));
    stand_in probe;
    TARE_TRY(make_probe(&probe, node, inputs, arena, err));
    *done = true;
    for (int i = 0; i < node->output_count; i++)
        if (node->outputs[i] && !node->outputs[i]->constant) *done = false;
    if (*done || is_too_big(&probe)) return TARE_OK;
    const tare_kernels *kernels = tare_kernels_for(tare_cpu_detect());
    TARE_TRY(tare_node_run_once(node, inputs, inputs + in, kernels, NULL, arena, err));
    TARE_TRY(keep_outputs(node, inputs + in, err));
    *done = true;
    return TARE_OK;
}

static bool is_known(const tare_op *op, const tare_value *value) {
    if (op->flags & TARE_OP_READS_SHAPE && value->dtype && tare_shape_is_static(&value->shape)) return true;
    return value->constant != NULL;
}

tare_status tare_node_evaluate(tare_node *node, bool *done, tare_error *err) {
    *done = false;
    if (!node->op || !node->op->run || node->op->flags & (TARE_OP_NO_FOLD | TARE_OP_CONTROL)) return TARE_OK;
    for (int i = 0; i < node->input_count; i++)
        if (node->inputs[i] && !is_known(node->op, node->inputs[i])) return TARE_OK;
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = evaluate(node, arena, done, err);
    tare_arena_free(arena);
    return status;
}

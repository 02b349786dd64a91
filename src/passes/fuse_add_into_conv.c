/* Before:  y = Add(Conv(x, W, b), c)
 * After:   y = Conv(x, W, b')     b'[o] = b[o] + c[o]
 * When:    c is a float constant, one number or one per output channel; nothing else reads what is between, and it is not
 *          quantized. Also Sub(…, c), and Sub(c, …) with W' = -W; for ConvTranspose, Gemm and a MatMul of two matrices,
 *          which becomes a Gemm: with its bias inside, one rounding to codes is left (onnxruntime.md §3). A MatMul of
 *          higher rank keeps its Add. In double, rounded once. */
#include "passes/linear.h"
#include "passes/rewrite.h"

static tare_status fold(tare_pass_context *context, tare_node *node, int index, const tare_linear *linear,
                        tare_error *err) {
    tare_arena *arena = node->graph->model->arena;
    const tare_value *between = node->inputs[index];
    const double *read =
        tare_linear_per_channel(node->inputs[1 - index], &between->shape, linear->axis, linear->channels, arena);
    double *numbers = tare_arena_alloc(arena, (size_t)linear->channels * 2, sizeof *numbers);
    if (!read || !numbers) return TARE_OK;
    bool subtracts = tare_node_is(node, "Sub"), turns = subtracts && index == 1, is_uniform = true, done;
    double *gain = numbers, *shift = numbers + linear->channels;
    for (int64_t c = 0; c < linear->channels; c++) {
        gain[c] = turns ? -1 : 1;
        shift[c] = subtracts && !turns ? -read[c] : read[c];
        is_uniform &= shift[c] == shift[0];
    }
    TARE_TRY(tare_linear_scale_output(context, linear, turns ? gain : NULL, shift, &done, err));
    if (!done) return TARE_OK;
    /* y = ±x + c: x = ±(y - c) */
    const tare_alias alias = { .factor = gain[0], .offset = -gain[0] * shift[0] };
    tare_pass_changed(context, "node '%s' (%s) folded into '%s' (%s)", node->name, node->type, linear->node->name,
                      linear->node->type);
    return tare_rewrite_take_output(linear->node, node, is_uniform ? &alias : NULL, err);
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_linear linear;
    int index = node->inputs[0]->constant ? 1 : 0;
    const tare_value *between = node->inputs[index];
    if (!between->producer || between->producer->graph != node->graph || !tare_rewrite_is_inner(between) ||
        !tare_linear_read(between->producer, &linear))
        return TARE_OK;
    return fold(context, node, index, &linear, err);
}

const tare_pass tare_pass_fuse_add_into_conv = {
    .name = "fuse-add-into-conv",
    .help = "Add or Sub of constants per channel into the bias of the Conv, ConvTranspose, Gemm or MatMul before it",
    .roots = (const char *const[]){ "Add", "Sub", NULL },
    .rewrite = rewrite,
};

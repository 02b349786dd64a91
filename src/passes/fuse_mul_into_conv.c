/* Before:  y = Mul(Conv(x, W, b), c)
 * After:   y = Conv(x, W', b')     W'[o] = W[o]·c[o]   b'[o] = b[o]·c[o]
 * When:    c is a float constant, one number or one per output channel; nothing else reads what is between, and it is not
 *          quantized. Also Div(…, c) with 1/c, and Neg with -1; for ConvTranspose, Gemm and MatMul. In double, rounded
 *          once. */
#include <math.h>
#include <string.h>

#include "passes/linear.h"
#include "passes/rewrite.h"

/* Of y = gain·x, the same for all channels: what x was. */
static const tare_alias *undo(const double *gain, int64_t channels, tare_alias *alias) {
    for (int64_t c = 0; c < channels; c++)
        if (gain[c] != gain[0] || gain[c] == 0) return NULL;
    *alias = (tare_alias){ .factor = 1 / gain[0] };
    return alias;
}

/* The factors a node multiplies input `index` by, per channel; NULL: none that fit. */
static double *read_gain(const tare_node *node, int index, const tare_linear *linear) {
    tare_arena *arena = node->graph->model->arena;
    double *gain = tare_arena_alloc(arena, (size_t)linear->channels, sizeof *gain);
    const double *read = NULL;
    if (node->input_count == 2)
        read = tare_linear_per_channel(node->inputs[1 - index], &node->inputs[index]->shape, linear->axis,
                                       linear->channels, arena);
    if (!gain || (node->input_count == 2 && !read)) return NULL;
    bool divides = tare_node_is(node, "Div");
    for (int64_t c = 0; c < linear->channels; c++) {
        gain[c] = !read ? -1 : divides ? 1 / read[c] : read[c];
        if (!isfinite(gain[c])) return NULL;
    }
    return gain;
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    tare_linear linear;
    int index = tare_node_is(node, "Mul") && node->inputs[0]->constant ? 1 : 0;
    tare_value *between = node->inputs[index];
    if (!between->producer || between->producer->graph != node->graph || !tare_rewrite_is_inner(between) ||
        !tare_linear_read(between->producer, &linear))
        return TARE_OK;
    const double *gain = read_gain(node, index, &linear);
    bool done;
    if (!gain) return TARE_OK;
    TARE_TRY(tare_linear_scale_output(context, &linear, gain, NULL, &done, err));
    if (!done) return TARE_OK;
    tare_alias alias;
    tare_pass_changed(context, "node '%s' (%s) folded into '%s' (%s)", node->name, node->type, linear.node->name,
                      linear.node->type);
    return tare_rewrite_take_output(linear.node, node, undo(gain, linear.channels, &alias), err);
}

const tare_pass tare_pass_fuse_mul_into_conv = {
    .name = "fuse-mul-into-conv",
    .help = "Mul, Div or Neg by constants per channel into the Conv, ConvTranspose, Gemm or MatMul before it",
    .roots = (const char *const[]){ "Mul", "Div", "Neg", NULL },
    .rewrite = rewrite,
};

/* Before:  y = Identity(x)
 * After:   y = x
 * When:    the node gives its input as it is: Identity, Dropout (inference), Cast to the type it has; Reshape, Flatten,
 *          Squeeze, Unsqueeze, Expand, Tile, Slice, Pad, Resize, Transpose that change nothing; Concat, Sum, Mean, Max, Min
 *          of one input; Split into one output; Mul and Div by 1, Add and Sub of 0, Pow 1.
 * Adding +0 turns -0 into +0, which a division behind could see: x + 0 goes only where all readers multiply and sum.
 * Quantized values and graph outputs stay what they are. */
#include <math.h>
#include <string.h>

#include "ops/attr.h"
#include "passes/pattern.h"
#include "passes/rewrite.h"

/* Ends of slices from here on mean "to the end", for dimensions that are not known. */
static const int64_t endless = 1000000000;
enum { LIST_MAX = 2 * TARE_RANK_MAX };

/* Dimension by dimension known to be equal, but for one at most, which then is equal too: the counts are. */
static bool is_same_but_one(const tare_shape *a, const tare_shape *b) {
    int unknown = 0;
    if (a->rank < 0 || a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++) {
        bool same = a->dim[i] == b->dim[i] && a->dim[i] != TARE_DIM_UNKNOWN;
        if (!same && a->dim[i] >= 0 && b->dim[i] >= 0) return false;
        if (a->dim[i] == 0 || b->dim[i] == 0) return false;
        unknown += !same;
    }
    return unknown <= 1;
}

static bool is_reshape_nop(const tare_node *node) {
    return is_same_but_one(&node->inputs[0]->shape, &node->outputs[0]->shape);
}

static bool is_same_shape(const tare_node *node) {
    return tare_rewrite_same_shape(&node->inputs[0]->shape, &node->outputs[0]->shape);
}

static bool is_always(const tare_node *node) {
    (void)node;
    return true;
}

static bool is_alone(const tare_node *node) { return node->input_count == 1 && node->output_count == 1; }

static bool is_split_alone(const tare_node *node) { return node->output_count == 1 && is_same_shape(node); }

static bool is_dropout_nop(const tare_node *node) {
    const tare_value *training = tare_node_input(node, 2), *mask = tare_node_output(node, 1);
    double on = 0;
    if (mask && (mask->uses.count || mask->is_output)) return false;
    return !training || (tare_value_read_scalar(training, &on) && on == 0);
}

static bool is_cast_nop(const tare_node *node) {
    return node->inputs[0]->dtype && node->inputs[0]->dtype == node->outputs[0]->dtype;
}

static bool is_transpose_nop(const tare_node *node) {
    tare_ints perm = tare_attr_ints(node, "perm");
    for (size_t i = 0; i < perm.count; i++)
        if (perm.at[i] != (int64_t)i) return false;
    return perm.count > 0 || (node->inputs[0]->shape.rank >= 0 && node->inputs[0]->shape.rank < 2);
}

static bool is_pad_nop(const tare_node *node) {
    int64_t pads[LIST_MAX];
    size_t count;
    if (!tare_value_read_s64(tare_node_input(node, 1), pads, LIST_MAX, &count)) return false;
    for (size_t i = 0; i < count; i++)
        if (pads[i]) return false;
    return true;
}

/* Every axis from its start to its end, in steps of 1. Where the sizes are known, equal ones are enough. */
static bool is_slice_nop(const tare_node *node) {
    int64_t starts[TARE_RANK_MAX], ends[TARE_RANK_MAX], steps[TARE_RANK_MAX];
    size_t count, end_count, step_count;
    const tare_value *step = tare_node_input(node, 4);
    if (!tare_value_read_s64(tare_node_input(node, 1), starts, TARE_RANK_MAX, &count) ||
        !tare_value_read_s64(tare_node_input(node, 2), ends, TARE_RANK_MAX, &end_count) || end_count != count)
        return false;
    if (step && !tare_value_read_s64(step, steps, TARE_RANK_MAX, &step_count)) return false;
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        if (step && (i >= step_count || steps[i] != 1)) return false;
        whole &= starts[i] == 0 && ends[i] >= endless;
    }
    const tare_shape *in = &node->inputs[0]->shape;
    return whole || (tare_shape_is_static(in) && tare_shape_equal(in, &node->outputs[0]->shape));
}

/* Same size, and a rule of coordinates by which scale 1 gives each element itself. */
static bool is_resize_nop(const tare_node *node) {
    static const char *const exact[] = { "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                         "half_pixel_symmetric" };
    const tare_value *scales = tare_node_input(node, 2);
    double scale;
    if (!is_same_shape(node) || !tare_shape_is_static(&node->inputs[0]->shape)) return false;
    /* 1.2 times 2 elements is 2 elements too, but not the same ones. */
    if (scales && scales->constant && scales->constant->size && (!tare_value_read_scalar(scales, &scale) || scale != 1))
        return false;
    if (scales && !scales->constant) return false;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (tare_attr_is(node, "coordinate_transformation_mode", exact[i], "half_pixel")) return true;
    return false;
}

/* ---- arithmetic with a neutral constant ---- */

/* The other operand is all `neutral` and does not make the result bigger. */
static bool has_neutral(const tare_node *node, int index, double neutral) {
    double number;
    return tare_pattern_scalar(node->inputs[1 - index], node->inputs[index], &number) && number == neutral;
}

/* Does every reader give the same for +0 and -0? Those that multiply and sum from +0 do. */
static bool is_read_by_sums(const tare_value *value) {
    static const char *const sums[] = { "Conv", "ConvTranspose", "Gemm", "MatMul" };
    for (size_t i = 0; i < value->uses.count; i++) {
        bool is_sum = false;
        for (size_t k = 0; k < sizeof sums / sizeof *sums; k++)
            is_sum |= tare_node_is(value->uses.at[i].node, sums[k]) && value->uses.at[i].index == 0;
        if (!is_sum) return false;
    }
    return !value->is_output;
}

static bool is_signed_zero_safe(const tare_node *node, int constant) {
    double zero = 0;
    tare_value_read_scalar(node->inputs[constant], &zero);
    bool is_minus = signbit(zero) != 0, subtracts = tare_node_is(node, "Sub");
    return !tare_dtype_is_float(node->inputs[constant]->dtype) || is_minus != subtracts ||
           is_read_by_sums(node->outputs[0]);
}

/* The operand that comes out as it is, or -1. */
static int neutral_operand(const tare_node *node) {
    bool sums = tare_node_is(node, "Add") || tare_node_is(node, "Sub");
    bool commutes = tare_node_is(node, "Add") || tare_node_is(node, "Mul");
    for (int index = 0; index < (commutes ? 2 : 1); index++)
        if (has_neutral(node, index, sums ? 0 : 1) && (!sums || is_signed_zero_safe(node, 1 - index))) return index;
    return -1;
}

/* ---- the table ---- */

static const struct {
    const char *op;
    bool (*is_nop)(const tare_node *node);
} rules[] = {
    { "Cast", is_cast_nop },
    { "Concat", is_alone },
    { "Dropout", is_dropout_nop },
    { "Expand", is_same_shape },
    { "Flatten", is_reshape_nop },
    { "Identity", is_always },
    { "Max", is_alone },
    { "Mean", is_alone },
    { "Min", is_alone },
    { "Pad", is_pad_nop },
    { "Reshape", is_reshape_nop },
    { "Resize", is_resize_nop },
    { "Slice", is_slice_nop },
    { "Split", is_split_alone },
    { "Squeeze", is_reshape_nop },
    { "Sum", is_alone },
    { "Tile", is_same_shape },
    { "Transpose", is_transpose_nop },
    { "Unsqueeze", is_reshape_nop },
};

/* The input the node gives as it is, or NULL. */
static tare_value *find_same(const tare_node *node) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (tare_node_is(node, rules[i].op)) return rules[i].is_nop(node) ? node->inputs[0] : NULL;
    int index = neutral_operand(node);
    return index < 0 ? NULL : node->inputs[index];
}

static tare_status rewrite(tare_pass_context *context, tare_node *node, tare_error *err) {
    if (!node->outputs[0]) return TARE_OK;
    tare_value *same = find_same(node);
    if (!same || !tare_rewrite_can_replace(node->outputs[0], same)) return TARE_OK;
    tare_pass_changed(context, "node '%s' (%s) removed: it gives '%s' as it is", node->name, node->type, same->name);
    return tare_rewrite_bypass(node, same, err);
}

const tare_pass tare_pass_eliminate_nop = {
    .name = "eliminate-nop",
    .help = "Nodes that give their input as it is: Identity, Dropout, Reshape to the same shape, Mul by 1, …",
    .roots = (const char *const[]){ "Add",      "Cast",      "Concat",    "Div",   "Dropout", "Expand", "Flatten",
                                    "Identity", "Max",       "Mean",      "Min",   "Mul",     "Pad",    "Pow",
                                    "Reshape",  "Resize",    "Slice",     "Split", "Squeeze", "Sub",    "Sum",
                                    "Tile",     "Transpose", "Unsqueeze", NULL },
    .rewrite = rewrite,
};

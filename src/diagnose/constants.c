/* Checks huge-constant and pad-owns-range: numbers put in by the model itself that would own the range of what they get
 * into, where that has codes; elsewhere they do no harm. tare keeps constants out of ranges; what they fill in then saturates. */
#include <math.h>

#include "diagnose/diagnose.h"
#include "ops/attr.h"

/* Beyond this a constant is a mask or a limit, no datum: activations of trained networks stay far below. */
static const double huge = 1e4;

static bool find_extreme(const tare_value *value, tare_arena *arena, double *most, tare_error *err,
                         tare_status *status) {
    const float *numbers;
    size_t count;
    *most = 0;
    if (!tare_value_is_constant(value) || !tare_dtype_is_float(value->dtype)) return false;
    const tare_arena_mark mark = tare_arena_get_mark(arena);
    *status = tare_value_read_f32(value, arena, &numbers, &count, err);
    if (*status != TARE_OK) return false;
    for (size_t i = 0; i < count; i++)
        if (fabs((double)numbers[i]) > fabs(*most)) *most = (double)numbers[i];
    tare_arena_release(arena, mark);
    return fabs(*most) > huge;
}

/* Would the node's output have codes? */
static bool gives_codes(const tare_findings *f, const tare_node *node) {
    if (!f->marked) return true;
    const tare_value *value = tare_map_get(&f->marked->graph->values, node->outputs[0]->name);
    return value && value->quant;
}

/* The far side of a Max never comes out of it. */
static bool never_comes_out(const tare_node *node, double number) { return tare_node_is(node, "Max") && number < 0; }

static bool takes_masks(const tare_node *node) {
    return tare_node_is(node, "Add") || tare_node_is(node, "Sub") || tare_node_is(node, "Where") ||
           tare_node_is(node, "Concat") || tare_node_is(node, "Max") || tare_node_is(node, "ScatterND");
}

static tare_status look_huge(tare_findings *f, tare_error *err) {
    tare_for_nodes (node, f->model->graph) {
        if (!takes_masks(node) || !gives_codes(f, node)) continue;
        for (int i = 0; i < node->input_count; i++) {
            double most;
            tare_status status = TARE_OK;
            if (find_extreme(node->inputs[i], f->arena, &most, err, &status) && !never_comes_out(node, most))
                tare_finding_add(f, node, node->inputs[i], fabs(most), "constant '%s' holds %.4g",
                                 node->inputs[i]->name, most);
            TARE_TRY(status);
        }
    }
    return TARE_OK;
}

const tare_check tare_check_huge_constant = {
    .name = "huge-constant",
    .cause = "a mask or limit that would own the scale of what it is put into",
    .repair = "tare keeps constants out of ranges; use a number just beyond the data, such as -20 before a Softmax",
    .severity = TARE_SEVERITY_DANGER,
    .look = look_huge,
};

/* Behind a Pad with such a number only MaxPool and its like give back what fits. */
static tare_status look_pad(tare_findings *f, tare_error *err) {
    (void)err;
    tare_for_nodes (node, f->model->graph) {
        double number = 0;
        if (!tare_node_is(node, "Pad") || !gives_codes(f, node) || !tare_attr_is(node, "mode", "constant", "constant"))
            continue;
        if (!tare_value_read_scalar(tare_node_input(node, 2), &number) || !(fabs(number) > huge)) continue;
        tare_finding_add(f, node, node->outputs[0], fabs(number), "pads with %.4g", number);
    }
    return TARE_OK;
}

const tare_check tare_check_pad_owns_range = {
    .name = "pad-owns-range",
    .cause = "the pad's constant would own the range of its output, and leave the data a code or two",
    .repair = "let the pool pad by itself: fold-pad-into-pool does so where the pool comes next and pads nothing yet",
    .severity = TARE_SEVERITY_DANGER,
    .look = look_pad,
};

/* Provable ranges. */
#include "passes/range.h"

#include <math.h>
#include <string.h>

#include "ops/attr.h"

/* How far back, and how many values in all, are looked at; constants up to this many numbers. */
enum { DEPTH_MAX = 16, VISITS_MAX = 64, CONSTANT_MAX = 4096 };

typedef struct interval {
    double lo, hi;
} interval;

static const interval everything = { -INFINITY, INFINITY };

typedef struct prover {
    int visits;
} prover;

static interval prove(prover *p, const tare_value *value, int depth);

static interval unite(interval a, interval b) { return (interval){ fmin(a.lo, b.lo), fmax(a.hi, b.hi) }; }

static interval of_input(prover *p, const tare_node *node, int index, int depth) {
    const tare_value *value = tare_node_input(node, index);
    return value ? prove(p, value, depth + 1) : everything;
}

static interval of_inputs(prover *p, const tare_node *node, int depth) {
    interval all = of_input(p, node, 0, depth);
    for (int i = 1; i < node->input_count; i++) all = unite(all, of_input(p, node, i, depth));
    return all;
}

static interval of_constant(const tare_value *value) {
    const tare_tensor *tensor = value->constant;
    interval all = { INFINITY, -INFINITY };
    if (tensor->dtype != TARE_F32 || !tensor->size || tensor->size > CONSTANT_MAX * sizeof(float)) return everything;
    const float *data = tensor->data;
    for (size_t i = 0; i < tensor->size / sizeof *data; i++) {
        if (isnan(data[i])) return everything;
        all = unite(all, (interval){ (double)data[i], (double)data[i] });
    }
    return all;
}

static interval of_clip(prover *p, const tare_node *node, int depth) {
    interval in = of_input(p, node, 0, depth);
    double bound;
    const tare_value *lo = tare_node_input(node, 1), *hi = tare_node_input(node, 2);
    if (lo && (!tare_value_read_scalar(lo, &bound) || isnan(bound))) return everything;
    if (lo) in = (interval){ fmax(in.lo, bound), fmax(in.hi, bound) };
    if (hi && (!tare_value_read_scalar(hi, &bound) || isnan(bound))) return everything;
    if (hi) in = (interval){ fmin(in.lo, bound), fmin(in.hi, bound) };
    return in;
}

/* Sums and means round, so that only signs are sure. */
static interval signs(interval in) { return (interval){ in.lo >= 0 ? 0 : -INFINITY, in.hi <= 0 ? 0 : INFINITY }; }

static interval of_sum(prover *p, const tare_node *node, int depth) {
    interval all = of_input(p, node, 0, depth);
    for (int i = 1; i < node->input_count; i++) {
        interval in = of_input(p, node, i, depth);
        all = (interval){ all.lo + in.lo, all.hi + in.hi };
    }
    return signs(all);
}

/* Only signs: 0 or more times 0 or more. A square is 0 or more too. */
static interval of_product(prover *p, const tare_node *node, int depth) {
    if (node->inputs[0] == node->inputs[1]) return (interval){ 0, INFINITY };
    interval a = of_input(p, node, 0, depth), b = of_input(p, node, 1, depth);
    if (a.lo < 0 || b.lo < 0) return everything;
    return (interval){ 0, INFINITY };
}

static interval of_pad(prover *p, const tare_node *node, int depth) {
    interval in = of_input(p, node, 0, depth);
    double pad = 0;
    if (!tare_attr_is(node, "mode", "constant", "constant")) return in;
    const tare_value *value = tare_node_input(node, 2);
    if (value && (!tare_value_read_scalar(value, &pad) || isnan(pad))) return everything;
    return unite(in, (interval){ pad, pad });
}

static interval of_relu(prover *p, const tare_node *node, int depth) {
    interval in = of_input(p, node, 0, depth);
    return (interval){ fmax(in.lo, 0), fmax(in.hi, 0) };
}

static interval of_average(prover *p, const tare_node *node, int depth) { return signs(of_input(p, node, 0, depth)); }

static interval of_max(prover *p, const tare_node *node, int depth) {
    interval all = of_input(p, node, 0, depth);
    for (int i = 1; i < node->input_count; i++) {
        interval in = of_input(p, node, i, depth);
        all = (interval){ fmax(all.lo, in.lo), fmax(all.hi, in.hi) };
    }
    return all;
}

static interval of_zero_one(prover *p, const tare_node *node, int depth) {
    (void)p, (void)node, (void)depth;
    return (interval){ 0, 1 };
}

static interval of_tanh(prover *p, const tare_node *node, int depth) {
    (void)p, (void)node, (void)depth;
    return (interval){ -1, 1 };
}

static interval of_positive(prover *p, const tare_node *node, int depth) {
    (void)p, (void)node, (void)depth;
    return (interval){ 0, INFINITY };
}

/* Cubic overshoots. */
static interval of_resize(prover *p, const tare_node *node, int depth) {
    if (tare_attr_is(node, "mode", "cubic", "nearest")) return everything;
    interval in = of_input(p, node, 0, depth);
    return tare_attr_is(node, "mode", "nearest", "nearest") ? in : signs(in);
}

/* Sorted by name. Rules that read input 0 alone are for ops whose further inputs are no data. */
static const struct {
    const char *op;
    interval (*rule)(prover *p, const tare_node *node, int depth);
} rules[] = {
    { "Abs", of_positive },
    { "Add", of_sum },
    { "AveragePool", of_average },
    { "Clip", of_clip },
    { "Concat", of_inputs },
    { "Exp", of_positive },
    { "GlobalAveragePool", of_average },
    { "HardSigmoid", of_zero_one },
    { "Max", of_max },
    { "Min", of_inputs },
    { "Mul", of_product },
    { "Pad", of_pad },
    { "Relu", of_relu },
    { "Resize", of_resize },
    { "Sigmoid", of_zero_one },
    { "Softmax", of_zero_one },
    { "Softplus", of_positive },
    { "Sqrt", of_positive },
    { "Tanh", of_tanh },
};

/* Outputs that are copies of elements of input 0. */
static const char *const movers[] = { "DepthToSpace",  "Expand",    "Flatten",  "Gather",    "GatherElements",
                                      "Identity",      "MaxPool",   "Reshape",  "Slice",     "Split",
                                      "SpaceToDepth",  "Squeeze",   "Tile",     "Transpose", "Unsqueeze",
                                      "GlobalMaxPool", "ReduceMax", "ReduceMin" };

/* Depth: DEPTH_MAX. */
static interval prove(prover *p, const tare_value *value, int depth) {
    if (value->constant) return of_constant(value);
    const tare_node *node = value->producer;
    if (!node || depth > DEPTH_MAX || p->visits++ > VISITS_MAX || !tare_dtype_is_float(value->dtype)) return everything;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (tare_node_is(node, rules[i].op)) return rules[i].rule(p, node, depth);
    for (size_t i = 0; i < sizeof movers / sizeof *movers; i++)
        if (tare_node_is(node, movers[i])) return of_input(p, node, 0, depth);
    return everything;
}

void tare_range_of(const tare_value *value, double *lo, double *hi) {
    prover p = { 0 };
    interval all = prove(&p, value, 0);
    *lo = all.lo;
    *hi = all.hi;
}

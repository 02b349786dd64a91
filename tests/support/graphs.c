/* See graphs.h. */
#include "support/graphs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ops/op.h"

tare_model *graphs_parse(const char *text) {
    tare_model *model = NULL;
    assert_ok(tare_model_parse(&model, text, strlen(text), &err));
    assert_ok(tare_graph_infer(model->graph, &err));
    return model;
}

tare_tensor *graphs_random_tensor(tare_arena *arena, tare_dtype dtype, const tare_shape *shape, uint64_t seed) {
    test_random random = { seed * 2654435761u + 1 };
    tare_tensor *tensor = NULL;
    assert_ok(tare_tensor_new(arena, dtype, shape, &tensor, &err));
    for (int64_t i = 0; i < tare_shape_elements(shape); i++) {
        double unit = test_random_unit(&random);
        if (dtype == TARE_F32)
            ((float *)tensor->data)[i] = unit < 0.05 ? 0.0f : (float)(unit * 4 - 2);
        else if (dtype == TARE_S64)
            ((int64_t *)tensor->data)[i] = (int64_t)(unit * 10) - 5;
        else
            fail_msg("no random numbers of type %s", tare_dtype_name(dtype));
    }
    return tensor;
}

/* ---- node by node ---- */

/* The channel of element i along the axis of the quantization. */
static size_t channel_of(const tare_quant *quant, const tare_shape *shape, size_t i) {
    if (quant->count == 1) return 0;
    size_t inner = (size_t)tare_shape_product(shape, quant->axis + 1, shape->rank);
    return i / inner % (size_t)shape->dim[quant->axis];
}

/* DequantizeLinear(QuantizeLinear(x)) as the operators' definitions have it. */
static void round_numbers(float *to, const float *from, const tare_shape *shape, const tare_quant *quant) {
    for (size_t i = 0; i < (size_t)tare_shape_elements(shape); i++) {
        size_t c = channel_of(quant, shape, i);
        float zero = (float)quant->zero_point[c];
        float lo = (float)tare_dtype_lowest(quant->code) - zero + (quant->narrow ? 1 : 0);
        float hi = (float)tare_dtype_highest(quant->code) - zero;
        float steps = from[i] / quant->scale[c];
        steps = !(steps > lo) ? lo : steps < hi ? steps : hi;
        to[i] = (float)(int32_t)rintf(steps) * quant->scale[c]; /* codes have no -0 */
    }
}

static tare_tensor *round_tensor(const tare_tensor *from, const tare_quant *quant, tare_arena *arena) {
    tare_tensor *to = NULL;
    assert_ok(tare_tensor_new(arena, TARE_F32, &from->shape, &to, &err));
    round_numbers(to->data, from->data, &from->shape, quant);
    return to;
}

static tare_tensor *read_value(const tare_map *values, const tare_value *value, tare_backend backend,
                               tare_arena *arena) {
    if (!value) return NULL;
    if (!value->constant) return tare_map_get(values, value->name);
    tare_tensor *copy = tare_arena_alloc(arena, 1, sizeof *copy);
    *copy = *value->constant;
    if (!value->quant) return copy;
    const float *numbers = NULL;
    size_t count = 0;
    assert_ok(tare_value_read_f32(value, arena, &numbers, &count, &err));
    copy->dtype = TARE_F32;
    copy->size = count * sizeof(float);
    copy->data = tare_arena_copy(arena, numbers, copy->size);
    bool is_float = tare_dtype_is_float(value->constant->dtype);
    return backend == TARE_BACKEND_QDQ && is_float ? round_tensor(copy, value->quant, arena) : copy;
}

static void keep(tare_map *values, const tare_value *value, tare_tensor *tensor, tare_backend backend,
                 tare_arena *arena) {
    if (value->quant && backend == TARE_BACKEND_QDQ) tensor = round_tensor(tensor, value->quant, arena);
    assert_true(tare_map_put(values, value->name, tensor));
}

void graphs_evaluate(tare_map *values, const tare_model *model, tare_tensor *const *inputs, tare_backend backend,
                     tare_arena *arena) {
    const tare_kernels *kernels = tare_kernels_for(TARE_CPU_SCALAR);
    const tare_graph *graph = model->graph;
    tare_map_init(values, arena);
    for (size_t i = 0; i < graph->inputs.count; i++) keep(values, graph->inputs.at[i], inputs[i], backend, arena);
    tare_for_nodes (node, graph) {
        tare_tensor *in[64], *out[64] = { NULL };
        for (int i = 0; i < node->input_count; i++) in[i] = read_value(values, node->inputs[i], backend, arena);
        assert_ok(tare_node_run_once(node, in, out, kernels, NULL, arena, &err));
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i]) keep(values, node->outputs[i], out[i], backend, arena);
    }
}

/* A node's input, rounded when it is quantized; *differs tells. */
static tare_tensor *read_rounded(const tare_map *real, const tare_value *value, bool *differs, tare_arena *arena) {
    if (!value) return NULL;
    *differs |= value->quant != NULL;
    if (value->constant) return read_value(real, value, TARE_BACKEND_QDQ, arena);
    tare_tensor *tensor = tare_map_get(real, value->name);
    return value->quant ? round_tensor(tensor, value->quant, arena) : tensor;
}

void graphs_evaluate_local(tare_map *values, const tare_model *model, const tare_map *real, tare_arena *arena) {
    const tare_kernels *kernels = tare_kernels_for(TARE_CPU_SCALAR);
    const tare_graph *graph = model->graph;
    tare_map_init(values, arena);
    for (size_t i = 0; i < graph->inputs.count; i++) {
        const tare_value *value = graph->inputs.at[i];
        if (value->quant) keep(values, value, tare_map_get(real, value->name), TARE_BACKEND_QDQ, arena);
    }
    tare_for_nodes (node, graph) {
        tare_tensor *in[64], *out[64] = { NULL };
        bool differs = false;
        for (int i = 0; i < node->input_count; i++) in[i] = read_rounded(real, node->inputs[i], &differs, arena);
        for (int i = 0; i < node->output_count; i++) differs |= node->outputs[i] && node->outputs[i]->quant;
        if (!differs) continue;
        assert_ok(tare_node_run_once(node, in, out, kernels, NULL, arena, &err));
        for (int i = 0; i < node->output_count; i++)
            if (node->outputs[i]) keep(values, node->outputs[i], out[i], TARE_BACKEND_QDQ, arena);
    }
}

bool graphs_same(const tare_tensor *a, const tare_tensor *b) {
    if (a->dtype != b->dtype || !tare_shape_equal(&a->shape, &b->shape)) return false;
    if (a->dtype != TARE_F32) return !memcmp(a->data, b->data, a->size);
    for (int64_t i = 0; i < tare_shape_elements(&a->shape); i++) {
        const float *x = (const float *)a->data + i, *y = (const float *)b->data + i;
        if (memcmp(x, y, sizeof *x) && !(isnan(*x) && isnan(*y))) return false;
    }
    return true;
}

const char *graphs_at_hand;

void graphs_check_same(const char *what, const tare_tensor *got, const tare_tensor *want) {
    if (graphs_same(got, want)) return;
    if (graphs_at_hand) print_error("in\n%s\n", strstr(graphs_at_hand, "{\n  v0"));
    char a[128], b[128];
    tare_shape_print(a, sizeof a, &got->shape, NULL);
    tare_shape_print(b, sizeof b, &want->shape, NULL);
    if (!tare_shape_equal(&got->shape, &want->shape) || got->dtype != want->dtype)
        fail_msg("%s: got %s %s, want %s %s", what, tare_dtype_name(got->dtype), a, tare_dtype_name(want->dtype), b);
    for (int64_t i = 0; got->dtype == TARE_F32 && i < tare_shape_elements(&got->shape); i++) {
        float x = ((const float *)got->data)[i], y = ((const float *)want->data)[i];
        if (memcmp(&x, &y, sizeof x) && !(isnan(x) && isnan(y)))
            fail_msg("%s (%s): element %lld is %.9g, want %.9g", what, a, (long long)i, (double)x, (double)y);
    }
    fail_msg("%s: other bytes", what);
}

/* ---- random graphs ---- */

enum { VALUES_MAX = 40 };

typedef struct maker {
    tare_arena *arena;
    tare_text weights, body;
    test_random random;
    int count, weight_count;
    int64_t dim[VALUES_MAX][4]; /* every value has rank 4 */
    int uses[VALUES_MAX];
} maker;

static int64_t pick(maker *m, int64_t count) { return (int64_t)(test_random_unit(&m->random) * (double)count); }

/* A value, mostly a recent one. */
static int pick_value(maker *m) {
    int64_t back = pick(m, 3) ? pick(m, 3) : pick(m, m->count);
    int value = m->count - 1 - (int)(back < m->count ? back : 0);
    m->uses[value]++;
    return value;
}

/* A constant of this shape; its name's number. */
static int add_weight(maker *m, int rank, const int64_t *dim) {
    int64_t count = 1;
    int name = m->weight_count++;
    tare_text_printf(&m->weights, "%sfloat", name ? ",\n " : "");
    for (int i = 0; i < rank; i++) {
        tare_text_printf(&m->weights, "%s%lld", i ? "," : "[", (long long)dim[i]);
        count *= dim[i];
    }
    tare_text_printf(&m->weights, "%s w%d = {", rank ? "]" : "", name);
    for (int64_t i = 0; i < count; i++)
        tare_text_printf(&m->weights, "%s%.4f", i ? ", " : "", test_random_unit(&m->random) * 2 - 1);
    tare_text_puts(&m->weights, "}");
    return name;
}

/* "w3 = " for the new value, whose dimensions are set. */
static void begin_value(maker *m, const int64_t dim[4]) {
    memcpy(m->dim[m->count], dim, 4 * sizeof *dim);
    tare_text_printf(&m->body, "  v%d = ", m->count++);
}

#define SAY(...) tare_text_printf(&m->body, __VA_ARGS__)

static void add_conv(maker *m, int x) {
    const int64_t *d = m->dim[x];
    bool is_depthwise = pick(m, 2);
    int64_t kernel = pick(m, 2) && d[2] > 2 && d[3] > 2 ? 3 : 1, channels = is_depthwise ? d[1] : 1 + pick(m, 5);
    const int64_t weight[4] = { channels, is_depthwise ? 1 : d[1], kernel, kernel }, bias[1] = { channels };
    int w = add_weight(m, 4, weight), b = add_weight(m, 1, bias);
    begin_value(m, (const int64_t[4]){ d[0], channels, d[2], d[3] });
    SAY("Conv<group = %lld, pads = [%lld, %lld, %lld, %lld]>(v%d, w%d, w%d)\n", (long long)(is_depthwise ? d[1] : 1),
        (long long)kernel / 2, (long long)kernel / 2, (long long)kernel / 2, (long long)kernel / 2, x, w, b);
}

static void add_clamp(maker *m, int x) {
    begin_value(m, m->dim[x]);
    if (pick(m, 2)) {
        SAY("Relu(v%d)\n", x);
        return;
    }
    tare_text_printf(&m->weights, "%sfloat lo%d = {%.3f}, float hi%d = {%.3f}", m->weight_count ? ",\n " : "", m->count,
                     -0.5 + 0.6 * test_random_unit(&m->random), m->count, 1.0 + test_random_unit(&m->random));
    m->weight_count++;
    SAY("Clip(v%d, lo%d, hi%d)\n", x, m->count, m->count);
}

static void add_unary(maker *m, int x) {
    static const char *const ops[] = {
        "Sigmoid", "Tanh", "Identity", "Neg", "Softmax<axis = 1>", "Softmax<axis = -1>"
    };
    begin_value(m, m->dim[x]);
    SAY("%s(v%d)\n", ops[pick(m, 6)], x);
}

/* With another value of the same shape, with itself, or with a constant that is broadcast. */
static void add_binary(maker *m, int x) {
    static const char *const ops[] = { "Add", "Mul", "Sub", "Max" };
    const char *op = ops[pick(m, 4)];
    int64_t dim[4];
    memcpy(dim, m->dim[x], sizeof dim);
    for (int y = m->count - 1; y >= 0 && pick(m, 4); y--) {
        if (memcmp(m->dim[y], dim, sizeof dim) != 0) continue;
        bool is_turned = pick(m, 2);
        m->uses[y]++;
        begin_value(m, dim);
        SAY("%s(v%d, v%d)\n", op, is_turned ? y : x, is_turned ? x : y);
        return;
    }
    int rank = (int)pick(m, 5), w;
    int64_t shape[4];
    for (int i = 0; i < rank; i++) shape[i] = pick(m, 2) ? dim[4 - rank + i] : 1;
    w = add_weight(m, rank, shape);
    begin_value(m, dim);
    SAY("%s(v%d, w%d)\n", op, x, w);
}

static void add_pool(maker *m, int x) {
    int64_t dim[4];
    memcpy(dim, m->dim[x], sizeof dim);
    if (pick(m, 2)) {
        dim[2] = dim[3] = 1;
        begin_value(m, dim);
        SAY("GlobalAveragePool(v%d)\n", x);
        dim[2] = m->dim[x][2];
        dim[3] = m->dim[x][3];
        m->uses[m->count - 1]++;
        begin_value(m, dim);
        SAY("Mul(v%d, v%d)\n", x, m->count - 2);
        return;
    }
    begin_value(m, dim);
    SAY("MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(v%d)\n", x);
}

static void add_transpose(maker *m, int x) {
    static const int perms[][4] = { { 0, 2, 3, 1 }, { 0, 3, 1, 2 }, { 0, 1, 3, 2 }, { 3, 2, 1, 0 }, { 0, 1, 2, 3 } };
    const int *perm = perms[pick(m, 5)];
    int64_t dim[4];
    for (int i = 0; i < 4; i++) dim[i] = m->dim[x][perm[i]];
    begin_value(m, dim);
    SAY("Transpose<perm = [%d, %d, %d, %d]>(v%d)\n", perm[0], perm[1], perm[2], perm[3], x);
}

static void add_reshape(maker *m, int x) {
    const int64_t *d = m->dim[x];
    const int64_t turned[4] = { d[0], d[2], d[1], d[3] }, flat[4] = { 1, d[0] * d[1], 1, d[2] * d[3] };
    const int64_t *dim = pick(m, 2) ? turned : flat;
    tare_text_printf(&m->weights, "%sint64[4] s%d = {%lld, %lld, %lld, %lld}", m->weight_count ? ",\n " : "", m->count,
                     (long long)dim[0], (long long)dim[1], (long long)dim[2], (long long)dim[3]);
    m->weight_count++;
    begin_value(m, dim);
    SAY("Reshape(v%d, s%d)\n", x, m->count - 1);
}

static void add_concat(maker *m, int x) {
    for (int y = m->count - 1; y >= 0; y--) {
        const int64_t *a = m->dim[x], *b = m->dim[y];
        if (a[0] != b[0] || a[2] != b[2] || a[3] != b[3] || a[1] + b[1] > 12) continue;
        m->uses[y]++;
        begin_value(m, (const int64_t[4]){ a[0], a[1] + b[1], a[2], a[3] });
        SAY("Concat<axis = 1>(v%d, v%d)\n", x, y);
        return;
    }
    add_unary(m, x);
}

static void add_split(maker *m, int x) {
    int64_t dim[4];
    memcpy(dim, m->dim[x], sizeof dim);
    if (dim[1] % 2) {
        add_clamp(m, x);
        return;
    }
    dim[1] /= 2;
    begin_value(m, dim);
    m->body.length -= 3; /* " = " becomes ", v5 = " */
    memcpy(m->dim[m->count], dim, sizeof dim);
    SAY(", v%d = Split<axis = 1, num_outputs = 2>(v%d)\n", m->count, x);
    m->count++;
}

const char *graphs_random_text(tare_arena *arena, uint64_t seed) {
    static void (*const adds[])(maker *, int) = { add_conv,      add_conv,    add_clamp,  add_clamp,
                                                  add_unary,     add_binary,  add_binary, add_pool,
                                                  add_transpose, add_reshape, add_concat, add_split };
    maker *m = tare_arena_alloc(arena, 1, sizeof *m);
    *m = (maker){ .arena = arena, .weights = { .arena = arena }, .body = { .arena = arena }, .random = { seed + 1 } };
    begin_value(m, (const int64_t[4]){ 1, 4, 6, 5 });
    SAY("Identity(x)\n");
    int wanted = 8 + (int)pick(m, VALUES_MAX - 12);
    while (m->count < wanted) adds[pick(m, sizeof adds / sizeof *adds)](m, pick_value(m));
    tare_text text = { .arena = arena };
    tare_text_puts(&text, "<ir_version: 8, opset_import: [\"\" : 18]>\ng (float[1,4,6,5] x) => (");
    bool is_first = true;
    for (int i = 0; i < m->count; i++) {
        if (m->uses[i] && pick(m, 8)) continue;
        tare_text_printf(&text, "%sfloat[?,?,?,?] v%d", is_first ? "" : ", ", i);
        is_first = false;
    }
    tare_text_puts(&text, ")\n");
    if (m->weight_count) tare_text_printf(&text, "<%s>\n", m->weights.at);
    tare_text_printf(&text, "{\n%s}\n", m->body.at);
    assert_false(text.failed);
    return text.at;
}

static const tare_quant *random_quant(tare_model *model, const tare_value *value, test_random *random) {
    static const tare_dtype codes[] = { TARE_U8, TARE_S8, TARE_S16, TARE_S4 };
    tare_dtype code = codes[test_random_next(random) % 4];
    bool is_channels = value->shape.rank > 1 && test_random_unit(random) < 0.2;
    size_t count = is_channels ? (size_t)value->shape.dim[1] : 1;
    tare_quant *quant = tare_arena_alloc(model->arena, 1, sizeof *quant);
    float *scale = tare_arena_alloc(model->arena, count, sizeof *scale);
    int32_t *zero = tare_arena_alloc(model->arena, count, sizeof *zero);
    for (size_t i = 0; i < count; i++) {
        scale[i] = (float)(0.003 + 0.02 * test_random_unit(random));
        zero[i] = code == TARE_U8 ? (int32_t)(test_random_next(random) % 256) : 0;
    }
    *quant = (tare_quant){ .code = code,
                           .axis = is_channels ? 1 : -1,
                           .count = count,
                           .scale = scale,
                           .zero_point = zero,
                           .narrow = code == TARE_S8 && test_random_unit(random) < 0.5 };
    return quant;
}

void graphs_quantize(tare_model *model, uint64_t seed) {
    test_random random = { seed + 77 };
    const tare_quant *last = NULL;
    for (size_t i = 0; i < model->graph->values.entries.count; i++) {
        tare_value *value = model->graph->values.entries.at[i].value;
        if (!value || value->dtype != TARE_F32 || test_random_unit(&random) < 0.3) continue;
        bool is_alike = last && last->count == 1 && test_random_unit(&random) < 0.4;
        if (value->constant && value->shape.rank == 0) continue; /* bounds of Clip stay */
        value->quant = last = is_alike ? last : random_quant(model, value, &random);
    }
}

/* The scales of Q and DQ nodes checked. */
#include "passes/qdq.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ops/attr.h"

/* How long a chain of nodes between a constant and a scale may be. */
enum { CHAIN_MAX = 8 };

/* Depth: CHAIN_MAX. */
static tare_status settle(tare_value *value, int depth, tare_error *err) {
    if (!value || value->constant || !value->producer || value->is_output || depth == CHAIN_MAX) return TARE_OK;
    tare_node *node = value->producer;
    bool done;
    if (node->output_count != 1) return TARE_OK;
    for (int i = 0; i < node->input_count; i++) TARE_TRY(settle(node->inputs[i], depth + 1, err));
    TARE_TRY(tare_node_evaluate(node, &done, err));
    if (!done) return TARE_OK;
    value->is_initializer = true;
    tare_value_set_producer(value, NULL, 0);
    tare_node_remove(node);
    return TARE_OK;
}

tare_status tare_qdq_settle(tare_node *node, tare_error *err) {
    for (int i = 1; i < node->input_count; i++) TARE_TRY(settle(node->inputs[i], 0, err));
    return TARE_OK;
}

/* ---- scales ---- */

typedef struct scales {
    const float *at;
    size_t count;
    size_t inner, length, block; /* element e has scale (e / inner) % length / block, or see index_of */
    bool is_blocked;
} scales;

/* Which scale element e of the data has; all have been checked to fit by the op's infer(). */
static size_t index_of(const scales *s, size_t e) {
    if (s->count == 1) return 0;
    size_t channel = e / s->inner % s->length;
    if (!s->is_blocked) return channel;
    size_t blocks = (s->length + s->block - 1) / s->block;
    return (e / s->inner / s->length * blocks + channel / s->block) * s->inner + e % s->inner;
}

static tare_status read_scales(const tare_node *node, tare_arena *arena, scales *out, tare_error *err) {
    const tare_shape *shape = &node->inputs[0]->shape;
    int64_t axis = tare_attr_int(node, "axis", 1), block = tare_attr_int(node, "block_size", 0);
    *out = (scales){ .is_blocked = block > 0, .block = (size_t)block };
    TARE_TRY(tare_value_read_f32(node->inputs[1], arena, &out->at, &out->count, err));
    if (out->count > 1 && shape->rank >= 0 && tare_axis_normalize(&axis, shape->rank) && tare_shape_is_static(shape)) {
        out->inner = (size_t)tare_shape_product(shape, (int)axis + 1, shape->rank);
        out->length = (size_t)shape->dim[axis];
    }
    return TARE_OK;
}

/* The constant that the scales are applied to: codes, or what a Q makes codes of. */
static const tare_value *constant_behind(const tare_node *node) {
    const tare_value *value = node->inputs[0];
    if (!value->constant && tare_node_is(value->producer, "QuantizeLinear")) value = value->producer->inputs[0];
    return value->constant && !value->quant ? value : NULL;
}

/* Do all elements of the constant that have scale `index` stand for 0? Codes: are they the zero point; floats: are they 0? */
static bool means_zero(const tare_node *node, const scales *s, size_t index) {
    const tare_value *value = constant_behind(node), *zero = tare_node_input(node, 2);
    if (!value || !tare_shape_is_static(&value->shape) || (s->count > 1 && !s->length)) return false;
    const tare_tensor *tensor = value->constant, *zeros = zero ? zero->constant : NULL;
    size_t size = tare_dtype_size(tensor->dtype), count = tensor->size / size;
    if (zero && !zeros) return false;
    bool is_real = tensor->dtype == TARE_F32;
    for (size_t e = 0; e < count; e++) {
        if (index_of(s, e) != index) continue;
        if (is_real ? ((const float *)tensor->data)[e] != 0
            : zeros && tensor->dtype == zeros->dtype
                ? memcmp((const char *)tensor->data + e * size, (const char *)zeros->data + index * size, size) != 0
                : memcmp((const char *)tensor->data + e * size, &(int64_t){ 0 }, size) != 0)
            return false;
    }
    return is_real || tare_dtype_is_integer(tensor->dtype);
}

static bool is_good(float scale) { return isfinite(scale) && scale > 0; }

static tare_status refuse(const tare_node *node, const scales *s, size_t index, tare_error *err) {
    char channel[48] = "";
    if (s->count > 1) snprintf(channel, sizeof channel, " of channel %zu", index);
    return tare_fail(err, TARE_E_MALFORMED,
                     "tensor '%s': the scale%s ('%s') is %.9g, want a positive number; node '%s' (%s); --repair-scales "
                     "helps where all codes mean 0",
                     node->inputs[0]->name, channel, node->inputs[1]->name, (double)s->at[index], node->name,
                     node->type);
}

static tare_status keep_repaired(const tare_node *node, float scale, tare_error *err) {
    tare_model *model = node->graph->model;
    tare_origin *origin = tare_arena_alloc(model->arena, 1, sizeof *origin);
    if (!origin) return tare_fail_memory(err, sizeof *origin);
    *origin = (tare_origin){ .kind = TARE_ORIGIN_REPAIRED,
                             .was = tare_arena_printf(model->arena, "qdq with a scale of %.9g", (double)scale) };
    return origin->was && tare_map_put(&model->origins, tare_qdq_codes(node)->name, origin) ? TARE_OK
                                                                                            : tare_fail_memory(err, 0);
}

static tare_status repair(tare_node *node, const scales *s, tare_log *log, tare_error *err) {
    tare_model *model = node->graph->model;
    const tare_tensor *old = node->inputs[1]->constant;
    tare_tensor *tensor;
    tare_value *fresh;
    TARE_TRY(tare_tensor_new(model->arena, TARE_F32, &old->shape, &tensor, err));
    float *to = tensor->data;
    for (size_t i = 0; i < s->count; i++) {
        to[i] = s->at[i];
        if (is_good(to[i])) continue;
        if (!means_zero(node, s, i)) return refuse(node, s, i, err);
        tare_log_warn(log, "tensor '%s': the scale of channel %zu was %.9g and is 1 now; all its codes mean 0",
                      node->inputs[0]->name, i, (double)to[i]);
        TARE_TRY(keep_repaired(node, to[i], err));
        to[i] = 1;
    }
    TARE_TRY(tare_graph_add_constant(node->graph, node->inputs[1]->name, tensor, NULL, true, &fresh, err));
    return tare_node_set_input(node, 1, fresh, err);
}

static tare_status check(tare_node *node, const tare_normalize_options *options, tare_log *log, tare_arena *arena,
                         tare_error *err) {
    scales s;
    TARE_TRY(read_scales(node, arena, &s, err));
    for (size_t i = 0; i < s.count; i++) {
        if (is_good(s.at[i])) continue;
        bool can_repair = options->repair_scales && node->inputs[1]->constant->dtype == TARE_F32;
        return can_repair ? repair(node, &s, log, err) : refuse(node, &s, i, err);
    }
    return TARE_OK;
}

tare_status tare_qdq_check(tare_node *node, const tare_normalize_options *options, tare_log *log, tare_error *err) {
    if (!node->inputs[1]->constant) return TARE_OK;
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = check(node, options, log, arena, err);
    tare_arena_free(arena);
    return status;
}

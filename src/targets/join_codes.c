/* Concat on codes for every target: each input's codes go through its table, or are copied. */
#include <string.h>

#include "ops/attr.h"
#include "targets/codes.h"

bool tare_codes_are_alike(const tare_quant *a, const tare_quant *b) {
    return a->code == b->code && a->scale[0] == b->scale[0] && a->zero_point[0] == b->zero_point[0];
}

tare_status tare_join_codes_prepare(tare_join_codes **out, const tare_int_node *n, tare_prepare *p, tare_error *err) {
    tare_join_codes *join = tare_arena_alloc(p->arena, (size_t)p->input_count + 1, sizeof *join);
    if (!join) return tare_fail_memory(err, (size_t)p->input_count * sizeof *join);
    for (int i = 0; i < p->input_count; i++) join[i].copies = tare_codes_are_alike(n->inputs[i], n->output);
    p->state = *out = join;
    return TARE_OK;
}

static void move(const tare_join_codes *join, uint8_t *to, const uint8_t *from, size_t count) {
    if (join->copies) {
        if (count) memcpy(to, from, count);
        return;
    }
    for (size_t i = 0; i < count; i++) to[i] = join->table[from[i]];
}

tare_status tare_join_codes_run(const tare_call *call, tare_error *err) {
    (void)err;
    const tare_join_codes *join = call->state;
    const tare_shape *shape = &call->outputs[0]->shape;
    int64_t place = tare_attr_int(call->node, "axis", 0);
    if (place < 0) place += shape->rank;
    const int axis = tare_layout_axis(call->layout, (int)place, shape->rank);
    const int64_t outer = tare_shape_product(shape, 0, axis), row = tare_shape_product(shape, axis, shape->rank);
    uint8_t *to = call->outputs[0]->data;
    for (int i = 0; i < call->input_count; i++) {
        const int64_t inner = tare_shape_product(&call->inputs[i]->shape, axis, shape->rank);
        const uint8_t *from = call->inputs[i]->data;
        for (int64_t o = 0; o < outer; o++) move(&join[i], to + o * row, from + o * inner, (size_t)inner);
        to += inner;
    }
    return TARE_OK;
}

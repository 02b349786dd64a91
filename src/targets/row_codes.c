/* Rows of codes along a node's axis, for Softmax and the like. */
#include "ops/attr.h"
#include "ops/spans.h"
#include "targets/codes.h"

typedef struct job {
    const tare_call *call;
    tare_code_row *row;
    int64_t length, stride; /* of a row; rows side by side are `stride` many */
} job;

static void range(void *context, int64_t first, int64_t last) {
    const job *j = context;
    for (int64_t i = first; i < last; i++) {
        const int64_t at = i / j->stride * j->stride * j->length + i % j->stride;
        j->row(j->call->state, (uint8_t *)j->call->outputs[0]->data + at,
               (const uint8_t *)j->call->inputs[0]->data + at, j->length, j->stride);
    }
}

void tare_code_rows_run(const tare_call *call, tare_code_row *row) {
    const tare_shape *shape = &call->inputs[0]->shape;
    int64_t place = tare_attr_int(call->node, "axis", -1);
    if (place < 0) place += shape->rank;
    const int axis = tare_layout_axis(call->layout, (int)place, shape->rank);
    job j = { .call = call, .row = row, .length = shape->dim[axis] };
    j.stride = tare_shape_product(shape, axis + 1, shape->rank);
    const int64_t rows = tare_shape_product(shape, 0, axis) * j.stride;
    if (j.length) tare_ranges_run(call->pool, rows, j.length * 4, range, &j);
}

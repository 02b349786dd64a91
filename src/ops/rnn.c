/* RNN: H = f(x W^T + h R^T + b).  ONNX 7, 14, 22. */
#include <stddef.h>

#include "ops/recurrent.h"

static void step(tare_recurrent_row *row) {
    for (size_t i = 0; i < row->hidden; i++) row->h[i] = row->x[i] + row->r[i];
    row->kernels->clamp_f32(row->h, row->h, row->hidden, -row->clip, row->clip);
    row->f[0].apply(&row->f[0], row->kernels, row->h, row->hidden);
}

static const char *const defaults[] = { "Tanh" };
static const tare_recurrent_cell cell = { .gates = 1, .functions = 1, .defaults = defaults, .step = step };

static const tare_field fields[] = {
    TARE_RECURRENT_FIELDS,
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) { return tare_recurrent_infer(&cell, node, err); }
static tare_status prepare(tare_prepare *p, tare_error *err) { return tare_recurrent_prepare(&cell, p, err); }
static tare_status run(const tare_call *call, tare_error *err) { return tare_recurrent_run(&cell, call, err); }

const tare_op tare_op_rnn = {
    .name = "RNN",
    .since = 7,
    .inputs = { 3, 6 },
    .outputs = { 0, 2 },
    .attrs = fields,
    .attrs_size = sizeof(tare_recurrent_attrs),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

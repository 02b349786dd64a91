/* LSTM: gates i, o, f, c of x W^T + h R^T + b; C = f C + i c; H = o h(C).  ONNX 7, 14, 22. */
#include <stddef.h>

#include "ops/recurrent.h"

static void gate(const tare_recurrent_row *row, float *to, const float *x, const float *r, const float *peephole,
                 const tare_recurrent_function *f) {
    for (size_t i = 0; i < row->hidden; i++) {
        to[i] = x[i] + r[i];
        if (peephole) to[i] += peephole[i] * row->c[i];
    }
    row->kernels->clamp_f32(to, to, row->hidden, -row->clip, row->clip);
    f->apply(f, row->kernels, to, row->hidden);
}

static void step(tare_recurrent_row *row) {
    const size_t n = row->hidden;
    float *i = row->x, *o = i + n, *f = o + n, *c = f + n;
    const float *p = row->peephole;
    gate(row, i, i, row->r, p, &row->f[0]);
    if (row->attrs->input_forget)
        for (size_t k = 0; k < n; k++) f[k] = 1 - i[k];
    else
        gate(row, f, f, row->r + 2 * n, p ? p + 2 * n : NULL, &row->f[0]);
    gate(row, c, c, row->r + 3 * n, NULL, &row->f[1]);
    for (size_t k = 0; k < n; k++) row->c[k] = f[k] * row->c[k] + i[k] * c[k];
    gate(row, o, o, row->r + n, p ? p + n : NULL, &row->f[0]);
    for (size_t k = 0; k < n; k++) row->t[k] = row->c[k];
    row->f[2].apply(&row->f[2], row->kernels, row->t, n);
    for (size_t k = 0; k < n; k++) row->h[k] = o[k] * row->t[k];
}

static const char *const defaults[] = { "Sigmoid", "Tanh", "Tanh" };
static const tare_recurrent_cell cell = {
    .gates = 4, .functions = 3, .defaults = defaults, .has_c = true, .step = step
};

static const tare_field fields[] = {
    TARE_RECURRENT_FIELDS,
    { "input_forget", TARE_FIELD_INT, offsetof(tare_recurrent_attrs, input_forget), .hi = 1 },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) { return tare_recurrent_infer(&cell, node, err); }
static tare_status prepare(tare_prepare *p, tare_error *err) { return tare_recurrent_prepare(&cell, p, err); }
static tare_status run(const tare_call *call, tare_error *err) { return tare_recurrent_run(&cell, call, err); }

const tare_op tare_op_lstm = {
    .name = "LSTM",
    .since = 7,
    .inputs = { 3, 8 },
    .outputs = { 0, 3 },
    .attrs = fields,
    .attrs_size = sizeof(tare_recurrent_attrs),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

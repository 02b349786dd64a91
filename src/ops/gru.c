/* GRU: z, r of x W^T + h R^T + b; n = g(x W^T + (r h) R^T + b), or g(x W^T + b + r (h R^T + b')) with linear_before_reset;
 * H = (1 - z) n + z H.  ONNX 7, 14, 22. */
#include <stddef.h>

#include "ops/recurrent.h"

static void gate(const tare_recurrent_row *row, float *x, const float *r, const tare_recurrent_function *f) {
    for (size_t i = 0; i < row->hidden; i++) x[i] += r[i];
    row->kernels->clamp_f32(x, x, row->hidden, -row->clip, row->clip);
    f->apply(f, row->kernels, x, row->hidden);
}

/* r h, for the second product. */
static void reset(tare_recurrent_row *row) {
    const size_t n = row->hidden;
    gate(row, row->x + n, row->r + n, &row->f[0]);
    for (size_t i = 0; i < n; i++) row->t[i] = row->x[n + i] * row->h[i];
}

static void step(tare_recurrent_row *row) {
    const size_t n = row->hidden;
    float *z = row->x, *r = z + n, *c = r + n, *hidden = row->r + 2 * n;
    gate(row, z, row->r, &row->f[0]);
    if (row->attrs->linear_before_reset) {
        gate(row, r, row->r + n, &row->f[0]);
        for (size_t i = 0; i < n; i++) hidden[i] *= r[i];
    }
    gate(row, c, hidden, &row->f[1]);
    for (size_t i = 0; i < n; i++) row->h[i] = (1 - z[i]) * c[i] + z[i] * row->h[i];
}

static const char *const defaults[] = { "Sigmoid", "Tanh" };
static const tare_recurrent_cell cell = {
    .gates = 3, .functions = 2, .defaults = defaults, .step = step, .reset = reset
};

static const tare_field fields[] = {
    TARE_RECURRENT_FIELDS,
    { "linear_before_reset", TARE_FIELD_INT, offsetof(tare_recurrent_attrs, linear_before_reset), .hi = 1 },
    { .type = TARE_FIELD_END },
};

static tare_status infer(tare_node *node, tare_error *err) { return tare_recurrent_infer(&cell, node, err); }
static tare_status prepare(tare_prepare *p, tare_error *err) { return tare_recurrent_prepare(&cell, p, err); }
static tare_status run(const tare_call *call, tare_error *err) { return tare_recurrent_run(&cell, call, err); }

const tare_op tare_op_gru = {
    .name = "GRU",
    .since = 7,
    .inputs = { 3, 6 },
    .outputs = { 0, 2 },
    .attrs = fields,
    .attrs_size = sizeof(tare_recurrent_attrs),
    .infer = infer,
    .prepare = prepare,
    .run = run,
};

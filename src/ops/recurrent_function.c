/* The activations of recurrent ops: y = f(alpha, beta, x), with the defaults that ONNX's page of RNN gives. */
#include "ops/recurrent_function.h"

#include <math.h>
#include <strings.h>

#define APPLY(name)                                                                                                    \
    static void name(const tare_recurrent_function *self, const tare_kernels *kernels, float *x, size_t count)

APPLY(sigmoid) { (void)self, kernels->sigmoid_f32(x, x, count); }
APPLY(hyperbolic) { (void)self, kernels->tanh_f32(x, x, count); }
APPLY(relu) { (void)self, kernels->clamp_f32(x, x, count, 0, INFINITY); }
APPLY(affine) {
    (void)kernels;
    for (size_t i = 0; i < count; i++) x[i] = self->alpha * x[i] + self->beta;
}
APPLY(leaky_relu) {
    (void)kernels;
    for (size_t i = 0; i < count; i++) x[i] = x[i] >= 0 ? x[i] : self->alpha * x[i];
}
APPLY(thresholded_relu) {
    (void)kernels;
    for (size_t i = 0; i < count; i++) x[i] = x[i] >= self->alpha ? x[i] : 0;
}
APPLY(scaled_tanh) {
    for (size_t i = 0; i < count; i++) x[i] *= self->beta;
    kernels->tanh_f32(x, x, count);
    for (size_t i = 0; i < count; i++) x[i] *= self->alpha;
}
APPLY(hard_sigmoid) {
    for (size_t i = 0; i < count; i++) x[i] = self->alpha * x[i] + self->beta;
    kernels->clamp_f32(x, x, count, 0, 1);
}
APPLY(softsign) {
    (void)self, (void)kernels;
    for (size_t i = 0; i < count; i++) x[i] = x[i] / (1 + fabsf(x[i]));
}
APPLY(elu) {
    for (size_t i = 0; i < count; i++) {
        float e = x[i] > 0 ? 0 : x[i];
        kernels->expm1_f32(&e, &e, 1);
        if (!(x[i] >= 0)) x[i] = self->alpha * e;
    }
}

typedef struct entry {
    const char *name;
    void (*apply)(const tare_recurrent_function *self, const tare_kernels *kernels, float *x, size_t count);
    bool alpha, beta;
    float default_alpha, default_beta;
} entry;

static const entry entries[] = {
    { "Sigmoid", sigmoid, false, false, 0, 0 },
    { "Tanh", hyperbolic, false, false, 0, 0 },
    { "Relu", relu, false, false, 0, 0 },
    { "Affine", affine, true, true, 1, 0 },
    { "LeakyRelu", leaky_relu, true, false, 0.01f, 0 },
    { "ThresholdedRelu", thresholded_relu, true, false, 1, 0 },
    { "ScaledTanh", scaled_tanh, true, true, 1, 1 },
    { "HardSigmoid", hard_sigmoid, true, true, 0.2f, 0.5f },
    { "Softsign", softsign, false, false, 0, 0 },
    { "Elu", elu, true, false, 1, 0 },
};

static const entry *find(const char *name) {
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (!strcasecmp(entries[i].name, name)) return &entries[i];
    return NULL;
}

bool tare_recurrent_function_takes(const char *name, bool beta) {
    const entry *e = find(name);
    return e && (beta ? e->beta : e->alpha);
}

tare_status tare_recurrent_function_find(tare_recurrent_function *out, const char *name, float alpha, float beta,
                                         tare_error *err) {
    const entry *e = find(name);
    if (!e) return tare_fail(err, TARE_E_UNSUPPORTED, "activation '%.64s' is none that tare knows", name);
    *out = (tare_recurrent_function){ .apply = e->apply,
                                      .alpha = isnan(alpha) ? e->default_alpha : alpha,
                                      .beta = isnan(beta) ? e->default_beta : beta };
    return TARE_OK;
}

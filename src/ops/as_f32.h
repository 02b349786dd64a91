/* f16, bf16 and f64 tensors for ops whose loop knows f32 only: their inputs are widened (f64: narrowed) into scratch, the
 * loop runs, its outputs are rounded once into the real ones. */
#ifndef TARE_OPS_AS_F32_H
#define TARE_OPS_AS_F32_H

#include "ops/op.h"

enum { TARE_AS_F32_VALUES = 16 /* inputs and outputs of such an op, together */ };

/* Adds what the copies need to prepare->scratch_size; call it last. Fails past the limit of sizes. */
tare_status tare_as_f32_prepare(tare_prepare *prepare, tare_error *err);

/* Calls run with f32 tensors; the op's own scratch still starts at call->scratch. own: the bytes it asked for. */
tare_status tare_as_f32_run(const tare_call *call, size_t own,
                            tare_status (*run)(const tare_call *call, tare_error *err), tare_error *err);

#endif

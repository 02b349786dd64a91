/* The activations that recurrent ops name in their attributes. */
#ifndef TARE_OPS_RECURRENT_FUNCTION_H
#define TARE_OPS_RECURRENT_FUNCTION_H

#include "ops/recurrent.h"

/* By name, whatever its case, with its parameters: alpha or beta NaN take the default. */
tare_status tare_recurrent_function_find(tare_recurrent_function *out, const char *name, float alpha, float beta,
                                         tare_error *err);
/* Does it take alpha, beta from the lists? */
bool tare_recurrent_function_takes(const char *name, bool beta);

#endif

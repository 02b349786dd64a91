/* Gates: how good an output must be. */
#ifndef TARE_API_GATE_H
#define TARE_API_GATE_H

#include "compare/compare.h"

/* TARE_E_GATE when the output is below so many dB, or cannot be told; 0: no gate. */
tare_status tare_gate_output(const char *name, const tare_metrics *metrics, double least_db, tare_error *err);

#endif

/* The verdict on what quantizing came to. */
#ifndef TARE_API_VERDICT_H
#define TARE_API_VERDICT_H

#include "api/quantizing.h"

/* Adds to the warnings what a user must not overlook. advice: what may lose less, where much was lost; may be NULL. */
tare_status tare_verdict_add(tare_quantizing *q, tare_advice *advice, tare_error *err);

#endif

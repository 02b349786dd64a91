/* The rooms' options, made of a user's. */
#ifndef TARE_API_QUANTIZE_OPTIONS_H
#define TARE_API_QUANTIZE_OPTIONS_H

#include "calibrate/calibrate.h"
#include "quantize/quantize.h"

/* The targets that models are made for, ended by NULL. */
extern const char *const tare_quantizing_names[];

/* options and work may be NULL. */
tare_status tare_calibrate_options_from(tare_calibrate_options *to, const tare_calibration_options *options,
                                        const tare_work_options *work, tare_error *err);
/* "I/N", or NULL: all. */
tare_status tare_calibrate_options_shard(const char *text, tare_calibrate_options *options, tare_error *err);
/* On the arena. */
tare_status tare_quantize_options_from(tare_quantize_options *to, const tare_quantization *from, tare_arena *arena,
                                       tare_error *err);

#endif

/* The library: everything the program does, as functions. Opaque objects, outputs first, the error last; strings are
 * UTF-8; nothing is printed, and nothing exits. Functions on different objects may run at once. */
#ifndef TARE_H
#define TARE_H

#include <tare/bench.h>
#include <tare/check.h>
#include <tare/compare.h>
#include <tare/error.h>
#include <tare/field.h>
#include <tare/log.h>
#include <tare/model.h>
#include <tare/quantize.h>
#include <tare/recipe.h>
#include <tare/report.h>
#include <tare/run.h>
#include <tare/samples.h>

TARE_API const char *tare_version(void); /* "0.1.0" */

/* The bytes that the whole library may hold at once: a number, with K, M or G; NULL: 80 % of the machine's memory. Without
 * a call there is no limit. Past it, functions fail with TARE_E_LIMIT. */
TARE_API tare_status tare_limit_memory(const char *bytes, tare_error *err);

/* Removes the temporary files of writes in progress. Async-signal-safe: for a handler that ends the process. */
TARE_API void tare_remove_unfinished(void);

#endif

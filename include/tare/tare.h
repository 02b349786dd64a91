/* The library: everything the program does, as functions; the program itself has no others.
 *
 * Objects are opaque. Whoever gets one frees it, by the function that its header names; text that comes out of one
 * lives as long as it does. Outputs stand first and are set by TARE_OK alone unless it is said otherwise; the error
 * stands last and is never NULL. What is passed in is borrowed for the call unless it is said for longer.
 *
 * Structs of options: zeroed, each member means what is said beside it for 0 or NULL, else "no" or "none". What the
 * program takes by default, tare_fields_set_defaults sets in a zeroed struct from the table beside it, which also has a
 * line of help for each member. A member of type int with the note ORDER counts the words that its field takes, from 0.
 *
 * Text is UTF-8. Nothing is printed and nothing exits; what there is to say besides goes to a tare_log. Functions on
 * different objects may run at once. Results never depend on threads or instruction set. */
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

TARE_C_BEGIN

TARE_API const char *tare_version(void); /* "0.1.0" */

/* The bytes that the whole library may hold at once, mapped files aside: a number, with K, M or G (1024, …); NULL: 80 %
 * of the machine's memory. Without a call there is no limit. Past it, functions fail with TARE_E_LIMIT. TARE_E_USAGE
 * when it is no such number. */
TARE_API tare_status tare_limit_memory(const char *bytes, tare_error *err);

/* Ends the programs that were started, removes the temporary files of writes in progress. Async-signal-safe: for a handler that ends the process. */
TARE_API void tare_remove_unfinished(void);

TARE_C_END

#endif

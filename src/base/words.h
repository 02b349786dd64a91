/* Words that several rooms need to tell something: the plural, and a choice that is none. */
#ifndef TARE_BASE_WORDS_H
#define TARE_BASE_WORDS_H

#include <stdint.h>

#include "base/status.h"

/* "%zu sample%s": tare_plural(n, "", "s"); "is" or "are". */
static inline const char *tare_plural(uint64_t count, const char *one, const char *many) {
    return count == 1 ? one : many;
}

/* TARE_E_USAGE: "no WHAT 'name'; did you mean 'x'? There are: a, b, c". `meant`: what the name is known to mean elsewhere; NULL:
 * the nearest of the names. */
tare_status tare_fail_choice(tare_error *err, const char *what, const char *name, const char *meant,
                             const char *const *names);

#endif

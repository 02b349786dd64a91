/* How much memory the library may take. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tare/tare.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/words.h"

enum { LEAST = 1 << 16 /* bytes: what no model is read in */ };

static bool parse_bytes(const char *text, size_t *bytes) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    static const char units[] = "KMG";
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || *text == '-' || errno || (*end && (!unit || end[1]))) return false;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (number > SIZE_MAX >> shift) return false;
    *bytes = (size_t)number << shift;
    return true;
}

tare_status tare_limit_memory(const char *text, tare_error *err) {
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    size_t bytes = pages > 0 && size > 0 ? (size_t)pages * (size_t)size / 10 * 8 : 0;
    if (text && !parse_bytes(text, &bytes))
        return tare_fail(err, TARE_E_USAGE, "--max-mem: '%.64s' is not a number of bytes such as 512M", text);
    if (text && bytes < LEAST)
        return tare_fail(err, TARE_E_USAGE, "--max-mem: %zu byte%s will do for no model; add K, M or G, such as 512M",
                         bytes, tare_plural(bytes, "", "s"));
    tare_memory_set_cap(bytes);
    return TARE_OK;
}

/* Status and error text: formatted, made fit to print, cut at the buffer's end. */
#include "base/status.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

const char *tare_status_name(tare_status status) {
    switch (status) {
    case TARE_OK: return "ok";
    case TARE_E_GATE: return "gate";
    case TARE_E_USAGE: return "usage";
    case TARE_E_MALFORMED: return "malformed";
    case TARE_E_UNSUPPORTED: return "unsupported";
    case TARE_E_IO: return "io";
    case TARE_E_LIMIT: return "limit";
    case TARE_E_BUG: return "bug";
    case TARE_E_INTERRUPTED: return "interrupted";
    }
    return "unknown";
}

/* The arguments may point into err->text, so it is overwritten only at the end. */
tare_status tare_fail_text(tare_error *err, tare_status status, const char *format, ...) {
    assert(status != TARE_OK);
    char raw[TARE_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    err->status = status;
    tare_text_escape(err->text, sizeof err->text, raw);
    return status;
}

tare_status tare_fail_memory_text(tare_error *err, size_t size) {
    if (size == 0) return tare_fail(err, TARE_E_LIMIT, "out of memory");
    return tare_fail(err, TARE_E_LIMIT, "out of memory, %zu bytes wanted", size);
}

tare_status tare_fail_errno(tare_error *err, const char *call) {
    int number = errno;
    char reason[128];
    if (strerror_r(number, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", number);
    return tare_fail(err, number == ENOMEM ? TARE_E_LIMIT : TARE_E_IO, "%s: %s", call, reason);
}

tare_status tare_within(tare_error *err, const char *format, ...) {
    char raw[2 * TARE_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(raw, TARE_ERROR_SIZE, format, args);
    va_end(args);
    size_t used = length < 0 ? 0 : (size_t)length < TARE_ERROR_SIZE ? (size_t)length : TARE_ERROR_SIZE - 1;
    snprintf(raw + used, sizeof raw - used, ": %s", err->text);
    tare_text_escape(err->text, sizeof err->text, raw);
    return err->status;
}

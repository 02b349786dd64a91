/* Status and error text: how every function of the library says what went wrong. */
#ifndef TARE_ERROR_H
#define TARE_ERROR_H

#if defined(__GNUC__)
#define TARE_API                 __attribute__((visibility("default")))
#define TARE_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define TARE_API
#define TARE_PRINTF(text, first)
#endif

/* Around what a header declares, so that C++ finds it too. */
#ifdef __cplusplus
#define TARE_C_BEGIN extern "C" {
#define TARE_C_END   }
#else
#define TARE_C_BEGIN
#define TARE_C_END
#endif

TARE_C_BEGIN

/* The numbers are the exit codes of the program; they never change. */
typedef enum tare_status {
    TARE_OK = 0,
    TARE_E_GATE = 1,        /* a quality gate was not met */
    TARE_E_USAGE = 2,       /* an option or argument is wrong */
    TARE_E_MALFORMED = 3,   /* an input file breaks the rules of its format */
    TARE_E_UNSUPPORTED = 4, /* valid, but not something tare can do */
    TARE_E_IO = 5,          /* open, read, write, sync or rename went wrong */
    TARE_E_LIMIT = 6,       /* out of memory, or past a limit */
    TARE_E_BUG = 7,         /* tare contradicts itself */
    TARE_E_INTERRUPTED = 8  /* a signal asked to stop */
} tare_status;

enum { TARE_ERROR_SIZE = 1024 };

/* Owned by the caller and valid until it is used again. Zero-initialise it. The text is one line without a
 * newline, `FILE: WHERE: what, got vs want`, control characters escaped, cut at the buffer's end. */
typedef struct tare_error {
    tare_status status;
    char text[TARE_ERROR_SIZE];
} tare_error;

/* A word for the status: "malformed", "unsupported", …; static. */
TARE_API const char *tare_status_name(tare_status status);

TARE_C_END

#endif

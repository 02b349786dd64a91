/* Other people's programs: run to their end, what they say caught. Directories for what they are given. */
#ifndef TARE_BASE_PROCESS_H
#define TARE_BASE_PROCESS_H

#include <tare/log.h>

#include "base/memory.h"
#include "base/status.h"

/* What a program left. The ends of both texts are kept, as many bytes as fit; each is ended by NUL. */
typedef struct tare_ran_program {
    int exit_code; /* 128 + number when a signal ended it */
    char *out, *errors;
} tare_ran_program;

/* Runs `command argument` in the shell, standard input empty, in a process group of its own, and waits for its end; children
 * that it leaves behind with its output in their hands are ended a second later. One that runs for long is waited for, and the
 * log is told so. TARE_E_IO when it cannot be started, TARE_E_LIMIT when it prints without end; how it ended is for the caller
 * to judge. */
tare_status tare_program_run(tare_ran_program *out, const char *command, const char *argument, tare_arena *arena,
                             tare_log *log, tare_error *err);

/* A directory of its own under TMPDIR or /tmp, for this user only. What killed runs left of theirs is removed first. */
typedef struct tare_scratch tare_scratch;
tare_status tare_scratch_make(tare_scratch **out, tare_error *err);
const char *tare_scratch_path(const tare_scratch *scratch);
void tare_scratch_remove(tare_scratch *scratch); /* with all that is in it; NULL is fine */

/* For handlers of signals that end the process: ends the programs, removes the directories. Async-signal-safe. */
void tare_program_end_all(void);
void tare_scratch_remove_pending(void);

#endif

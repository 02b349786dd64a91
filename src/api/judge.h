/* Figures of a user's own program: --metric-cmd. */
#ifndef TARE_API_JUDGE_H
#define TARE_API_JUDGE_H

#include <tare/run.h>

#include "report/flows.h"

/* What `judging` asks of a directory of outputs; nothing when it asks for no command. A run that fails has what the program
 * wrote to standard error in the log, and its last line in the error. Figures are on the arena. */
tare_status tare_judge_directory(tare_figures *out, const tare_judging *judging, const char *directory,
                                 tare_arena *arena, tare_log *log, tare_error *err);
/* The same of a model, whose outputs are written to a directory for the while of it. */
tare_status tare_judge_model(tare_figures *out, const tare_judging *judging, const tare_model *model,
                             const tare_backend_options *backend, const tare_samples *samples,
                             const tare_work_options *work, tare_arena *arena, tare_log *log, tare_error *err);

#endif

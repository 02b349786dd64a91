/* What the flows share. */
#ifndef TARE_API_WORK_H
#define TARE_API_WORK_H

#include <tare/run.h>

#include "run/run.h"

/* The CPU that options name, or the best there is; TARE_E_USAGE when this machine does not have it. */
tare_status tare_work_cpu(const tare_work_options *options, tare_cpu *cpu, tare_error *err);
/* Sets backend, target and profile. */
tare_status tare_work_backend(const tare_backend_options *options, tare_session_options *session, tare_error *err);

#endif

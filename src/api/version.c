/* What the library is and how it is stopped. */
#include <tare/tare.h>

#include "base/file.h"
#include "base/process.h"

const char *tare_version(void) { return TARE_VERSION; }

void tare_remove_unfinished(void) {
    tare_program_end_all();
    tare_writer_remove_pending();
    tare_scratch_remove_pending();
}

/* What the library is and how it is stopped. */
#include <tare/tare.h>

#include "base/file.h"

const char *tare_version(void) { return TARE_VERSION; }

void tare_remove_unfinished(void) { tare_writer_remove_pending(); }

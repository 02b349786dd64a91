/* No output is written over a file that samples come from. */
#include "api/inputs.h"

#include <stdlib.h>

tare_status tare_inputs_list(tare_inputs *out, const tare_samples *samples, tare_arena *arena, tare_error *err) {
    return tare_samples_identify(samples, arena, &out->ids, &out->count, err);
}

tare_status tare_inputs_check(const tare_inputs *inputs, const char *path, tare_error *err) {
    tare_file_id there;
    if (!tare_path_identify(path, &there)) return TARE_OK;
    if (!bsearch(&there, inputs->ids, inputs->count, sizeof there, tare_file_id_compare)) return TARE_OK;
    return tare_fail(err, TARE_E_USAGE,
                     "%s: is a file the samples are read from; inputs are never touched, so name another", path);
}

tare_status tare_samples_check_path(const tare_samples *samples, const char *path, tare_error *err) {
    tare_inputs inputs;
    tare_arena *arena = tare_arena_new();
    if (!arena) return tare_fail_memory(err, 0);
    tare_status status = tare_inputs_list(&inputs, samples, arena, err);
    if (status == TARE_OK) status = tare_inputs_check(&inputs, path, err);
    tare_arena_free(arena);
    return status;
}

/* Which files the samples are read from, so that no output is written over one. */
#ifndef TARE_API_INPUTS_H
#define TARE_API_INPUTS_H

#include "samples/samples.h"

typedef struct tare_inputs {
    tare_file_id *ids; /* sorted; on an arena */
    size_t count;
} tare_inputs;

tare_status tare_inputs_list(tare_inputs *out, const tare_samples *samples, tare_arena *arena, tare_error *err);
/* TARE_E_IO when the directory that a file is to be written to is not there. */
tare_status tare_output_check_folder(const char *path, tare_error *err);
/* TARE_E_USAGE when the path is one of them. */
tare_status tare_inputs_check(const tare_inputs *inputs, const char *path, tare_error *err);

#endif

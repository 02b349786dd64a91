/* Dumps: DIR/<id>.npz, one a sample, and DIR/list.txt with their names, one a line; what a run writes and a comparison
 * reads. Boards and other tools dump a file for each tensor: DIR/<id>/<tensor>.npy, or DIR/<tensor>.npy of one sample;
 * those are read too. */
#ifndef TARE_SAMPLES_DUMP_H
#define TARE_SAMPLES_DUMP_H

#include "samples/npz.h"

/* DIR/<id>.npz, or with id NULL the list, on the arena; NULL: no memory. */
const char *tare_dump_path(const char *directory, const char *id, tare_arena *arena);

/* Does the name say that it is one .npz? */
bool tare_dump_is_archive(const char *path);

/* ---- writing ---- */
typedef struct tare_dump_writer tare_dump_writer;

/* Makes the directory when it is not there (its parent must be). list.txt is emptied at once, so that a dump cut
 * short is none; .npz files of earlier dumps stay unless they are written anew. */
tare_status tare_dump_begin(tare_dump_writer **out, const char *directory, tare_error *err);
/* One sample's arrays. Thread safe. */
tare_status tare_dump_add(tare_dump_writer *dump, const char *id, const tare_npz_array *arrays, size_t count,
                          tare_error *err);
/* Writes list.txt, ids sorted, when `status` is TARE_OK; frees in any case. Returns `status`, or the list's. */
tare_status tare_dump_end(tare_dump_writer *dump, tare_status status, tare_error *err);

/* ---- reading ---- */
typedef struct tare_dump tare_dump;

/* A directory whose list.txt names .npz files, or, without one, all .npz in it; without any, its .npy as one sample;
 * without those, the directories in it that have .npy files; or a file, one .npz of one sample. */
tare_status tare_dump_open(tare_dump **out, const char *path, tare_error *err);
void tare_dump_close(tare_dump *dump);           /* NULL is fine */
bool tare_dump_is_single(const tare_dump *dump); /* one sample whose id says nothing: a file, or .npy files */
size_t tare_dump_count(const tare_dump *dump);
/* Sorted as text: the file's name without .npz, or the directory's. */
const char *tare_dump_id(const tare_dump *dump, size_t index);
size_t tare_dump_find(const tare_dump *dump, const char *id); /* SIZE_MAX: none */
/* Opens one sample's arrays. Thread safe. */
tare_status tare_dump_get(const tare_dump *dump, size_t index, tare_npz **out, tare_error *err);

#endif

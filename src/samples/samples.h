/* Samples: {id, one tensor per graph input}. Only this room knows files, images and preprocessing, and only it
 * iterates over them; everything is hostile until it has come through here. Nothing is read before it is needed. */
#ifndef TARE_SAMPLES_SAMPLES_H
#define TARE_SAMPLES_SAMPLES_H

#include <tare/samples.h>

#include "base/file.h"
#include "base/text.h"
#include "graph/graph.h"

/* The contract of one input is public: tare_preprocess and tare_preprocess_fields in <tare/samples.h>. */

/* One source: the text of --data or NAME=SRC. `path` is
 *   a directory, or one file, of images (PNG, JPEG), .npy or .npz
 *   F.bin:f32:1x3x224x224   raw numbers, or a directory of such files; little endian
 *   F.yuv:nv12:320x240      raw NV12 frames of width x height, or a directory of such files
 *   F.txt                   a list: one path a line, relative to the list's folder; '#' begins a comment line
 *   random:N                N samples of made-up numbers, stamped synthetic
 * In a directory or a list each image and each array file is one sample; an array there has the input's shape, or lacks
 * its first dimension when that is 1 or open.
 *
 * A single .npy, and each array of a single .npz, may hold many samples. For an input's shape S and an array's shape A:
 *   A has one dimension more than S and the rest fits S      A[0] samples
 *   A fits S and S[0] is a number                            one sample
 *   A[1…] fits S[1…], S[0] a number that divides A[0]        A[0] / S[0] samples ([N,3,8,8] for [1,3,8,8]: N)
 *   A[1…] fits S[1…], S[0] open (named or unknown)           A[0] samples of batch 1, or one with `whole`
 *   A fits S[1…], S[0] is 1 or open                          one sample, a dimension of 1 is put in front
 * Raw files are a row of arrays of the given shape, each cut by the same rule. The arrays of an .npz must agree in the
 * number of samples, or each must fit as it is (one sample). Its keys are the inputs' names; with one input and one key
 * the name does not matter. Deflated arrays of many samples are held in memory; all else is read sample by sample.
 *
 * Element types: what keeps every number is done (f16 to f32, u8 to s32, s64 to s32 when each fits), f64 to f32 is
 * rounded with a note, integers become floats when mean, std or scale is given (scale 1 will do); all else is refused. */
typedef struct tare_source {
    const char *input; /* NULL: the only input, or all inputs by the keys of an .npz, or all for random:N */
    const char *path;
    bool whole; /* an array is one sample even where its first dimension could be cut */
    tare_preprocess preprocess;
} tare_source;

typedef struct tare_sample {
    /* Unique, without '/': the file's name without extension, or a six-digit index. Where two names are alike but for
     * folder or extension: the whole name, '_' for '/'. */
    const char *id;
    size_t index;
    /* In the order of the graph's inputs, on the arena of the get; NULL: an input that is an initializer too and has no
     * source of its own. */
    tare_tensor *const *inputs;
} tare_sample;

/* Opens sources for the model's inputs and checks what can be without reading everything: every input has a source,
 * types and shapes fit (an error says both and what to pass). Inputs that are overridable initializers need none.
 * Sources are joined by id; one that has a single sample goes with every sample of the others; one that has numbers for
 * ids goes by order. `range`: NULL, "N" or "A:B" (from A up to but without B), in the order of ids. The model must
 * outlive it. */
tare_status tare_samples_open(tare_samples **out, const tare_model *model, const tare_source *sources, size_t count,
                              const char *range, tare_log *log, tare_error *err);
/* Ids sorted as text, the order of every merge; index 0…count-1 counts in that order. */
const char *tare_samples_id(const tare_samples *samples, size_t index);
/* Its place in the source before sorting, from 0: the row of an array, the line of a list. */
size_t tare_samples_row(const tare_samples *samples, size_t index);
/* Are the ids made of rows? */
bool tare_samples_are_numbered(const tare_samples *samples);
bool tare_samples_are_synthetic(const tare_samples *samples); /* random:N */
/* Reads one. Thread safe: any thread, each with its own arena. */
tare_status tare_samples_get(const tare_samples *samples, size_t index, tare_arena *arena, tare_sample *out,
                             tare_error *err);
/* Which files it reads, lists among them, sorted by tare_file_id_compare; on the arena. */
tare_status tare_samples_identify(const tare_samples *samples, tare_arena *arena, tare_file_id **ids, size_t *count,
                                  tare_error *err);
/* The contract in words, one line per input, and the first sample's min, mean, max after it. */
tare_status tare_samples_print(const tare_samples *samples, tare_text *text, tare_error *err);

#endif
